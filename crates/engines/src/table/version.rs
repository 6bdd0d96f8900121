//! Versions as engines print them: `0.5.23`, `0.4.6.post5`, `0.5.10.dev3+gabc`.

use serde::{Deserialize, Serialize};

/// A version, comparable. Numbers count, and a `postN` after them; `dev`, `rc` and local parts are ignored, so that a
/// build from between two releases is read by the rows of the release that it leads to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version(Vec<u32>);

impl Version {
    /// Reads a version; `None` when it does not begin with a number, or is all zeros.
    pub fn parse(text: &str) -> Option<Version> {
        let mut numbers = Vec::new();
        for part in text.trim().trim_start_matches('v').split(['.', '+', '-']) {
            let digits = part.strip_prefix("post").unwrap_or(part);
            let length = digits.bytes().take_while(u8::is_ascii_digit).count();
            if length == 0 {
                break;
            }
            numbers.push(digits[..length].parse().ok()?);
            if length < digits.len() {
                break;
            }
        }
        // A checkout without tags calls itself 0.0.0: that is no version, but the lack of one.
        numbers.iter().any(|number| *number > 0).then_some(Version(numbers))
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Version, String> {
        Version::parse(&text).ok_or_else(|| format!("{text:?} is not a version"))
    }
}

impl From<Version> for String {
    fn from(version: Version) -> String {
        version.0.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
    }
}
