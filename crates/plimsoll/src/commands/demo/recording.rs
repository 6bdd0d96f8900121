//! The embedded recording: what a server answered at a moment, made to look as if it were now and here.

use std::collections::BTreeMap;
use std::io::Read as _;

use anyhow::{Context as _, Result, anyhow};
use model::Time;
use serde_json::Value;
use wire::capture::first::{self, Capture, Seen};

/// What the whole recording may unpack to.
const CAP: u64 = 64 << 20;

/// The recording, by server and path.
pub(super) struct Recording {
    started_at: Time,
    ended_at: Time,
    servers: Vec<String>,
    seen: BTreeMap<(String, String), Vec<Seen>>,
}

impl Recording {
    /// The recording that the program carries.
    pub(super) fn embedded() -> Result<Recording> {
        let packed: &[u8] = include_bytes!("../../../assets/demo.jsonl.zst");
        let unpacker =
            ruzstd::decoding::StreamingDecoder::new(packed).map_err(|error| anyhow!("the recording: {error}"))?;
        let mut text = String::new();
        unpacker.take(CAP).read_to_string(&mut text).context("the recording")?;
        let (capture, _) = first::read(&text).map_err(|error| anyhow!("the recording: {error}"))?;
        Ok(Recording::new(capture))
    }

    fn new(capture: Capture) -> Recording {
        let mut recording = Recording {
            started_at: capture.started_at,
            ended_at: capture.started_at,
            servers: Vec::new(),
            seen: BTreeMap::new(),
        };
        for seen in capture.seen {
            if !recording.servers.contains(&seen.target) {
                recording.servers.push(seen.target.clone());
            }
            if seen.at > recording.ended_at {
                recording.ended_at = seen.at;
            }
            recording.seen.entry((seen.target.clone(), seen.get.clone())).or_default().push(seen);
        }
        recording
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
        let body = match serde_json::from_str(&seen.body) {
            Ok(mut value) => {
                move_times(&mut value, shift);
                value.to_string()
            }
            Err(_) => seen.body.clone(),
        };
        Some((seen.status?, seen.content_type.clone(), body))
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
