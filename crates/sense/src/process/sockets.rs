//! `/proc/PID/net/tcp` and `tcp6`: who listens in a network namespace.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// One listening socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listener {
    /// Where it listens; an IPv4 address that was written as IPv6 is given as IPv4.
    pub address: SocketAddr,
    /// The user that made it.
    pub uid: u32,
    /// Its inode, which the link of the file descriptor names.
    pub inode: u64,
}

/// The state LISTEN as the table spells it.
const LISTEN: &str = "0A";

/// The listeners of a table; rows that are not understood are passed over, as its heading is.
pub fn listeners(table: &str) -> Vec<Listener> {
    table.lines().filter_map(listener).collect()
}

fn listener(row: &str) -> Option<Listener> {
    let mut fields = row.split_ascii_whitespace();
    let local = fields.nth(1)?;
    if fields.nth(1)? != LISTEN {
        return None;
    }
    // queues, timer, retransmits stand between the state and the user; the timeout between user and inode
    let uid = fields.nth(3)?.parse().ok()?;
    let inode = fields.nth(1)?.parse().ok()?;
    Some(Listener { address: address(local)?, uid, inode })
}

/// `0100007F:7532`: the address in words of the host's byte order, the port as a number.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| Some(u32::from_str_radix(ip.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    let ip = match ip.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for (index, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(index * 8)?);
            }
            IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}
