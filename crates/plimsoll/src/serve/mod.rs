//! `plimsoll serve`: keeps watching, keeps the history, and shows both.
//!
//! Three threads: the loop that looks (this one), the history's, and the one that answers visitors. None waits for another.

mod config;
#[cfg(test)]
mod config_test;
mod fixed;
mod happened;
#[cfg(test)]
mod happened_test;
mod history;
#[cfg(test)]
mod history_test;
mod last;
mod metrics;
mod notify;
mod overview;
mod own;
mod page;
mod past;
mod reload;
mod socket;
mod store;
mod writer;

use std::sync::Arc;

use anyhow::Result;
use model::Time;
use sense::clock::steady;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use self::fixed::Fixed;
use self::happened::{Happenings, event, millis};
use self::history::History;
use self::last::Last;
use self::notify::Manager;
use self::overview::{Keeping, Told, Watching};
use self::reload::Sources;
use self::store::{Made, Shown, Store, Wanted};
use crate::cli::ServeArgs;
use crate::look;
use crate::look::watch::{Fleet, Watch};
use crate::{Said, show, wrong_usage};

pub(crate) use config::{Settings, USUAL};
pub(crate) use socket::ask as running;

/// Between two states of the fleet that are shown, at least, and at most.
const SHOW_S: f64 = 1.0;
const SHOW_AT_MOST_S: f64 = 5.0;
/// The part of one core that making states of the fleet may take.
const SHARE: f64 = 0.03;
/// How long the first state is waited for before it is said that the page is there.
const FIRST_S: f64 = 4.0;
/// Between two looks at whether the configuration changed; it is read when two in a row see the same change.
const CHANGED_S: f64 = 1.5;

/// Serves until it is told to stop.
pub(crate) async fn run(args: &ServeArgs) -> Result<Said> {
    // Before anything is said to be there: a signal that nobody waits for ends the process where it stands.
    let mut signals = Signals::new()?;
    let sources = Sources::begin(args);
    let settings = Settings::read(args).map_err(wrong_usage)?;
    let sources = sources.of(&settings);
    let opened = look::opened_for_watch(&settings.look)?;
    let mut page = page::Page::open(&settings)?;
    let fixed = Fixed::of(&settings)?;
    let (history, mut notes) = match &settings.history {
        None => (None, Vec::new()),
        Some(folder) => kept(folder, settings.keep)?,
    };
    notes.append(&mut page.notes);
    let since = sense::clock::now();
    let mut watch = Watch::new(opened, settings.pace);
    let mut past = Past::default();
    let manager = Manager::new();
    // Everything is asked once before the page is said to be there: its first sight is an answer.
    while !watch.is_whole() && sense::clock::now().since(since) < FIRST_S {
        tokio::select! {
            _ = watch.step(since.plus(FIRST_S)) => {}
            () = signals.end() => {
                return Ok(Said { text: history.and_then(History::stop).unwrap_or_default(), code: 0 });
            }
        }
    }
    let own = Own { settings: &settings, history: history.as_ref(), since };
    let (shown, _) = state(&mut watch, &mut past, &own, &notes);
    let (store, reports) = Store::new(shown, history.as_ref().map(|history| history.reader.clone()));
    let url = page.url();
    let stop = page.start(Arc::clone(&store) as Arc<dyn web::Source>);
    let about = format!("{}, {}", url, show::several(watch.targets(), "target"));
    crate::print(&ready(&url, &settings, &watch, &notes))?;
    Manager::ready(&about);
    let mut house =
        House { args, settings, sources, fixed, watch, past, history, store, reports, manager, since, notes };
    house.run(&mut signals).await;
    Manager::stopping();
    let House { history, .. } = house;
    stop.stop();
    Ok(Said { text: history.and_then(History::stop).unwrap_or_default(), code: 0 })
}

/// What this process is told by signals.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    reload: Signal,
}

