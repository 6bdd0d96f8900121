//! What is kept of earlier looks is enough for the signs that are sought over several.

use model::{Note, Server, Time};
use testkit::made;

use super::bare::bare;

/// A router that sees another use for long is told by the note of each look.
#[test]
fn what_lasts_is_still_seen_to_last() {
    let differs = |what: &'static str| Server {
        notes: vec![Note::new(what, "its router sees 80 %")],
        ..made::server("http://10.0.0.1:30002")
    };
    let signs = |earlier: &[Server]| {
        let looks: Vec<(Time, &Server)> =
            earlier.iter().enumerate().map(|(at, look)| (Time(at as f64 * 15.0), look)).collect();
        judge::signs(&looks).into_iter().map(|sign| sign.id).collect::<Vec<_>>()
    };
    let looks: Vec<Server> = (0..5).map(|_| differs("router-view-differs")).collect();
    let kept: Vec<Server> = looks[..4].iter().map(bare).chain([looks[4].clone()]).collect();
    assert_eq!(signs(&looks), ["router-against-engine"]);
    assert_eq!(signs(&kept), signs(&looks));
    // A remark that no sign compares is not kept.
    assert!(bare(&differs("spelling")).notes.is_empty());
}
