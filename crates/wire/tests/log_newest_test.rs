//! Walking backwards gives what a naive forward search finds, in reverse.

use proptest::prelude::*;
use wire::log::{Anchors, MOST_LINE, newest_first, number_of_line};

const WORDS: [&str; 3] = ["ab", "abc", "#x: "];

/// The relevant lines by splitting and searching, newest first.
fn naive<'a>(chunk: &'a [u8], words: &[&str], whole: bool) -> Vec<&'a [u8]> {
    let holds =
        |line: &&[u8]| words.iter().any(|word| line.windows(word.len()).any(|window| window == word.as_bytes()));
    let mut lines: Vec<&[u8]> = chunk.split(|byte| *byte == b'\n').skip(usize::from(!whole)).collect();
    lines.retain(|line| line.len() <= MOST_LINE && holds(line));
    lines.reverse();
    lines
}

fn walked<'a>(chunk: &'a [u8], anchors: &'a Anchors, whole: bool) -> Vec<&'a [u8]> {
    newest_first(chunk, anchors, whole)
        .map(|(range, line)| {
            assert_eq!(&chunk[range], line);
            line
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_walk_agrees_with_a_naive_search(text in "[abc#x: \n]{0,300}", whole: bool) {
        let anchors = Anchors::new(&WORDS);
        prop_assert_eq!(walked(text.as_bytes(), &anchors, whole), naive(text.as_bytes(), &WORDS, whole));
    }

    #[test]
    fn over_many_blocks_too(lines in prop::collection::vec((0_usize..20_000, any::<bool>()), 0..40), whole: bool, end: bool) {
        let mut text = String::new();
        for (length, relevant) in lines {
            text.push_str(&"-".repeat(length));
            text.push_str(if relevant { "abc" } else { "" });
            text.push_str(&"-".repeat(length / 7));
            text.push('\n');
        }
        if end {
            text.pop();
        }
        let anchors = Anchors::new(&WORDS);
        prop_assert_eq!(walked(text.as_bytes(), &anchors, whole), naive(text.as_bytes(), &WORDS, whole));
    }
}

#[test]
fn odd_chunks() {
    let anchors = Anchors::new(&WORDS);
    for chunk in ["", "\n", "\n\n", "ab", "ab\n", "\nab", "\n\nab\n\n", "a\nb"] {
        for whole in [true, false] {
            assert_eq!(walked(chunk.as_bytes(), &anchors, whole), naive(chunk.as_bytes(), &WORDS, whole), "{chunk:?}");
        }
    }
    for none in [Anchors::new(&[]), Anchors::new(&["", "a\nb"])] {
        assert_eq!(newest_first(b"a\nb\nab\n", &none, true).count(), 0);
    }
}

#[test]
fn a_line_of_ten_megabytes_is_passed_over() {
    let anchors = Anchors::new(&["ab"]);
    let mut log = b"ab 1\n".to_vec();
    log.extend(b"ab".repeat(5 << 20));
    log.extend(b"\nab 2\n");
    let mut newest = newest_first(&log, &anchors, true);
    let lines: Vec<&[u8]> = newest.by_ref().map(|(_, line)| line).collect();
    assert_eq!((lines, newest.long()), (vec![&b"ab 2"[..], b"ab 1"], 1));
    let mut newest = newest_first(&log[7..], &anchors, false);
    assert_eq!((newest.by_ref().count(), newest.long()), (1, 0));
    // A line of just the largest length is read, one byte more is not.
    let exact = [b"ab".repeat(MOST_LINE / 2), b"\n".to_vec()].concat();
    assert_eq!(newest_first(&exact, &anchors, true).count(), 1);
    let more = [&b"a"[..], &exact].concat();
    assert_eq!(newest_first(&more, &anchors, true).count(), 0);
}

#[test]
fn the_newest_lines_need_little_of_the_chunk() {
    let log = b"ab relevant\n".repeat(1_000_000);
    let anchors = Anchors::new(&["ab"]);
    let mut newest = newest_first(&log, &anchors, false);
    assert_eq!(newest.by_ref().take(20).count(), 20);
    assert!(newest.read() < 100_000, "{}", newest.read());
}

#[test]
fn words_as_the_journal_writes_bytes() {
    // `ab` is 97, 98: the message is ESC a b.
    let log = b"{\"MESSAGE\":[27,97,98]}\n{\"MESSAGE\":\"ab\"}\n{\"MESSAGE\":[97,99]}\n";
    assert_eq!(newest_first(log, &Anchors::in_records(&["ab"]), true).count(), 2);
    assert_eq!(newest_first(log, &Anchors::new(&["ab"]), true).count(), 1);
}

#[test]
fn lines_are_numbered_from_one() {
    let log = b"a\nb\n\nc";
    let numbers: Vec<usize> = (0..8).map(|offset| number_of_line(log, offset)).collect();
    assert_eq!(numbers, [1, 1, 2, 2, 3, 4, 4, 4]);
}
