//! Unit text to settings: comments, continuations, sections, and the files that `systemctl cat` joins.

use crate::launch::{Word, limits};

/// What one line of a unit, with its continuations, says.
pub(super) enum Line<'a> {
    /// `# /etc/systemd/system/x.service`: from here on another file.
    File(&'a str),
    /// `[Service]`.
    Section(&'a str),
    /// `Key=value`.
    Setting { key: String, value: Word, raw: String, line: u32 },
    /// Neither.
    Bad(u32),
}

/// Endings of the files that `systemctl cat` prints.
const ENDINGS: &[&str] = &[".service", ".conf", ".socket", ".slice", ".target", ".timer", ".scope", ".mount", ".path"];

/// The lines of `text`, joined as systemd joins them: a backslash at the end is a blank, comments between are skipped.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut found = Vec::new();
    let mut open: Option<Open> = None;
    for (number, line) in (1u32..).zip(text.lines()) {
        let content = line.trim_start_matches(super::BLANKS);
        if content.starts_with(['#', ';']) {
            match (&mut open, file(content)) {
                (Some(open), _) => open.raw.push(line),
                (None, Some(path)) => found.push(Line::File(path)),
                (None, None) => {}
            }
            continue;
        }
        let mut joined = open.take().unwrap_or_else(|| Open { line: number, ..Open::default() });
        joined.raw.push(line);
        for letter in content.chars() {
            joined.text.push(letter, number);
        }
        // Only an odd number of backslashes at the end leaves one that is not itself escaped.
        if content.chars().rev().take_while(|letter| *letter == '\\').count() % 2 == 1 {
            joined.text.text.pop();
            joined.text.push(' ', number);
            open = Some(joined);
        } else {
            found.extend(joined.close());
        }
    }
    found.extend(open.and_then(Open::close));
    found
}

fn file(comment: &str) -> Option<&str> {
    let path = comment.strip_prefix("# /").map(|_| comment[2..].trim_end())?;
    (path.len() <= limits::PATH
        && !path.contains(char::is_whitespace)
        && ENDINGS.iter().any(|ending| path.ends_with(ending)))
    .then_some(path)
}

#[derive(Default)]
struct Open<'a> {
    line: u32,
    text: Word,
    raw: Vec<&'a str>,
}

impl<'a> Open<'a> {
    fn close(self) -> Option<Line<'a>> {
        let text = self.text.text.trim_end_matches(super::BLANKS);
        if text.is_empty() {
            return None;
        }
        if text.starts_with('[') {
            // A section is on one line, so that the text itself can be borrowed.
            let name = self.raw.first().and_then(|line| line.trim().strip_prefix('[')?.strip_suffix(']'));
            return Some(name.map_or(Line::Bad(self.line), Line::Section));
        }
        let Some(equals) = text.find('=') else { return Some(Line::Bad(self.line)) };
        let key = text[..equals].trim().to_owned();
        let start = text.len() - text[equals + 1..].trim_start_matches(super::BLANKS).len();
        let mut value = Word::new("", self.text.line_at(start));
        value.extend(&self.text, start..text.len());
        Some(Line::Setting { key, value, raw: raw(&self.raw), line: self.line })
    }
}

/// The value as it stands, without what follows its last word.
fn raw(lines: &[&str]) -> String {
    let is_content = |line: &&str| {
        let line = line.trim().trim_end_matches('\\').trim();
        !line.is_empty() && !line.starts_with(['#', ';'])
    };
    let last = lines.iter().rposition(is_content).unwrap_or(0);
    let text = lines[..=last].join("\n");
    let value = text.split_once('=').map_or("", |(_, value)| value).trim();
    let slashes = value.len() - value.trim_end_matches('\\').len();
    if slashes % 2 == 1 { value[..value.len() - 1].trim_end().to_owned() } else { value.to_owned() }
}
