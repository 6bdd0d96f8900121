//! Hosts over ssh when something else is to be watched: nothing here connects to any.

use std::sync::Arc;

use model::{Account, Blind, BlindKind, Time};

use super::{Pace, Watch};
use crate::cli::LookArgs;
use crate::look::candidate::Candidate;
use crate::look::site::Seen;
use crate::look::{Looked, opened_for_watch};

fn watched(targets: &[&str]) -> crate::look::Opened {
    let targets = targets.iter().map(|&target| target.to_owned()).collect();
    opened_for_watch(&LookArgs { targets, ..LookArgs::default() }).expect("targets")
}

/// A server on `gpu-b`, seen from there.
fn server(port: u16) -> Looked {
    let target = format!("http://127.0.0.1:{port}").parse().expect("a target");
    let mut candidate = Candidate::given(target);
    candidate.via = Some(Arc::from("ssh://gpu-b"));
    Looked::of(candidate, Account::default())
}

/// A look at all of the only host.
fn sees(watch: &mut Watch, ports: &[u16], now: f64) {
    let at = watch.places.iter().position(|place| place.site.eye.via.is_some()).expect("a host");
    let looked = ports.iter().map(|port| server(*port)).collect();
    watch.whole(at, Time(now), Time(now), Ok(Seen { looked, now: Some(Time(now)), ..Seen::default() }));
}

fn ports(watch: &mut Watch) -> Vec<String> {
    let fleet = watch.fleet();
    let urls = fleet.look.snapshot.servers.iter().map(|server| server.url.clone());
    let mut ports: Vec<String> = urls.map(|url| url.rsplit(':').next().expect("a port").to_owned()).collect();
    watch.put_back(fleet.look.looked);
    ports.sort();
    ports
}

#[test]
fn what_is_known_of_a_host_over_ssh_stays_until_it_is_looked_at_again() {
    let mut watch = Watch::new(watched(&["ssh://gpu-b"]), Pace::default());
    let now = sense::clock::now();
    sees(&mut watch, &[1, 2], now.0);
    // Another one before it: it has another number.
    watch.reopen(watched(&["ssh://gpu-a", "ssh://gpu-b"]), Pace::default());
    assert_eq!(ports(&mut watch), ["1", "2"]);
    // One that cannot be reached just then is as it was.
    let failed = Seen { failed: Some(Blind::new(BlindKind::Gone, "no route")), now: Some(now), ..Seen::default() };
    watch.whole(1, now, now, Ok(failed));
    watch.reopen(watched(&["ssh://gpu-b"]), Pace::default());
    assert_eq!(ports(&mut watch), ["1", "2"]);
    assert_eq!(watch.fleet_beside().snapshot.hosts[0].unreachable.as_deref(), Some("no route"));
    // The next look takes the place of the last.
    sees(&mut watch, &[2, 3], now.0 + 5.0);
    assert_eq!(ports(&mut watch), ["2", "3"]);
    watch.reopen(watched(&["ssh://gpu-a"]), Pace::default());
    assert_eq!(ports(&mut watch), [""; 0]);
}

#[test]
fn of_a_host_over_ssh_only_what_is_still_given_stays() {
    let mut watch = Watch::new(watched(&["ssh://gpu-b/1", "ssh://gpu-b/2"]), Pace::default());
    sees(&mut watch, &[1, 2], sense::clock::now().0);
    watch.reopen(watched(&["ssh://gpu-b/2", "ssh://gpu-b/3"]), Pace::default());
    assert_eq!(ports(&mut watch), ["2"]);
    watch.reopen(watched(&["ssh://gpu-b"]), Pace::default());
    assert_eq!(ports(&mut watch), ["2"]);
}
