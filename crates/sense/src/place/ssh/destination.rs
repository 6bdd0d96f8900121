//! `ssh://[user@]host[:port]`: where another host is, as the system's `ssh` understands it.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

/// Longest name of a host or a user, characters.
const NAME: usize = 255;

/// A host over ssh. Names may be aliases of the user's own ssh configuration.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Destination {
    user: Option<String>,
    host: String,
    port: Option<u16>,
}

/// Why a text is no destination.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{shown:?} is no host over ssh: {why}; write ssh://[user@]host[:port]")]
pub struct DestinationError {
    shown: String,
    why: &'static str,
}

impl Destination {
    /// The host's name, as it was given.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The user to be there, where one was given.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The same by other names.
    #[must_use]
    pub fn renamed(&self, user: Option<String>, host: String) -> Destination {
        Destination { user, host, port: self.port }
    }

    /// The words that name it to `ssh`; the last one is the host, and none can be taken for an option.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(port) = self.port {
            words.extend(["-p".to_owned(), port.to_string()]);
        }
        if let Some(user) = &self.user {
            words.extend(["-l".to_owned(), user.clone()]);
        }
        words.extend(["--".to_owned(), self.host.clone()]);
        words
    }

    /// Splits `ssh://host/what` into the host and what is to be looked at there, if the text is such a one at all.
    pub fn split(text: &str) -> Option<Result<(Destination, Option<&str>), DestinationError>> {
        let (scheme, rest) = text.split_once("://")?;
        if !scheme.eq_ignore_ascii_case("ssh") {
            return None;
        }
        let (authority, inner) = match rest.split_once('/') {
            Some((authority, inner)) => (authority, Some(inner).filter(|inner| !inner.is_empty())),
            None => (rest, None),
        };
        Some(parse(authority).map(|destination| (destination, inner)).map_err(|why| {
            // what stands before the last @ may hold a password
            let shown = authority.rsplit_once('@').map_or(authority.to_owned(), |(_, host)| format!("…@{host}"));
            DestinationError { shown: format!("ssh://{shown}"), why }
        }))
    }
}

impl FromStr for Destination {
    type Err = DestinationError;

    fn from_str(text: &str) -> Result<Destination, DestinationError> {
        match Destination::split(text) {
            Some(Ok((destination, None))) => Ok(destination),
            Some(Err(error)) => Err(error),
            Some(Ok((_, Some(_)))) => {
                Err(DestinationError { shown: text.to_owned(), why: "something follows the host" })
            }
            None => Err(DestinationError { shown: text.to_owned(), why: "it does not begin with ssh://" }),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ssh://")?;
        if let Some(user) = &self.user {
            write!(formatter, "{user}@")?;
        }
        if self.host.contains(':') {
            write!(formatter, "[{}]", self.host)?;
        } else {
            formatter.write_str(&self.host)?;
        }
        self.port.map_or(Ok(()), |port| write!(formatter, ":{port}"))
    }
}

fn parse(authority: &str) -> Result<Destination, &'static str> {
    let (user, place) = match authority.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, authority),
    };
    if user.is_some_and(|user| user.contains(':')) {
        return Err("a password does not belong on a command line; ssh uses keys and its agent");
    }
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (address, rest) = rest.split_once(']').ok_or("the bracket of the IPv6 address does not close")?;
            let address: Ipv6Addr = address.parse().map_err(|_| "what stands in brackets is no IPv6 address")?;
            match rest.strip_prefix(':') {
                Some(port) => (address.to_string(), Some(port)),
                None if rest.is_empty() => (address.to_string(), None),
                None => return Err("something other than a port follows the bracket"),
            }
        }
        None => match place.split_once(':') {
            Some((host, port)) => (host.to_owned(), Some(port)),
            None => (place.to_owned(), None),
        },
    };
    let digits = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let number = |port: &str| port.parse::<u16>().ok().filter(|number| digits(port) && *number > 0);
    let port = port.map(|port| number(port).ok_or("the port is not a number from 1 to 65535")).transpose()?;
    let is_name = |name: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-%:".contains(&byte);
        !name.is_empty() && name.len() <= NAME && !name.starts_with('-') && name.bytes().all(plain)
    };
    if !is_name(&host) {
        return Err("the host has a letter that no host name has, or none at all");
    }
    if user.is_some_and(|user| !is_name(user)) {
        return Err("the user's name has a letter that none has");
    }
    Ok(Destination { user: user.map(str::to_owned), host, port })
}
