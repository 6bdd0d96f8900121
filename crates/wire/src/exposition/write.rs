//! Samples as text: the other direction, so that both share one idea of names and escapes.

use std::fmt::Write;

use super::cursor::name_length;

/// Appends one sample and a line end to `page`.
///
/// A name or label key that the text format cannot hold bare is quoted as Prometheus 3 does. The value is written with
/// the fewest digits that read back as the same number.
pub fn write_sample<'a>(
    page: &mut String,
    name: &str,
    labels: impl IntoIterator<Item = (&'a str, &'a str)>,
    value: f64,
    timestamp_ms: Option<i64>,
) {
    let bare = is_bare(name);
    let mut before = "{";
    if bare {
        page.push_str(name);
    } else {
        page.push_str(before);
        quote(page, name);
        before = ",";
    }
    for (key, text) in labels {
        page.push_str(before);
        before = ",";
        if is_bare(key) && !key.contains(':') {
            page.push_str(key);
        } else {
            quote(page, key);
        }
        page.push('=');
        quote(page, text);
    }
    if before == "," {
        page.push('}');
    }
    page.push(' ');
    number(page, value);
    if let Some(milliseconds) = timestamp_ms {
        // Writing to a `String` cannot fail.
        let _ = write!(page, " {milliseconds}");
    }
    page.push('\n');
}

fn is_bare(name: &str) -> bool {
    !name.is_empty() && name_length(name.as_bytes()) == name.len()
}

fn quote(page: &mut String, text: &str) {
    page.push('"');
    for character in text.chars() {
        match character {
            '\\' => page.push_str("\\\\"),
            '"' => page.push_str("\\\""),
            '\n' => page.push_str("\\n"),
            other => page.push(other),
        }
    }
    page.push('"');
}

fn number(page: &mut String, value: f64) {
    if value.is_infinite() {
        page.push_str(if value > 0.0 { "+Inf" } else { "-Inf" });
    } else {
        let _ = write!(page, "{value:?}");
    }
}
