//! Every kind of answer comes back as it was, to the last bit.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use model::{Answer, Blind, BlindKind, Observation, Time};
use proptest::collection::vec;
use proptest::prelude::*;
use sense::installed::Scanned;
use sense::place::{
    Answered, CommandLine, Commands, Content, Ends, Key, Kin, Listing, PipeEnd, Pipes, SiftedFile, SiftedFolder, Stamp,
    Taken, Told,
};
use sense::{Heard, Kept, Ran};
use serde_json::{Value, json};
use wire::python::{Kind, Metric};

use super::{NOW, read, unpacked, written};

fn seconds() -> impl Strategy<Value = f64> {
    let any = any::<f64>().prop_filter("a number", |number| number.is_finite());
    prop_oneof![any, Just(-0.0), Just(f64::MAX), Just(f64::MIN_POSITIVE / 3.0), 1.7e9..1.8e9]
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..40),
        any::<String>().prop_map(String::into_bytes),
        "[a-z\n\u{0}]{0,60}".prop_map(String::into_bytes)
    ]
}

fn name() -> impl Strategy<Value = OsString> {
    any::<String>().prop_map(OsString::from)
}

fn metric() -> impl Strategy<Value = Metric> {
    let kind = prop::sample::select(vec![
        Kind::Gauge,
        Kind::Counter,
        Kind::Histogram,
        Kind::Summary,
        Kind::Info,
        Kind::GaugeHistogram,
    ]);
    let text = || any::<Option<String>>();
    (
        any::<String>(),
        kind,
        vec(any::<String>(), 0..3),
        vec(any::<String>(), 0..3),
        text(),
        text(),
        text(),
        any::<u32>(),
    )
        .prop_map(|(name, kind, labels, when, class, function, attribute, line)| Metric {
            name,
            kind,
            labels,
            when,
            class,
            function,
            attribute,
            line,
        })
}

fn taken() -> impl Strategy<Value = Taken> {
    let scanned = (vec(metric(), 0..3), vec(any::<String>(), 0..3), any::<[u8; 32]>());
    prop_oneof![
        Just(Taken::Known),
        Just(Taken::Without),
        bytes().prop_map(Taken::With),
        scanned.prop_map(|(metrics, remarks, sha256)| Taken::Scanned(Scanned { metrics, remarks, sha256 })),
    ]
}

fn stamp() -> impl Strategy<Value = Stamp> {
    any::<(u64, u64, u64, i64, i64)>().prop_map(|(device, inode, size, modified_ns, changed_ns)| Stamp {
        device,
        inode,
        size,
        modified_ns,
        changed_ns,
    })
}

fn file() -> impl Strategy<Value = SiftedFile> {
    (name(), stamp(), taken()).prop_map(|(name, stamp, taken)| SiftedFile { name, stamp, taken })
}

fn blind() -> impl Strategy<Value = Blind> {
    let kind = prop::sample::select(vec![
        BlindKind::Name,
        BlindKind::Refused,
        BlindKind::NoRoute,
        BlindKind::Deadline,
        BlindKind::Cut,
        BlindKind::TooLarge,
        BlindKind::Tls,
        BlindKind::NotHttp,
        BlindKind::Denied,
        BlindKind::Gone,
    ]);
    (kind, any::<String>()).prop_map(|(kind, text)| Blind::new(kind, text))
}

fn seen() -> impl Strategy<Value = Observation> {
    let answer = (any::<u16>(), any::<String>(), bytes(), any::<Option<u32>>()).prop_map(
        |(status, content_type, body, first_line)| Answer {
            status,
            content_type,
            body,
            first_line,
            ..Answer::default()
        },
    );
    let outcome = prop_oneof![answer.prop_map(Ok), blind().prop_map(Err)];
    (any::<String>(), any::<String>(), seconds(), seconds(), outcome)
        .prop_map(|(get, url, at, took, outcome)| Observation { get, url, at: Time(at), took, outcome })
}

fn ends() -> impl Strategy<Value = Ends> {
    let numbers = any::<(u64, u32, (u64, u64), u64)>();
    (numbers, seconds(), bytes(), bytes()).prop_map(|((size, owner, identity, tail_from), modified, head, tail)| Ends {
        size,
        modified: Time(modified),
        owner,
        identity,
        head,
        tail,
        tail_from,
    })
}

fn commands() -> impl Strategy<Value = Commands> {
    let found = (any::<u32>(), bytes(), any::<bool>()).prop_map(|(pid, bytes, cut)| CommandLine { pid, bytes, cut });
    (vec(found, 0..4), any::<[usize; 3]>(), vec(any::<String>(), 0..2), any::<(bool, bool)>()).prop_map(
        |(found, [seen, vanished, denied], hung, (hidden, cut))| Commands {
            found,
            seen,
            vanished,
            denied,
            hung,
            hidden,
            cut,
        },
    )
}

fn heard() -> impl Strategy<Value = Heard> {
    let event = (any::<String>(), any::<u64>(), any::<Option<i64>>())
        .prop_map(|(topic, id, used)| -> Value { json!({ "topic": topic, "payload": { "id": id, "used": used } }) });
    (seconds(), vec(event, 0..4), any::<usize>(), any::<bool>()).prop_map(|(took, events, passed, cut)| Heard {
        took,
        events,
        passed,
        cut,
    })
}

