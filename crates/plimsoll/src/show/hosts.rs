//! Hosts over ssh: those that could not be reached, and those on which nothing was found.

use model::{HostReport, Level};

use super::paint::{level, paint, strong};
use super::wrap::hang;

/// Columns before a line's text.
const INDENT: usize = 12;

/// That this is no look at what is there now.
pub(crate) fn origin(text: Option<&str>, width: usize) -> String {
    text.map_or_else(String::new, |text| hang("", 0, text, width) + "\n")
}

/// The hosts of which nothing is seen, each with its reason.
pub(crate) fn unreached(hosts: &[HostReport], width: usize) -> String {
    let line = |host: &HostReport| {
        let why = host.unreachable.as_deref()?;
        let why = why.strip_prefix(&host.via).map_or(why, |rest| rest.trim_start_matches([':', ' ']));
        Some(hang(
            &paint(level(Level::Unknown), "NOT REACHED "),
            INDENT,
            &format!("{}: {why}", strong(&host.via)),
            width,
        ))
    };
    hosts.iter().filter_map(line).collect()
}

/// What is said where no server was found; `command`: the one that was given. Nothing where no host could be searched.
pub(crate) fn nothing(hosts: &[HostReport], command: &str, width: usize) -> String {
    let searched: Vec<&str> =
        hosts.iter().filter(|host| host.unreachable.is_none()).map(|host| host.via.as_str()).collect();
    let (places, example) = match (searched.as_slice(), hosts.is_empty()) {
        (_, true) => ("this host".to_owned(), "http://HOST:PORT".to_owned()),
        ([], false) => return String::new(),
        ([first, ..], _) => (searched.join(" and "), format!("{first}/PORT")),
    };
    let text = format!(
        "No LLM server or router was found on {places}: no process whose command line is one that plimsoll knows. Give its address: plimsoll {command} {example}"
    );
    hang("", 0, &text, width)
}

/// Clocks that differ from ours, in words.
pub(crate) fn clocks(hosts: &[HostReport], width: usize) -> String {
    let line = |host: &HostReport| {
        let ahead = host.clock_ahead_s?;
        let (by, way) = (ahead.abs().round(), if ahead > 0.0 { "ahead of" } else { "behind" });
        let text = format!("the clock of {} is {by} s {way} this host's; ages are by its own", host.via);
        Some(hang("note     ", 9, &text, width))
    };
    hosts.iter().filter_map(line).collect()
}
