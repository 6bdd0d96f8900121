//! A closer look at one process: its addresses, its files.

use std::net::Ipv4Addr;
use std::path::Path;

use model::Blind;

use crate::place::{Content, Place};

/// Largest routing table that is read, bytes.
const ROUTES: usize = 4 << 20;

/// The IPv4 addresses, other than loopback, of the network namespace of the process: where a server in a container that
/// listens on 0.0.0.0 can be reached from outside.
pub async fn addresses_of(place: &Place, pid: u32) -> Result<Vec<Ipv4Addr>, Blind> {
    Ok(local_addresses(&place.read(format!("/proc/{pid}/net/fib_trie"), ROUTES).await?.text()))
}

/// The local addresses, other than loopback, that a `fib_trie` lists.
pub fn local_addresses(fib_trie: &str) -> Vec<Ipv4Addr> {
    let mut found = Vec::new();
    let mut last: Option<Ipv4Addr> = None;
    for line in fib_trie.lines() {
        let line = line.trim_start();
        if let Some(address) = line.strip_prefix("|-- ") {
            last = address.trim().parse().ok();
        } else if line.starts_with("/32 host LOCAL") {
            found.extend(last.filter(|address| !address.is_loopback()));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The first `cap` bytes of a regular file as the process sees it: in its own root, relative to its own folder.
pub async fn file_of(place: &Place, pid: u32, path: &Path, cap: usize) -> Result<Content, Blind> {
    let path =
        if path.is_absolute() { path.to_path_buf() } else { place.link(format!("/proc/{pid}/cwd")).await?.join(path) };
    place.read_under(Path::new(&format!("/proc/{pid}/root")), &path, cap).await
}
