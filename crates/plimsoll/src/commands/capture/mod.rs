//! `plimsoll capture`: everything that a look asked and what came back, in one file that is safe to send; any command runs on
//! it later with `--capture`.

mod length;
mod output;
mod show;

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use model::Time;
use sense::Content;
use sense::capture::{Head, Site as Recorded, Writer};
use sense::place::{Kept as Answer, Key, Recorder, Told};

pub(crate) use self::length::seconds;
use tokio::signal::unix::{SignalKind, signal};

use self::output::Output;
use super::status::has_figure;
use crate::cli::{CaptureArgs, CaptureCommand};
use crate::evidence::{self, Pseudonyms, Removed};
use crate::look::{self, Look, Opened, monitors, progress};
use crate::{Said, wrong_usage};

/// Between two looks, where only a length is given.
const EVERY_S: f64 = 1.0;
/// The part of its time that a server may spend on being looked at again and again.
const DUTY: f64 = 0.01;

/// Records, or shows what is in a recording.
pub(crate) async fn run(args: &CaptureArgs) -> Result<Said> {
    match &args.command {
        Some(CaptureCommand::Show(args)) => show::run(args),
        None => record(args).await,
    }
}

/// Where one site's answers are kept.
struct Kept {
    recorder: Recorder,
    site: Recorded,
}

async fn record(args: &CaptureArgs) -> Result<Said> {
    if args.look.capture.is_some() {
        bail!(wrong_usage(anyhow::anyhow!("a capture is taken of what is there, not of another capture")));
    }
    if args.look.targets.iter().any(|target| target == "-") {
        bail!(wrong_usage(anyhow::anyhow!("standard input is gone when it was read: save it to a file")));
    }
    let length = args.length.as_deref().map(seconds).transpose().map_err(wrong_usage)?;
    let every = args.every.as_deref().map(seconds).transpose().map_err(wrong_usage)?;
    if every.is_some() && length.is_none() {
        bail!(wrong_usage(anyhow::anyhow!("--every goes with --for: for how long")));
    }
    let (length, every) = (length.unwrap_or(0.0), every.unwrap_or(EVERY_S));
    let (opened, kept) = recorded(look::opened(&args.look, &args.prometheus)?);
    let output = Output::create(args.output.as_deref())?;
    let mut unkept = output.until_kept();
    let started_at = sense::clock::now();
    let head = Head { made_by: crate::MADE_BY.to_owned(), started_at, anonymised: args.anonymise };
    let mut tape = Tape {
        writer: Writer::new(output.file()?, &head),
        pseudonyms: args.anonymise.then(|| Pseudonyms::new(hostname().as_deref())),
        removed: Removed::default(),
        answers: 0,
    };
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut takes = 0;
    let mut slowed: Option<f64> = None;
    let mut answered = false;
    loop {
        let begun = sense::clock::now();
        // What is installed does not change from one second to the next.
        let deep = takes == 0;
        let opened = opened.again();
        let quiet = args.look.json;
        let taking = async {
            let look = opened.once(deep).await?;
            let watchers = monitors::watchers(&look).await?;
            drop(watchers);
            Ok::<Look, anyhow::Error>(look)
        };
        let look = tokio::select! {
            look = progress::over(opened.eyes(), quiet, Box::pin(taking)) => look?,
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
        };
        answered |= has_figure(&look.snapshot);
        let written = tape.take(takes, begun, &opened, &kept, &look);
        written
            .with_context(|| format!("{}: {takes} looks are in it, the next could not be written", output.name()))?;
        takes += 1;
        unkept.keep();
        let pause = every.max(busiest(&look) / DUTY);
        if length > 0.0 && every > 0.0 && pause - every >= 0.05 {
            slowed = Some(slowed.map_or(pause, |known: f64| known.max(pause)));
        }
        let next = begun.plus(pause);
        if next.since(started_at) > length {
            break;
        }
        let wait = Duration::from_secs_f64(next.since(sense::clock::now()).max(0.0));
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
        }
    }
    let summary = Summary { takes, slowed, every, output: &output };
    let text = summary.text(&tape)?;
    Ok(output.said(text, u8::from(!answered)))
}

