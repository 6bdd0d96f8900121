//! Captures that would take all memory: one test, in a process of its own, whose memory is measured.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // tests: a panic is the report

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use wire::capture::{Index, Limits};

const HEAD: &str = "{\"plimsoll_capture\":2,\"started_at\":1}\n{\"look\":1,\"at\":5,\"site\":{}}\n";

/// The most memory that this process ever had, bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
}

/// `head`, and then `piece` again and again until there are `total` bytes, packed.
fn bomb(head: &str, piece: &[u8], total: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(head.as_bytes()).unwrap();
    for _ in 0..total / piece.len() {
        encoder.write_all(piece).unwrap();
    }
    encoder.finish().unwrap()
}

#[test]
fn memory_is_bounded() {
    let read = |name: &str, file: Vec<u8>| {
        let begun = std::time::Instant::now();
        let index = Index::read(&file, Limits::default());
        let mut notes = Vec::new();
        let mut answers = 0;
        if let Ok(index) = &index {
            notes.extend(index.notes.iter().map(|note| note.id));
            for look in &index.looks {
                let (found, more) = index.answers(&file, look);
                answers += found.len();
                notes.extend(more.iter().map(|note| note.id));
            }
        }
        eprintln!("{name}: {:.1} s, {answers} answers, peak {} MiB", begun.elapsed().as_secs_f64(), peak() >> 20);
        (notes, answers)
    };
    let gibibyte = 1 << 30;
    // Zeros in one member, without and with a head; members within members; long lines; tiny ones.
    assert_eq!(read("zeros", bomb("", &vec![0; 1 << 20], gibibyte)), (vec![], 0));
    let zeros = bomb(HEAD, &vec![0; 1 << 20], gibibyte);
    let (notes, _) = read("zeros behind a head", zeros.clone());
    assert_eq!(notes, ["capture-cut", "look-cut", "capture-long"]);
    let nested = bomb(HEAD, &zeros, zeros.len());
    assert!(read("a bomb in a bomb", nested).0.contains(&"look-cut"));
    let members = vec![bomb("", &vec![b' '; 1 << 20], 32 << 20); 40].concat();
    let members = [bomb(HEAD, b"\n", 1), members].concat();
    assert!(read("a bomb of members", members).0.contains(&"capture-long"));
    let empty = [bomb(HEAD, b"\n", 1), bomb("", b"\n", 0).repeat(300_000)].concat();
    assert_eq!(read("empty members", empty).0, ["look-cut", "capture-long"]);
    let lines = format!("{HEAD}{}", "{}\n".repeat(10_000_000));
    assert_eq!(read("ten million lines", lines.into_bytes()).0, ["look-cut", "capture-long"]);
    let lines = bomb(HEAD, b"{\"ask\":[\"kin\"],\"at\":5,\"kin\":[]}\n", 2_000_000 * 34);
    let (notes, answers) = read("two million answers", lines);
    assert_eq!(notes, ["look-cut", "answers-large"]);
    assert!(answers > 500_000, "{answers}");
    let looks = bomb(HEAD, b"{\"look\":1,\"at\":5,\"site\":{}}\n", 200_000 * 29);
    assert!(read("two hundred thousand looks", looks).0.contains(&"capture-long"));
    let site = format!("{{\"look\":2,\"at\":5,\"site\":{{\"targets\":[{}\"\"]}}}}\n", "\"\",".repeat(9_000));
    let sites: String = (0..2000).map(|number| site.replace("\"\"]", &format!("\"{number}\"]"))).collect();
    assert!(read("many sites", format!("{HEAD}{sites}").into_bytes()).0.contains(&"capture-long"));
    // Within one line: depth, a question without end, the largest line of the shortest names.
    let deep = format!("{HEAD}{{\"ask\":[\"a\"],\"at\":5,\"content\":{}\n", "[".repeat(20_000_000));
    assert_eq!(read("depth", deep.into_bytes()).0, ["lines-unread", "look-cut"]);
    let deep = format!("{HEAD}{{\"ask\":{}{}}}\n", "[".repeat(9_000_000), "]".repeat(9_000_000));
    assert_eq!(read("depth in a question", deep.into_bytes()).0, ["lines-unread", "look-cut"]);
    let words = format!("{HEAD}{{\"at\":5,\"ask\":[{}\"\"]}}\n", "\"\",".repeat(20_000_000));
    assert_eq!(read("words", words.into_bytes()).0, ["look-cut", "answers-unread"]);
    let names = format!(
        "{HEAD}{{\"at\":5,\"ask\":[\"list\"],\"listing\":{{\"names\":[{}\"\"]}}}}\n",
        "\"\",".repeat(20_000_000)
    );
    assert_eq!(read("names", names.into_bytes()).0, ["look-cut", "answers-large"]);
    let garbage: Vec<u8> = (0..60_000_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    assert!(!read("garbage", [HEAD.as_bytes(), &garbage].concat()).0.is_empty());
    // The largest inputs above are made of 170 MB of text themselves.
    assert!(peak() < 900 << 20, "{} MiB", peak() >> 20);
}
