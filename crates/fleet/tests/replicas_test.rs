//! Replicas of one role that differ.

use fleet::{Replica, drift};
use model::{Fact, Facts, Role};

fn facts(said: &[(&str, &str, u8)]) -> Facts {
    let fact = |value: &str, weight| Fact { value: value.to_owned(), source: "test".to_owned(), weight };
    said.iter().map(|(name, value, weight)| ((*name).to_owned(), fact(value, *weight))).collect()
}

fn replica<'a>(url: &'a str, role: Role, version: Option<&'a str>, facts: &'a Facts) -> Replica<'a> {
    Replica { url, engine: Some("engine"), role, model: Some("m"), version, facts }
}

fn settings(_: &str) -> Vec<&'static str> {
    vec!["page_size"]
}

#[test]
fn versions_and_flags_that_differ_are_said_on_each_side() {
    let (one, other) = (facts(&[("page_size", "1", 2)]), facts(&[("page_size", "64", 2)]));
    let replicas = [
        replica("a", Role::Decode, Some("1.0"), &one),
        replica("b", Role::Decode, Some("1.1"), &other),
        // Of another role: nothing to compare it with.
        replica("c", Role::Prefill, Some("0.9"), &one),
    ];
    let notes = drift(&replicas, settings);
    let texts: Vec<Vec<&str>> =
        notes.iter().map(|notes| notes.iter().map(|note| note.text.as_str()).collect()).collect();
    assert_eq!(
        texts,
        [
            vec!["replicas differ in version: 1.0 here, 1.1 at b", "replicas differ in page_size: 1 here, 64 at b"],
            vec!["replicas differ in version: 1.1 here, 1.0 at a", "replicas differ in page_size: 64 here, 1 at a"],
            vec![],
        ]
    );
}

#[test]
fn what_is_not_known_of_all_is_not_compared() {
    let (said, default) = (facts(&[("page_size", "64", 1)]), facts(&[("page_size", "1", 0)]));
    let replicas = [replica("a", Role::Decode, Some("1.0"), &said), replica("b", Role::Decode, None, &default)];
    assert!(drift(&replicas, settings).iter().all(Vec::is_empty));
}
