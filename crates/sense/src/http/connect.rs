//! From a name to a TCP connection.

use std::io;
use std::net::{IpAddr, SocketAddr};

use model::{Blind, BlindKind};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::names::Names;
use super::stage::{Stage, Step};
use super::{Limits, Target};
use crate::aside::aside;

/// Connects to the target: its addresses in turn, from its network namespace.
pub(super) async fn connect(
    target: &Target,
    names: &Names,
    limits: &Limits,
    stage: &Stage,
) -> Result<(TcpStream, SocketAddr), Blind> {
    let (host, port) = (target.base.host.clone(), target.base.port);
    if let Some(namespace) = target.namespace.filter(|namespace| !namespace.is_ours()) {
        stage.at(Step::Connect);
        let limit = limits.connect;
        let connected =
            aside(move || namespace.connect(&host, port, limit)).await.map_err(|error| helpless(&error))??;
        let stream = TcpStream::from_std(connected.0).map_err(|error| helpless(&error))?;
        return Ok((ready(stream), connected.1));
    }
    stage.at(Step::Name);
    let addresses = match host.parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, port)],
        Err(_) => names.find(&host).await?.into_iter().map(|address| SocketAddr::new(address, port)).collect(),
    };
    stage.at(Step::Connect);
    let mut failures = Vec::new();
    for address in addresses {
        match timeout(limits.connect, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok((ready(stream), address)),
            Ok(Err(error)) => failures.push((address, error)),
            Err(_) => failures.push((address, io::ErrorKind::TimedOut.into())),
        }
    }
    Err(unconnected(&failures))
}

/// Nothing more is sent before the answer than one small packet: it should go at once.
fn ready(stream: TcpStream) -> TcpStream {
    let _ = stream.set_nodelay(true);
    stream
}

/// Why none of the addresses took the connection.
pub(super) fn unconnected(failures: &[(SocketAddr, io::Error)]) -> Blind {
    let kinds: Vec<BlindKind> = failures.iter().map(|(_, error)| kind(error)).collect();
    // the most telling one: a host that has no IPv6 says so first, and that is not why
    let kind = kinds.iter().copied().find(|kind| *kind != BlindKind::NoRoute).unwrap_or(BlindKind::NoRoute);
    let texts: Vec<String> = failures
        .iter()
        .zip(kinds)
        .map(|((address, error), kind)| match kind {
            BlindKind::Refused => format!("nothing listens on {address} (connection refused)"),
            BlindKind::Deadline => format!("{address} did not take the connection in time"),
            _ => format!("no way to {address}: {error}"),
        })
        .collect();
    Blind::new(kind, if texts.is_empty() { "the name has no address".to_string() } else { texts.join("; ") })
}

fn kind(error: &io::Error) -> BlindKind {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => BlindKind::Refused,
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => BlindKind::Deadline,
        io::ErrorKind::PermissionDenied => BlindKind::Denied,
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => BlindKind::Cut,
        _ => BlindKind::NoRoute,
    }
}

fn helpless(error: &io::Error) -> Blind {
    Blind::new(BlindKind::NoRoute, format!("no connection could be made here: {error}"))
}
