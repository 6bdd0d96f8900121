//! Version 1 of captures, the form of the embedded demo, as values.
//!
//! The first line is `{"plimsoll_capture": 1, "made_by": …, "started_at": SECONDS}`; then one line an observation:
//! `{"at", "took_s", "target", "get", "status", "content_type", "body"}`, with `error` in place of the last three when
//! the look brought nothing; or `{"at", "process": {…}}`. Unknown keys are passed over. Times are seconds since 1970.

use model::{Note, Time};
use serde::Deserialize;

/// The newest version that is read here.
const VERSION: u32 = 1;
/// Lines beyond this are not read.
const MOST_LINES: usize = 1_000_000;

/// A capture, as far as it could be read.
#[derive(Debug, Clone)]
pub struct Capture {
    /// When it was begun.
    pub started_at: Time,
    /// Its looks over HTTP, in the order of the file.
    pub seen: Vec<Seen>,
}

/// One recorded look over HTTP.
#[derive(Debug, Clone, Deserialize)]
pub struct Seen {
    /// When the answer was complete.
    pub at: Time,
    /// The address that was asked, without path.
    pub target: String,
    /// The path.
    pub get: String,
    /// HTTP status; none when there was no answer.
    #[serde(default)]
    pub status: Option<u16>,
    /// Content type.
    #[serde(default)]
    pub content_type: String,
    /// The body.
    #[serde(default)]
    pub body: String,
}

#[derive(Deserialize)]
struct Head {
    plimsoll_capture: u32,
    started_at: Time,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Seen(Seen),
    Process {
        #[serde(rename = "process")]
        _process: serde::de::IgnoredAny,
    },
}

/// Reads a capture. A first line that is none, or of a newer version, is an error; a line that cannot be read costs that
/// line.
pub fn read(text: &str) -> Result<(Capture, Vec<Note>), String> {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default();
    let head: Head = serde_json::from_str(head).map_err(|error| format!("no capture: its first line: {error}"))?;
    if head.plimsoll_capture > VERSION {
        return Err(format!("a capture of version {}; this program reads up to {VERSION}", head.plimsoll_capture));
    }
    let mut bad = 0_usize;
    let mut seen = Vec::new();
    for line in lines.take(MOST_LINES) {
        match serde_json::from_str(line) {
            Ok(Line::Seen(one)) => seen.push(one),
            Ok(Line::Process { .. }) => {}
            Err(_) => bad += 1,
        }
    }
    let mut notes = Vec::new();
    if bad > 0 {
        notes.push(Note::new("lines-unread", format!("{bad} lines of the capture could not be read")));
    }
    Ok((Capture { started_at: head.started_at, seen }, notes))
}
