//! `capture.toml`: what was asked, what came back, and what it means, reasoned from something other than the program.

use std::path::{Path, PathBuf};

use model::{Answer, Log, LogClock, Observation, Signal, Stretch, Time};
use serde::Deserialize;

use super::tables;

/// One folder `engines/<engine>/captures/<version>-<situation>/`.
pub(crate) struct Capture {
    /// The engine whose folder it lies in.
    pub(crate) engine: String,
    /// `<engine>/<version>-<situation>`.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) folder: PathBuf,
    /// Its `capture.toml`.
    pub(crate) file: CaptureFile,
}

/// The whole of `capture.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaptureFile {
    /// Whether a program said it, or it was only read in source.
    pub(crate) origin: Origin,
    /// When the first answer was taken, RFC 3339.
    pub(crate) taken: String,
    /// How it was made.
    pub(crate) how: String,
    /// The command line of the server, where it is known.
    #[serde(default)]
    pub(crate) argv: Vec<String>,
    /// The answers, in the order in which they were taken.
    #[serde(default)]
    pub(crate) answer: Vec<AnswerRow>,
    /// Its logs, read when the last answer was taken.
    #[serde(default)]
    pub(crate) log: Vec<LogRow>,
    /// What is known of the server.
    #[serde(default)]
    pub(crate) fact: Vec<FactRow>,
    /// The workers that a router lists: all of them.
    #[serde(default)]
    pub(crate) worker: Vec<WorkerRow>,
    /// The readings.
    #[serde(default)]
    pub(crate) expect: Vec<Expect>,
    /// What a router's copy of its workers' pages says of them.
    #[serde(default)]
    pub(crate) relay: Vec<RelayRow>,
}

/// Where a capture comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Origin {
    /// A real program said it.
    Captured,
    /// Made from a version's source; the docs say "not seen".
    Source,
}

/// One answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerRow {
    /// The path; a name without a slash before it is of what a server leaves beside its pages, as its table calls it.
    pub(crate) get: String,
    /// Which port gave it, as the engine's table calls it.
    #[serde(default = "api")]
    pub(crate) on: String,
    /// HTTP status.
    pub(crate) status: u16,
    /// The body's file; absent for an empty body.
    #[serde(default)]
    pub(crate) file: Option<String>,
    /// As sent.
    #[serde(default)]
    pub(crate) content_type: String,
    /// Seconds after `taken`.
    #[serde(default)]
    pub(crate) at: f64,
}

impl AnswerRow {
    /// Whether it was asked over HTTP.
    pub(crate) fn is_page(&self) -> bool {
        self.get.starts_with('/')
    }
}

/// One log.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogRow {
    /// Its file.
    pub(crate) file: String,
    /// Seconds after `taken` at which it was read, where that is after the last answer.
    #[serde(default)]
    pub(crate) at: f64,
}

/// Whether the server's command line is known to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Given {
    /// It is.
    Argv,
    /// Only its answers are.
    Answers,
}

/// Something about the server that is no reading.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactRow {
    /// `engine`, `version`, `role`, `model`, `ranks`, `pools`, `notes`, `verdict`, `reason`, `fleet.in_use_max`,
    /// `fleet.in_use_weighted`, or any fact of the engine's tables.
    pub(crate) name: String,
    /// Its value; of `pools` and `notes` the whole list; of `reason` a part of it.
    pub(crate) value: toml::Value,
    /// Only when the reader knows so much.
    #[serde(default)]
    pub(crate) given: Option<Given>,
    /// The evidence.
    pub(crate) why: String,
}

/// A worker that a router lists.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkerRow {
    /// Its address as the router spells it.
    pub(crate) url: String,
    /// The role that the router gives it.
    pub(crate) role: String,
    /// Whether it gets requests.
    pub(crate) healthy: bool,
    /// Its version, as the router knows it.
    #[serde(default)]
    pub(crate) version: Option<String>,
    /// The evidence.
    pub(crate) why: String,
}

/// One number of a worker on the page on which its router passes on its workers' own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RelayRow {
    /// The worker's engine.
    pub(crate) engine: String,
    /// Its address as the router spells it.
    pub(crate) worker: String,
    /// The signal, of the full pool or of the rank.
    pub(crate) signal: Signal,
    /// Its reported value.
    pub(crate) value: f64,
    /// The evidence.
    pub(crate) why: String,
}

