//! By which names a site without a token may be called.
//!
//! A page of somebody else can let its own name point at 127.0.0.1 and then read what is served there: to the browser it is
//! the same origin. What it cannot do is call us by another name than its own, so names that we do not know get nothing.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The names beside addresses and `localhost`.
#[derive(Debug, Default)]
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    pub(crate) fn new(names: &[String]) -> Self {
        Self(names.iter().map(|name| name.to_ascii_lowercase()).collect())
    }

    /// Whether what stands in a `Host` header, with or without its port, is one of ours.
    pub(crate) fn know(&self, host: &str) -> bool {
        if let Some(rest) = host.strip_prefix('[') {
            let Some((address, port)) = rest.split_once(']') else { return false };
            return address.parse::<Ipv6Addr>().is_ok()
                && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port));
        }
        let name = match host.split_once(':') {
            Some((name, port)) if is_port(port) => name,
            Some(_) => return false,
            None => host,
        };
        let name = name.to_ascii_lowercase();
        name.parse::<Ipv4Addr>().is_ok() || name == "localhost" || self.0.contains(&name)
    }
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_localhost_and_given_names() {
        let hosts = Hosts::new(&["Plimsoll.Example".to_owned()]);
        for host in
            ["127.0.0.1", "10.0.0.7:9700", "[::1]", "[::1]:9700", "localhost:80", "LOCALHOST", "plimsoll.example"]
        {
            assert!(hosts.know(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "[::1",
            "[evil]",
            "localhost:x",
            "a:b:c",
            "plimsoll.example.",
            "2130706433",
        ] {
            assert!(!hosts.know(host), "{host}");
        }
    }
}