impl Signals {
    fn new() -> Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            reload: signal(SignalKind::hangup())?,
        })
    }

    /// Waits until it is told to end.
    async fn end(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// The history, and what is to be said of it: one that cannot be had is said, and everything else goes on without.
fn kept(folder: &std::path::Path, keep: u64) -> Result<(Option<History>, Vec<Told>)> {
    match History::open(folder, keep) {
        Ok(history) => {
            let found = history
                .notes
                .iter()
                .map(|note| Told { id: "history".to_owned(), text: format!("{}: {}", note.file, note.text) });
            let found = found.collect();
            Ok((Some(history), found))
        }
        // Two that write into one folder, or one that cannot read what is there: that is to be settled first.
        Err(error)
            if error
                .downcast_ref::<ledger::Error>()
                .is_some_and(|error| !matches!(error, ledger::Error::Io { .. })) =>
        {
            Err(wrong_usage(error.context("the history cannot be kept")))
        }
        Err(error) => {
            let text = format!("{error:#}: no history is kept");
            Ok((None, vec![Told { id: "no-history".to_owned(), text }]))
        }
    }
}

/// What is said when it is there.
fn ready(url: &str, settings: &Settings, watch: &Watch, notes: &[Told]) -> String {
    let mut text = format!("{url}\n");
    let targets = show::several(watch.targets(), "target");
    text += &match &settings.history {
        Some(folder) if !notes.iter().any(|note| note.id == "no-history") => {
            format!("watching {targets} every {} s; history in {}\n", settings.pace.every, folder.display())
        }
        _ => format!("watching {targets} every {} s; no history is kept\n", settings.pace.every),
    };
    for note in notes {
        text += &format!("note: {}\n", note.text);
    }
    text
}

/// What states of the fleet are made with.
struct Own<'a> {
    settings: &'a Settings,
    history: Option<&'a History>,
    since: Time,
}

/// What was before, as far as what is shown now hangs on it.
#[derive(Default)]
struct Past {
    happenings: Happenings,
    last: Last,
}

/// The state of the fleet now, with what happened since the last one; both go into the history.
fn state(watch: &mut Watch, past: &mut Past, own: &Own<'_>, notes: &[Told]) -> (Shown, Vec<ledger::Event>) {
    let moves = std::mem::take(&mut watch.moves);
    let Fleet { mut look, health, late } = watch.fleet();
    let now = look.snapshot.taken_at;
    let mut events = past.happenings.moved(moves, now);
    let there = look.snapshot.servers.iter().map(|server| server.url.as_str()).collect();
    events.extend(past.happenings.gone(&there, now));
    for ((server, one), health) in look.snapshot.servers.iter().zip(&look.looked).zip(&health) {
        if !health.fresh {
            continue;
        }
        let table = server.engine.as_deref().and_then(|name| look.here.tables.get(name));
        let knobs = table.map_or(&[][..], |table| &table.knobs);
        let flags = knobs.iter().filter_map(|knob| Some((knob.fact.clone(), one.account.fact(&knob.fact)?.to_owned())));
        events.extend(past.happenings.of(server, health, flags.collect(), now));
        if let Some(history) = own.history {
            history.look(server, millis(health.asked.unwrap_or(now)));
        }
    }
    if let Some(history) = own.history {
        for event in &events {
            history.event(event.clone());
        }
    }
    // Only what is shown: the history has it that nothing was said.
    past.last.recall(&mut look.snapshot, &health);
    let (level, headline) = show::headline(&look);
    let signs = look.looked.iter().map(|one| one.signs.clone()).collect();
    let writing = own.history.map(History::writing).unwrap_or_default();
    let watching = Watching {
        since: own.since.0,
        targets: watch.targets(),
        late,
        looks: watch.counts.looks,
        failed: watch.counts.failed,
        history: keeping(own, &writing),
        notes: notes.to_vec(),
    };
    let look::Look { snapshot, looked, notes, .. } = look;
    watch.put_back(looked);
    let (watch, lost, made) = (watching, writing.lost, Made::default());
    (Shown { snapshot, signs, health, notes, level, headline, watch, lost, made }, events)
}