/// One reading.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    /// Its signal.
    pub(crate) signal: Signal,
    /// The worker, for a router's view.
    #[serde(default)]
    pub(crate) worker: Option<String>,
    /// The pool, for signals of a pool; `full` when absent.
    #[serde(default)]
    pub(crate) pool: Option<String>,
    /// The tier; `device` when absent.
    #[serde(default)]
    pub(crate) tier: Option<String>,
    /// The rank; 0 of each kind when absent.
    #[serde(default)]
    pub(crate) rank: RankRow,
    /// The number; absent where there is none.
    #[serde(default)]
    pub(crate) value: Option<f64>,
    /// The state, or `absent` when the snapshot must not hold such a reading at all.
    pub(crate) state: String,
    /// Right within ± this.
    #[serde(default)]
    pub(crate) precision: Option<f64>,
    /// Seconds, within 10 ms.
    #[serde(default)]
    pub(crate) age: Option<f64>,
    /// What the number counts, where that is not plain.
    #[serde(default)]
    pub(crate) unit: Option<String>,
    /// A part of the source that said it.
    #[serde(default)]
    pub(crate) said: Option<String>,
    /// Only when the reader knows so much.
    #[serde(default)]
    pub(crate) given: Option<Given>,
    /// The evidence.
    pub(crate) why: String,
}

/// A rank.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RankRow {
    /// Data parallel.
    #[serde(default)]
    pub(crate) dp: u32,
    /// Tensor parallel.
    #[serde(default)]
    pub(crate) tp: u32,
    /// Pipeline parallel.
    #[serde(default)]
    pub(crate) pp: u32,
}

fn api() -> String {
    "api".to_owned()
}

/// All captures, by engine and name.
pub(crate) fn all() -> Vec<Capture> {
    let mut captures = Vec::new();
    for engine in tables::folders() {
        for folder in folders(&engine.join("captures")) {
            let engine = name(&engine);
            let text = std::fs::read_to_string(folder.join("capture.toml"))
                .unwrap_or_else(|error| panic!("{}: capture.toml: {error}", folder.display()));
            let file = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            captures.push(Capture { name: format!("{engine}/{}", name(&folder)), engine, folder, file });
        }
    }
    assert!(!captures.is_empty(), "no capture was found");
    captures
}

/// The capture of this name.
pub(crate) fn named(name: &str) -> Capture {
    all().into_iter().find(|capture| capture.name == name).unwrap_or_else(|| panic!("no capture is called {name}"))
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(parent) else { return Vec::new() };
    let mut found: Vec<PathBuf> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl Capture {
    /// When it was taken.
    pub(crate) fn taken(&self) -> Time {
        let stamp: jiff::Timestamp = self
            .file
            .taken
            .parse()
            .unwrap_or_else(|error| panic!("{}: taken {:?}: {error}", self.name, self.file.taken));
        Time(stamp.as_millisecond() as f64 / 1000.0)
    }

    /// The time at which it is looked at: a second after its last answer or log.
    pub(crate) fn now(&self) -> Time {
        let answers = self.file.answer.iter().map(|answer| answer.at);
        self.taken().plus(1.0 + answers.chain(self.file.log.iter().map(|log| log.at)).fold(0.0, f64::max))
    }

    /// Its logs, as those of a server that runs on this host and whose clock is at UTC.
    pub(crate) fn logs(&self) -> Vec<Log> {
        let read = |row: &LogRow| {
            let bytes = std::fs::read(self.folder.join(&row.file))
                .unwrap_or_else(|error| panic!("{}: {}: {error}", self.name, row.file));
            let at = self.now();
            Log {
                name: row.file.clone(),
                at,
                took: 0.01,
                since: None,
                clock: LogClock::Offset(0.0),
                written: None,
                outcome: Ok(vec![Stretch { bytes, first_line: Some(1), from_start: true, name: None }]),
            }
        };
        self.file.log.iter().map(read).collect()
    }

    /// One observation.
    pub(crate) fn observation(&self, answer: &AnswerRow) -> Observation {
        let body = match &answer.file {
            Some(file) => {
                std::fs::read(self.folder.join(file)).unwrap_or_else(|error| panic!("{}: {file}: {error}", self.name))
            }
            None => Vec::new(),
        };
        Observation {
            get: answer.get.clone(),
            url: format!("{}{}", port(&answer.on), answer.get),
            at: self.taken().plus(answer.at),
            took: 0.01,
            outcome: Ok(Answer {
                status: answer.status,
                content_type: answer.content_type.clone(),
                body,
                ..Answer::default()
            }),
        }
    }

    /// All observations, in the order of the file.
    pub(crate) fn observations(&self) -> Vec<Observation> {
        self.file.answer.iter().map(|answer| self.observation(answer)).collect()
    }
}

/// The address that stands for a port in tests.
fn port(on: &str) -> &'static str {
    if on == "api" { "http://127.0.0.1:30000" } else { "http://127.0.0.1:29001" }
}
