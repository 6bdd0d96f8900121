//! Numbers as messages write them.

/// Units that may stand at a number without a space.
const UNITS: [&str; 17] =
    ["%", "GB", "GiB", "MB", "MiB", "KB", "kB", "KiB", "TB", "TiB", "B", "s", "ms", "us", "ns", "x", "tok/s"];

/// The number that `text` begins with, and its length in bytes. None when letters or digits follow that make it
/// something else (a version, an address, a time), or when it may have lost digits: `0.` at the end of a line.
pub(super) fn at_start(text: &str) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    let sign = usize::from(matches!(bytes.first()?, b'-' | b'+'));
    let (value, length) = word(text, sign).or_else(|| figures(text, sign))?;
    ends(&text[length..]).then_some((value, length))
}

fn word(text: &str, sign: usize) -> Option<(f64, usize)> {
    let length = text[sign..].bytes().take_while(u8::is_ascii_alphabetic).count();
    let known = ["nan", "inf", "infinity"].iter().any(|word| text[sign..sign + length].eq_ignore_ascii_case(word));
    known.then(|| text[..sign + length].parse().ok().map(|value| (value, sign + length)))?
}

fn figures(text: &str, sign: usize) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    let digits = |at: usize| bytes.iter().skip(at).take_while(|byte| byte.is_ascii_digit()).count();
    let first = digits(sign);
    let mut end = sign + first;
    let grouped = thousands(bytes, sign, first);
    end = grouped.unwrap_or(end);
    let fraction = if bytes.get(end) == Some(&b'.') { digits(end + 1) } else { 0 };
    if first + fraction == 0 {
        return None;
    }
    end += if fraction > 0 { fraction + 1 } else { 0 };
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let exponent = digits(signed);
        end = if exponent > 0 { signed + exponent } else { end };
    }
    let value = match grouped {
        Some(_) => text[..end].replace(',', "").parse(),
        None => text[..end].parse(),
    };
    Some((value.ok()?, end))
}

/// Where `1,234,567` ends, when it is grouped without doubt: one to three digits, then groups of exactly three.
fn thousands(bytes: &[u8], start: usize, first: usize) -> Option<usize> {
    let mut end = start + first;
    while bytes.get(end) == Some(&b',')
        && bytes.iter().skip(end + 1).take_while(|byte| byte.is_ascii_digit()).count() == 3
    {
        end += 4;
    }
    ((1..=3).contains(&first) && end > start + first && bytes.get(start) != Some(&b'0')).then_some(end)
}

/// The figures that `text` begins with, without a sign or groups of thousands, and their length in bytes, whatever follows.
pub(super) fn plain(text: &str) -> Option<(f64, usize)> {
    let digits = |at: usize| text.bytes().skip(at).take_while(u8::is_ascii_digit).count();
    let first = digits(0);
    let fraction = if text.as_bytes().get(first) == Some(&b'.') { digits(first + 1) } else { 0 };
    let length = first + if fraction > 0 { fraction + 1 } else { 0 };
    text[..length].parse().ok().filter(|_| first > 0).map(|value| (value, length))
}

/// `rest` behind a slash that it begins with, blanks around that left out.
pub(super) fn behind_slash(rest: &str) -> Option<&str> {
    rest.trim_start_matches(' ').strip_prefix('/').map(|rest| rest.trim_start_matches(' '))
}

/// Whether a number may end where `rest` follows.
fn ends(rest: &str) -> bool {
    let letters = rest.bytes().take_while(|byte| byte.is_ascii_alphabetic() || b"/%".contains(byte)).count();
    let (unit, rest) = rest.split_at(letters);
    (unit.is_empty() || UNITS.contains(&unit)) && stops(rest, unit.is_empty())
}

/// Whether a number, `bare` of a unit or behind it, may end where `rest` follows.
pub(super) fn stops(rest: &str, bare: bool) -> bool {
    let mut next = rest.chars();
    match next.next() {
        None | Some(' ' | '\t' | '\n' | '\r' | ';' | ')' | ']' | '}' | '|' | '!' | '"' | '\'') => true,
        // Digits at once behind a comma are of this number, in a way that is not understood.
        Some(',') => !next.next().is_some_and(|letter| letter.is_ascii_digit()),
        // The end of a sentence; at the very end, without a unit, it may be a number whose other digits are missing.
        Some('.') => next.next().map_or(!bare, char::is_whitespace),
        _ => false,
    }
}
