//! The writer: looks and events in, a log at once, chunks in time.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::disk::Disk;
use crate::error::Error;
use crate::events::{Event, Numbered};
use crate::key::{Key, Shape};
use crate::lock::Lock;
use crate::look::{Look, encode};
use crate::options::Options;
use crate::read::Reader;
use crate::sample::Sample;
use crate::segment::Leftovers;
use crate::thin::Thin;
use crate::view::Shared;
use crate::wal::Wal;

/// Bytes that wait in memory at most, while they cannot be written.
const MOST_PENDING: usize = 4 << 20;

/// Targets that find the clock set back within so many milliseconds of each other find the same.
const SAME_STEP_MS: u64 = 60_000;

/// Looks that were not taken.
#[derive(Clone, Copy)]
struct Lost {
    count: u64,
    from: i64,
}

/// A history on disk. One process has it; readers of the same process see every look as soon as it is taken.
///
/// ```no_run
/// # fn main() -> Result<(), ledger::Error> {
/// use ledger::{Key, Ledger, Options, Query, Sample};
/// let (mut ledger, notes) = Ledger::open(std::path::Path::new("/var/lib/plimsoll"), Options::default())?;
/// let shape = ledger.shape("10.0.0.1:30000", vec![Key::new(["dp0", "full", "device", "kv.used"])])?;
/// let now = 1_780_000_000_000;
/// ledger.append(&shape, now, &[Sample::Value(1364.0)])?;
/// ledger.sync()?; // from here on the look outlives any crash
/// while ledger.tidy(now)? {} // a piece of work each time; stop whenever there is something else to do
/// let history = ledger.reader().history(&Query { from: now - 3_600_000, to: now, ..Query::default() });
/// # Ok(()) }
/// ```
pub struct Ledger {
    pub(crate) options: Options,
    pub(crate) disk: Disk,
    _lock: Lock,
    pub(crate) shared: Arc<Shared>,
    pub(crate) wal: Wal,
    /// The next look's or event's number.
    number: u64,
    shapes: u64,
    /// Whether the last segment takes more chunks.
    pub(crate) growing: bool,
    /// A chunk could not be written; not tried again before the next `sync` or `tidy`.
    pub(crate) stuck: bool,
    lost: Option<Lost>,
    pub(crate) newest: HashMap<Arc<str>, i64>,
    /// How many of them were left when old ones were forgotten last.
    pub(crate) targets: usize,
    /// The time to which the clock went back last.
    stepped: Option<i64>,
    pub(crate) thin: Option<Thin>,
    pub(crate) leftovers: Leftovers,
    /// What could not be read when it was thinned, and is not told yet.
    pub(crate) damage: VecDeque<Event>,
}

impl Ledger {
    pub(crate) fn new(
        options: Options,
        disk: Disk,
        lock: Lock,
        shared: Arc<Shared>,
        wal: Wal,
        (number, shapes): (u64, u64),
        leftovers: Leftovers,
    ) -> Self {
        let view = shared.now();
        let mut newest: HashMap<Arc<str>, i64> = HashMap::new();
        let chunks = view.segments.iter().flat_map(|segment| &segment.entries);
        let looks = view.looks.values().flat_map(|looks| looks.iter());
        let times = chunks.map(|entry| (&entry.about.target, entry.about.to));
        for (target, time) in times.chain(looks.map(|look| (&look.shape.target, look.time))) {
            let newest = newest.entry(target.clone()).or_insert(time);
            *newest = time.max(*newest);
        }
        // The last segment goes on, unless it was thinned.
        let growing = view.segments.last().is_some_and(|segment| segment.id.tier == 0);
        Self {
            options,
            disk,
            _lock: lock,
            shared,
            wal,
            number,
            shapes,
            growing,
            stuck: false,
            lost: None,
            newest,
            targets: 0,
            stepped: None,
            thin: None,
            leftovers,
            damage: VecDeque::new(),
        }
    }

    /// Names the series of looks at a target, once for many looks. Where a series comes or goes for good, a new shape is
    /// made; where one is missing in a look, its sample is `Absent`. Keys that stand side by side and grow together
    /// (buckets of a histogram, in their order) are kept best.
    pub fn shape(&mut self, target: &str, keys: Vec<Key>) -> Result<Shape, Error> {
        self.shapes += 1;
        Shape::new(self.shapes, target, keys)
    }