fn told() -> impl Strategy<Value = Told> {
    let kin = (any::<(u32, u32)>(), seconds()).prop_map(|((pid, ppid), started)| Kin { pid, ppid, started });
    let end = any::<(u64, u32, u32)>().prop_map(|(pipe, pid, fd)| PipeEnd { pipe, pid, fd });
    let pipes = (vec(end, 0..4), any::<(usize, usize, bool)>()).prop_map(|(ends, (seen, denied, cut))| Pipes {
        ends,
        seen,
        denied,
        cut,
    });
    let ran = (bytes(), any::<bool>(), any::<String>(), any::<Option<i32>>())
        .prop_map(|(stdout, cut, stderr, code)| Ran { stdout, cut, stderr, code });
    let sifted = (any::<(u64, u64)>(), vec(name(), 0..3), vec(file(), 0..3), any::<(bool, usize)>())
        .prop_map(|(id, folders, files, (cut, passed))| SiftedFolder { id, folders, files, cut, passed });
    prop_oneof![
        (bytes(), any::<bool>()).prop_map(|(bytes, cut)| Told::Content(Content { bytes, cut })),
        (vec(name(), 0..4), any::<bool>()).prop_map(|(names, cut)| Told::Listing(Listing { names, cut })),
        any::<String>().prop_map(|link| Told::Link(link.into())),
        ends().prop_map(Told::Ends),
        sifted.prop_map(Told::Sifted),
        commands().prop_map(Told::Commands),
        vec(kin, 0..4).prop_map(Told::Kin),
        pipes.prop_map(Told::Pipes),
        ran.prop_map(Told::Ran),
        vec(any::<std::net::IpAddr>(), 0..3).prop_map(Told::Addresses),
        seen().prop_map(Told::Seen),
        heard().prop_map(Told::Heard),
    ]
}

fn kept() -> impl Strategy<Value = Kept> {
    let answered = prop_oneof![8 => told().prop_map(Ok), 1 => blind().prop_map(Err)];
    let key = vec(any::<String>(), 1..4).prop_map(Key);
    (key, seconds(), answered).prop_map(|(key, at, answered): (Key, f64, Answered)| Kept {
        key,
        at: Time(at),
        answered,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn everything_comes_back(once in vec(kept(), 0..8)) {
        // Twice, so that half of it is references.
        let kept = [once.clone(), once].concat();
        let recording = read(written(&kept));
        let (back, now) = recording.kept(0, 0).unwrap();
        prop_assert_eq!(now, NOW);
        // Of floats `==` calls two zeros equal.
        prop_assert_eq!(format!("{back:?}"), format!("{kept:?}"));
        let (_, _, notes) = recording.site(0, 0).unwrap();
        prop_assert_eq!(notes, vec![]);
    }
}

/// Names that are not UTF-8 lose what is not; files keep every byte.
#[test]
fn what_is_not_utf_8() {
    let odd = || OsString::from_vec(b"a\xff\xc3b".to_vec());
    let lossy = OsString::from("a\u{fffd}\u{fffd}b");
    let kept = |answered: Answered| Kept { key: Key(vec!["x".into()]), at: NOW, answered };
    let back = |answered: Answered| read(written(&[kept(answered)])).kept(0, 0).unwrap().0.remove(0).answered;
    let listing = |name| Ok(Told::Listing(Listing { names: vec![name], cut: false }));
    assert_eq!(back(listing(odd())), listing(lossy.clone()));
    let link = |name: OsString| Ok(Told::Link(name.into()));
    assert_eq!(back(link(odd())), link(lossy.clone()));
    let sifted = |name: OsString| {
        let stamp = Stamp { device: 1, inode: u64::MAX, size: 3, modified_ns: i64::MIN, changed_ns: 5 };
        let files = vec![SiftedFile { name: name.clone(), stamp, taken: Taken::Known }];
        Ok(Told::Sifted(SiftedFolder { id: (1, 2), folders: vec![name], files, cut: true, passed: 1 }))
    };
    assert_eq!(back(sifted(odd())), sifted(lossy));
    for bytes in [&b"\xff"[..], b"a\0b", b"", b"\xed\xa0\x80", "\u{e9}\u{2028}\"\\\n".as_bytes()] {
        let content = Ok(Told::Content(Content { bytes: bytes.to_vec(), cut: false }));
        assert_eq!(back(content.clone()), content);
        let text = unpacked(&written(&[kept(content)]));
        assert_eq!(text.contains("base64"), std::str::from_utf8(bytes).is_err(), "{text}");
    }
}

/// An answer that no line can hold is told to be too large; the others are there.
#[test]
fn an_answer_that_is_too_long() {
    let long = Content { bytes: vec![1; 12 << 20], cut: false };
    let kept = |name: &str, answered| Kept { key: Key(vec!["read".into(), name.into()]), at: NOW, answered };
    let short = kept("/b", Ok(Told::Content(Content { bytes: b"b".to_vec(), cut: false })));
    let (back, _) = read(written(&[kept("/a", Ok(Told::Content(long))), short.clone()])).kept(0, 0).unwrap();
    let Err(blind) = &back[0].answered else { panic!("{back:?}") };
    assert_eq!((blind.kind, &back[1]), (BlindKind::TooLarge, &short));
    assert!(blind.text.starts_with("read /a: the answer is longer"), "{blind}");
}
