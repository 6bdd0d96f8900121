//! What a recording holds: takes, sites, moments, and lines that hold no answer.

use model::{BlindKind, Time};
use sense::capture::{Capture, Recording, Site, Writer};
use sense::place::{Key, Kin, Told};
use sense::{Kept, Place, Target};

use super::{NOW, head, read};

fn site(via: Option<&str>) -> Site {
    Site {
        via: via.map(str::to_owned),
        targets: vec!["http://a:1".into()],
        files: true,
        logs: vec!["/l".into()],
        monitors: vec!["http://m:9".into()],
        listed: vec!["http://c".into()],
    }
}

#[tokio::test]
async fn takes_and_sites() {
    let kin = |pid| Ok(Told::Kin(vec![Kin { pid, ppid: 1, started: 0.1 + 0.2 }]));
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, &head());
    for take in 0..3_u32 {
        let at = 1000.0 + 10.0 * f64::from(take);
        for (index, via) in [None, Some("ssh://b")].into_iter().enumerate() {
            let kept = Kept { key: Key(vec!["kin".into()]), at: Time(at), answered: kin(take * 10 + index as u32) };
            writer.look(7 + u64::from(take), &site(via), Time(at), &[kept], Time(at + 1.0 + index as f64)).unwrap();
        }
        writer.end_take().unwrap();
    }
    let recording = read(file);
    assert_eq!((recording.version(), recording.head()), (2, &head()));
    let takes: Vec<_> =
        recording.takes().iter().map(|take| (take.number, take.from.0, take.to.0, take.sites())).collect();
    assert_eq!(takes, [(7, 1000.0, 1002.0, 2), (8, 1010.0, 1012.0, 2), (9, 1020.0, 1022.0, 2)]);
    for (moment, take) in [(0.0, 0), (1002.0, 0), (1011.9, 0), (1012.0, 1), (1021.0, 1), (1022.0, 2), (9e9, 2)] {
        assert_eq!(recording.take_at(Time(moment)), Some(take), "{moment}");
    }
    let sites: Vec<_> = recording.sites(1).cloned().collect();
    assert_eq!(sites, [site(None), site(Some("ssh://b"))]);
    for (take, index) in [(2, 1), (0, 0), (1, 1)] {
        let (found, capture, notes) = recording.site(take, index).unwrap();
        assert_eq!((found, notes), (sites[index].clone(), vec![]));
        let place = Place::from(capture);
        assert_eq!(place.kin().await.unwrap()[0].pid, (take * 10 + index) as u32);
        assert_eq!(place.now().0, 1001.0 + (take * 10 + index) as f64);
    }
    assert!(recording.site(0, 2).is_none() && recording.site(3, 0).is_none() && recording.kept(3, 0).is_none());
    assert_eq!((recording.sites(3).count(), Recording::LONGEST), (0, wire::capture::Limits::default().packed));
    let empty = read(b"{\"plimsoll_capture\":2,\"started_at\":1}".to_vec());
    assert_eq!((empty.takes(), empty.take_at(NOW)), (&[][..], None));
}

