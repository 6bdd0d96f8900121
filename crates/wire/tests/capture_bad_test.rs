//! Captures that are cut, damaged, endless or something else: what can be read is read, and the rest is told.
#![allow(clippy::unwrap_used)] // tests: a panic is the report

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use model::Time;
use serde_json::json;
use wire::capture::{Answer, Head, Index, Limits, Site, TOO_LONG, Unreadable, Writer};

fn packed(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_ref()).unwrap();
    encoder.finish().unwrap()
}

fn head() -> Head {
    Head { made_by: "t".to_owned(), started_at: Time(1.0), anonymised: false }
}

const HEAD: &str = "{\"plimsoll_capture\":2,\"started_at\":1}\n";
const BEGIN: &str = "{\"look\":1,\"at\":5,\"site\":{}}\n";
const END: &str = "{\"look\":1,\"now\":9}\n";

/// Three takes, and how long the file was after each.
fn written() -> (Vec<u8>, Vec<usize>) {
    let mut file = Vec::new();
    let mut lengths = Vec::new();
    let mut writer = Writer::new(&mut file, &head());
    for take in 1..=3_u32 {
        let at = f64::from(take);
        writer.begin(take.into(), Time(at), &Site::default()).unwrap();
        for number in 0..3 {
            let text = format!("the same text, long enough, {number}");
            let ask = ["read".to_owned(), format!("/{number}")];
            writer.answer(&ask, Time(at + 0.1), &json!({"content": text, "cut": false})).unwrap();
            writer.answer(&ask, Time(at + 0.2), &json!({"content": format!("{take}\n\u{e9}")})).unwrap();
        }
        writer.end(take.into(), Time(at + 0.5)).unwrap();
        writer.end_take().unwrap();
    }
    drop(writer);
    // The ends of members, by where each begins.
    let mut rest = &file[..];
    while !rest.is_empty() {
        let mut decoder = flate2::bufread::GzDecoder::new(rest);
        std::io::copy(&mut decoder, &mut std::io::sink()).unwrap();
        rest = decoder.into_inner();
        lengths.push(file.len() - rest.len());
    }
    (file, lengths)
}

fn all(index: &Index, file: &[u8]) -> Vec<Answer> {
    index.looks.iter().flat_map(|look| index.answers(file, look).0).collect()
}

/// Whatever is cut off, what is read is the beginning of what there was, and a take that was written whole is whole.
#[test]
fn cut_at_every_byte() {
    let (file, lengths) = written();
    let index = Index::read(&file, Limits::default()).unwrap();
    let whole = all(&index, &file);
    assert_eq!((whole.len(), index.looks.len(), lengths.len()), (18, 3, 3));
    let mut plain = Vec::new();
    std::io::copy(&mut flate2::read::MultiGzDecoder::new(&file[..]), &mut plain).unwrap();
    for (file, packed) in [(&file, true), (&plain, false)] {
        let mut most = 0;
        for length in 0..=file.len() {
            let piece = &file[..length];
            let Ok(index) = Index::read(piece, Limits::default()) else {
                assert_eq!(most, 0, "what was read before stays readable");
                continue;
            };
            let read = all(&index, piece);
            assert!(whole.starts_with(&read), "{length}");
            assert!(read.len() >= most, "{length}");
            most = read.len();
            if packed {
                // As a writer leaves it that is killed at any time after a take.
                let takes = lengths.iter().filter(|end| **end <= length).count();
                assert!(read.len() >= takes * 6, "{length}");
                let seen: Vec<_> = index.looks.iter().take(takes).map(|look| (look.number, look.now.0)).collect();
                assert_eq!(seen, [(1, 1.5), (2, 2.5), (3, 3.5)][..takes], "{length}");
                assert_eq!(index.notes.is_empty(), lengths.contains(&length), "{length}: {:?}", index.notes);
            }
        }
        assert_eq!(most, 18);
    }
}

/// Any byte of the packed or the plain file is another one.
#[test]
fn spoilt_at_every_byte() {
    let (file, _) = written();
    let mut plain = Vec::new();
    std::io::copy(&mut flate2::read::MultiGzDecoder::new(&file[..]), &mut plain).unwrap();
    for file in [file, plain] {
        for place in 0..file.len() {
            let mut spoilt = file.clone();
            spoilt[place] ^= [0x01, 0x80, 0xff][place % 3];
            if let Ok(index) = Index::read(&spoilt, Limits::default()) {
                assert!(all(&index, &spoilt).len() <= 18);
            }
        }
    }
}

