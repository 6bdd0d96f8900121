//! Which addresses are one place. A server is known by its network namespace, its resolved address, where all of the
//! namespace's own addresses are one, its port and the path in front; never by how somebody spells its host.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sense::process::{Grounds, grounds_of};
use sense::{Place, Process, Target};
use tokio::task::JoinSet;

/// Names resolved at once.
const AT_ONCE: usize = 16;
/// For all names that one step of a look brings.
const PATIENCE: Duration = Duration::from_secs(2);
/// Names resolved in one look; the others stand for themselves.
const MOST_NAMES: usize = 512;

/// A network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Space {
    /// By its inode.
    Inode(u64),
    /// By the lowest inode of its listening sockets, where its own is hidden.
    Mark(u64),
    /// By a process in it, where nothing else can be seen; 0 is us.
    Process(u32),
}

/// One place where something can listen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    host: Host,
    port: u16,
    prefix: String,
}

impl Spot {
    /// The spot at an address of another host.
    pub(crate) fn remote(address: IpAddr, port: u16, prefix: &str) -> Spot {
        Spot { host: Host::Remote(address), port, prefix: prefix.to_owned() }
    }

    /// The address and port, where that is on no namespace that can be seen from there.
    pub(crate) fn elsewhere(&self) -> Option<(IpAddr, u16)> {
        match self.host {
            Host::Remote(address) => Some((address, self.port)),
            Host::Local(_) | Host::Bound(..) | Host::Name(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Host {
    /// Any of the namespace's own addresses.
    Local(Space),
    /// This one of them: other sockets hold the same port on others.
    Bound(Space, IpAddr),
    /// An address elsewhere.
    Remote(IpAddr),
    /// A name that does not resolve.
    Name(String),
}

/// What is known of namespaces and names; grows as the look goes on.
#[derive(Debug, Default)]
pub(crate) struct Atlas(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    spaces: BTreeMap<Space, Grounds>,
    ours: Option<Space>,
    of_process: BTreeMap<u32, Space>,
    names: BTreeMap<String, Vec<IpAddr>>,
}

impl Atlas {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that knows these namespaces, ours first, and which processes are in which.
    #[cfg(test)]
    pub(super) fn of(spaces: Vec<(Space, Grounds)>, of_process: &[(u32, Space)]) -> Atlas {
        let ours = spaces.first().map(|(space, _)| *space);
        let of_process = of_process.iter().copied().collect();
        Atlas(Mutex::new(Known { spaces: spaces.into_iter().collect(), ours, of_process, names: BTreeMap::new() }))
    }

    /// Learns our own namespace, once.
    pub(crate) async fn learn_ours(&self, place: &Place) {
        if self.known().ours.is_some() {
            return;
        }
        let grounds = grounds_of(place, None).await;
        let space = grounds.netns.map_or(Space::Process(0), Space::Inode);
        let mut known = self.known();
        known.ours = Some(space);
        known.spaces.insert(space, grounds);
    }

    /// Learns the namespace of a process.
    pub(crate) async fn learn_process(&self, place: &Place, process: &Process) {
        self.learn_ours(place).await;
        let ours = self.known().ours;
        let space = match (process.same_netns_as_us, process.netns, process.netns_mark) {
            (Some(true), _, _) => ours.unwrap_or(Space::Process(0)),
            (_, Some(inode), _) => Space::Inode(inode),
            (_, None, Some(mark)) => Space::Mark(mark),
            (_, None, None) => Space::Process(process.pid),
        };
        self.known().of_process.insert(process.pid, space);
        let is_new = !self.known().spaces.contains_key(&space);
        if is_new {
            let grounds = grounds_of(place, Some(process.pid)).await;
            self.known().spaces.insert(space, grounds);
        }
    }

    /// Resolves the names among `targets` that are not known yet, as many as a few seconds allow; the others stand for
    /// themselves.
    pub(crate) async fn learn_names<'a>(&self, place: &Place, targets: impl Iterator<Item = &'a Target>) {
        let mut wanted: BTreeSet<String> = BTreeSet::new();
        {
            let known = self.known();
            let room = MOST_NAMES.saturating_sub(known.names.len());
            let names = targets.map(|target| &target.base.host).filter(|host| host.parse::<IpAddr>().is_err());
            wanted.extend(names.filter(|name| !known.names.contains_key(*name)).take(room).cloned());
        }
        self.known().names.extend(wanted.iter().map(|name| (name.clone(), Vec::new())));
        // What is left then is left behind with its tasks.
        let _ = tokio::time::timeout(PATIENCE, self.resolve(place, wanted)).await;
    }

    /// Takes over, of what another knows, the addresses of names that it cannot resolve itself.
    pub(crate) fn take_names(&self, other: &Atlas) {
        if std::ptr::eq(self, other) {
            return;
        }
        let theirs = other.known().names.clone();
        let mut known = self.known();
        for (name, found) in theirs.into_iter().filter(|(_, found)| !found.is_empty()) {
            let room = known.names.len() < MOST_NAMES;
            match known.names.entry(name) {
                Entry::Vacant(free) if room => {
                    free.insert(found);
                }
                Entry::Occupied(mut held) if held.get().is_empty() => {
                    held.insert(found);
                }
                Entry::Vacant(_) | Entry::Occupied(_) => {}
            }
        }
    }

    async fn resolve(&self, place: &Place, wanted: BTreeSet<String>) {
        let mut waiting = wanted.into_iter();
        let mut tasks = JoinSet::new();
        loop {
            while tasks.len() < AT_ONCE
                && let Some(name) = waiting.next()
            {
                let place = place.clone();
                tasks.spawn(async move {
                    let found = place.resolve(&name).await.unwrap_or_default();
                    (name, found)
                });
            }
            let Some(done) = tasks.join_next().await else { break };
            if let Ok((name, found)) = done {
                self.known().names.insert(name, found);
            }
        }
    }

    /// The namespace from which `target` is reached.
    pub(crate) fn space(&self, target: &Target) -> Space {
        self.known().space(target)
    }

    /// Where `target` may be: one spot for each address of its host.
    pub(crate) fn spots(&self, target: &Target) -> Vec<Spot> {
        self.spots_in(target, self.space(target))
    }

    /// Where `target` may be, as something in `space` spells it.
    pub(crate) fn spots_in(&self, target: &Target, space: Space) -> Vec<Spot> {
        let known = self.known();
        let at = |host| Spot { host, port: target.base.port, prefix: target.base.prefix.clone() };
        let addresses = known.addresses(&target.base.host);
        let mut spots: Vec<Spot> =
            addresses.iter().map(|address| at(known.host(*address, target.base.port, space))).collect();
        if spots.is_empty() {
            spots.push(at(Host::Name(target.base.host.clone())));
        }
        spots.sort();
        spots.dedup();
        spots
    }

    /// Whether two targets are one place.
    pub(crate) fn same(&self, one: &Target, other: &Target) -> bool {
        if one.base.port != other.base.port || one.base.prefix != other.base.prefix {
            return false;
        }
        let spots = self.spots(other);
        self.spots(one).iter().any(|spot| spots.contains(spot))
    }

    /// Our own namespace.
    pub(crate) fn ours(&self) -> Space {
        self.known().ours.unwrap_or(Space::Process(0))
    }

    /// The addresses of a target's host, as far as they are known.
    pub(crate) fn addresses(&self, target: &Target) -> Vec<IpAddr> {
        self.known().addresses(&target.base.host)
    }

    /// The namespace whose own address the target has, if it is one that can be seen from here.
    pub(crate) fn home(&self, target: &Target) -> Option<Space> {
        self.spots(target).into_iter().find_map(|spot| match spot.host {
            Host::Local(space) | Host::Bound(space, _) => Some(space),
            Host::Remote(_) | Host::Name(_) => None,
        })
    }

    /// The addresses by which other hosts may reach `target`, which is in a namespace that can be seen from here.
    pub(crate) fn outside(&self, target: &Target) -> Vec<IpAddr> {
        let Some(space) = self.home(target) else { return Vec::new() };
        let known = self.known();
        let Some(grounds) = known.spaces.get(&space) else { return Vec::new() };
        let binds = grounds.listening.iter().filter(|bind| bind.port() == target.base.port).map(SocketAddr::ip);
        let binds: Vec<IpAddr> = binds.collect();
        let own = grounds.addresses.iter().map(IpAddr::to_canonical);
        own.filter(|address| {
            !is_link_local(*address)
                && binds.iter().any(|bind| bind.is_unspecified() || bind.to_canonical() == *address)
        })
        .collect()
    }

    /// An address by which what listens on `port` in `space` is reached from elsewhere; an error when it listens on
    /// loopback only.
    pub(crate) fn outside_address(&self, space: Space, port: u16) -> Result<Option<IpAddr>, ()> {
        let known = self.known();
        let Some(grounds) = known.spaces.get(&space) else { return Ok(None) };
        let binds: Vec<IpAddr> =
            grounds.listening.iter().filter(|bind| bind.port() == port).map(SocketAddr::ip).collect();
        if !binds.is_empty() && binds.iter().all(IpAddr::is_loopback) {
            return Err(());
        }
        let bound = binds.iter().find(|bind| !bind.is_loopback() && !bind.is_unspecified()).copied();
        Ok(bound.or_else(|| grounds.addresses.iter().copied().find(|address| !is_link_local(*address))))
    }
}

impl Known {
    fn space(&self, target: &Target) -> Space {
        let ours = self.ours.unwrap_or(Space::Process(0));
        target
            .namespace
            .map_or(ours, |namespace| self.of_process.get(&namespace.0).copied().unwrap_or(Space::Process(namespace.0)))
    }

    fn addresses(&self, host: &str) -> Vec<IpAddr> {
        match host.parse::<IpAddr>() {
            Ok(address) => vec![address.to_canonical()],
            Err(_) if host == "localhost" => vec![IpAddr::from([127, 0, 0, 1])],
            Err(_) => {
                let found = self.names.get(host).map(Vec::as_slice).unwrap_or_default();
                found.iter().map(IpAddr::to_canonical).collect()
            }
        }
    }

    /// The host that `address` is, seen from `space`.
    fn host(&self, address: IpAddr, port: u16, space: Space) -> Host {
        if address.is_loopback() || address.is_unspecified() {
            return self.local(space, address, port);
        }
        let has = |space: &Space| self.spaces.get(space).is_some_and(|grounds| grounds.addresses.contains(&address));
        let ours = self.ours.unwrap_or(Space::Process(0));
        if let Some(own) = [space, ours].into_iter().find(|space| has(space)) {
            return self.local(own, address, port);
        }
        // Of another namespace, unless several have it: every container's network may be numbered alike.
        let mut others = self.spaces.keys().filter(|space| has(space));
        match (others.next(), others.next()) {
            (Some(only), None) => self.local(*only, address, port),
            _ => Host::Remote(address),
        }
    }

    /// One of the namespace's own addresses: all are one, unless several sockets share the port between them.
    fn local(&self, space: Space, address: IpAddr, port: u16) -> Host {
        let plain = |address: IpAddr| if address.is_loopback() { IpAddr::from([127, 0, 0, 1]) } else { address };
        let listening = self.spaces.get(&space).map(|grounds| grounds.listening.as_slice()).unwrap_or_default();
        let binds: BTreeSet<IpAddr> =
            listening.iter().filter(|bind| bind.port() == port).map(|bind| plain(bind.ip())).collect();
        let address = plain(address);
        if binds.len() > 1 && binds.contains(&address) { Host::Bound(space, address) } else { Host::Local(space) }
    }
}

/// Whether an address means something on its own link only.
pub(crate) fn is_link_local(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}
