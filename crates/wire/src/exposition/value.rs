//! The numbers of a sample: its value and its timestamp.

/// A value. What the formats allow is what `f64::from_str` reads: decimals with sign and exponent, and the words `nan`,
/// `inf` and `infinity` in any case, with a sign (C's `printf` writes `-nan`). Neither knows hexadecimal floats.
#[inline]
pub(super) fn number(token: &str) -> Option<f64> {
    token.parse().ok()
}

/// What a timestamp without a fraction counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// The text format: milliseconds.
    Text,
    /// `OpenMetrics`: seconds.
    OpenMetrics,
}

impl Dialect {
    /// `OpenMetrics` requires `# EOF` as its last line, and the text format does not know it.
    pub(super) fn of(page: &[u8]) -> Dialect {
        match page.trim_ascii_end().strip_suffix(b"# EOF") {
            Some(before) if before.is_empty() || before.ends_with(b"\n") => Dialect::OpenMetrics,
            _ => Dialect::Text,
        }
    }
}

/// A timestamp in milliseconds since 1970. With a fraction or an exponent it can only be `OpenMetrics` seconds.
pub(super) fn timestamp(token: &str, dialect: Dialect) -> Option<i64> {
    if dialect == Dialect::Text
        && let Ok(milliseconds) = token.parse()
    {
        return Some(milliseconds);
    }
    // A whole number that is too large for `i64` must not come back through the float.
    if dialect == Dialect::Text && !token.contains(['.', 'e', 'E']) {
        return None;
    }
    let milliseconds = (number(token)? * 1000.0).round();
    // 2⁶³ is the first float outside of i64, and NaN is in no range.
    (-9.2e18..9.2e18).contains(&milliseconds).then_some(milliseconds as i64)
}