/// A look without its end is judged as of its newest answer.
#[test]
fn without_its_end() {
    let answers = "{\"ask\":[\"kin\"],\"at\":7.5,\"kin\":[]}\n{\"ask\":[\"kin\"],\"at\":6,\"kin\":[]}\n";
    let text = format!("{HEAD}{BEGIN}{answers}{}", BEGIN.replace("1,", "2,"));
    let index = Index::read(text.as_bytes(), Limits::default()).unwrap();
    let seen: Vec<_> = index.looks.iter().map(|look| (look.number, look.now.0)).collect();
    assert_eq!(seen, [(1, 7.5), (2, 5.0)]);
    assert_eq!(index.notes[0].text, "2 looks have no end: each is read as far as it goes");
    let torn = format!("{HEAD}{BEGIN}{answers}{}", &END[..9]);
    let index = Index::read(torn.as_bytes(), Limits::default()).unwrap();
    let said: Vec<_> = index.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(said, ["the capture ends within line 5", "1 looks have no end: each is read as far as it goes"]);
}

#[test]
fn no_captures() {
    let error = |bytes: &[u8]| Index::read(bytes, Limits::default()).unwrap_err().to_string();
    for (bytes, said) in [
        (&b""[..], "no first line"),
        (b"\n\n", "no first line"),
        (b"\x28\xb5\x2f\xfd\x04", "packed with zstd: unpack it first"),
        (b"\xfd7zXZ\0\0", "packed with xz"),
        (b"PK\x03\x04", "zip archive"),
        (b"# HELP a b\n# TYPE a gauge\na 1\n", "a metrics page"),
        (b"<html>", "HTML"),
        (b"{\"status\":\"ok\"}\n", "JSON, but its first line has no `plimsoll_capture`"),
        (b"[1,2]", "JSON"),
        (b"{\"plimsoll_capture\":\"2\"}", "JSON"),
        (b"[2026-11-29 16:15:23] Decode batch", "JSON"),
        (b"Nov 29 16:15:23 h u[1]: x\n", "some other text"),
        (b"\x1f\x8b\x08\x00\x00", "cut off within its first line"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff", "damaged from its first line on"),
        (b"\0\0\0\0\x01\x02", "no text"),
        (b"{\"plimsoll_capture\":2}", "its first line: missing field `started_at`"),
        (b"{\"plimsoll_capture\":0,\"started_at\":1}", "no version 0"),
    ] {
        let text = error(bytes);
        assert!(text.contains(said), "{}: {text}", bytes.escape_ascii());
        if !bytes.starts_with(b"\x1f") {
            assert_eq!(error(&packed(bytes)), text, "the same when it is packed");
        }
    }
    for version in [3, 1 << 40] {
        let newer = format!("{{\"plimsoll_capture\":{version},\"anything\":1}}\n");
        assert_eq!(Index::read(newer.as_bytes(), Limits::default()).unwrap_err(), Unreadable::Newer(version));
    }
    assert!(error(b"{\"plimsoll_capture\":3}").contains("version 3; this program reads up to version 2"));
    let tar = [b"dir/file".as_slice(), &[b'a'; 249], b"ustar\0\0"].concat();
    assert!(error(&tar).contains("tar archive"));
    // What has no first line at all is given up early.
    assert!(error(&vec![b'x'; 80 << 20]).contains("some other text"));
    assert!(error(&packed(vec![0; 8 << 20])).contains("no text"));
}

fn limited(text: &[u8], limits: Limits) -> Vec<(&'static str, String)> {
    let index = Index::read(text, limits).unwrap();
    let notes = index.notes.iter().map(|note| (note.id, note.text.clone()));
    let of_look = index.looks.iter().flat_map(|look| index.answers(text, look).1);
    notes.chain(of_look.map(|note| (note.id, note.text))).collect()
}

/// Each limit by itself, made small.
#[test]
fn limits_are_kept_and_told() {
    let answer = "{\"ask\":[\"read\",\"/a\"],\"at\":5,\"content\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}\n";
    let text = format!("{HEAD}{BEGIN}{}{END}", answer.repeat(20));
    let all = Limits::default();
    let told = |limits: Limits| limited(text.as_bytes(), limits);
    assert_eq!(told(all), []);
    let of = |id: &str, said: &str, limits: Limits| {
        let notes = told(limits);
        assert!(notes.iter().any(|(known, text)| *known == id && text.contains(said)), "{id} {said}: {notes:?}");
    };
    of("capture-long", "longer than 500 bytes", Limits { packed: 500, ..all });
    of("capture-long", "more than 500 bytes", Limits { unpacked: 500, ..all });
    of("capture-long", "more than 10 lines", Limits { lines: 10, ..all });
    of("lines-unread", "20 lines", Limits { line: 50, ..all });
    of("answers-large", "18 of them", Limits { look: 1000, ..all });
    of("capture-long", "more than 0 looks", Limits { looks: 0, ..all });
    of("capture-long", "too many sites", Limits { sites: 10, ..all });
    let members: Vec<u8> = text.lines().flat_map(|line| packed(format!("{line}\n"))).collect();
    assert_eq!(limited(&members, all), []);
    let notes = limited(&members, Limits { members: 7, ..all });
    assert_eq!((notes[0].0, notes[1].0), ("look-cut", "capture-long"), "{notes:?}");
    // Zeros behind the last member are of tools that fill up; anything else is told.
    assert_eq!(limited(&[&packed(&text)[..], &[0; 512]].concat(), all), []);
    assert_eq!(limited(&[&packed(&text)[..], b"\0\0x"].concat(), all)[0].0, "capture-behind");
    assert_eq!(limited(&[&packed(&text)[..], b"\x1f\x8b\x09junkjunkjunk"].concat(), all)[0].0, "capture-damaged");
}

/// A reference costs what it leads to, each time: a few bytes a line must not become gibibytes of values.
#[test]
fn references_cost_what_they_bring() {
    let long =
        format!("{{\"ask\":[\"list\",\"/\"],\"at\":5,\"listing\":{{\"names\":[{}\"\"]}}}}\n", "\"\",".repeat(10_000));
    let many = "{\"ask\":[\"list\",\"/\"],\"at\":5,\"as\":3}\n".repeat(100_000);
    let text = format!("{HEAD}{BEGIN}{long}{many}{END}");
    let index = Index::read(text.as_bytes(), Limits::default()).unwrap();
    let (answers, notes) = index.answers(text.as_bytes(), &index.looks[0]);
    assert!((500..1000).contains(&answers.len()), "{}", answers.len());
    assert_eq!(notes[0].id, "answers-large");
}

/// An answer that no line holds is told to the writer, and one that is too much ends the capture before a reader would.
#[test]
fn writers_keep_to_what_readers_take() {
    let limits = Limits { line: 10_000, unpacked: 100_000, lines: 30, looks: 3, ..Limits::default() };
    let ask = ["read".to_owned()];
    let mut file = Vec::new();
    let mut writer = Writer::within(&mut file, &head(), limits);
    writer.begin(1, Time(1.0), &Site::default()).unwrap();
    let long = json!({"content": "x".repeat(10_000)});
    assert_eq!(writer.answer(&ask, Time(1.0), &long).unwrap_err().kind(), TOO_LONG);
    let mut written = 0;
    let error = loop {
        let text = format!("{written}{}", " ".repeat(9_000));
        match writer.answer(&ask, Time(1.0), &json!({"content": text})) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
    };
    assert_eq!((written, error.kind()), (10, std::io::ErrorKind::StorageFull));
    assert!(error.to_string().contains("a reader takes 100000 bytes unpacked and no more"), "{error}");
    writer.end(1, Time(2.0)).unwrap();
    writer.end_take().unwrap();
    let index = Index::read(&file, limits).unwrap();
    assert_eq!((index.notes.len(), index.looks[0].now), (0, Time(2.0)));
    assert_eq!(index.answers(&file, &index.looks[0]).0.len(), 10);
    let mut file = Vec::new();
    let mut writer = Writer::within(&mut file, &head(), limits);
    for take in 0..3 {
        writer.begin(take, Time(1.0), &Site::default()).unwrap();
        writer.end(take, Time(2.0)).unwrap();
    }
    assert!(writer.begin(3, Time(1.0), &Site::default()).unwrap_err().to_string().contains("3 looks"));
    let mut many = Writer::within(std::io::sink(), &head(), limits);
    many.begin(1, Time(1.0), &Site::default()).unwrap();
    let error = (0..30).find_map(|number| many.answer(&ask, Time(1.0), &json!({"content": number})).err()).unwrap();
    assert!(error.to_string().contains("30 lines"), "{error}");
    many.end(1, Time(1.0)).unwrap();
}
