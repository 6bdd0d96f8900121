//! What `journalctl` prints: a record stays where its line in a log would, and all stay in their number and order.

use engines::{Need, Telling};
use serde_json::{Map, Value};

use super::log;
use super::rule::{Removed, Rule};

/// Records at both ends whose times tell how far back was looked: those that a scan looks at for it, and one more.
const ENDS: usize = 17;
/// When the journal took a record.
const TIME: &str = "__REALTIME_TIMESTAMP";

/// The records of one answer, which came newest first or oldest first.
pub(super) fn records(telling: &Telling, stdout: &[u8], newest_first: bool, removed: &mut Removed) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    if newest_first {
        lines.reverse();
    }
    let stretch = lines.join(&b'\n');
    let needed = telling.needed(&stretch, true);
    let mut kept: Vec<String> = Vec::with_capacity(lines.len());
    let mut at = 0;
    for (index, line) in lines.iter().enumerate() {
        let counted = std::cell::RefCell::new(Removed::default());
        let scrub = |text: &str, dump: bool| log::message(text, dump, &mut counted.borrow_mut());
        let need = needed.get(&at).map(|(_, need)| *need).filter(|need| *need != Need::Length);
        let lean = need.and_then(|need| telling.lean(line, need, &scrub));
        removed.take(counted.into_inner());
        removed.add(Rule::LogLines, u64::from(need.is_none()));
        let edge = index < ENDS || index + ENDS >= lines.len();
        kept.push(lean.unwrap_or_else(|| if edge { time(line) } else { "{}".to_owned() }));
        at += line.len() + 1;
    }
    if newest_first {
        kept.reverse();
    }
    let end = if stdout.ends_with(b"\n") { "\n" } else { "" };
    (kept.join("\n") + end).into_bytes()
}

/// A record of nothing but its time.
fn time(line: &[u8]) -> String {
    let told = serde_json::from_slice::<Map<String, Value>>(line).ok().and_then(|mut record| record.remove(TIME));
    let told = told.filter(|time| time.as_str().is_some_and(|time| time.bytes().all(|byte| byte.is_ascii_digit())));
    told.map_or_else(|| "{}".to_owned(), |time| format!("{{\"{TIME}\":{time},\"MESSAGE\":\"\"}}"))
}