fn keeping(own: &Own<'_>, writing: &history::Writing) -> Keeping {
    let Some(history) = own.history else {
        let why = if own.settings.history.is_some() { "it cannot be kept: see the notes" } else { "it was turned off" };
        let why = Some(why.to_owned());
        return Keeping { state: "off", why, dir: None, bytes: 0, limit_bytes: 0, from: None };
    };
    Keeping {
        state: if writing.failing.is_some() { "failing" } else { "kept" },
        why: writing.failing.clone(),
        dir: Some(history.folder.display().to_string()),
        bytes: writing.bytes,
        limit_bytes: history.most,
        from: history.reader.span().map(|(from, _)| from as f64 / 1000.0),
    }
}

/// Everything, while it runs.
struct House<'a> {
    args: &'a ServeArgs,
    settings: Settings,
    /// Those of the settings in force, or of newer ones that cannot be.
    sources: Sources,
    fixed: Fixed,
    watch: Watch,
    past: Past,
    history: Option<History>,
    store: Arc<Store>,
    reports: mpsc::Receiver<Wanted>,
    manager: Manager,
    since: Time,
    notes: Vec<Told>,
}

impl House<'_> {
    /// Looks, shows and keeps until it is told to stop.
    async fn run(&mut self, signals: &mut Signals) {
        let mut checked = steady();
        let mut clocks = (sense::clock::now(), steady());
        let (mut shown, mut pause, mut news) = (steady(), SHOW_S, false);
        loop {
            let due = if news { pause } else { SHOW_AT_MOST_S } - (steady() - shown);
            let until = sense::clock::now().plus(due.clamp(0.0, 1.0));
            tokio::select! {
                new = self.watch.step(until) => news |= new,
                Some(wanted) = self.reports.recv() => self.report(wanted),
                _ = signals.terminate.recv() => return,
                _ = signals.interrupt.recv() => return,
                _ = signals.reload.recv() => self.reload(),
            }
            self.manager.beat();
            self.store.beat();
            if steady() - checked >= CHANGED_S {
                checked = steady();
                if self.sources.changed() {
                    self.reload();
                }
            }
            let stepped = self.clock(&mut clocks);
            let waited = steady() - shown;
            if news && waited >= pause || waited >= SHOW_AT_MOST_S || stepped {
                let began = steady();
                self.show();
                news = false;
                pause = ((steady() - began) / SHARE).clamp(SHOW_S, SHOW_AT_MOST_S);
                shown = steady();
            }
        }
    }

    fn show(&mut self) {
        let own = Own { settings: &self.settings, history: self.history.as_ref(), since: self.since };
        let (shown, events) = state(&mut self.watch, &mut self.past, &own, &self.notes);
        self.store.show(shown, &events);
    }

    /// Whether the clock was set since the last time: nothing that was said before may pass for newer than it is.
    fn clock(&mut self, last: &mut (Time, f64)) -> bool {
        let (now, steady) = (sense::clock::now(), steady());
        let by = now.since(last.0) - (steady - last.1);
        *last = (now, steady);
        if by.abs() < 2.0 {
            return false;
        }
        self.watch.clock_set(by);
        self.past.happenings.clock_set(by);
        let way = if by < 0.0 { "back" } else { "forward" };
        let text = format!("the clock of this host was set {way} by {:.1} s", by.abs());
        self.tell(event(now, "", "clock", &text, Some(by)));
        true
    }

    /// Keeps and shows what happened to this host or to us.
    fn tell(&self, told: ledger::Event) {
        self.store.happened(&told);
        if let Some(history) = &self.history {
            history.event(told);
        }
    }

    /// Makes the report that a command on this host wants.
    fn report(&mut self, (ask, answer): Wanted) {
        let look = self.watch.fleet_beside();
        let told = socket::report(&look, &ask);
        self.watch.put_back(look.looked);
        // Who asked may be gone.
        let _ = answer.send(told);
    }
}
