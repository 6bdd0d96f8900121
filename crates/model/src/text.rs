//! Text that a peer sent, made safe to show.

/// Longer texts of peers are cut.
const MOST: usize = 300;

/// `text` as one line without secrets: what could upset a terminal or turn the direction of writing is escaped, addresses
/// lose user, password, query and fragment, what is too long is cut.
pub fn printable(text: &str) -> String {
    let text = crate::without_secrets(text);
    if text.len() <= MOST && text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text;
    }
    let mut shown = String::new();
    for (count, letter) in text.chars().enumerate() {
        if count == MOST {
            shown.push('…');
            break;
        }
        if upsets(letter) { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    shown
}

/// `text` as one line: what could upset a terminal or turn the direction of writing is escaped, and nothing else changed.
/// For names of files, units and the like, which anybody on a host may choose.
pub fn visible(text: impl Into<String>) -> String {
    let text = text.into();
    if !text.chars().any(upsets) {
        return text;
    }
    text.chars()
        .flat_map(|letter| if upsets(letter) { letter.escape_default().collect() } else { vec![letter] })
        .collect()
}

/// Controls, and marks that reorder or hide text.
pub fn upsets(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::{printable, visible};

    #[test]
    fn addresses_lose_their_secrets() {
        for (said, shown) in [
            ("http://u:p@h:1/x?token=t y", "http://h:1/x y"),
            ("s3://key:secret@bucket/m", "s3://bucket/m"),
            ("[\"http://a@b/c#f\",\"tcp://*:5557\"]", "[\"http://b/c\",\"tcp://*:5557\"]"),
            ("no address: a@b?c", "no address: a@b?c"),
            ("a\u{1b}[2J\nb\u{202e}", "a\\u{1b}[2J\\nb\\u{202e}"),
        ] {
            assert_eq!(printable(said), shown);
        }
        assert_eq!(visible("a\u{1b}]0;x\u{7}\n\u{9b}b\u{202e} c"), "a\\u{1b}]0;x\\u{7}\\n\\u{9b}b\\u{202e} c");
        assert_eq!(printable(&"x".repeat(1000)).chars().count(), 301);
    }
}
