//! Times as logs write them, read by hand: this runs for every relevant line.

use model::Time;

/// When a line was written, as far as it says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stamp {
    /// A time with a zone.
    Utc(Time),
    /// Date and time of a clock whose zone is not said, read as if it were UTC.
    Local(Time),
    /// Month (1 to 12), day (1 to 31) and seconds of the day; neither year nor zone is said.
    Day(u8, u8, f64),
    /// Seconds of the day alone.
    Clock(f64),
    /// Seconds since its program started.
    Since(f64),
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "];
/// Numbers of these sizes are seconds, milliseconds, microseconds, nanoseconds since 1970 (from 1973 to 2286).
const SCALES: [(f64, f64); 4] = [(1e8, 1.0), (1e11, 1e3), (1e14, 1e6), (1e17, 1e9)];

/// Digits of minutes since a start: more than nineteen years are none.
const MOST_MINUTES: usize = 7;

/// The time that `text` begins with, and its length in bytes.
pub(super) fn at_start(text: &str) -> Option<(Stamp, usize)> {
    let bytes = text.as_bytes();
    let (stamp, length) = match bytes.first()? {
        b'0'..=b'9' => full(bytes)
            .or_else(|| since_1970(bytes))
            .or_else(|| day(bytes))
            .or_else(|| alone(bytes))
            .or_else(|| since_start(bytes))?,
        b'A'..=b'Z' => named(text).or_else(|| letter_first(bytes))?,
        _ => return None,
    };
    let ends = bytes.get(length).is_none_or(|byte| matches!(byte, b' ' | b']' | b',' | b':' | b'|' | b'\t' | b')'));
    ends.then_some((stamp, length))
}

/// The time that the whole of `text` is: of a field of a record.
pub(super) fn whole(text: &str) -> Option<Stamp> {
    if let Ok(number) = text.parse() {
        return number_since_1970(number);
    }
    at_start(text).filter(|(_, length)| text[*length..].trim().is_empty()).map(|(stamp, _)| stamp)
}

/// A number as a time since 1970, its unit told by its size.
pub(super) fn number_since_1970(number: f64) -> Option<Stamp> {
    let (_, scale) = SCALES.iter().rev().find(|(least, _)| number >= *least)?;
    (number < 1e19).then(|| Stamp::Utc(Time(number / scale)))
}

/// `2026-11-29 16:15:23.860`, with `T`, `/`, ` - ` or `,` too, and a zone or none.
fn full(bytes: &[u8]) -> Option<(Stamp, usize)> {
    let separator = *bytes.get(4).filter(|byte| matches!(byte, b'-' | b'/'))?;
    if bytes.get(7) != Some(&separator) || !matches!(bytes.get(10)?, b' ' | b'T' | b't' | b'_') {
        return None;
    }
    let year = two(bytes, 0)? * 100 + two(bytes, 2)?;
    let (month, day) = (two(bytes, 5)?, two(bytes, 8)?);
    let (seconds, length) = clock(bytes, if bytes[10..].starts_with(b" - ") { 13 } else { 11 })?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(1970..=9999).contains(&year) {
        return None;
    }
    let time = days(i64::from(year), i64::from(month), i64::from(day)) as f64 * 86_400.0 + seconds;
    match zone(bytes, length) {
        Some((ahead, length)) => Some((Stamp::Utc(Time(time - ahead)), length)),
        None => Some((Stamp::Local(Time(time)), length)),
    }
}

/// `1732904400.123456`.
fn since_1970(bytes: &[u8]) -> Option<(Stamp, usize)> {
    let whole = digits(bytes, 0);
    if whole != 10 || bytes.get(10) != Some(&b'.') {
        return None;
    }
    let length = 11 + digits(bytes, 11);
    let text = std::str::from_utf8(&bytes[..length]).ok()?;
    Some((Stamp::Utc(Time(text.parse().ok()?)), length)).filter(|_| length > 11)
}

/// `0.01.928.598 I`: minutes, seconds, thousandths and millionths of them since the start, and the letter of a level, without
/// which it might be anything.
fn since_start(bytes: &[u8]) -> Option<(Stamp, usize)> {
    let minutes = digits(bytes, 0);
    let number = |from: usize, length: usize| {
        let text = bytes.get(from..from + length).filter(|text| text.iter().all(u8::is_ascii_digit))?;
        Some(text.iter().fold(0.0, |number, digit| number * 10.0 + f64::from(digit - b'0')))
    };
    let [b'.', _, _, b'.', _, _, _, b'.', _, _, _, b' ', b'D' | b'I' | b'W' | b'E', ..] = bytes.get(minutes..)? else {
        return None;
    };
    let (seconds, thousandths, millionths) =
        (number(minutes + 1, 2)?, number(minutes + 4, 3)?, number(minutes + 8, 3)?);
    let sound = (1..=MOST_MINUTES).contains(&minutes) && seconds < 60.0;
    let since = number(0, minutes)? * 60.0 + seconds + thousandths / 1e3 + millionths / 1e6;
    sound.then_some((Stamp::Since(since), minutes + 13))
}

