//! What the far shell told, as answers.

use std::collections::HashMap;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use model::{Blind, BlindKind, Time};

use super::frames::Frame;
use super::key;
use super::questions::opened_by;
use crate::command::{Ran, STDOUT};
use crate::place::ask::{Answered, Ask, Key, Told};
use crate::place::{
    CMDLINE, CommandLine, Commands, Content, Ends, Kin, Listing, PipeEnd, Pipes, Sieve, SiftedFile, SiftedFolder,
    Stamp, Taken,
};
use crate::process::stat_of;
use crate::text::inode;

/// The frames of one question: what came of it, and bytes.
pub(super) type Group<'a> = Vec<(&'a str, &'a [u8])>;

/// Frames by the first word of their head, which is the question's key.
pub(super) fn grouped(frames: &[Frame]) -> HashMap<&str, Group<'_>> {
    let mut groups: HashMap<&str, Group<'_>> = HashMap::new();
    for frame in frames {
        let (key, rest) = frame.head.split_once(' ').unwrap_or((&frame.head, ""));
        groups.entry(key).or_default().push((rest, &frame.body));
    }
    groups
}

/// The answer to one question, and others that came with it.
pub(super) fn of(ask: &Ask, group: &[(&str, &[u8])]) -> (Answered, Vec<(Key, Answered)>) {
    let mut more = Vec::new();
    let answered = match ask {
        Ask::Read { cap, .. } | Ask::Under { cap, .. } | Ask::Lines { cap, .. } => {
            content(group, *cap).map(Told::Content)
        }
        Ask::List { path, cap } => match opened_by(path) {
            Some(pid) => opened(pid, group, &mut more).map(Told::Listing),
            None => listing(group, *cap).map(Told::Listing),
        },
        Ask::Link { .. } => body(group).map(|bytes| Told::Link(PathBuf::from(OsString::from_vec(bytes.to_vec())))),
        Ask::Ends { head, tail, .. } => ends(group, *head, *tail).map(Told::Ends),
        Ask::Sift { sieve, .. } => sifted(group, sieve).map(Told::Sifted),
        Ask::Commands { .. } => commands(group).map(Told::Commands),
        Ask::Kin => body(group).map(|bytes| Told::Kin(kin(bytes))),
        Ask::Pipes => body(group).map(|bytes| Told::Pipes(pipes(bytes))),
        Ask::Resolve { host } => addresses(group, host).map(Told::Addresses),
        Ask::Enter | Ask::Run { .. } | Ask::Get { .. } | Ask::Listen { .. } => {
            Err((BlindKind::Gone, "it is asked in another way"))
        }
    };
    let answered = answered.map_err(|(kind, why)| {
        let shown = ask.as_ref().display();
        Blind::new(kind, format!("{shown}: {why}"))
    });
    (answered, more)
}

/// Why there is no answer, before it is said of what.
type Refused = (BlindKind, &'static str);

/// The first frame's words behind `ok`, and its bytes.
fn first<'a>(group: &[(&'a str, &'a [u8])]) -> Result<(&'a str, &'a [u8]), Refused> {
    let (word, bytes) = group.first().ok_or((BlindKind::Gone, "the far shell did not answer this"))?;
    match word.split_once(' ').map_or(*word, |(word, _)| word) {
        "ok" => Ok((word.strip_prefix("ok").unwrap_or_default().trim(), bytes)),
        "denied" => Err((BlindKind::Denied, "Permission denied")),
        "gone" => Err((BlindKind::Gone, "No such file or directory")),
        "other" => Err((BlindKind::Denied, "it is no regular file; only regular files are read")),
        "kernel" => Err((BlindKind::Denied, "it is a file of the kernel; only stored files are read")),
        "nostat" => Err((BlindKind::Gone, "there is no stat that tells what it is")),
        "none" => Err((BlindKind::Gone, "there is no such program")),
        _ => Err((BlindKind::Gone, "the far shell answered something else")),
    }
}

fn body<'a>(group: &[(&'a str, &'a [u8])]) -> Result<&'a [u8], Refused> {
    first(group).map(|(_, bytes)| bytes)
}

/// A file that was asked for with one byte more than its cap.
fn content(group: &[(&str, &[u8])], cap: usize) -> Result<Content, Refused> {
    let bytes = body(group)?;
    let failed = group.iter().find_map(|(word, _)| word.strip_prefix("end ")).is_some_and(|code| code != "0");
    if failed && bytes.is_empty() {
        return Err((BlindKind::Gone, "it could not be read"));
    }
    Ok(Content { bytes: bytes[..bytes.len().min(cap)].to_vec(), cut: bytes.len() > cap })
}

fn listing(group: &[(&str, &[u8])], cap: usize) -> Result<Listing, Refused> {
    let names = body(group)?.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let names: Vec<OsString> = names.take(cap).map(|name| OsString::from_vec(name.to_vec())).collect();
    Ok(Listing { names, cut: group.iter().any(|(word, _)| *word == "more") })
}

