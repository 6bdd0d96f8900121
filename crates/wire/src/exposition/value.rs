//! The numbers of a sample: its value and its timestamp.

/// A value. What the formats allow is what `f64::from_str` reads: decimals with sign and exponent, and the words `nan`,
/// `inf` and `infinity` in any case, with a sign (C's `printf` writes `-nan`). Neither knows hexadecimal floats.
#[inline]
pub(super) fn number(token: &str) -> Option<f64> {
    short_decimal(token.as_bytes()).or_else(|| token.parse().ok())
}

/// Powers of ten that a float holds exactly and a short decimal can need.
const TENS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Digits with at most one point between or behind them, 15 digits at most: most of what a page holds. Digits and power
/// are both exact as floats, so their one division rounds as the definition wants it, and as std does.
#[inline]
fn short_decimal(token: &[u8]) -> Option<f64> {
    if token.len() > 16 {
        return None;
    }
    let (mut digits, mut point) = (0_u64, None);
    for (index, byte) in token.iter().enumerate() {
        match byte {
            b'0'..=b'9' => digits = digits * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() && index > 0 => point = Some(index),
            _ => return None,
        }
    }
    let count = token.len() - usize::from(point.is_some());
    let after = point.map_or(0, |point| token.len() - point - 1);
    (1..=15).contains(&count).then(|| digits as f64 / TENS[after])
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
