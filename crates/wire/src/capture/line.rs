//! The lines of a capture, as far as the container is concerned. Unknown keys are passed over, and so are lines of unknown
//! kinds.

use model::Time;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::few::few;
use super::{Head, Unreadable, VERSION};

/// Most words of a question.
const WORDS: usize = 4096;
/// Most targets, files, logs and so on of a site.
const LISTED: usize = 10_000;
/// Longest `made_by` that is kept, characters.
const MADE_BY: usize = 200;

/// What was looked at from one place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Site {
    /// The way there, such as `ssh://gpu-a`; none for the host that took the capture.
    pub via: Option<String>,
    /// The targets that were given; none: the host was searched.
    #[serde(deserialize_with = "few::<_, _, LISTED>")]
    pub targets: Vec<String>,
    /// The targets are saved files.
    pub files: bool,
    /// Logs that were given.
    #[serde(deserialize_with = "few::<_, _, LISTED>")]
    pub logs: Vec<String>,
    /// Monitors that were given.
    #[serde(deserialize_with = "few::<_, _, LISTED>")]
    pub monitors: Vec<String>,
    /// Targets that were listed in a file.
    #[serde(deserialize_with = "few::<_, _, LISTED>")]
    pub listed: Vec<String>,
}

impl Site {
    /// About what it takes in memory, bytes.
    pub(super) fn size(&self) -> usize {
        /// A string of its own, in two places.
        const TEXT: usize = 48;
        let lists = [&self.targets, &self.logs, &self.monitors, &self.listed];
        lists.into_iter().flatten().chain(&self.via).map(|text| text.len() + TEXT).sum::<usize>() + 4 * TEXT
    }
}

/// Any line but the first.
#[derive(Deserialize)]
struct Raw {
    plimsoll_capture: Option<IgnoredAny>,
    look: Option<u64>,
    at: Option<Time>,
    site: Option<Site>,
    ask: Option<IgnoredAny>,
    now: Option<Time>,
}

/// What a line is.
#[derive(Debug)]
pub(super) enum Line {
    /// A look at a site begins.
    Begin { look: u64, at: Time, site: Site },
    /// An answer of the look that is open.
    Answer { at: Time },
    /// The look that is open ends.
    End { look: u64, now: Time },
    /// Another capture begins, as when two files were joined.
    Head,
    /// Something else, of a program to come.
    Other,
}

/// Reads a line; none where it cannot be read.
pub(super) fn line(bytes: &[u8]) -> Option<Line> {
    let raw: Raw = object(bytes)?;
    Some(match raw {
        Raw { plimsoll_capture: Some(_), .. } => Line::Head,
        Raw { ask: Some(_), at, .. } => Line::Answer { at: at? },
        Raw { look: Some(look), site: Some(site), at, .. } => Line::Begin { look, at: at?, site },
        Raw { look: Some(look), now: Some(now), .. } => Line::End { look, now },
        _ => Line::Other,
    })
}

/// Reads an object; a list in its place, which serde takes for the fields in their order, is none.
pub(super) fn object<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let is_object = bytes.trim_ascii_start().first() == Some(&b'{');
    is_object.then(|| serde_json::from_slice(bytes).ok()).flatten()
}

/// A question and where its answer stands.
#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    /// Empty on a line of another kind.
    #[serde(default, deserialize_with = "few::<_, _, WORDS>")]
    pub(super) ask: Vec<String>,
    pub(super) at: Option<Time>,
    /// The line that holds the answer, where this one does not.
    #[serde(rename = "as")]
    pub(super) same: Option<u64>,
}

/// Reads the line of an answer.
pub(super) fn asked(bytes: &[u8]) -> Option<Asked> {
    object(bytes)
}

#[derive(Deserialize)]
struct Version {
    plimsoll_capture: u64,
}

#[derive(Deserialize)]
struct RawHead {
    #[serde(default)]
    made_by: String,
    started_at: Time,
    #[serde(default)]
    anonymised: bool,
}

/// Reads the first line: the version, and what it says.
pub(super) fn head(bytes: &[u8]) -> Result<(u32, Head), Unreadable> {
    let version: Version = object(bytes).ok_or_else(|| super::kind::looks_like(bytes))?;
    let version = match u32::try_from(version.plimsoll_capture) {
        Ok(version @ 1..=VERSION) => version,
        Ok(0) => return Err(Unreadable::Head("there is no version 0".to_owned())),
        _ => return Err(Unreadable::Newer(version.plimsoll_capture)),
    };
    let raw: RawHead = serde_json::from_slice(bytes).map_err(|error| Unreadable::Head(error.to_string()))?;
    let made_by = model::text::visible(raw.made_by).chars().take(MADE_BY).collect();
    Ok((version, Head { made_by, started_at: raw.started_at, anonymised: raw.anonymised }))
}