/// The descriptors of a process by `ls -l`, each with where it leads.
fn opened(pid: u32, group: &[(&str, &[u8])], more: &mut Vec<(Key, Answered)>) -> Result<Listing, Refused> {
    let mut names = Vec::new();
    for (fd, link) in links(body(group)?) {
        let path = format!("/proc/{pid}/fd/{fd}");
        // A sign that stands for letters that cannot be shown: what it really is is asked by itself.
        if !link.contains('?') {
            more.push((key(&["link", &path]), Ok(Told::Link(PathBuf::from(link)))));
        }
        names.push(OsString::from(fd.to_string()));
    }
    Ok(Listing { names, cut: false })
}

/// `lr-x------ 1 root root 64 Jan  1 00:00 3 -> /dev/null`: numbers and targets.
fn links(bytes: &[u8]) -> Vec<(u32, String)> {
    let text = String::from_utf8_lossy(bytes);
    let link = |line: &str| {
        let (front, target) = line.split_once(" -> ")?;
        let fd = front.rsplit(' ').next()?.parse().ok()?;
        front.starts_with('l').then(|| (fd, target.to_owned()))
    };
    text.lines().filter_map(link).collect()
}

fn ends(group: &[(&str, &[u8])], head: usize, tail: usize) -> Result<Ends, Refused> {
    let (told, bytes) = first(group)?;
    let numbers: Vec<u64> = told.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [size, modified, owner, device, inode] = numbers[..] else {
        return Err((BlindKind::Gone, "stat told something else"));
    };
    let own = bytes.len().min(head).min(usize::try_from(size).unwrap_or(usize::MAX));
    let mut ends = Ends {
        size,
        modified: Time(modified as f64),
        owner: u32::try_from(owner).unwrap_or(u32::MAX),
        identity: (device, inode),
        head: bytes[..own].to_vec(),
        tail: Vec::new(),
        tail_from: own as u64,
    };
    let last = group.iter().find_map(|(word, bytes)| Some((word.strip_prefix("tail ")?.parse::<u64>().ok()?, *bytes)));
    if head > 0 || tail > 0 {
        ends.tail_from = size.saturating_sub(tail as u64).max(own as u64);
    }
    if let Some((from, bytes)) = last {
        // whole blocks were read: what is before, and what the file grew by, goes
        let skip = usize::try_from(ends.tail_from.saturating_sub(from)).unwrap_or(usize::MAX).min(bytes.len());
        let length = usize::try_from(size - ends.tail_from).unwrap_or(usize::MAX).min(bytes.len() - skip);
        ends.tail = bytes[skip..skip + length].to_vec();
    }
    Ok(ends)
}

fn sifted(group: &[(&str, &[u8])], sieve: &Sieve) -> Result<SiftedFolder, Refused> {
    let (told, bytes) = first(group)?;
    // What it is called with all links followed tells as well as a number whether it is the same one.
    let mut hasher = DefaultHasher::new();
    told.hash(&mut hasher);
    let id = (0, hasher.finish());
    let mut out = SiftedFolder { id, folders: Vec::new(), files: Vec::new(), cut: false, passed: 0 };
    let mut hits: HashMap<&[u8], &[u8]> =
        group.iter().filter_map(|(word, bytes)| Some((word.strip_prefix("file ")?.as_bytes(), *bytes))).collect();
    // What nobody searched is not without the words.
    let unsearched = group.iter().any(|(word, _)| *word == "unsearched");
    let odd: Vec<&[u8]> = group.iter().filter_map(|(word, _)| Some(word.strip_prefix("odd ")?.as_bytes())).collect();
    for entry in bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        if !sieve.budget.entry() {
            out.cut = true;
            break;
        }
        match entry {
            [b'f', name @ ..] if odd.contains(&name) || unsearched && !hits.contains_key(name) => out.passed += 1,
            [b'd', name @ ..] => out.folders.push(OsString::from_vec(name.to_vec())),
            [b'f', name @ ..] => {
                let taken = hits.remove(name).map_or(Taken::Without, |bytes| Taken::With(bytes.to_vec()));
                if let Taken::With(bytes) = &taken
                    && !sieve.budget.spend(bytes.len())
                {
                    out.cut = true;
                    break;
                }
                // Nothing is kept of other hosts' files from one run to the next: a stamp need only differ from others.
                let stamp =
                    Stamp { device: id.0, inode: id.1, size: out.files.len() as u64, modified_ns: 0, changed_ns: 0 };
                out.files.push(SiftedFile { name: OsString::from_vec(name.to_vec()), stamp, taken });
            }
            [b'x', ..] => out.passed += 1,
            [b'c', ..] => out.cut = true,
            _ => {}
        }
    }
    out.folders.sort();
    out.files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(out)
}