/// What this host calls itself, which may stand anywhere.
fn hostname() -> Option<String> {
    sense::secret::read_text(std::path::Path::new("/proc/sys/kernel/hostname")).ok()
}

/// The same to be looked at, with everything that is asked kept.
fn recorded(mut opened: Opened) -> (Opened, Vec<Kept>) {
    let mut kept = Vec::new();
    let monitors: Vec<String> = opened.monitors.iter().map(ToString::to_string).collect();
    let here = Recorder::default();
    opened.here = std::sync::Arc::new(opened.here.recorded(here.clone()));
    for site in &mut opened.sites {
        let is_here = site.eye.via.is_none();
        let recorder = if is_here { here.clone() } else { Recorder::default() };
        site.eye = if is_here {
            std::sync::Arc::clone(&opened.here)
        } else {
            std::sync::Arc::new(site.eye.recorded(recorder.clone()))
        };
        kept.push(Kept { recorder, site: site.recorded(if is_here { &monitors } else { &[] }) });
    }
    if !monitors.is_empty() && !opened.sites.iter().any(|site| site.eye.via.is_none()) {
        // Nothing is looked at here but the monitors.
        let site = Recorded { files: true, monitors, ..Recorded::default() };
        kept.push(Kept { recorder: here, site });
    }
    (opened, kept)
}

/// Seconds that the slowest server spent on answering one look.
fn busiest(look: &Look) -> f64 {
    let spent = |one: &look::Looked| one.observations.iter().map(|seen| seen.took).sum::<f64>();
    look.looked.iter().map(spent).fold(0.0, f64::max)
}

/// The file while it is written.
struct Tape<W> {
    writer: Writer<W>,
    pseudonyms: Option<Pseudonyms>,
    removed: Removed,
    answers: usize,
}

impl<W: std::io::Write> Tape<W> {
    /// One look at all sites.
    fn take(&mut self, number: u64, begun: Time, opened: &Opened, kept: &[Kept], look: &Look) -> Result<()> {
        if let Some(pseudonyms) = &mut self.pseudonyms {
            // What a host is called is known before anything is said of it.
            for own in kept {
                pseudonyms.meet_site(&own.site);
            }
        }
        for (at, own) in kept.iter().enumerate() {
            let answers = own.recorder.take();
            let (mut answers, removed) = evidence::redact(&opened.here.tables, answers, self.pseudonyms.as_mut());
            let content = Content { bytes: removed.lines().into_bytes(), cut: false };
            let key = Key(vec![evidence::REMOVED.to_owned()]);
            answers.push(Answer { key, at: begun, answered: Ok(Told::Content(content)) });
            self.removed.take(removed);
            self.answers += answers.len();
            let site = match &mut self.pseudonyms {
                Some(pseudonyms) => pseudonyms.site(&own.site),
                None => own.site.clone(),
            };
            let (begun, now) = look.spans.get(at).copied().unwrap_or((begun, look.snapshot.taken_at));
            self.writer.look(number, &site, begun, &answers, now)?;
        }
        self.writer.end_take()?;
        Ok(())
    }
}

/// What is said at the end.
struct Summary<'a> {
    takes: u64,
    slowed: Option<f64>,
    every: f64,
    output: &'a Output,
}

impl Summary<'_> {
    fn text<W>(&self, tape: &Tape<W>) -> Result<String> {
        let looks = if self.takes == 1 { "1 look".to_owned() } else { format!("{} looks", self.takes) };
        let mut text =
            format!("wrote {}: {looks}, {} answers, {}\n", self.output.name(), tape.answers, self.output.size()?);
        if let Some(pause) = self.slowed {
            text += &format!(
                "every {pause:.1} s instead of {:.1} s: no server may spend more than 1 % of its time on this\n",
                self.every
            );
        }
        text += &format!("left out: {}\n", tape.removed);
        if let Output::File(..) = self.output {
            text += &format!(
                "before you send it: plimsoll capture show {0}\nrun anything on it:  plimsoll status --capture {0}\n",
                self.output.name()
            );
        }
        Ok(text)
    }
}
