//! `sources.toml`, `[log]` and `[[line]]`: how the engine writes its log, and what its lines mean.

use std::collections::BTreeMap;

use model::Signal;
use serde::{Deserialize, Serialize};

use super::condition::Condition;
use super::read::Read;
use super::version::Version;

/// How the log is written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogFormat {
    /// Rank tags as they are written and the kind of rank that they tell, e.g. `TP = "tp"` for `TP3`.
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
}

/// One kind of line. It fits when its message begins with one of `starts`; its rows name the keys of the key and number
/// pairs in it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // they are columns of a table
pub struct Line {
    /// Its name in `explain`.
    pub id: String,
    /// Beginnings of the message, of which one must be there.
    pub starts: Vec<String>,
    /// Texts further on that must all be there.
    #[serde(default)]
    pub with: Vec<String>,
    /// Versions that print it so, for the docs: what is printed is read, whatever version prints it.
    #[serde(default)]
    pub since: Option<Version>,
    /// First version that does not.
    #[serde(default)]
    pub until: Option<Version>,
    /// It may go on a message that begins otherwise, on its line or below: an exception, a check of the books. Others begin
    /// a message, so that no text of a request is read for them.
    #[serde(default)]
    pub inside: bool,
    /// Said once at the start, and true as long as the server lives.
    #[serde(default)]
    pub lasting: bool,
    /// Only a server that starts prints it: what stands before it is of an earlier run.
    #[serde(default)]
    pub run: bool,
    /// It holds a dump of all arguments, which `knobs.toml` reads.
    #[serde(default)]
    pub dump: bool,
    /// Several such lines with different numbers tell of different things: none of them is read then.
    #[serde(default)]
    pub sole: bool,
    /// What is neither available nor evictable is used.
    #[serde(default)]
    pub rest: bool,
    /// Facts that the presence of a key tells: `fact=value` by key.
    #[serde(default)]
    pub tells: BTreeMap<String, String>,
    /// Texts further on of which none may be there.
    #[serde(default)]
    pub without: Vec<String>,
    /// Facts that the presence of a text tells: `fact=value` by text.
    #[serde(default)]
    pub says: BTreeMap<String, String>,
    /// Facts that the word behind a text is (a version, a name): fact by text.
    #[serde(default)]
    pub words: BTreeMap<String, String>,
    /// Numbers that stand at once behind a text, where no `:` or `=` makes a pair of them: key by text. What `words` makes a fact
    /// these make a number that rows may read.
    #[serde(default)]
    pub numbers: BTreeMap<String, String>,
    /// Numbers that stand at once before a text, its blank included: key by text, e.g. `" running" = "running"`.
    #[serde(default)]
    pub before: BTreeMap<String, String>,
    /// Keys of which the number has a unit of bytes behind it, or of which two such numbers have a slash between them:
    /// `168.00 MB`, `1.20 GB / 3.00 GB`, `38.40/64.00 GiB`. They are in bytes then, the second by its key and a slash
    /// (`"Mem Storage/"`), each right within half of its last digit; without a unit there is none, nor where a word (`infinite`)
    /// stands in its place.
    #[serde(default)]
    pub sizes: Vec<String>,
    /// In `sizes` KB, MB, GB and TB are powers of 1024, as KiB and its like always are; else of 1000.
    #[serde(default)]
    pub binary: bool,
    /// Keys of which two plain numbers have a slash between them: `250/334`. The second by its key and a slash.
    #[serde(default)]
    pub fractions: Vec<String>,
    /// Facts that the number behind a key is: fact by key.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
    /// An event: what it counts.
    #[serde(default)]
    pub count: Option<Count>,
    /// What it means, for people, where a line alone is worth a note.
    #[serde(default)]
    pub note: String,
    /// Read only when this holds; the facts that it tells are known unless it does not.
    #[serde(default)]
    pub when: Option<Condition>,
    /// The keys.
    #[serde(default)]
    pub read: Vec<Read>,
    /// It is of another engine's table (`borrows`).
    #[serde(skip)]
    pub borrowed: bool,
}

/// What a line of an event counts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// The signal: events within the window of a look.
    pub signal: Signal,
    /// The key of how many; absent from the table or from the line: one.
    #[serde(default)]
    pub key: Option<String>,
}

impl Line {
    /// The line as another engine borrows it of `engine`: what it counts and its note, and nothing of whose it is.
    pub(crate) fn lent(&self, engine: &str) -> Line {
        let none = BTreeMap::new;
        Line {
            id: format!("{engine} {}", self.id),
            borrowed: true,
            run: false,
            dump: false,
            lasting: false,
            sole: false,
            tells: none(),
            says: none(),
            words: none(),
            facts: none(),
            read: Vec::new(),
            ..self.clone()
        }
    }

    /// The keys of sizes and fractions.
    pub fn measured(&self) -> impl Iterator<Item = &str> {
        self.sizes.iter().chain(&self.fractions).map(String::as_str)
    }

    /// Where in a message the texts end that tell facts, with the words behind them.
    pub fn told(&self, message: &str) -> usize {
        let says = self.says.keys().filter_map(|text| Some(message.find(text.as_str())? + text.len()));
        let words = self.words.keys().filter_map(|text| {
            let (start, word) = word_behind(message, text)?;
            Some(start + word.len())
        });
        says.chain(words).max().unwrap_or(0)
    }
}

/// The word that stands at once behind `text`, and where it begins.
pub fn word_behind<'a>(message: &'a str, text: &str) -> Option<(usize, &'a str)> {
    let start = message.find(text)? + text.len();
    let rest = &message[start..];
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._+-/".contains(letter);
    let end = rest.find(|letter| !plain(letter)).unwrap_or(rest.len());
    let word = rest[..end].trim_end_matches(['.', '-', '/']);
    (!word.is_empty()).then_some((start, word))
}
