//! The demo's recording, which is a capture of version 1, reads like any other.
#![allow(clippy::unwrap_used, missing_docs)] // tests: a panic is the report

use std::io::Read as _;

use model::Time;
use sense::capture::Recording;
use sense::{Place, Target};

#[tokio::test]
async fn the_demo_is_a_capture() {
    let packed = &include_bytes!("../assets/demo.jsonl.zst")[..];
    let unreadable = Recording::read(packed.to_vec()).unwrap_err();
    assert!(unreadable.to_string().contains("packed with zstd"), "{unreadable}");
    let mut text = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(packed).unwrap().read_to_end(&mut text).unwrap();
    let recording = Recording::read(text).unwrap();
    assert_eq!((recording.version(), recording.notes()), (1, &[][..]));
    // Its servers were asked every two seconds, some things every twenty: 50 rounds, as its lines say.
    let takes = recording.takes();
    assert_eq!(takes.len(), 50);
    assert!(takes.iter().all(|take| take.sites() == 1 && take.to.since(take.from) < 1.0), "{takes:?}");
    let site = recording.sites(0).next().unwrap();
    assert_eq!(site.targets.len(), 5, "{site:?}");
    let begun = recording.head().started_at;
    // By `jq` over the recording: its last answer before that moment.
    for (moment, used) in [(28.2, Some(62_486.0)), (0.0, None)] {
        let take = recording.take_at(begun.plus(moment)).unwrap();
        let (_, capture, notes) = recording.site(take, 0).unwrap();
        assert_eq!(notes, []);
        let place = Place::from(capture);
        assert!(take == 0 || (0.0..2.2).contains(&begun.plus(moment).since(place.now())), "{take}");
        let target: Target = "http://127.0.0.1:30002".parse().unwrap();
        let seen = place.get(&target, "/v1/loads").await;
        assert!((0.0..1.0).contains(&place.now().since(seen.at)));
        let loads: serde_json::Value = serde_json::from_slice(&seen.outcome.unwrap().body).unwrap();
        let said = loads["loads"][0]["num_used_tokens"].as_f64().unwrap();
        assert!(used.is_none_or(|used| used == said), "{loads}");
        // What is asked seldom is as old as it is, and there.
        let info = place.get(&target, "/server_info").await;
        assert_eq!(info.outcome.unwrap().status, 200);
        assert_eq!(place.get(&target, "/metrics").await.outcome.unwrap().status, 404);
    }
    assert_eq!(recording.take_at(Time(0.0)), Some(0));
}
