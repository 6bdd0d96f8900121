//! Labels as text.

use model::{RankId, text};

/// Longer descriptions of a server are cut, so that a peer cannot make the page large.
const MOST: usize = 300;

/// Adds `key="value"` to labels that are written one behind the other.
pub(crate) fn label(labels: &mut String, key: &str, value: &str) {
    if !labels.is_empty() {
        labels.push(',');
    }
    labels.push_str(key);
    labels.push_str("=\"");
    let plain = |letter: u8| matches!(letter, b' '..=b'~') && letter != b'"' && letter != b'\\';
    if value.bytes().all(plain) {
        labels.push_str(value);
        labels.push('"');
        return;
    }
    for letter in value.chars() {
        match letter {
            '\\' => labels.push_str("\\\\"),
            '"' => labels.push_str("\\\""),
            // A page is looked at in terminals, too: what could upset them is spelled out, as everywhere.
            upset if text::upsets(upset) => {
                for part in upset.escape_default() {
                    if part == '\\' {
                        labels.push('\\');
                    }
                    labels.push(part);
                }
            }
            other => labels.push(other),
        }
    }
    labels.push('"');
}

/// `labels` with one more.
pub(crate) fn with(labels: &str, key: &str, value: &str) -> String {
    let mut more = String::with_capacity(labels.len() + key.len() + value.len() + 4);
    more.push_str(labels);
    label(&mut more, key, value);
    more
}

/// Adds a label that describes: none where nothing is known, cut where it is long.
pub(crate) fn describe(labels: &mut String, key: &str, value: Option<&str>) {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return };
    let end = value.char_indices().nth(MOST).map_or(value.len(), |(end, _)| end);
    label(labels, key, &value[..end]);
}

/// The rank's name: `dp0`, `dp3`, `dp0 tp1`, `dp0 pp1`, and `?` where a source did not say which. It is made of the rank
/// alone, so that no series changes its name because another rank is heard of, or not any more.
pub(crate) fn rank(rank: RankId) -> String {
    let number = |part: Option<u32>| part.map_or_else(|| "?".to_owned(), |part| part.to_string());
    let mut name = format!("dp{}", number(rank.dp));
    for (kind, part) in [("tp", rank.tp), ("pp", rank.pp)] {
        if part != Some(0) {
            name += &format!(" {kind}{}", number(part));
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::{describe, label, rank};
    use model::RankId;

    #[test]
    fn ranks_have_names_of_their_own() {
        let id = |dp, tp, pp| rank(RankId { dp, tp, pp });
        assert_eq!(rank(RankId::ZERO), "dp0");
        assert_eq!(id(Some(3), Some(0), Some(0)), "dp3");
        assert_eq!(id(Some(0), Some(1), Some(0)), "dp0 tp1");
        assert_eq!(id(Some(0), Some(0), Some(1)), "dp0 pp1");
        assert_eq!(id(None, None, Some(2)), "dp? tp? pp2");
        let parts = [None, Some(0), Some(1), Some(10), Some(11)];
        let mut names = std::collections::BTreeSet::new();
        for dp in parts {
            for tp in parts {
                for pp in parts {
                    assert!(names.insert(id(dp, tp, pp)));
                }
            }
        }
    }

    #[test]
    fn values_are_escaped_and_descriptions_cut() {
        let mut labels = String::new();
        label(&mut labels, "server", "a\\b\"c\nd{}\u{1b}");
        describe(&mut labels, "model", Some(&"ü".repeat(1000)));
        describe(&mut labels, "unit", None);
        describe(&mut labels, "host", Some(""));
        assert_eq!(labels, format!("server=\"a\\\\b\\\"c\\\\nd{{}}\\\\u{{1b}}\",model=\"{}\"", "ü".repeat(300)));
    }
}
