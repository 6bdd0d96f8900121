//! Targets: what can be asked over HTTP, and how it is spelled.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use model::Note;

use super::{Credentials, NetNs, TlsOptions};
use crate::secret::{Secret, SecretSource};

/// Whether TLS is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// Without TLS.
    Http,
    /// With TLS.
    Https,
}

/// Where a target is; holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Base {
    /// Whether TLS is spoken.
    pub scheme: Scheme,
    /// Name or address, lower case, IPv6 without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// What comes before every path, e.g. `/router`; empty or starting with `/`, never ending in one.
    pub prefix: String,
}

/// A target with all that is needed to ask it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where it is.
    pub base: Base,
    /// What it wants to know of us.
    pub credentials: Credentials,
    /// How its certificate is judged, and ours.
    pub tls: TlsOptions,
    /// The network namespace from which it is reached, if not ours.
    pub namespace: Option<NetNs>,
}

/// Why a text is no target. The text is shown without its userinfo.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{shown:?} is not a target: {why}; write http://host:port, host:port, [::1]:port or a port alone")]
pub struct TargetError {
    shown: String,
    why: &'static str,
}

impl Target {
    /// A target without credentials.
    pub fn new(base: Base) -> Target {
        Target { base, credentials: Credentials::None, tls: TlsOptions::default(), namespace: None }
    }

    /// What the operator should know: secrets that others can read, or that travel in clear.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = self.credentials.notes();
        notes.extend(self.tls.notes());
        if self.credentials != Credentials::None && self.base.scheme == Scheme::Http && !self.base.is_loopback() {
            let text = format!("the credentials for {self} travel unencrypted");
            notes.push(Note::new("secret-in-clear", text));
        }
        notes
    }
}

impl Base {
    /// The whole address of `path`.
    pub fn url(&self, path: &str) -> String {
        format!("{self}{path}")
    }

    /// Whether it is this host by its very name or address (no lookup is made).
    pub fn is_loopback(&self) -> bool {
        let address = self.host.parse::<std::net::IpAddr>();
        self.host == "localhost" || address.is_ok_and(|address| address.is_loopback() || address.is_unspecified())
    }

    /// Host and port as a URL spells them; the port only where it is not the scheme's own.
    pub(super) fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match (self.scheme, self.port) {
            (Scheme::Http, 80) | (Scheme::Https, 443) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }
}

impl fmt::Display for Base {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(formatter, "{scheme}://{}{}", self.authority(), self.prefix)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.base.fmt(formatter)
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Target, TargetError> {
        let text = text.trim();
        parse(text).map_err(|why| {
            // everything before the last @ may be a secret, however wrong the rest is
            let shown = text.rsplit_once('@').map_or(text.to_string(), |(_, rest)| format!("…@{rest}"));
            // and so may what stands in a query
            let shown = shown.split_once(['?', '#']).map_or(shown.clone(), |(front, _)| format!("{front}?…"));
            TargetError { shown, why }
        })
    }
}

fn parse(text: &str) -> Result<Target, &'static str> {
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let base =
            Base { scheme: Scheme::Http, host: "127.0.0.1".to_string(), port: port(text)?, prefix: String::new() };
        return Ok(Target::new(base));
    }
    let (scheme, rest) = match text.split_once("://") {
        None => (Scheme::Http, text),
        Some((name, rest)) if name.eq_ignore_ascii_case("http") => (Scheme::Http, rest),
        Some((name, rest)) if name.eq_ignore_ascii_case("https") => (Scheme::Https, rest),
        Some(_) => return Err("only http and https are spoken"),
    };
    if rest.contains(['?', '#']) {
        return Err("it has a query or fragment");
    }
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if scheme == Scheme::Http && text.len() == rest.len() && authority.bytes().all(|byte| byte.is_ascii_digit()) {
        // A port alone, with a path.
        let (host, port) = ("127.0.0.1".to_owned(), port(authority)?);
        return Ok(Target::new(Base { scheme, host, port, prefix: prefix(path)? }));
    }
    let (userinfo, authority) = match authority.rsplit_once('@') {
        Some((userinfo, authority)) => (Some(userinfo), authority),
        None => (None, authority),
    };
    let (host, port) = host_and_port(authority, scheme)?;
    let mut target = Target::new(Base { scheme, host, port, prefix: prefix(path)? });
    if let Some(userinfo) = userinfo {
        let (user, password) = userinfo.split_once(':').map_or((userinfo, None), |(user, word)| (user, Some(word)));
        let password = password.map(decoded).transpose()?.map(|word| SecretSource::Url(Secret::new(word)));
        target.credentials = Credentials::Basic { user: Secret::new(decoded(user)?), password };
    }
    Ok(target)
}

fn host_and_port(authority: &str, scheme: Scheme) -> Result<(String, u16), &'static str> {
    let own = match scheme {
        Scheme::Http => 80,
        Scheme::Https => 443,
    };
    if let Some(rest) = authority.strip_prefix('[') {
        let (address, rest) = rest.split_once(']').ok_or("the bracket of the IPv6 address does not close")?;
        let address: Ipv6Addr = address.parse().map_err(|_| "what stands in brackets is no IPv6 address")?;
        let port = match rest.strip_prefix(':') {
            Some(text) => port(text)?,
            None if rest.is_empty() => own,
            None => return Err("something other than a port follows the bracket"),
        };
        return Ok((address.to_string(), port));
    }
    let (host, port) = match authority.split_once(':') {
        Some((_, rest)) if rest.contains(':') => return Err("an IPv6 address stands in brackets"),
        Some((host, text)) => (host, port(text)?),
        None => (authority, own),
    };
    if host.is_empty() {
        return Err("it has no host");
    }
    if !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)) {
        return Err("the host has a letter that no host name has (names outside ASCII: give the xn-- form)");
    }
    Ok((host.to_ascii_lowercase(), port))
}

fn port(text: &str) -> Result<u16, &'static str> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|&port| digits && port > 0).ok_or("the port is not a number from 1 to 65535")
}

fn prefix(path: &str) -> Result<String, &'static str> {
    let path = path.trim_end_matches('/');
    if !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("the path holds blanks, controls or letters outside ASCII");
    }
    if path.split('/').any(|part| part == "." || part == "..") {
        return Err("the path goes up or stands still");
    }
    Ok(path.to_string())
}

/// Percent-decoding of userinfo.
fn decoded(text: &str) -> Result<String, &'static str> {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits = [bytes.next(), bytes.next()].map(|digit| char::from(digit.unwrap_or(b'?')).to_digit(16));
            let [Some(high), Some(low)] = digits else {
                return Err("a % in the userinfo is not followed by two digits");
            };
            out.push((high << 4 | low) as u8);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).map_err(|_| "the userinfo is not text")
}
