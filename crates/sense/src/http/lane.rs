//! Lanes: one per target, so that requests to it never overlap, with the connection that is kept in it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::client::conn::http1::SendRequest;

use super::stream::Heard;
use super::{Base, Target, TlsOptions};

/// A connection to a name is made anew after so long: the name may be another server's by then.
const NAMED: Duration = Duration::from_secs(10);

/// What makes two targets the same: namespace, host, port. Loopback has several spellings.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    namespace: Option<Result<u64, u32>>,
    host: String,
    port: u16,
}

/// A lane, locked for as long as a request runs in it.
pub(super) type Lane = Arc<tokio::sync::Mutex<Option<Kept>>>;

/// All lanes of a client.
#[derive(Debug, Default)]
pub(super) struct Lanes(Mutex<BTreeMap<Key, Lane>>);

impl Lanes {
    pub(super) fn of(&self, target: &Target) -> Lane {
        let Base { host, port, .. } = &target.base;
        let key = Key {
            namespace: target
                .namespace
                .filter(|namespace| !namespace.is_ours())
                .map(|namespace| namespace.inode().ok_or(namespace.0)),
            host: if target.base.is_loopback() { "localhost".to_string() } else { host.clone() },
            port: *port,
        };
        let mut lanes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(lanes.entry(key).or_default())
    }
}

/// A connection that stands.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) sender: SendRequest<Empty<Bytes>>,
    pub(super) heard: Heard,
    /// It leads to this host's loopback: packing would cost more than it saves.
    pub(super) near: bool,
    /// A request went over it before.
    pub(super) used: bool,
    since: Instant,
    base: Base,
    tls: TlsOptions,
    _driver: Driver,
}

/// The task that moves the connection's bytes; it ends with the connection's owner.
#[derive(Debug)]
pub(super) struct Driver(pub(super) tokio::task::AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Kept {
    pub(super) fn new(
        sender: SendRequest<Empty<Bytes>>,
        heard: Heard,
        near: bool,
        target: &Target,
        driver: Driver,
    ) -> Kept {
        let (base, tls) = (target.base.clone(), target.tls.clone());
        Kept { sender, heard, near, used: false, since: Instant::now(), base, tls, _driver: driver }
    }

    /// Whether it stands, and leads to `target` in the way that `target` wants.
    pub(super) fn serves(&self, target: &Target) -> bool {
        let same = |mine: &Base, its: &Base| (mine.scheme, &mine.host, mine.port) == (its.scheme, &its.host, its.port);
        let named = !target.base.is_loopback() && target.base.host.parse::<IpAddr>().is_err();
        let leads = same(&self.base, &target.base) && self.tls == target.tls;
        leads && !self.sender.is_closed() && !(named && self.since.elapsed() > NAMED)
    }
}
