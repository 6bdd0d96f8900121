//! How servers are started, read from text: systemd units, shell text, compose files and Kubernetes manifests, and the
//! arguments that servers print into their logs. Every word knows its line.
//!
//! **Secrets.** Values are kept as they stand, because a flag cannot be judged without them; callers decide what they
//! show. `Debug` of the types here shows no value of the environment, no text of a word, and no field of a dump whose name
//! looks secret. Notes name lines, never values.

mod dump;
mod limits;
mod look;
mod shell;
mod unit;
mod word;
mod yaml;

pub use dump::{Dump, Value, dump};
pub use look::{Looks, looks_like};
pub use shell::shell;
pub use unit::{Assignments, drop_in, env_file, unit, unit_with};
pub use word::Word;
pub use yaml::{Scalar, scalars, yaml};

use std::fmt;

use model::Note;

/// What a command was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A systemd unit.
    Unit,
    /// A script, or commands typed into a shell.
    Shell,
    /// A container started by a command: the words are those that run inside it.
    Container,
    /// A service of a compose file.
    Compose,
    /// A container of a Kubernetes object.
    Kubernetes,
}

/// One command that starts something.
#[derive(Clone, PartialEq, Eq)]
pub struct Launch {
    /// What it was written in.
    pub form: Form,
    /// Unit, container or service; `object/container` in a manifest.
    pub name: Option<String>,
    /// Of containers in a manifest: the kind of the object around, `Deployment`.
    pub kind: Option<String>,
    /// The command. Where `image` is given and `entrypoint` is not, the image may put words of its own before them.
    pub words: Vec<Word>,
    /// Variables with their lines, a later one of the same name wins.
    pub environment: Vec<(String, String, u32)>,
    /// The line, from 1, where the command begins.
    pub line: u32,
    /// The file that the text says it comes from: `# /etc/systemd/system/x.service`, `# Source: chart/templates/x.yaml`.
    pub file_hint: Option<String>,
    /// The container's image.
    pub image: Option<String>,
    /// Whether the text itself says what a container runs first.
    pub entrypoint: bool,
    /// Of units: the value of `ExecStart=` as it stands, over all its lines. None where it is not alone, so that adding to it
    /// would be a guess.
    pub raw: Option<String>,
}

impl Launch {
    pub(crate) fn new(form: Form, line: u32) -> Launch {
        Launch {
            form,
            name: None,
            kind: None,
            words: Vec::new(),
            environment: Vec::new(),
            line,
            file_hint: None,
            image: None,
            entrypoint: false,
            raw: None,
        }
    }

    /// The words as an argument vector.
    pub fn argv(&self) -> Vec<String> {
        self.words.iter().map(|word| word.text.clone()).collect()
    }

    /// The line of the last word that is `wanted` or `wanted=…`, also inside of a script that is a word (`bash -c "…"`).
    pub fn line_of(&self, wanted: &str) -> Option<u32> {
        let is =
            |word: &Word| word.text.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
        self.words.iter().rev().find_map(|word| {
            let inner = || {
                let commands = shell::commands(word).0;
                commands
                    .iter()
                    .rev()
                    .flat_map(|command| command.words.iter().rev())
                    .find(|word| is(word))
                    .map(|word| word.line)
            };
            if is(word) { Some(word.line) } else { word.text.contains(char::is_whitespace).then(inner).flatten() }
        })
    }

    /// The line of the last word: what is added to the command goes behind it.
    pub fn end(&self) -> u32 {
        self.words.last().map_or(self.line, |word| word.line)
    }

    /// Whether a value in the command is likely secret: a text that repeats the command is then to be handled with care.
    pub fn holds_secret(&self) -> bool {
        model::holds_secret(self.words.iter().map(|word| word.text.as_str()))
    }
}

impl fmt::Debug for Launch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let environment: Vec<_> = self.environment.iter().map(|(name, _, line)| (name, line)).collect();
        out.debug_struct("Launch")
            .field("form", &self.form)
            .field("name", &self.name)
            .field("words", &self.words)
            .field("environment", &environment)
            .field("line", &self.line)
            .field("file_hint", &self.file_hint)
            .field("entrypoint", &self.entrypoint)
            .finish_non_exhaustive()
    }
}

/// All that one text starts.
#[derive(Debug, Clone, Default)]
pub struct Launches {
    /// The commands, in the order of the text.
    pub found: Vec<Launch>,
    /// Files of variables that the text names: path, whether it may be missing, line.
    pub environment_files: Vec<(String, bool, u32)>,
    /// What was passed over, and why; names lines, never values.
    pub notes: Vec<Note>,
    /// Bytes that were copied for several commands.
    copied: usize,
}

impl Launches {
    /// A copy of variables that hold for many commands, as long as all copies together stay within bounds.
    pub(crate) fn copy(&mut self, variables: &[(String, String, u32)]) -> Vec<(String, String, u32)> {
        let size: usize = variables.iter().map(|(name, value, _)| name.len() + value.len() + 64).sum();
        if self.spend(size) { variables.to_vec() } else { Vec::new() }
    }

    /// Whether so many more bytes may be copied out of the text.
    pub(crate) fn spend(&mut self, bytes: usize) -> bool {
        self.copied = self.copied.saturating_add(bytes);
        if self.copied > limits::COPIES && self.notes.iter().all(|note| note.id != "many-copies") {
            self.notes.push(Note::new("many-copies", "variables are used so often that not all of them are put in"));
        }
        self.copied <= limits::COPIES
    }

    pub(crate) fn note(&mut self, id: &'static str, text: impl Into<String>) {
        if self.notes.len() < limits::NOTES {
            self.notes.push(Note::new(id, text));
        }
    }

    /// Keeps `launch` if it is within the limits.
    pub(crate) fn keep(&mut self, mut launch: Launch) {
        let named = |name: &String| name.len() <= limits::PATH;
        launch.name = launch.name.filter(named);
        launch.image = launch.image.filter(named);
        let line = launch.line;
        if self.found.len() == limits::LAUNCHES {
            if self.notes.iter().all(|note| note.id != "many-commands") {
                self.notes.push(Note::new("many-commands", format!("from line {line} on, commands are not read")));
            }
        } else if launch.words.len() > limits::WORDS {
            self.note("long-command", format!("line {line}: more than {} words, not read", limits::WORDS));
        } else if launch.words.iter().any(|word| word.text.len() > limits::WORD) {
            self.note("long-word", format!("line {line}: a word above {} KiB, not read", limits::WORD >> 10));
        } else {
            self.found.push(launch);
        }
    }
}
