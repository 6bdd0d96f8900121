//! A closer look at one process: chosen environment variables, its addresses, its files.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;

use model::Blind;

use crate::place::{Content, Place};

/// Largest environment that is read, bytes.
const ENVIRON: usize = 2 << 20;
/// Largest routing table that is read, bytes.
const ROUTES: usize = 4 << 20;

/// The variables `names` of the environment that the process was started with; no other leaves this function.
pub async fn env_of(place: &Place, pid: u32, names: &[&str]) -> Result<BTreeMap<String, String>, Blind> {
    let content = place.read(format!("/proc/{pid}/environ"), ENVIRON).await?;
    let mut found = BTreeMap::new();
    for entry in content.bytes.split(|&byte| byte == 0) {
        let Some(at) = entry.iter().position(|&byte| byte == b'=') else { continue };
        if let Some(name) = names.iter().find(|name| name.as_bytes() == &entry[..at]) {
            // the first one counts, as it does for getenv
            found.entry((*name).to_string()).or_insert_with(|| String::from_utf8_lossy(&entry[at + 1..]).into_owned());
        }
    }
    Ok(found)
}

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
