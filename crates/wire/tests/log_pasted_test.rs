//! Broken lines made whole: every break of a line, hard and soft, gives its numbers back or none.

use proptest::prelude::*;
use wire::log::{Anchors, begins, line, pairs, unwrap_pasted};

const TAGS: [(&str, &str); 1] = [("TP", "tp")];
const FIRST: &str =
    "[2026-11-29 16:15:22 TP0] Prefill batch, #new-seq: 1, #new-token: 29, token usage: 0.01, #queue-req: 0";
const SECOND: &str = "[2026-11-29 16:15:23 TP0] Decode batch, #running-req: 3, #token: 796, token usage: 0.39, \
                      cpu graph: False, gen throughput (token/s): 1554.49, #queue-req: 0";

fn whole(text: &str) -> Vec<(usize, String)> {
    let anchors = Anchors::new(&["Decode batch", "Prefill batch"]);
    let lines = unwrap_pasted(text, &anchors, |line| begins(line, &TAGS));
    lines.into_iter().map(|(number, line)| (number, line.into_owned())).collect()
}

/// Broken after every `width` letters, as a terminal does.
fn hard(text: &str, width: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(width).map(|piece| piece.iter().collect::<String>()).collect::<Vec<_>>().join("\n")
}

/// Broken at the last space before `width`, which is lost, as a mail does.
fn soft(text: &str, width: usize) -> String {
    let (mut broken, mut length) = (String::new(), 0);
    for word in text.split(' ') {
        let new = length > 0 && length + 1 + word.len() > width;
        broken.push_str(if length == 0 {
            ""
        } else if new {
            "\n"
        } else {
            " "
        });
        length = if new || length == 0 { word.len() } else { length + 1 + word.len() };
        broken.push_str(word);
    }
    broken
}

fn numbers(text: &str) -> Vec<(String, f64)> {
    let line = line(text.as_bytes(), &TAGS);
    pairs(&line.message).map(|pair| (pair.key.to_owned(), pair.value)).collect()
}

#[test]
fn hard_breaks_at_every_width_give_all_numbers() {
    for width in 40..FIRST.len() {
        let lines = whole(&format!("{}\n{}\n", hard(FIRST, width), hard(SECOND, width)));
        let lines: Vec<&str> = lines.iter().map(|(_, line)| line.as_str()).collect();
        assert_eq!(lines, [FIRST, SECOND], "{width}");
    }
}

#[test]
fn soft_breaks_give_numbers_or_none_but_no_wrong_ones() {
    for width in 40..SECOND.len() {
        for text in [FIRST, SECOND] {
            let lines = whole(&soft(text, width));
            let found = numbers(&lines[0].1);
            let known = numbers(text);
            // Two words that became one are a name that nobody asks for; a name that is asked for has its number.
            let wrong = |(key, value): &&(String, f64)| known.iter().any(|(other, own)| key == other && value != own);
            assert!(!found.iter().any(|pair| wrong(&pair)), "{width}: {lines:?}");
            assert!(found.iter().filter(|pair| known.contains(pair)).count() + 1 >= known.len(), "{width}: {lines:?}");
        }
    }
}

#[test]
fn lines_that_follow_are_not_taken_up() {
    for next in [
        "Traceback (most recent call last):",
        "  warnings.warn(",
        "INFO:     127.0.0.1:5 - \"GET /\" 200",
        "100%|██████| 2/2 [00:00<00:00]",
        "",
        "12 more: 5",
        SECOND,
    ] {
        let lines = whole(&format!("{FIRST}\n{next}\nlast"));
        assert_eq!(lines[0], (1, FIRST.to_owned()), "{next}");
        assert_eq!(lines[1], (2, next.to_owned()));
    }
    // Nor do lines without a relevant word take up anything.
    assert_eq!(whole("some text that\ngoes on, a: 5\n").len(), 2);
    assert_eq!(whole(""), []);
}

#[test]
fn quotes_and_numbers_of_lines() {
    let quoted = format!("> intro\n> {}", hard(SECOND, 60).replace('\n', "\n> "));
    let lines = whole(&quoted);
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1], (2, format!("> {SECOND}")));
    assert_eq!(numbers(&lines[1].1), numbers(SECOND));
}

proptest! {
    #[test]
    fn nothing_is_lost_and_nothing_made_up(text in "[Da 0-9.,:#\n\u{e9}]{0,200}") {
        let anchors = Anchors::new(&["a"]);
        let lines = unwrap_pasted(&text, &anchors, |line| line.starts_with('#'));
        let letters = |text: &str| text.split_whitespace().collect::<String>();
        let joined: String = lines.iter().map(|(_, line)| letters(line)).collect();
        prop_assert_eq!(joined, letters(&text));
        prop_assert!(lines.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