/// Lines that hold no answer, or two, or a broken one, cost themselves.
#[test]
fn lines_that_hold_no_answer() {
    let mut text = "{\"plimsoll_capture\":2,\"started_at\":1}\n{\"look\":1,\"at\":5,\"site\":{}}\n".to_owned();
    let mut line = |fields: &str| text += &format!("{{\"ask\":[\"x\"],\"at\":5{fields}}}\n");
    line(",\"content\":{\"bytes\":\"good\"},\"unknown\":[]");
    line(",\"link\":\"/good\"");
    line(",\"blind\":{\"kind\":\"of a time to come\",\"text\":\"good\\u001b[2J\"}");
    let deep = format!(",\"content\":{}1{}", "[".repeat(5000), "]".repeat(5000));
    let bad = [
        "",
        ",\"of_a_time_to_come\":{}",
        ",\"content\":{\"bytes\":\"a\"},\"link\":\"/b\"",
        ",\"link\":\"/b\",\"blind\":{\"kind\":\"gone\",\"text\":\"\"}",
        ",\"content\":null",
        ",\"content\":{\"cut\":true}",
        ",\"content\":{\"bytes\":7}",
        ",\"content\":{\"bytes\":{\"base64\":\"!\"}}",
        ",\"content\":{\"bytes\":{\"hex\":\"00\"}}",
        ",\"content\":{\"bytes\":\"\\ud800\"}",
        ",\"listing\":{\"names\":[1]}",
        ",\"addresses\":[\"here\"]",
        ",\"kin\":[{\"pid\":-1,\"ppid\":1,\"started\":1}]",
        ",\"kin\":[{\"pid\":4294967296,\"ppid\":1,\"started\":1}]",
        ",\"kin\":[{\"pid\":1,\"ppid\":1,\"started\":null}]",
        ",\"sifted\":{\"id\":[1,2,3],\"folders\":[],\"files\":[]}",
        ",\"seen\":{\"get\":\"/\",\"url\":\"\",\"at\":1,\"took\":1}",
        ",\"seen\":{\"get\":\"/\",\"url\":\"\",\"at\":1,\"took\":1,\"status\":65536}",
        ",\"seen\":{\"get\":\"/\",\"get\":\"/\",\"url\":\"\",\"at\":1,\"took\":1,\"status\":200}",
        &deep,
    ];
    for fields in bad {
        line(fields);
    }
    let recording = Recording::read(text.into_bytes()).unwrap();
    let (_, _, notes) = recording.site(0, 0).unwrap();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(notes[0].text, format!("{} answers of the look are of no kind that can be read", bad.len()));
    let (kept, now) = recording.kept(0, 0).unwrap();
    assert_eq!((kept.len(), now), (3, Time(5.0)));
    let Err(blind) = &kept[2].answered else { panic!("{kept:?}") };
    assert_eq!((blind.kind, blind.text.as_str()), (BlindKind::Gone, "good\\u{1b}[2J"));
}

/// Version 1 is pages only: every command finds them, and nothing else.
#[tokio::test]
async fn version_1() {
    let text = "{\"plimsoll_capture\":1,\"made_by\":\"lab\",\"started_at\":100}\n\
        {\"at\":101.5,\"took_s\":0.25,\"target\":\"http://127.0.0.1:30002\",\"get\":\"/v1/loads\",\"status\":200,\"content_type\":\"a/b\",\"body\":\"{}\"}\n\
        {\"at\":102,\"target\":\"http://127.0.0.1:30002\",\"get\":\"/metrics\",\"error\":\"no answer\"}\n";
    let recording = read(text.as_bytes().to_vec());
    assert_eq!((recording.version(), recording.takes().len()), (1, 1));
    let (site, capture, notes) = recording.site(0, 0).unwrap();
    assert_eq!((site.via, site.targets, notes), (None, vec!["http://127.0.0.1:30002".to_owned()], vec![]));
    let place = Place::from(capture);
    let target: Target = "30002".parse().unwrap();
    let seen = place.get(&target, "/v1/loads").await;
    assert_eq!((seen.at.0, seen.took, seen.url.as_str()), (101.5, 0.25, "http://127.0.0.1:30002/v1/loads"));
    let answer = seen.outcome.unwrap();
    assert_eq!((answer.status, &*answer.content_type, &*answer.body), (200, "a/b", &b"{}"[..]));
    let blind = place.get(&target, "/metrics").await.outcome.unwrap_err();
    assert!(blind.text.ends_with("/metrics: no answer"), "{blind}");
    let blind = place.get(&target, "/never").await.outcome.unwrap_err();
    assert_eq!((blind.kind, blind.text.as_str()), (BlindKind::Cut, "/never: not in this capture"));
    assert_eq!(place.commands(&[]).await.unwrap_err().text, "/proc: not in this capture");
    assert_eq!((place.now(), place.counts().requests, place.counts().failed), (Time(102.0), 2, 1));
}

/// Clones of a place share what was answered so far.
#[tokio::test]
async fn clones_share() {
    let kin = |pid| Kept {
        key: Key(vec!["kin".into()]),
        at: NOW,
        answered: Ok(Told::Kin(vec![Kin { pid, ppid: 1, started: 1.0 }])),
    };
    let place = Place::from(Capture::new(vec![kin(1), kin(2), kin(3)], NOW));
    let other = place.clone();
    let mut pids = Vec::new();
    for place in [&place, &other, &place, &other] {
        pids.push(place.kin().await.unwrap()[0].pid);
    }
    assert_eq!(pids, [1, 2, 3, 3]);
}
