//! `plimsoll capture show`: what is in a file, before it is sent.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use model::text::visible;
use sense::capture::{Recording, Site};
use sense::place::{Key, Told};

use super::output::size;
use crate::cli::ShowArgs;
use crate::evidence::{REMOVED, Removed};
use crate::look::{clock_of, replay};
use crate::show::{columns, hang, several};
use crate::{Said, wrong_usage};

/// Sites that are listed.
const MOST_SITES: usize = 100;
/// Questions of one kind that are listed by default.
const LISTED: usize = 12;

/// Lists what is inside.
pub(super) fn run(args: &ShowArgs) -> Result<Said> {
    let recording = replay::open(&args.file).map_err(wrong_usage)?;
    let head = recording.head();
    let about = format!("{}: a capture of version {}, by {}", args.file.display(), recording.version(), head.made_by);
    let mut out = visible(about) + "\n";
    let takes = recording.takes();
    if let (Some(first), Some(last)) = (takes.first(), takes.last()) {
        let seconds = last.to.since(first.from);
        let _ = writeln!(out, "{} from {} on, {seconds:.1} s", several(takes.len(), "look"), clock_of(first.from));
    }
    out += if head.anonymised {
        "names of hosts, addresses and users are replaced\n"
    } else {
        "names of hosts and addresses are as they were; --anonymise replaces them\n"
    };
    for note in recording.notes() {
        out += &hang("note     ", 9, &note.text, columns());
    }
    let take =
        if args.at.is_some() { replay::chosen(&recording, args.at.as_deref()).map_err(wrong_usage)? } else { 0 };
    let _ = writeln!(out, "\nlook {} of {}:", take + 1, takes.len());
    for (index, site) in recording.sites(take).take(MOST_SITES).cloned().collect::<Vec<Site>>().iter().enumerate() {
        out += &one(&recording, take, index, site, args.all);
    }
    Ok(Said { text: out, code: u8::from(takes.is_empty()) })
}

/// Targets for people: of very many the first.
fn shortened(targets: &[String]) -> String {
    let shown: Vec<&str> = targets.iter().take(LISTED).map(String::as_str).collect();
    let more = if targets.len() > LISTED { format!(" and {} more", targets.len() - LISTED) } else { String::new() };
    shown.join(", ") + &more
}

/// What was asked, and the bytes of its answer or why there is none.
type Entry = (String, Result<usize, String>);

fn one(recording: &Recording, take: usize, index: usize, site: &Site, all: bool) -> String {
    let place = site.via.clone().unwrap_or_else(|| "the host that took it".to_owned());
    let asked = if site.targets.is_empty() { "searched".to_owned() } else { shortened(&site.targets) };
    let mut out = visible(format!("{place}: {asked}"));
    out = format!("\n{out}\n");
    let Some((kept, _)) = recording.kept(take, index) else { return out };
    let mut kinds: BTreeMap<&'static str, Vec<Entry>> = BTreeMap::new();
    for one in &kept {
        if let ([word], Ok(Told::Content(content))) = (one.key.0.as_slice(), &one.answered)
            && word == REMOVED
        {
            out += &hang("  left out: ", 12, &Removed::of_lines(&content.text()).to_string(), columns());
            continue;
        }
        let outcome = match &one.answered {
            Ok(told) => weight(told),
            Err(blind) => Err(blind.text.clone()),
        };
        let words: Vec<&str> = one.key.0.iter().skip(1).map(String::as_str).filter(|word| !word.is_empty()).collect();
        kinds.entry(kind(&one.key)).or_default().push((words.join(" "), outcome));
    }
    for (kind, mut entries) in kinds {
        let bytes: usize = entries.iter().filter_map(|(_, outcome)| outcome.as_ref().ok()).sum();
        let unseen = entries.iter().filter(|(_, outcome)| outcome.is_err()).count();
        let unseen = if unseen > 0 { format!(", {unseen} could not be seen") } else { String::new() };
        let _ = writeln!(out, "  {kind}: {} ({}{unseen})", entries.len(), size(bytes as u64));
        entries.sort_by_key(|(_, outcome)| std::cmp::Reverse(outcome.as_ref().copied().unwrap_or(0)));
        let shown = if all { entries.len() } else { LISTED };
        for (name, outcome) in entries.iter().take(shown) {
            let outcome =
                outcome.as_ref().map_or_else(|why| visible(format!("not seen: {why}")), |bytes| size(*bytes as u64));
            let _ = writeln!(out, "    {}  {outcome}", visible(name.clone()));
        }
        if entries.len() > shown {
            let _ = writeln!(out, "    and {} more (--all)", entries.len() - shown);
        }
    }
    out
}

/// What a question is about, for people.
fn kind(key: &Key) -> &'static str {
    match key.0.first().map(String::as_str).unwrap_or_default() {
        "get" => "HTTP pages",
        "run" => "programs' answers",
        "ends" => "logs and shared memory",
        "listen" => "events",
        "read" | "under" | "lines" => "files",
        "sift" => "folders of installed source",
        "commands" | "kin" | "pipes" => "processes",
        "list" | "link" => "folders and links",
        "resolve" => "names",
        "enter" => "the way there",
        _ => "others",
    }
}

/// Bytes of an answer.
fn weight(told: &Told) -> Result<usize, String> {
    Ok(match told {
        Told::Content(content) => content.bytes.len(),
        Told::Ends(ends) => ends.head.len() + ends.tail.len(),
        Told::Ran(ran) => ran.stdout.len(),
        Told::Seen(seen) => match &seen.outcome {
            Ok(answer) => answer.body.len(),
            Err(blind) => return Err(blind.text.clone()),
        },
        Told::Commands(commands) => commands.found.iter().map(|line| line.bytes.len()).sum(),
        Told::Heard(heard) => heard.events.iter().map(|event| event.to_string().len()).sum(),
        Told::Link(to) => to.as_os_str().len(),
        Told::Listing(_) | Told::Sifted(_) | Told::Kin(_) | Told::Pipes(_) | Told::Addresses(_) => 0,
    })
}
