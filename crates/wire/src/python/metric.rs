//! What a definition says, and how it comes out on a page.

use serde::{Deserialize, Serialize};

/// One metric that a file defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// Its name as the source has it; a part that the file does not say is `{the expression}`.
    pub name: String,
    /// What kind it is.
    pub kind: Kind,
    /// Names of its labels, as far as they are written at the definition.
    pub labels: Vec<String>,
    /// What must hold so that the definition is reached: tests of the `if`s around it (`not (…)` for their other
    /// branches, and behind an early return), as the source has them, outermost first; eight at most.
    pub when: Vec<String>,
    /// The class around it.
    pub class: Option<String>,
    /// The function around it.
    pub function: Option<String>,
    /// What it is assigned to, without `self.`.
    pub attribute: Option<String>,
    /// The line of the definition, from 1.
    pub line: u32,
}

/// The kinds of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only goes up.
    Counter,
    /// Counts in buckets.
    Histogram,
    /// A count and a sum.
    Summary,
    /// Labels and the value 1.
    Info,
    /// Buckets that go up and down: as a gauge with bounds in labels, or with names of its own.
    GaugeHistogram,
}

impl Kind {
    /// What stands behind a metric's name on the page, one for each series; the plain name is the empty one.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Kind::Gauge => &[""],
            Kind::Counter => &["_total"],
            Kind::Histogram => &["_bucket", "_sum", "_count"],
            Kind::Summary => &["_sum", "_count"],
            Kind::Info => &["_info"],
            Kind::GaugeHistogram => &["", "_bucket", "_gsum", "_gcount"],
        }
    }
}

impl Metric {
    /// The series' names on a page in the text format; holes stay.
    pub fn exposed(&self) -> Vec<String> {
        let endings = self.kind.endings();
        let base = match self.kind {
            // The ending is put on again, so that it never stands twice.
            Kind::Counter => self.name.strip_suffix("_total").unwrap_or(&self.name),
            _ => &self.name,
        };
        endings.iter().map(|ending| format!("{base}{ending}")).collect()
    }

    /// Whether a series called `name` on a page can be of this metric. A hole fits any text.
    pub fn is_exposed_as(&self, name: &str) -> bool {
        self.exposed().iter().any(|own| fits(own, name))
    }

    /// Whether the whole name is in the source.
    pub fn is_whole(&self) -> bool {
        !self.name.contains('{')
    }
}

/// Whether `name` is `pattern` with its holes filled.
fn fits(pattern: &str, name: &str) -> bool {
    let pieces = pieces(pattern);
    let [first, middle @ .., last] = &pieces[..] else { return pattern == name };
    let Some(rest) = name.strip_prefix(first) else { return false };
    let Some(mut rest) = rest.strip_suffix(last) else { return false };
    for piece in middle {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

/// The text around the holes of `pattern`; one piece more than there are holes, or a single one.
fn pieces(pattern: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, byte) in pattern.bytes().enumerate() {
        match byte {
            b'{' => {
                if depth == 0 {
                    pieces.push(&pattern[start..at]);
                }
                depth += 1;
            }
            b'}' if depth > 0 => {
                depth -= 1;
                start = at + 1;
            }
            _ => {}
        }
    }
    if depth == 0 {
        pieces.push(&pattern[start..]);
    }
    pieces
}
