//! Names for hosts, addresses and users in place of their own, the same ones wherever they stand: in questions, addresses,
//! tables of the kernel, command lines, logs, labels. What was one place stays one place.

mod apply;
mod kernel;
mod learn;
mod text;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use sense::ssh::Destination;

/// Pseudonyms given so far.
#[derive(Debug, Default)]
pub(crate) struct Pseudonyms {
    /// By name in small letters.
    hosts: BTreeMap<String, String>,
    users: BTreeMap<String, String>,
    /// Hosts over ssh, by whatever word they go here, and the word for that.
    ways: BTreeMap<String, String>,
    v4: BTreeMap<Ipv4Addr, Ipv4Addr>,
    v6: BTreeMap<Ipv6Addr, Ipv6Addr>,
}

impl Pseudonyms {
    /// None given yet, but to this host itself, where its name is known.
    pub(crate) fn new(hostname: Option<&str>) -> Pseudonyms {
        let mut own = Pseudonyms::default();
        if let Some(name) = hostname.map(str::trim) {
            own.meet(name);
        }
        own
    }

    /// Takes note of a host's name; loopback's and addresses are none.
    fn meet(&mut self, name: &str) {
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
        let local = name == "localhost" || name.starts_with("localhost.") || name.ends_with(".localhost");
        let lettered = name.bytes().any(|byte| byte.is_ascii_alphabetic());
        if plain && lettered && !local && name.len() <= 253 {
            let number = self.hosts.len() + 1;
            self.hosts.entry(name).or_insert_with(|| format!("host-{number}"));
        }
    }

    /// Takes note of a host over ssh, before anything is said of it.
    pub(crate) fn meet_way(&mut self, way: &Destination) {
        let name = way.host().to_owned();
        self.meet(&name);
        let other = match (self.host(&name).map(str::to_owned), name.parse()) {
            (Some(other), _) => other,
            (None, Ok(address)) => self.address(address).to_string(),
            (None, Err(_)) => format!("way-{}", self.ways.len() + 1),
        };
        self.ways.entry(name).or_insert(other);
        if let Some(user) = way.user() {
            self.user(user);
        }
    }

    /// A host over ssh by its other names.
    fn way(&mut self, way: &Destination) -> Destination {
        self.meet_way(way);
        let user = way.user().map(|user| self.user(user));
        let host = self.ways.get(way.host()).cloned().unwrap_or_default();
        way.renamed(user, host)
    }

    /// What `ssh` and we say of a host over it, where its name and user may stand anywhere.
    fn said(&self, text: &str) -> String {
        let users = self.users.iter().map(|(user, other)| (format!("{user}@"), format!("{other}@")));
        let hosts = self.ways.iter().map(|(host, other)| (host.clone(), other.clone()));
        users.chain(hosts).fold(text.to_owned(), |text, (own, other)| text.replace(&own, &other))
    }

    /// The pseudonym of a host's name, if it is one.
    fn host(&self, name: &str) -> Option<&str> {
        self.hosts.get(&name.to_ascii_lowercase()).map(String::as_str)
    }

    fn user(&mut self, name: &str) -> String {
        let number = self.users.len() + 1;
        self.users.entry(name.to_owned()).or_insert_with(|| format!("user-{number}")).clone()
    }

    /// The pseudonym of an address: of the same family, and of the same kind where kinds are treated differently.
    /// Loopback, any address, multicast and what is no host's stay.
    fn address(&mut self, address: IpAddr) -> IpAddr {
        match address {
            IpAddr::V4(address) => IpAddr::V4(self.v4(address)),
            IpAddr::V6(address) => match address.to_ipv4_mapped() {
                Some(inner) => IpAddr::V6(self.v4(inner).to_ipv6_mapped()),
                None => IpAddr::V6(self.v6(address)),
            },
        }
    }

    fn v4(&mut self, address: Ipv4Addr) -> Ipv4Addr {
        let nobody = address.octets()[0] == 0 || address.is_broadcast() || address.is_multicast();
        if nobody || address.is_loopback() || address.is_link_local() {
            return address;
        }
        let number = self.v4.len() as u16;
        let given = Ipv4Addr::new(10, 77, (number / 250) as u8, (number % 250) as u8 + 1);
        *self.v4.entry(address).or_insert(given)
    }

    fn v6(&mut self, address: Ipv6Addr) -> Ipv6Addr {
        if address.is_unspecified() || address.is_loopback() || address.is_multicast() {
            return address;
        }
        let number = self.v6.len() as u32 + 1;
        // A link's own addresses are made of the hardware's.
        let first = if address.is_unicast_link_local() { 0xfe80 } else { 0xfd77 };
        let given = Ipv6Addr::new(first, 0, 0, 0, 0, 0, (number >> 16) as u16, number as u16);
        *self.v6.entry(address).or_insert(given)
    }
}
