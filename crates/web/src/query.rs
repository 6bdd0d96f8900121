//! Questions in addresses, read strictly: what is not understood is refused by its name, never passed over.

use std::borrow::Cow;

use axum::http::Uri;

use crate::source::{EventsAsk, HistoryAsk, ReportAsk};

/// Longest value, characters.
const MOST_CHARACTERS: usize = 2048;
/// Most values of one name.
const MOST_VALUES: usize = 64;
/// The last second of the year 9999.
const LAST_SECOND: f64 = 253_402_300_799.0;
/// Windows by name, and their seconds.
const WINDOWS: [(&str, f64); 5] =
    [("15m", 900.0), ("1h", 3600.0), ("6h", 21_600.0), ("24h", 86_400.0), ("7d", 604_800.0)];
/// The longest window: ten years.
const MOST_WINDOW_S: f64 = 315_360_000.0;

type Read<T> = Result<T, String>;

/// Names and values of one question.
pub(crate) struct Query<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

/// Nothing may be asked here.
pub(crate) fn none(uri: &Uri) -> Read<()> {
    Query::parse(uri, &[]).map(|_| ())
}

pub(crate) fn history(uri: &Uri) -> Read<HistoryAsk> {
    let known = ["server", "signal", "rank", "pool", "tier", "from", "to", "window", "points"];
    let query = Query::parse(uri, &known)?;
    let mut signals = query.list("signal")?;
    if signals.is_empty() {
        signals.push("in_use".to_owned());
    }
    let (from, to, window_s) = query.times(3600.0)?;
    Ok(HistoryAsk {
        server: query.text("server")?,
        signals,
        rank: query.text("rank")?,
        pool: query.text("pool")?,
        tier: query.text("tier")?,
        from,
        to,
        window_s,
        points: Some(query.whole("points", 10, 5000)?.unwrap_or(300)),
    })
}

pub(crate) fn events(uri: &Uri) -> Read<EventsAsk> {
    let query = Query::parse(uri, &["server", "kind", "from", "to", "window"])?;
    let (from, to, window_s) = query.times(86_400.0)?;
    Ok(EventsAsk { server: query.text("server")?, kinds: query.list("kind")?, from, to, window_s })
}

pub(crate) fn report(uri: &Uri) -> Read<ReportAsk> {
    let query = Query::parse(uri, &["command", "json", "width", "colour", "target"])?;
    let command = query.text("command")?.unwrap_or_else(|| "status".to_owned());
    if !["status", "explain"].contains(&command.as_str()) {
        return Err("command: it is `status` or `explain`".to_owned());
    }
    Ok(ReportAsk {
        command,
        json: query.truth("json")?,
        width: query.whole("width", 20, 1000)?.unwrap_or(100),
        colour: query.truth("colour")?,
        targets: query.all("target")?,
    })
}

impl<'a> Query<'a> {
    pub(crate) fn parse(uri: &'a Uri, known: &[&str]) -> Read<Self> {
        let pairs: Vec<_> = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).collect();
        for (name, value) in &pairs {
            if !known.contains(&name.as_ref()) {
                let listed = if known.is_empty() { "none is known here".to_owned() } else { known.join(", ") };
                return Err(format!("{}: no such parameter ({listed})", short(name)));
            }
            if value.chars().count() > MOST_CHARACTERS {
                return Err(format!("{name}: longer than {MOST_CHARACTERS} characters"));
            }
            if value.contains(['\0', char::REPLACEMENT_CHARACTER]) {
                return Err(format!("{name}: a value is text in UTF-8"));
            }
        }
        Ok(Self(pairs))
    }

    /// Every value of a name, as it stands.
    fn all(&self, name: &str) -> Read<Vec<String>> {
        let values: Vec<String> = self.values(name).map(str::to_owned).collect();
        if values.len() > MOST_VALUES {
            return Err(format!("{name}: more than {MOST_VALUES}"));
        }
        Ok(values)
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_ref())
    }

    /// The value of a name that is given once at most.
    pub(crate) fn text(&self, name: &str) -> Read<Option<String>> {
        let mut values = self.values(name);
        let first = values.next().map(str::to_owned);
        if values.next().is_some() {
            return Err(format!("{name}: given more than once"));
        }
        Ok(first)
    }

    /// Words of a name that may be given more than once, with commas between them.
    fn list(&self, name: &str) -> Read<Vec<String>> {
        let mut list = Vec::new();
        for word in self.values(name).flat_map(|value| value.split(',')) {
            let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-".contains(letter);
            if word.is_empty() || word.len() > 64 || !word.chars().all(fits) {
                return Err(format!(
                    "{name}: {} is not a name (a-z, 0-9, _ and -, with commas between names)",
                    short(word)
                ));
            }
            list.push(word.to_owned());
        }
        if list.len() > MOST_VALUES {
            return Err(format!("{name}: more than {MOST_VALUES}"));
        }
        Ok(list)
    }

    fn whole(&self, name: &str, least: usize, most: usize) -> Read<Option<usize>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|number| digits && (least..=most).contains(number));
        number.map(Some).ok_or_else(|| format!("{name}: it is a whole number from {least} to {most}"))
    }

    fn truth(&self, name: &str) -> Read<bool> {
        match self.text(name)?.as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(format!("{name}: it is `true` or `false`")),
        }
    }

    fn time(&self, name: &str) -> Read<Option<f64>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let time = number(&text).filter(|time| (0.0..=LAST_SECOND).contains(time));
        time.map(Some).ok_or_else(|| format!("{name}: it is a time in Unix seconds"))
    }

    /// `from`, `to` and `window`; the last is there unless the first is.
    fn times(&self, default: f64) -> Read<(Option<f64>, Option<f64>, Option<f64>)> {
        let (from, to, window) = (self.time("from")?, self.time("to")?, self.window()?);
        match (from, to, window) {
            (Some(_), _, Some(_)) => {
                Err("window: it ends at `to` or now, so `from` cannot be given beside it".to_owned())
            }
            (Some(from), Some(to), None) if from > to => Err("from: it is after `to`".to_owned()),
            (Some(from), to, None) => Ok((Some(from), to, None)),
            (None, to, window) => Ok((None, to, Some(window.unwrap_or(default)))),
        }
    }

    fn window(&self) -> Read<Option<f64>> {
        let Some(text) = self.text("window")? else { return Ok(None) };
        let named = WINDOWS.iter().find(|(name, _)| *name == text).map(|(_, seconds)| *seconds);
        let seconds = named.or_else(|| number(&text)).filter(|seconds| (1.0..=MOST_WINDOW_S).contains(seconds));
        seconds.map(Some).ok_or_else(|| {
            let listed = WINDOWS.map(|(name, _)| name).join(", ");
            format!("window: it is one of {listed}, or seconds from 1 to {MOST_WINDOW_S}")
        })
    }
}

/// A number as JSON writes it: no infinities, no words.
fn number(text: &str) -> Option<f64> {
    let fits = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse().ok().filter(|number: &f64| fits && number.is_finite())
}

/// The beginning of what somebody sent, for a sentence about it.
fn short(text: &str) -> String {
    let clean = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
    let beginning: String = text.chars().take(40).map(clean).collect();
    if beginning.is_empty() { "\"\"".to_owned() } else { beginning }
}

#[cfg(test)]
#[path = "query_test.rs"]
mod tests;
