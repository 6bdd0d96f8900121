//! Any bytes as files of a history: it opens whatever they are, gives what it has, goes on with new looks, is tidied, and opens
//! again. Bytes as they are hardly ever have their checksums; as pieces, which are put into frames here, they always do.

use std::path::{Path, PathBuf};

use ledger::{Key, Ledger, Options, Query, Sample, Thinning};

/// The look that is taken behind what was read, milliseconds since 1970.
const NOW: i64 = 1_780_002_000_000;
/// Rows that a chunk of pieces says that it has. Whoever can write checksums can have four millions of each series.
const MOST_ROWS: u64 = 256;

/// What the first byte chooses.
const SEGMENT: u8 = 1;
const PIECES: u8 = 2;
const TWICE: u8 = 4;
const THINNED: u8 = 8;

/// Panics where an invariant of opening a history does not hold for `data`.
pub(crate) fn run(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let bytes = if choice & PIECES == 0 { rest.to_vec() } else { framed(rest) };
    let folder = Folder::new();
    let tier = u8::from(choice & THINNED != 0);
    let names = if choice & SEGMENT == 0 {
        ["log-0000000001".to_owned(), "log-0000000002".to_owned()]
    } else {
        // Of all but the last segment only the heads are read.
        [format!("segment-0000000001-{tier}"), "segment-0000000002-0".to_owned()]
    };
    for name in &names[..if choice & TWICE == 0 { 1 } else { 2 }] {
        std::fs::write(folder.0.join(name), &bytes).expect("a file");
    }
    let thin = [(1000, 60_000), (2000, 600_000)];
    let options = || Options {
        bytes: 1 << 20,
        log_bytes: 64 << 10,
        chunk_looks: 4,
        thin: thin.map(|(after_ms, step_ms)| Thinning { after_ms, step_ms }).to_vec(),
        ..Options::default()
    };
    let (mut ledger, _) = Ledger::open(&folder.0, options()).expect("it always opens");
    read(&ledger);
    let shape = ledger.shape("own", vec![Key::new(["own"])]).expect("a shape");
    for look in 0..5 {
        ledger.append(&shape, NOW + look, &[Sample::Value(7.0)]).expect("taken");
    }
    ledger.sync().expect("synced");
    let own = |ledger: &Ledger| {
        let wanted = |key: &Key| key.parts() == ["own"];
        let history = ledger.reader().history(&Query { target: Some("own"), wanted: &wanted, ..Query::default() });
        history.series.iter().map(|series| series.points.len()).sum::<usize>()
    };
    assert!(own(&ledger) >= 5, "what was taken is read");
    let mut pieces = 0;
    while ledger.tidy(NOW + 10).is_ok_and(|more| more) {
        pieces += 1;
        assert!(pieces < 10_000, "it is never tidy");
    }
    read(&ledger);
    drop(ledger);
    let (ledger, notes) = Ledger::open(&folder.0, options()).expect("it opens again");
    read(&ledger);
    drop(ledger);
    // What was cut off and said once is gone.
    assert!(!notes.iter().any(|note| note.text.contains("torn")), "{notes:?}");
}

/// Reads all there is, in both ways.
fn read(ledger: &Ledger) {
    let reader = ledger.reader();
    let _ = (reader.span(), reader.series(), reader.events(i64::MIN, i64::MAX));
    let whole = reader.history(&Query::default());
    let few = reader.history(&Query { most: 3, ..Query::default() });
    for series in whole.series.iter().chain(&few.series) {
        let times: Vec<i64> = series.points.iter().map(ledger::Point::time).collect();
        assert!(times.is_sorted(), "{times:?}");
    }
    assert!(few.series.iter().all(|series| series.points.len() <= 4), "{few:?}");
}

/// A folder in memory, where there is one, that goes when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let own = format!("history-{}-{:?}", std::process::id(), std::thread::current().id());
        let folder = place.join(own.replace(['(', ')'], ""));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).expect("a folder");
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file of pieces as `docs/history.md` describes it. A piece is the kind, 128 more where its table is to be deflated; the length
/// of the head; those of the table and of what follows it, two bytes each; and then those three.
fn framed(mut rest: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    while let Some((front, behind)) = rest.split_at_checked(6) {
        let number = |at: usize| usize::from(front[at]) | usize::from(front[at + 1]) << 8;
        let mut left = behind;
        let mut take = |length: usize| {
            let (part, behind) = left.split_at(length.min(left.len()));
            left = behind;
            part
        };
        let (head, table, data) = (take(usize::from(front[1])), take(number(2)), take(number(4)));
        rest = left;
        let kind = front[0] & 127;
        let mut head = head.to_vec();
        if let Some(at) = head.len().checked_sub(16).filter(|_| kind == 2) {
            let rows = u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
            head[at..at + 8].copy_from_slice(&(rows % (MOST_ROWS + 1)).to_le_bytes());
        }
        let mut body = if front[0] & 128 == 0 { table.to_vec() } else { stored(table) };
        body.extend_from_slice(data);
        frame(&mut file, kind, &head, &body);
    }
    file
}

fn frame(file: &mut Vec<u8>, kind: u8, head: &[u8], body: &[u8]) {
    let mut fixed = vec![0xB7, 0x4C, 0x44, 0x47, kind, 0];
    fixed.extend((head.len() as u16).to_le_bytes());
    fixed.extend((body.len() as u32).to_le_bytes());
    fixed.extend(sum(body).to_le_bytes());
    let whole = [&(file.len() as u64).to_le_bytes()[..], &fixed, head].concat();
    fixed.extend(sum(&whole).to_le_bytes());
    file.extend(fixed);
    file.extend_from_slice(head);
    file.extend_from_slice(body);
}

/// CRC-32 as IEEE 802.3 has it.
fn sum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ if sum & 1 == 1 { 0xEDB8_8320 } else { 0 })
    })
}

/// Both lengths, and the bytes as one stored block of a deflated stream (RFC 1951, 3.2.4).
fn stored(bytes: &[u8]) -> Vec<u8> {
    let (mut out, length) = (Vec::new(), bytes.len() as u16);
    for mut number in [bytes.len(), bytes.len() + 5] {
        while number >= 128 {
            out.push(number as u8 | 128);
            number >>= 7;
        }
        out.push(number as u8);
    }
    out.push(1);
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend_from_slice(bytes);
    out
}
