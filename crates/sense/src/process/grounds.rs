//! The network namespace that a process stands in: which addresses are its own, and what listens there.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use super::inside::local_addresses;
use super::scan::listeners_at;
use crate::place::{Content, Place};
use crate::text::inode;

/// Largest table of routes or interfaces that is read, bytes.
const TABLE: usize = 4 << 20;

/// What can be told of a network namespace; empty where nothing could be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grounds {
    /// Its inode, where we may see it.
    pub netns: Option<u64>,
    /// The lowest socket inode that listens in it: tells namespaces apart where the inode is hidden.
    pub mark: Option<u64>,
    /// Its own addresses, other than loopback.
    pub addresses: Vec<IpAddr>,
    /// Where anything listens in it.
    pub listening: Vec<SocketAddr>,
}

/// The namespace of the process `pid`, or ours.
pub async fn grounds_of(place: &Place, pid: Option<u32>) -> Grounds {
    let who = pid.map_or_else(|| "self".to_string(), |pid| pid.to_string());
    let files = ["fib_trie", "if_inet6"].map(|name| PathBuf::from(format!("/proc/{who}/net/{name}")));
    let mut texts = place.read_each(files.to_vec(), TABLE).await.into_iter().map(|read| text(read.ok()));
    let mut addresses: Vec<IpAddr> =
        local_addresses(&texts.next().unwrap_or_default()).into_iter().map(IpAddr::from).collect();
    addresses.extend(interface_addresses(&texts.next().unwrap_or_default()).into_iter().map(IpAddr::from));
    let listeners = listeners_at(place, &who).await.unwrap_or_default();
    let netns = place.link(format!("/proc/{who}/ns/net")).await.ok().and_then(|link| inode(&link, "net"));
    Grounds {
        netns,
        mark: listeners.iter().map(|listener| listener.inode).min(),
        addresses,
        listening: listeners.into_iter().map(|listener| listener.address).collect(),
    }
}

/// The addresses, other than loopback, that an `if_inet6` lists.
pub fn interface_addresses(if_inet6: &str) -> Vec<Ipv6Addr> {
    let address = |line: &str| u128::from_str_radix(line.split_ascii_whitespace().next()?, 16).ok().map(Ipv6Addr::from);
    if_inet6.lines().filter_map(address).filter(|address| !address.is_loopback()).collect()
}

fn text(content: Option<Content>) -> String {
    content.map(|content| content.text()).unwrap_or_default()
}
