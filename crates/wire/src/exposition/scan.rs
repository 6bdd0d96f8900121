//! The walk over a page.

use std::ops::ControlFlow;

use super::cursor::name_length;
use super::lines::{Line, Lines, without_indent};
use super::sample::{self, Sample};
use super::value::Dialect;
use super::{Limits, Metadata, Reason, Summary, metadata};

/// Walks over `page` and calls `each` for every sample whose name `wanted` agrees to, in the page's order.
///
/// The name is the sample's own, so with `_bucket`, `_sum`, `_count` or `_total` where it has them. `wanted` must answer
/// the same name always alike: it is asked once for a run of lines with one name. Lines with other names are counted
/// and not read. Never fails: a line that cannot be read costs that line, see [`Summary`].
///
/// Allocates nothing per sample, except to resolve an escape in a quoted name.
pub fn scan<'a>(
    page: &'a [u8],
    limits: &Limits,
    wanted: impl FnMut(&str) -> bool,
    each: impl FnMut(Sample<'a>),
) -> Summary {
    scan_declared(page, limits, wanted, each, |_| {})
}

/// The same, and calls `declared` for every declaration on the way.
pub fn scan_declared<'a>(
    page: &'a [u8],
    limits: &Limits,
    wanted: impl FnMut(&str) -> bool,
    mut each: impl FnMut(Sample<'a>),
    declared: impl FnMut(&Metadata<'a>),
) -> Summary {
    let each = |sample| {
        each(sample);
        ControlFlow::Continue(())
    };
    walk(page, limits, wanted, each, declared)
}

/// Walks over `page` as [`scan`] does, until `each` says that it knows enough.
pub fn scan_until<'a>(
    page: &'a [u8],
    limits: &Limits,
    wanted: impl FnMut(&str) -> bool,
    each: impl FnMut(Sample<'a>) -> ControlFlow<()>,
) {
    walk(page, limits, wanted, each, |_| {});
}

fn walk<'a>(
    page: &'a [u8],
    limits: &Limits,
    wanted: impl FnMut(&str) -> bool,
    each: impl FnMut(Sample<'a>) -> ControlFlow<()>,
    declared: impl FnMut(&Metadata<'a>),
) -> Summary {
    let summary = Summary::default();
    let dialect = Dialect::of(page);
    let mut scan = Scan { limits, dialect, wanted, each, declared, run: None, family: None, summary };
    for line in Lines::new(page) {
        scan.summary.lines = line.number;
        if scan.line(line).is_break() {
            break;
        }
    }
    scan.close_family();
    scan.summary
}

/// All samples of `page` at once. Takes some 100 bytes a sample: for small pages and tests.
pub fn parse_all<'a>(page: &'a [u8], limits: &Limits) -> (Vec<Sample<'a>>, Summary) {
    let mut samples = Vec::new();
    let summary = scan(page, limits, |_| true, |sample| samples.push(sample));
    (samples, summary)
}

struct Scan<'a, 'l, W, E, D> {
    limits: &'l Limits,
    dialect: Dialect,
    wanted: W,
    each: E,
    declared: D,
    run: Option<Run<'a>>,
    family: Option<Family<'a>>,
    summary: Summary,
}

/// Neighbouring lines with one bare name: the answer is known by comparing the beginning of the line.
#[derive(Clone, Copy)]
struct Run<'a> {
    name: &'a [u8],
    wanted: bool,
}

impl Run<'_> {
    #[inline]
    fn covers(self, line: &[u8]) -> bool {
        matches!(line.get(self.name.len()), Some(b'{' | b' ')) && line.starts_with(self.name)
    }
}

/// The family declared last.
struct Family<'a> {
    name: std::borrow::Cow<'a, str>,
    silent: bool,
}