/// What a walk told, folder by folder: the path stands between the key's own word and what came of it.
pub(super) fn folders(frames: &[Frame]) -> Vec<(PathBuf, Group<'_>)> {
    let mut found: Vec<(PathBuf, Group<'_>)> = Vec::new();
    for frame in frames {
        let Some(rest) = frame.head.strip_prefix("walk|") else { continue };
        let Some((folder, outcome)) = rest.split_once("| ") else { continue };
        match found.last_mut().filter(|(known, _)| known.as_os_str() == folder) {
            Some((_, group)) => group.push((outcome, &frame.body)),
            None => found.push((folder.into(), vec![(outcome, frame.body.as_slice())])),
        }
    }
    found
}

/// `process PID` with its command line, any number of them, and how many there are in all.
pub(super) fn commands(group: &[(&str, &[u8])]) -> Result<Commands, Refused> {
    let last = group.iter().find_map(|(word, _)| word.strip_prefix("ok "));
    let told = last.ok_or((BlindKind::Denied, "its processes cannot be listed"))?;
    let mut numbers = told.split(' ').filter_map(|word| word.parse::<usize>().ok());
    let (seen, first) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    let process = |(word, bytes): &(&str, &[u8])| {
        let pid = word.strip_prefix("process ")?.parse().ok()?;
        let cut = bytes.len() > CMDLINE;
        Some(CommandLine { pid, bytes: bytes[..bytes.len().min(CMDLINE)].to_vec(), cut })
    };
    let mut found: Vec<CommandLine> = group.iter().filter_map(process).filter(|line| !line.bytes.is_empty()).collect();
    found.sort_by_key(|line| line.pid);
    Ok(Commands { found, seen, hidden: first == 0, ..Commands::default() })
}

/// Every `/proc/PID/stat`, one a line: the kernel escapes line ends in names.
pub(super) fn kin(bytes: &[u8]) -> Vec<Kin> {
    let text = String::from_utf8_lossy(bytes);
    let kin = |line: &str| {
        let stat = stat_of(line)?;
        Some(Kin { pid: line.split(' ').next()?.parse().ok()?, ppid: stat.ppid, started: stat.started })
    };
    text.lines().filter_map(kin).collect()
}

/// `ls -l` of all folders `PID/fd`, of which only headings, pipes and refusals are left.
fn pipes(bytes: &[u8]) -> Pipes {
    let text = String::from_utf8_lossy(bytes);
    let mut out = Pipes::default();
    let mut pid = None;
    for line in text.lines() {
        if let Some(folder) = line.strip_suffix("/fd:") {
            pid = folder.parse::<u32>().ok();
            out.seen += usize::from(pid.is_some());
        } else if line.contains("ermission denied") {
            out.denied += usize::from(line.contains("/fd'") || line.contains("/fd:"));
        } else if let (Some(pid), Some((fd, link))) = (pid, links(line.as_bytes()).pop()) {
            out.ends.extend(inode(Path::new(&link), "pipe").map(|pipe| PipeEnd { pipe, pid, fd }));
        }
    }
    out.ends.sort_unstable_by_key(|end| (end.pid, end.fd));
    out
}

fn addresses(group: &[(&str, &[u8])], host: &str) -> Result<Vec<IpAddr>, Refused> {
    if let Ok(address) = host.parse() {
        return Ok(vec![address]);
    }
    let text = String::from_utf8_lossy(body(group)?);
    let mut found: Vec<IpAddr> =
        text.lines().filter_map(|line| line.split_ascii_whitespace().next()?.parse().ok()).collect();
    found.dedup();
    if found.is_empty() { Err((BlindKind::Name, "the name does not resolve there")) } else { Ok(found) }
}

/// What a program printed, what it complained of, and its exit code between two signs in that; `None` where it was ended for
/// its time.
pub(super) fn ran(frames: &[Frame], program: &str) -> Result<Option<Ran>, Blind> {
    /// `timeout` says so of a program that it ended.
    const ENDED: i32 = 124;
    let groups = grouped(frames);
    let group = groups.get("#0").map(Vec::as_slice).unwrap_or_default();
    let gone = |(kind, _): Refused| Blind::new(kind, format!("there is no {program} on this host"));
    let bytes = body(group).map_err(gone)?;
    let said = group.iter().find_map(|(word, bytes)| (*word == "said").then(|| String::from_utf8_lossy(bytes)));
    let said = said.unwrap_or_default();
    let mut parts = said.split('\u{1}');
    let (before, code, behind) = (parts.next(), parts.next(), parts.next());
    let complaints = format!("{}{}", before.unwrap_or_default(), behind.unwrap_or_default());
    let code: Option<i32> = code.and_then(|code| code.parse().ok());
    if code == Some(ENDED) {
        return Ok(None);
    }
    let cut = bytes.len() > STDOUT;
    let code = code.filter(|_| !cut);
    let stdout = bytes[..bytes.len().min(STDOUT)].to_vec();
    Ok(Some(Ran { stdout, cut, stderr: crate::command::shown(complaints.as_bytes()), code }))
}