    /// Takes one look at a target: `time` in milliseconds since 1970, and a sample for each key of the shape. It is read at
    /// once, and outlives a crash after the next `sync` that succeeds.
    ///
    /// A time before the target's newest one is kept as it is, beside an event `clock` whose value says how many
    /// milliseconds it went back, of the first target within a minute: one clock is set for all. Readers get every series in the
    /// order of time.
    pub fn append(&mut self, shape: &Shape, time: i64, samples: &[Sample]) -> Result<(), Error> {
        let target = shape.0.target.clone();
        if samples.len() != shape.keys().len() {
            let (is, should) = (samples.len(), shape.keys().len());
            return Err(Error::Unfit(format!("a look at {target} has {is} samples, and its shape {should}")));
        }
        let mut bytes = Vec::new();
        encode(&mut bytes, samples);
        // Twice the names: the log may have to begin a new file.
        self.admit(time, bytes.len() + 2 * shape.0.names.len() + 256)?;
        let newest = self.newest.get(&target).copied();
        if let Some(back) = newest.map(|newest| newest.saturating_sub(time)).filter(|back| *back > 0)
            && self.stepped.is_none_or(|stepped| time.abs_diff(stepped) > SAME_STEP_MS)
        {
            self.stepped = Some(time);
            let text = format!("the clock went back by {back} ms");
            let event =
                Event { time, target: target.to_string(), kind: "clock".to_owned(), text, value: Some(back as f64) };
            self.take_event(event);
        }
        let look = Arc::new(Look { number: self.number, time, shape: shape.0.clone(), bytes: bytes.into() });
        self.wal.look(&look);
        self.number += 1;
        self.newest.insert(target.clone(), time);
        self.shared.change(|view| Arc::make_mut(view.looks.entry(target).or_default()).push(look));
        Ok(())
    }

    /// Takes an event. It is read at once, and outlives a crash after the next `sync` that succeeds.
    pub fn event(&mut self, event: Event) -> Result<(), Error> {
        event.check()?;
        self.admit(event.time, event.text.len() + 256)?;
        self.take_event(event);
        Ok(())
    }

    /// Tells of what could not be read and is gone since it was thinned. What finds no room is told later, and not lost.
    pub(crate) fn tell_damage(&mut self) -> Result<(), Error> {
        while let Some(event) = self.damage.front().cloned() {
            self.room(event.text.len() + 256)?;
            self.take_event(event);
            self.damage.pop_front();
        }
        Ok(())
    }

    fn take_event(&mut self, event: Event) {
        let event = Arc::new(Numbered { number: self.number, event });
        self.wal.event(&event);
        self.number += 1;
        self.shared.change(|view| Arc::make_mut(&mut view.events).push(event));
    }

    /// Finds room in the log for so many bytes, or counts what is lost.
    fn admit(&mut self, time: i64, bytes: usize) -> Result<(), Error> {
        if bytes as u64 > self.options.log_bytes / 2 {
            return Err(Error::Unfit(format!("{bytes} bytes at once are too many for the log")));
        }
        if self.stuck || self.room(bytes).is_err() {
            self.stuck = true;
            let lost = self.lost.get_or_insert(Lost { count: 0, from: time });
            lost.count += 1;
            return Err(Error::Full { lost: lost.count });
        }
        if let Some(Lost { count, from }) = self.lost.take() {
            let text = format!("{count} looks and events from {from} on could not be written and are lost");
            let value = Some(count as f64);
            self.take_event(Event { time, target: String::new(), kind: "gap".to_owned(), text, value });
        }
        Ok(())
    }

    fn room(&mut self, bytes: usize) -> Result<(), Error> {
        // An eighth is left for what is said of dropped segments.
        let most = self.options.log_bytes / 8 * 7;
        while self.wal.bytes() + bytes as u64 > most && self.relieve()? {}
        if self.wal.pending() + bytes > MOST_PENDING {
            self.wal.write(&self.disk)?;
        }
        self.wal.ready(&self.disk)
    }

    /// Writes what was taken and waits until it is on the disk. To be called every second: what was taken since is all that a
    /// crash can cost. Where it fails, what was taken waits for the next call.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.stuck = false;
        // What a failed sync left behind cannot be known: it is written again, elsewhere.
        if self.wal.suspect { self.settle() } else { self.wal.sync(&self.disk) }
    }

    /// A handle for reading, which any thread may have.
    pub fn reader(&self) -> Reader {
        Reader::new(self.shared.clone())
    }

    /// Bytes of all files that hold looks and events.
    pub fn bytes(&self) -> u64 {
        self.segment_bytes() + self.wal.bytes()
    }

    pub(crate) fn segment_bytes(&self) -> u64 {
        let thin =
            self.thin.as_ref().map_or(0, Thin::bytes) + self.leftovers.iter().map(|(_, bytes)| bytes).sum::<u64>();
        self.shared.now().segments.iter().map(|segment| segment.bytes).sum::<u64>() + thin
    }
}
