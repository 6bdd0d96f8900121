//! All processes of this host, in batches on helper threads: one that hangs costs its own entry.

use std::path::PathBuf;

use memchr::memmem;
use model::{Blind, BlindKind};

use super::Host;
use crate::place::ask::{Ask, Told};
use crate::place::{CommandLine, Commands, Content, Kin, Listing, PipeEnd, Pipes};
use crate::process::stat_of;
use crate::text::inode;

/// Most processes that are looked at.
pub(crate) const PROCESSES: usize = 65_536;
/// How many command lines are held at once.
const BATCH: usize = 512;
/// Longest command line that is read, bytes.
pub(crate) const CMDLINE: usize = 2 << 20;
/// Largest `stat` that is read, bytes.
const STAT: usize = 64 << 10;
/// Most processes whose open files are looked at, and how many of them together.
const HOLDERS: usize = 16_384;
const HOLDERS_AT_ONCE: usize = 256;
/// Most descriptors of one process that are looked at for pipes, and of all; what pipes into a file holds few.
pub(crate) const FDS: usize = 1024;
const LINKS: usize = 1 << 18;

pub(super) async fn commands(host: &Host, words: &[String]) -> Result<Commands, Blind> {
    let (pids, cut) = pids(host, PROCESSES).await?;
    let mut out = Commands { hidden: pids.first() != Some(&1), cut, ..Commands::default() };
    let finders: Vec<memmem::Finder<'_>> = words.iter().map(memmem::Finder::new).collect();
    for batch in pids.chunks(BATCH) {
        let asks = paths(batch, "cmdline").map(|path| Ask::Read { path, cap: CMDLINE }).collect();
        for (&pid, line) in batch.iter().zip(host.files(asks).await) {
            let Content { bytes, cut } = match Told::content(line) {
                Ok(content) => content,
                Err(blind) => {
                    match blind.kind {
                        BlindKind::Denied => out.denied += 1,
                        BlindKind::Deadline => out.hung.push(blind.text),
                        _ => out.vanished += 1,
                    }
                    continue;
                }
            };
            out.seen += 1;
            if finders.is_empty() || finders.iter().any(|finder| finder.find(&bytes).is_some()) {
                out.found.push(CommandLine { pid, bytes, cut });
            }
        }
    }
    Ok(out)
}

pub(super) async fn kin(host: &Host) -> Result<Vec<Kin>, Blind> {
    let (pids, _) = pids(host, PROCESSES).await?;
    let asks = paths(&pids, "stat").map(|path| Ask::Read { path, cap: STAT }).collect();
    let stats = host.files(asks).await.into_iter().map(Told::content);
    let kin = |(pid, content): (u32, Result<Content, Blind>)| {
        let stat = stat_of(&content.ok()?.text())?;
        Some(Kin { pid, ppid: stat.ppid, started: stat.started })
    };
    Ok(pids.into_iter().zip(stats).filter_map(kin).collect())
}

pub(super) async fn pipes(host: &Host) -> Result<Pipes, Blind> {
    let (pids, cut) = pids(host, HOLDERS).await?;
    let mut out = Pipes { cut, ..Pipes::default() };
    let mut links = 0;
    for batch in pids.chunks(HOLDERS_AT_ONCE) {
        if links >= LINKS {
            out.cut = true;
            break;
        }
        let asks = paths(batch, "fd").map(|path| Ask::List { path, cap: FDS }).collect();
        let mut open: Vec<(u32, u32)> = Vec::new();
        let mut closed: Vec<u32> = Vec::new();
        for (&pid, listing) in batch.iter().zip(host.files(asks).await) {
            match Told::listing(listing) {
                Ok(Listing { names, cut }) => {
                    open.extend(names.iter().filter_map(|name| name.to_str()?.parse().ok()).map(|fd| (pid, fd)));
                    out.cut |= cut;
                }
                Err(blind) if blind.kind == BlindKind::Denied => closed.push(pid),
                Err(_) => {}
            }
        }
        links += open.len();
        let link = |(pid, fd): &(u32, u32)| Ask::Link { path: PathBuf::from(format!("/proc/{pid}/fd/{fd}")) };
        let told = host.files(open.iter().map(link).collect()).await;
        for ((pid, fd), link) in open.into_iter().zip(told) {
            match Told::link(link) {
                Ok(link) => out.ends.extend(inode(&link, "pipe").map(|pipe| PipeEnd { pipe, pid, fd })),
                // a folder that lists, with links that do not say: a process of ours that gained rights
                Err(blind) if blind.kind == BlindKind::Denied && !closed.contains(&pid) => closed.push(pid),
                Err(_) => {}
            }
        }
        out.denied += closed.len();
        out.seen += batch.len() - closed.len();
    }
    out.ends.sort_unstable_by_key(|end| (end.pid, end.fd));
    Ok(out)
}

/// All processes, at most so many, by number; and whether there are more.
async fn pids(host: &Host, most: usize) -> Result<(Vec<u32>, bool), Blind> {
    let all = Ask::List { path: PathBuf::from("/proc"), cap: most };
    let listing = Told::listing(crate::place::only(host.files(vec![all]).await))?;
    let mut pids: Vec<u32> = listing.names.iter().filter_map(|name| name.to_str()?.parse().ok()).collect();
    pids.sort_unstable();
    Ok((pids, listing.cut))
}

fn paths<'a>(pids: &'a [u32], name: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
    pids.iter().map(move |pid| PathBuf::from(format!("/proc/{pid}/{name}")))
}
