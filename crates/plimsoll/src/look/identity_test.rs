//! Which addresses are one place, where that needs hosts and namespaces that a test has not got.
#![allow(clippy::unwrap_used)] // tests: a panic is the report

use std::net::IpAddr;

use sense::process::Grounds;
use sense::{NetNs, Target};

use super::identity::{Atlas, Space};

const OURS: Space = Space::Inode(1);
const ONE: Space = Space::Inode(2);
const TWO: Space = Space::Inode(3);

/// Our host at 10.0.0.1, two containers at 172.17.0.2 and 172.17.0.3 (their processes 20 and 30), which both have
/// 192.168.0.9 too.
fn atlas() -> Atlas {
    let grounds = |addresses: &[&str], listening: &[&str]| Grounds {
        addresses: addresses.iter().map(|address| address.parse::<IpAddr>().unwrap()).collect(),
        listening: listening.iter().map(|address| address.parse().unwrap()).collect(),
        ..Grounds::default()
    };
    Atlas::of(
        vec![
            (OURS, grounds(&["10.0.0.1", "fd00::1"], &["0.0.0.0:30000", "127.0.0.1:8000", "10.0.0.1:8000"])),
            (ONE, grounds(&["172.17.0.2", "192.168.0.9"], &["0.0.0.0:30000", "127.0.0.1:9"])),
            (TWO, grounds(&["172.17.0.3", "192.168.0.9"], &[])),
        ],
        &[(20, ONE), (30, TWO)],
    )
}

fn target(url: &str) -> Target {
    url.parse().unwrap()
}

fn inside(url: &str, pid: u32) -> Target {
    let mut target = target(url);
    target.namespace = Some(NetNs(pid));
    target
}

#[test]
fn all_own_addresses_are_one() {
    let atlas = atlas();
    let own =
        ["127.0.0.1:30000", "10.0.0.1:30000", "[fd00::1]:30000", "[::1]:30000", "0.0.0.0:30000", "127.0.1.1:30000"];
    for one in own {
        for other in own {
            assert!(atlas.same(&target(one), &target(other)), "{one} {other}");
        }
        for other in ["10.0.0.2:30000", "10.0.0.1:30001", "10.0.0.1:30000/path", "172.17.0.2:30000"] {
            assert!(!atlas.same(&target(one), &target(other)), "{one} {other}");
        }
    }
}

#[test]
fn two_sockets_on_one_port_are_two_places() {
    let atlas = atlas();
    assert!(!atlas.same(&target("127.0.0.1:8000"), &target("10.0.0.1:8000")));
    assert!(atlas.same(&target("127.0.0.1:8000"), &target("[::1]:8000")));
}

#[test]
fn namespaces_are_told_apart() {
    let atlas = atlas();
    let url = "127.0.0.1:30000";
    assert!(!atlas.same(&inside(url, 20), &inside(url, 30)), "two containers");
    assert!(!atlas.same(&inside(url, 20), &target(url)), "a container and we");
    assert!(atlas.same(&inside(url, 20), &inside(url, 20)));
    // By its address from outside it is the same place.
    assert!(atlas.same(&inside(url, 20), &target("172.17.0.2:30000")));
    assert!(atlas.same(&target("10.0.0.1:30000"), &inside("10.0.0.1:30000", 20)), "we, as seen from inside");
    // An address that several have tells nothing from outside, and all from inside.
    assert!(!atlas.same(&inside(url, 20), &target("192.168.0.9:30000")));
    assert!(atlas.same(&inside(url, 30), &inside("192.168.0.9:30000", 30)));
}

#[test]
fn the_address_for_others() {
    let atlas = atlas();
    assert_eq!(atlas.outside_address(OURS, 30000), Ok(Some("10.0.0.1".parse().unwrap())));
    assert_eq!(atlas.outside_address(ONE, 30000), Ok(Some("172.17.0.2".parse().unwrap())));
    assert_eq!(atlas.outside_address(ONE, 9), Err(()), "on loopback only");
    assert_eq!(atlas.home(&target("172.17.0.3:1")), Some(TWO));
    assert_eq!(atlas.home(&target("198.51.100.7:1")), None);
}
