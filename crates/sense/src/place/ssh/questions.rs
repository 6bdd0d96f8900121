//! Questions as lines for the far shell.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::ask::Ask;
use super::super::{CMDLINE, Sieve, Wanted};
use crate::command::{Plan, STDOUT};

/// Most entries of one folder that are sifted.
const ENTRIES: usize = 20_000;

/// The line that asks `ask`, whose answers begin with `#at`; none for what is asked in other ways.
pub(super) fn line(at: usize, ask: &Ask) -> String {
    let key = format!("'#{at}'");
    match ask {
        Ask::Read { path, cap } => format!("r {key} {} {}\n", cap + 1, word(path)),
        Ask::Under { root, path, cap } => format!("u {key} {} {} {}\n", cap + 1, word(root), word(path)),
        Ask::Lines { path, words, cap } => format!("n {key} {} {}{}\n", cap + 1, word(path), all(words)),
        // What a process has open comes with where that leads, in one go.
        Ask::List { path, cap } => {
            opened_by(path).map_or_else(|| format!("l {key} {cap} {}\n", word(path)), |pid| format!("o {key} {pid}\n"))
        }
        Ask::Link { path } => format!("k {key} {}\n", word(path)),
        Ask::Ends { wanted, head, tail } => match wanted {
            Wanted::File(path) => format!("e {key} {head} {tail} {}\n", word(path)),
            Wanted::Descriptor { pid, fd } => format!("e {key} {head} {tail} /proc/{pid}/fd/{fd}\n"),
            Wanted::Below { folder, path } => format!("v {key} {head} {tail} {} {}\n", word(folder), word(path)),
            Wanted::Inside { pid, path } => format!("v {key} {head} {tail} /proc/{pid}/root {}\n", word(path)),
        },
        Ask::Sift { root, folder, sieve } => sift("s", &key, root, folder, sieve),
        Ask::Commands { words } => format!("c {key} {}{}\n", CMDLINE + 1, all(words)),
        Ask::Kin => format!("a {key}\n"),
        Ask::Pipes => format!("i {key}\n"),
        Ask::Resolve { host } => format!("x {key} 65536 2 getent ahosts {}\n", quoted(host)),
        Ask::Enter | Ask::Run { .. } | Ask::Get { .. } | Ask::Listen { .. } => String::new(),
    }
}

/// The lines that sift folders and all below them.
pub(super) fn folders(root: &Path, folders: &[PathBuf], sieve: &Sieve, skipped: &[&str]) -> String {
    let skipped = skipped.join(" ");
    let each = folders.iter().map(|folder| sift("walk", "8", root, folder, sieve));
    format!("skipped={}\n{}", quoted(&skipped), each.collect::<String>())
}

fn sift(how: &str, key: &str, root: &Path, folder: &Path, sieve: &Sieve) -> String {
    let (ending, words) = (quoted(&sieve.ending), all(&sieve.needles));
    format!("{how} {key} {ENTRIES} {} {ending} {} {}{words}\n", sieve.longest, word(root), word(folder))
}

/// The lines that run a listed program.
pub(super) fn program(plan: &Plan, patience: Duration) -> String {
    let set: String = plan.env.iter().map(|(name, value)| format!("export {name}={}\n", quoted(value))).collect();
    let seconds = patience.as_secs_f64();
    format!("(\n{set}x '#0' {} {seconds} {}{}\n)\n", STDOUT + 1, plan.program, all(&plan.args))
}

/// The process whose open files a folder is.
pub(super) fn opened_by(folder: &Path) -> Option<u32> {
    folder.to_str()?.strip_prefix("/proc/")?.strip_suffix("/fd")?.parse().ok()
}

fn all(words: &[String]) -> String {
    words.iter().map(|text| format!(" {}", quoted(text))).collect()
}

/// A path as a word of the shell; what is not UTF-8 in it is replaced, and the path is then not found.
fn word(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

/// A text as one word of the shell, whatever it holds.
pub(super) fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+=:@,%".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\0', "").replace('\'', "'\\''"))
}
