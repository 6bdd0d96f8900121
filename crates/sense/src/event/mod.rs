//! Events that a process of this host publishes over ZMQ, listened to for a while. Only to where the process itself listens
//! is ever connected: what else calls itself its address is not believed.

mod listen;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use listen::listen;

use crate::capture::form::not;
use crate::http::NetNs;
use crate::process::Process;

/// A socket on which a process may publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Publisher {
    address: SocketAddr,
    namespace: Option<NetNs>,
}

impl Publisher {
    /// The socket of `process` on `port`; none where the process itself does not listen there, as far as we may see.
    pub fn of(process: &Process, port: u16) -> Option<Publisher> {
        let own = |address: &&SocketAddr| address.port() == port;
        // One of IPv4 is always right; one on :: need not take it.
        let address = process.listening_itself.iter().filter(own).min_by_key(|address| address.is_ipv6())?;
        let ip = match address.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        };
        let namespace = (!process.same_netns_as_us?).then_some(NetNs(process.pid));
        Some(Publisher { address: SocketAddr::new(ip, port), namespace })
    }

    /// Its address, for people.
    pub fn url(&self) -> String {
        format!("tcp://{}", self.address)
    }

    /// The process in whose network namespace it is, where that is not ours.
    pub(crate) fn inside(&self) -> Option<u32> {
        self.namespace.map(|namespace| namespace.0)
    }
}

/// Which events are kept; fields are JSON pointers into the event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keep {
    /// Events in which this is null, or missing, are others'.
    pub has: String,
    /// Events that differ in these are of different kinds; of each kind the newest is kept.
    pub apart: Vec<String>,
    /// Listening ends when so many kinds were heard.
    pub enough: Option<usize>,
}

/// What was heard.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    /// Seconds that were listened.
    pub took: f64,
    /// The newest event of each kind, in the order in which the kinds came.
    pub events: Vec<Value>,
    /// Messages of the topic that were others', or none that can be read.
    #[serde(default)]
    pub passed: usize,
    /// There was more than is taken in.
    #[serde(default, skip_serializing_if = "not")]
    pub cut: bool,
}