/// `11-29 16:15:23`.
fn day(bytes: &[u8]) -> Option<(Stamp, usize)> {
    if !matches!(bytes.get(2)?, b'-' | b'/') || bytes.get(5) != Some(&b' ') {
        return None;
    }
    of_day(two(bytes, 0)?, two(bytes, 3)?, clock(bytes, 6)?)
}

/// `I1129 16:15:23.860123`, the way of C++ loggers.
fn letter_first(bytes: &[u8]) -> Option<(Stamp, usize)> {
    if !matches!(bytes.first()?, b'I' | b'W' | b'E' | b'F') || bytes.get(5) != Some(&b' ') {
        return None;
    }
    of_day(two(bytes, 1)?, two(bytes, 3)?, clock(bytes, 6)?)
}

/// `Nov 29 16:15:23`, and `Sun 2026-11-29 16:15:23 UTC`.
fn named(text: &str) -> Option<(Stamp, usize)> {
    if WEEKDAYS.iter().any(|day| text.starts_with(day)) {
        let (stamp, length) = full(&text.as_bytes()[4..]).or_else(|| named(&text[4..]))?;
        return Some((stamp, length + 4));
    }
    let month = MONTHS.iter().position(|month| text.starts_with(month))?;
    let bytes = text.as_bytes();
    let day = match bytes.get(4..6)? {
        [b' ', unit @ b'1'..=b'9'] => u32::from(unit - b'0'),
        _ => two(bytes, 4)?,
    };
    if bytes.get(3) != Some(&b' ') || bytes.get(6) != Some(&b' ') {
        return None;
    }
    of_day(month as u32 + 1, day, clock(bytes, 7)?)
}

fn alone(bytes: &[u8]) -> Option<(Stamp, usize)> {
    clock(bytes, 0).map(|(seconds, length)| (Stamp::Clock(seconds), length))
}

fn of_day(month: u32, day: u32, (seconds, length): (f64, usize)) -> Option<(Stamp, usize)> {
    let sound = (1..=12).contains(&month) && (1..=31).contains(&day);
    sound.then_some((Stamp::Day(month as u8, day as u8, seconds), length))
}

/// Seconds of the day of `16:15:23`, with a fraction behind `.` or `,`, and where it ends.
fn clock(bytes: &[u8], at: usize) -> Option<(f64, usize)> {
    if bytes.get(at + 2) != Some(&b':') || bytes.get(at + 5) != Some(&b':') {
        return None;
    }
    let (hours, minutes, seconds) = (two(bytes, at)?, two(bytes, at + 3)?, two(bytes, at + 6)?);
    if hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let (mut end, mut fraction) = (at + 8, 0.0);
    if matches!(bytes.get(end), Some(b'.' | b',')) {
        let count = digits(bytes, end + 1);
        let read = bytes.iter().skip(end + 1).take(count.min(9));
        let (number, scale) =
            read.fold((0.0, 1.0), |(number, scale), digit| (number * 10.0 + f64::from(digit - b'0'), scale * 10.0));
        fraction = number / scale;
        end += if count == 0 { 0 } else { count + 1 };
    }
    Some((f64::from(hours * 3600 + minutes * 60 + seconds) + fraction, end))
}

/// Seconds that the zone at `at` is ahead of UTC, and where it ends.
fn zone(bytes: &[u8], at: usize) -> Option<(f64, usize)> {
    let at = at + usize::from(bytes.get(at) == Some(&b' '));
    let rest = bytes.get(at..)?;
    match rest {
        [b'Z' | b'z', ..] => return Some((0.0, at + 1)),
        [b'U', b'T', b'C', ..] | [b'G', b'M', b'T', ..] => return Some((0.0, at + 3)),
        _ => {}
    }
    let sign = match rest.first()? {
        b'+' => 1.0,
        b'-' => -1.0,
        _ => return None,
    };
    let hours = two(rest, 1)?;
    let colon = usize::from(rest.get(3) == Some(&b':'));
    let (minutes, length) = two(rest, 3 + colon).map_or((0, 3), |minutes| (minutes, 5 + colon));
    (hours < 15 && minutes < 60).then(|| (sign * f64::from(hours * 3600 + minutes * 60), at + length))
}

/// Days since 1970-01-01 of a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn two(bytes: &[u8], at: usize) -> Option<u32> {
    match bytes.get(at..at + 2)? {
        [tens @ b'0'..=b'9', units @ b'0'..=b'9'] => Some(u32::from(tens - b'0') * 10 + u32::from(units - b'0')),
        _ => None,
    }
}

fn digits(bytes: &[u8], at: usize) -> usize {
    bytes.iter().skip(at).take_while(|byte| byte.is_ascii_digit()).count()
}
