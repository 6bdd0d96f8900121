//! The embedded recording: what a server answered at a moment, made to look as if it were now and here.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use model::{Answer, Time};
use sense::place::Told;
use serde_json::Value;

use crate::look::replay;

/// The recording, by server and path.
pub(super) struct Recording {
    started_at: Time,
    ended_at: Time,
    servers: Vec<String>,
    seen: BTreeMap<(String, String), Vec<Seen>>,
}

/// One answer, and when it was complete.
struct Seen {
    at: Time,
    answer: Answer,
}

impl Recording {
    /// The capture that the program carries.
    pub(super) fn embedded() -> Result<Recording> {
        let packed: &[u8] = include_bytes!("../../../assets/demo.jsonl.zst");
        let capture = replay::read(packed.to_vec()).context("the recording")?;
        let started_at = capture.head().started_at;
        let (servers, seen) = (Vec::new(), BTreeMap::new());
        let mut recording = Recording { started_at, ended_at: started_at, servers, seen };
        for take in 0..capture.takes().len() {
            for index in 0..capture.takes()[take].sites() {
                for kept in capture.kept(take, index).map(|(kept, _)| kept).unwrap_or_default() {
                    if let Ok(Told::Seen(seen)) = kept.answered
                        && let (Some(server), Ok(answer)) = (seen.url.strip_suffix(&seen.get), seen.outcome)
                    {
                        recording.add(server, &seen.get, Seen { at: seen.at, answer });
                    }
                }
            }
        }
        Ok(recording)
    }

    fn add(&mut self, server: &str, get: &str, seen: Seen) {
        if !self.servers.iter().any(|known| known == server) {
            self.servers.push(server.to_owned());
        }
        if seen.at > self.ended_at {
            self.ended_at = seen.at;
        }
        let list = self.seen.entry((server.to_owned(), get.to_owned())).or_default();
        // What was not asked again stands in later takes as well.
        if list.last().is_none_or(|last| last.at < seen.at) {
            list.push(seen);
        }
    }

    /// The recorded servers' addresses, in the order in which they were asked first.
    pub(super) fn servers(&self) -> &[String] {
        &self.servers
    }

    /// Seconds from its beginning to its end.
    pub(super) fn length(&self) -> f64 {
        self.ended_at.since(self.started_at)
    }

    /// What `server` answered to `get` at `moment` seconds, with its times moved so that the moment is `now`.
    pub(super) fn answer(&self, server: &str, get: &str, moment: f64, now: Time) -> Option<(u16, String, String)> {
        let list = self.seen.get(&(server.to_owned(), get.to_owned()))?;
        let then = self.started_at.plus(moment);
        let seen = list.iter().take_while(|seen| seen.at <= then).last().or_else(|| list.first())?;
        // The answer is as old as it was: it was complete at `seen.at`, and it is complete now.
        let shift = now.since(seen.at);
        let body = match serde_json::from_slice(&seen.answer.body) {
            Ok(mut value) => {
                move_times(&mut value, shift);
                value.to_string()
            }
            Err(_) => String::from_utf8_lossy(&seen.answer.body).into_owned(),
        };
        Some((seen.answer.status, seen.answer.content_type.clone(), body))
    }
}

/// Adds `shift` seconds to every value under a key `timestamp`, number or text.
fn move_times(value: &mut Value, shift: f64) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| move_times(item, shift)),
        Value::Object(fields) => {
            for (key, field) in fields {
                if key == "timestamp" {
                    move_time(field, shift);
                } else {
                    move_times(field, shift);
                }
            }
        }
        _ => {}
    }
}

fn move_time(value: &mut Value, shift: f64) {
    if let Some(seconds) = value.as_f64() {
        *value = Value::from(seconds + shift);
    } else if let Some(stamp) = value.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok()) {
        let moved = stamp.as_microsecond() + (shift * 1.0e6) as i64;
        if let Ok(moved) = jiff::Timestamp::from_microsecond(moved) {
            *value = Value::from(moved.to_string());
        }
    }
}