impl<'a, W, E, D> Scan<'a, '_, W, E, D>
where
    W: FnMut(&str) -> bool,
    E: FnMut(Sample<'a>) -> ControlFlow<()>,
    D: FnMut(&Metadata<'a>),
{
    #[inline]
    fn line(&mut self, line: Line<'a>) -> ControlFlow<()> {
        if let Some(run) = self.run
            && run.covers(line.bytes)
        {
            return self.sample(line, run.name.len(), Some(run.wanted));
        }
        match without_indent(line.bytes) {
            [] => ControlFlow::Continue(()),
            [b'#', ..] => {
                self.comment(line);
                ControlFlow::Continue(())
            }
            bytes => {
                let name = name_length(bytes);
                let wanted = self.start_run(bytes, name);
                self.sample(Line { bytes, ..line }, name, wanted)
            }
        }
    }

    /// Asks about the bare name of `name` bytes that a line begins with; `None` where it has none.
    fn start_run(&mut self, line: &'a [u8], name: usize) -> Option<bool> {
        self.run = None;
        let (name, rest) = line.split_at(name);
        // Anything else behind a name is for the full reading to complain about.
        if name.is_empty() || !matches!(rest, [b'{' | b' ' | b'\t', ..]) {
            return None;
        }
        let text = std::str::from_utf8(name).unwrap_or_default();
        let wanted = (self.wanted)(text);
        self.run = Some(Run { name, wanted });
        self.heard_of(text);
        Some(wanted)
    }

    /// A sample line that begins with a bare name of `name` bytes, or with none; `wanted` is known of the former.
    #[inline]
    fn sample(&mut self, line: Line<'a>, name: usize, wanted: Option<bool>) -> ControlFlow<()> {
        if self.summary.samples.saturating_add(self.summary.bad) >= self.limits.max_samples {
            self.summary.truncated = true;
            return ControlFlow::Break(());
        }
        if line.bytes.len() > self.limits.max_line {
            self.summary.bad_line(line.number, Reason::TooLong);
        } else if wanted == Some(false) {
            self.summary.samples += 1;
        } else if line.ended || self.limits.whole {
            return self.read(line, name, wanted);
        } else {
            self.summary.bad_line(line.number, Reason::Unterminated);
        }
        ControlFlow::Continue(())
    }

    fn read(&mut self, line: Line<'a>, name: usize, wanted: Option<bool>) -> ControlFlow<()> {
        let sample = match sample::read(line, name, self.limits, self.dialect) {
            Ok(sample) => sample,
            Err(reason) => {
                self.summary.bad_line(line.number, reason);
                return ControlFlow::Continue(());
            }
        };
        self.summary.samples += 1;
        let wanted = wanted.unwrap_or_else(|| {
            self.heard_of(&sample.name);
            (self.wanted)(&sample.name)
        });
        if !wanted {
            return ControlFlow::Continue(());
        }
        self.summary.wanted += 1;
        (self.each)(sample)
    }

    fn comment(&mut self, line: Line<'a>) {
        if line.bytes.len() > self.limits.max_line {
            return self.summary.bad_line(line.number, Reason::TooLong);
        }
        let declared = match metadata::read(line) {
            Ok(Some(declared)) => declared,
            Ok(None) => return,
            Err(reason) => return self.summary.bad_line(line.number, reason),
        };
        (self.declared)(&declared);
        if self.family.as_ref().is_none_or(|family| family.name != declared.name) {
            self.close_family();
            self.summary.families += 1;
            self.family = Some(Family { name: declared.name, silent: true });
            // So that a line with the name of the lines before is seen to belong to this family.
            self.run = None;
        }
    }

    /// Notes that a sample called `name` was met.
    fn heard_of(&mut self, name: &str) {
        if let Some(family) = &mut self.family
            && name.starts_with(&*family.name)
        {
            family.silent = false;
        }
    }

    fn close_family(&mut self) {
        if self.family.take().is_some_and(|family| family.silent) {
            self.summary.silent += 1;
        }
    }
}
