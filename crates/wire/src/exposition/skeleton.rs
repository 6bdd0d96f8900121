//! A page that was read, known again: a server's next page mostly differs in its numbers alone.
//!
//! ```
//! use wire::exposition::{Limits, Skeleton, scan};
//!
//! let (page, limits) = (b"# TYPE a gauge\na{x=\"1\"} 2\nb 3.5\n", Limits::whole());
//! let mut lines = Vec::new();
//! let summary = scan(page, &limits, |name| name == "b", |sample| lines.push(sample.line));
//! let skeleton = Skeleton::of(page, &limits, &summary, &lines).expect("a plain page");
//! assert_eq!(skeleton.numbers(b"# TYPE a gauge\na{x=\"1\"} 7\nb 40\n"), Some(vec![40.0]));
//! assert_eq!(skeleton.numbers(b"# TYPE a gauge\na{x=\"2\"} 7\nb 40\n"), None);
//! ```

use super::lines::Lines;
use super::sample::number_at;
use super::value::number;
use super::{Limits, Summary};

/// Bytes of the longest number: floats as text need 24, and a longer one is for the full reading.
const LONGEST: usize = 40;

/// A page without its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skeleton {
    /// What stands between them, one behind the other.
    fixed: Box<[u8]>,
    /// The gaps between, each with a number.
    gaps: Box<[Gap]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gap {
    /// Where in what is fixed the number stands.
    at: u32,
    /// Whether somebody wants it.
    wanted: bool,
}

impl Skeleton {
    /// That of `page`, whose scan within `limits` came to this `summary` and handed over the samples of these `lines`. None
    /// of a page that is no plain one: where a line is bad or long, the last one has no end, or a number that was handed over
    /// has a time or an exemplar behind it.
    pub fn of(page: &[u8], limits: &Limits, summary: &Summary, lines: &[u32]) -> Option<Skeleton> {
        // A line that could not be read may become a good one, by its number alone.
        if summary.bad > 0 || summary.truncated {
            return None;
        }
        let (mut fixed, mut gaps): (Vec<u8>, Vec<Gap>) = (Vec::with_capacity(page.len()), Vec::new());
        let (mut taken, mut lines) = (0, lines.iter().peekable());
        for line in Lines::new(page) {
            if !line.ended || line.bytes.len() + LONGEST > limits.max_line {
                return None;
            }
            let wanted = lines.next_if(|wanted| **wanted == line.number).is_some();
            let Some(number) = number_at(line, limits) else {
                if wanted {
                    return None;
                }
                continue;
            };
            let start = line.bytes.as_ptr().addr() - page.as_ptr().addr() + number.start;
            fixed.extend_from_slice(&page[taken..start]);
            gaps.push(Gap { at: u32::try_from(fixed.len()).ok()?, wanted });
            taken = start + number.len();
        }
        fixed.extend_from_slice(&page[taken..]);
        lines.next().is_none().then(|| Skeleton { fixed: fixed.into(), gaps: gaps.into() })
    }

    /// The numbers that the same scan hands over of `page`, where that is the same page but for its numbers. None where anything
    /// else differs, or one of them cannot be read: then the scan tells.
    pub fn numbers(&self, page: &[u8]) -> Option<Vec<f64>> {
        let (mut numbers, mut rest, mut from) = (Vec::new(), page, 0);
        for gap in &self.gaps {
            let to = gap.at as usize;
            rest = rest.strip_prefix(&self.fixed[from..to])?;
            let length = rest.iter().take(LONGEST + 1).position(|byte| *byte <= b' ')?;
            let (token, behind) = rest.split_at(length);
            if gap.wanted {
                numbers.push(number(std::str::from_utf8(token).ok()?)?);
            } else if token.is_empty() {
                return None;
            }
            (rest, from) = (behind, to);
        }
        (*rest == self.fixed[from..]).then_some(numbers)
    }

    /// Bytes that it takes.
    pub fn size(&self) -> usize {
        self.fixed.len() + std::mem::size_of_val(&*self.gaps)
    }
}
