//! Files that start servers: units with their drop-ins, and files of variables. Only values change, never lines.

use model::{BLOT, is_secret};

use super::rule::{Removed, Rule};
use super::{script, secret};

/// What ends a line that goes on.
const ENDS: [char; 4] = ['\\', '\n', ' ', '\t'];

/// A unit or a drop-in: secrets go out of every setting, by the names of variables and flags in it.
pub(super) fn unit(text: &str, removed: &mut Removed) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (setting, behind) = rest.split_at(setting(rest));
        let (front, value) = setting.split_at(setting.find('=').map_or(0, |at| at + 1));
        let (content, end) = value.split_at(value.trim_end().len());
        let line = setting.trim();
        if line.is_empty() || line.starts_with(['#', ';']) || line.starts_with('[') && line.ends_with(']') {
            out.push_str(&secret::scrubbed(setting, removed));
        } else if !is_key(front) {
            // No setting: nothing more is said of it.
            removed.add(Rule::Texts, u64::from(line != "-"));
            out.push('-');
            out.push_str(&"\n".repeat(setting.matches('\n').count()));
        } else if is_secret(front.trim_end_matches('=').trim(), content.trim_end_matches(ENDS)) {
            removed.note(Rule::Secrets);
            out.push_str(&format!("{front}{BLOT}{}{end}", "\\\n".repeat(content.matches('\n').count())));
        } else {
            out.push_str(&format!("{front}{}{end}", script::scrubbed(content, removed)));
        }
        rest = behind;
    }
    out
}

/// Whether what stands before a value is a setting's name.
fn is_key(front: &str) -> bool {
    let name = front.trim_end_matches('=').trim();
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// Bytes of the setting that `text` begins with, over all its lines: a backslash goes on, also over remarks.
fn setting(text: &str) -> usize {
    let (mut end, mut open) = (0, false);
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        if content.starts_with(['#', ';']) {
            end += line.len();
            if open {
                continue;
            }
            return end;
        }
        end += line.len();
        open = content.chars().rev().take_while(|letter| *letter == '\\').count() % 2 == 1;
        if !open {
            return end;
        }
    }
    end
}

/// A file of `NAME=value` lines, as `EnvironmentFile=` names them.
pub(super) fn variables(text: &str, removed: &mut Removed) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (entry, behind) = rest.split_at(entry(rest));
        let assigned = entry.split_once('=').filter(|(name, _)| !name.trim_start().starts_with(['#', ';']));
        match assigned {
            Some((name, value)) if is_secret(name, value.trim().trim_matches(['\'', '"']).trim_end_matches(ENDS)) => {
                removed.note(Rule::Secrets);
                let end = if value.ends_with('\n') { "\n" } else { "" };
                let lost = value.matches('\n').count() - end.len();
                out.push_str(&format!("{name}={BLOT}{}{end}", "\\\n".repeat(lost)));
            }
            _ => out.push_str(&secret::scrubbed_lines(entry, removed)),
        }
        rest = behind;
    }
    out
}

/// Bytes of the entry that `text` begins with: a value in quotes, or one with a backslash before a line's end, goes on.
fn entry(text: &str) -> usize {
    let (mut quote, mut escaped, mut value, mut before) = (None, false, false, true);
    let remark = text.trim_start().starts_with(['#', ';']);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => {
                escaped = false;
                before = false;
            }
            '\\' if quote != Some('\'') && (value || remark) => escaped = true,
            _ if quote == Some(letter) => quote = None,
            _ if quote.is_some() => {}
            '\n' => return at + 1,
            '=' if !value => value = true,
            '\'' | '"' if value && before && !remark => quote = Some(letter),
            letter => before &= !value || letter.is_ascii_whitespace(),
        }
    }
    text.len()
}
