//! Any bytes as a log: the walk backwards finds what a naive search finds, and nothing that is read was not written.

use wire::log::{Anchors, MOST_LINE, Stamp, begins, line, newest_first, number_of_line, pairs, sizes, unwrap_pasted};

const WORDS: [&str; 4] = ["batch", "usage: ", "#t", "a="];
const TAGS: [(&str, &str); 4] = [("DP", "dp"), ("TP", "tp"), ("gpu=", "gpu"), ("Rank ", "rank")];

/// Panics where an invariant of the reader does not hold for `data`.
pub(crate) fn run(data: &[u8]) {
    let anchors = Anchors::new(&WORDS);
    for whole in [true, false] {
        let found: Vec<&[u8]> = newest_first(data, &anchors, whole)
            .map(|(range, line)| {
                assert_eq!(&data[range.clone()], line);
                assert!(range.start == 0 || data[range.start - 1] == b'\n', "a line begins behind a line feed");
                assert!(number_of_line(data, range.start) <= data.len() + 1);
                line
            })
            .collect();
        assert_eq!(found, naive(data, whole));
    }
    data.split(|byte| *byte == b'\n').for_each(one);
    one(data);
    pasted(&String::from_utf8_lossy(data), &anchors);
}

fn naive(data: &[u8], whole: bool) -> Vec<&[u8]> {
    let holds =
        |line: &&[u8]| WORDS.iter().any(|word| line.windows(word.len()).any(|window| window == word.as_bytes()));
    let mut lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').skip(usize::from(!whole)).collect();
    lines.retain(|line| line.len() <= MOST_LINE && holds(line));
    lines.reverse();
    lines
}

fn one(raw: &[u8]) {
    let line = line(raw, &TAGS);
    let text = String::from_utf8_lossy(raw);
    if !text.contains('{') {
        // No record was opened: letters were taken away, and none put in.
        let mut letters = text.chars();
        assert!(line.message.chars().all(|letter| letters.any(|other| other == letter)), "{text:?} {line:?}");
    }
    assert!(line.message.len() <= text.len(), "{text:?} {line:?}");
    assert!(line.ranks.iter().all(|(kind, _)| TAGS.iter().any(|(_, known)| kind == known)), "{line:?}");
    match line.stamp {
        Some(Stamp::Utc(time) | Stamp::Local(time)) => assert!(time.0.is_finite() && time.0 > -1e6, "{line:?}"),
        Some(Stamp::Day(month, day, clock)) => {
            assert!(
                (1..=12).contains(&month) && (1..=31).contains(&day) && (0.0..86_402.0).contains(&clock),
                "{line:?}"
            );
        }
        Some(Stamp::Since(since)) => assert!((0.0..1e9).contains(&since), "{line:?}"),
        Some(Stamp::Clock(clock)) => assert!((0.0..86_402.0).contains(&clock), "{line:?}"),
        None => {}
    }
    numbers(&line.message);
    begins(&text, &TAGS);
}

/// Every number stands in the message, whole: no digit or letter before it, no digit behind it.
fn numbers(message: &str) {
    let at = |part: &str| part.as_ptr() as usize - message.as_ptr() as usize;
    let mut last = 0;
    for pair in pairs(message) {
        let (start, end) = (at(pair.text), at(pair.text) + pair.text.len());
        assert!(at(pair.key) + pair.key.len() < start && start > last, "{message:?} {pair:?}");
        assert!(matches!(message.as_bytes()[start - 1], b':' | b'=' | b' ' | b'/'), "{message:?} {pair:?}");
        assert!(
            !message[end..].starts_with(|letter: char| letter.is_ascii_digit() || letter == '_'),
            "{message:?} {pair:?}"
        );
        let read: f64 = pair.text.replace(',', "").parse().expect("a number");
        assert!(read.to_bits() == pair.value.to_bits() || read.is_nan() && pair.value.is_nan(), "{message:?} {pair:?}");
        assert!(!pair.key.is_empty() && !pair.key.contains([',', '\n']), "{message:?} {pair:?}");
        last = start;
    }
    for found in sizes(message) {
        for size in std::iter::once(found.first).chain(found.second) {
            let (start, end) = (at(size.text), at(size.text) + size.text.len());
            assert!(at(found.key) + found.key.len() < start && end <= message.len(), "{message:?} {found:?}");
            assert!(!message[end..].starts_with(|letter: char| letter.is_ascii_digit()), "{message:?} {found:?}");
            assert_eq!(size.text.parse().ok(), Some(size.value), "{message:?} {found:?}");
            // Of bytes or a count, and never both.
            assert!(size.bytes(true).is_some() != size.count().is_some(), "{message:?} {found:?}");
        }
        assert!(found.second.is_some() || found.first.unit.is_some(), "{message:?} {found:?}");
    }
}

/// Joining neither loses nor adds anything but blanks and quote signs.
fn pasted(text: &str, anchors: &Anchors) {
    let letters =
        |text: &str| text.chars().filter(|letter| !letter.is_whitespace() && *letter != '>').collect::<String>();
    let lines = unwrap_pasted(text, anchors, |line| begins(line, &TAGS));
    let joined: String = lines.iter().map(|(_, line)| letters(line)).collect();
    assert_eq!(joined, letters(text));
    assert!(lines.windows(2).all(|pair| pair[0].0 < pair[1].0));
}
