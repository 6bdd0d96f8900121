//! Lengths of time as people write them: `60`, `60s`, `1.5m`, `2h`.

use anyhow::{Result, bail};

/// Longest length, seconds: a week.
const MOST: f64 = 7.0 * 86_400.0;

/// Seconds.
pub(crate) fn seconds(text: &str) -> Result<f64> {
    let (number, unit) = text.split_at(text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len()));
    let unit = match unit {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => bail!("{text:?} is no length of time: write 60s, 5m or 2h"),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 && number * unit <= MOST => Ok(number * unit),
        Ok(_) => bail!("{text:?} is out of range: at most a week"),
        Err(_) => bail!("{text:?} is no length of time: write 60s, 5m or 2h"),
    }
}
