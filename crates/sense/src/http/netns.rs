//! Network namespaces: a server in a container or a lab that listens only there.

use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::os::fd::AsFd as _;
use std::time::Duration;

use model::{Blind, BlindKind};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::{connect, names};
use crate::text::inode;

/// The network namespace of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NetNs(pub u32);

impl NetNs {
    /// Its inode, where we may see it.
    pub(super) fn inode(self) -> Option<u64> {
        inode_of(&format!("/proc/{}/ns/net", self.0))
    }

    /// Whether it is ours, as far as we may see.
    pub(super) fn is_ours(self) -> bool {
        self.inode().is_some_and(|inode| Some(inode) == inode_of("/proc/self/ns/net"))
    }

    /// Connects from inside. Blocks, and leaves the calling thread inside: it must end with this.
    pub(crate) fn connect(self, host: &str, port: u16, limit: Duration) -> Result<(TcpStream, SocketAddr), Blind> {
        let path = format!("/proc/{}/ns/net", self.0);
        let refused = |error: &io::Error| match error.kind() {
            io::ErrorKind::PermissionDenied => Blind::new(
                BlindKind::Denied,
                format!(
                    "it listens in the network namespace of process {0}, which we may not enter ({error}): \
                     run this as root, or from inside: nsenter -t {0} -n",
                    self.0
                ),
            ),
            _ => Blind::new(BlindKind::Gone, format!("{path}: {error}")),
        };
        let file = File::open(&path).map_err(|error| refused(&error))?;
        move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|error| refused(&error.into()))?;
        let addresses: Vec<SocketAddr> =
            (host, port).to_socket_addrs().map_err(|error| names::nameless(host, &error))?.collect();
        let mut failures = Vec::new();
        for address in addresses {
            match TcpStream::connect_timeout(&address, limit) {
                Ok(stream) => {
                    stream.set_nonblocking(true).map_err(|error| Blind::new(BlindKind::NoRoute, error.to_string()))?;
                    return Ok((stream, address));
                }
                Err(error) => failures.push((address, error)),
            }
        }
        let mut blind = connect::unconnected(&failures);
        blind.text = format!("in the network namespace of process {}: {}", self.0, blind.text);
        Err(blind)
    }
}

fn inode_of(path: &str) -> Option<u64> {
    inode(&std::fs::read_link(path).ok()?, "net")
}
