//! Events beside the numbers: kept whole, as long as the looks of their time.

use std::sync::Arc;

use crate::bytes::{Take, put_text, put_varint};
use crate::chunk::{About, put_deflated, take_deflated};
use crate::error::Error;
use crate::key::MOST_TEXT_BYTES;

/// Something that happened at a moment.
#[derive(Clone, Debug)]
pub struct Event {
    /// Milliseconds since 1970.
    pub time: i64,
    /// The target, or nothing where it is the ledger's or everybody's.
    pub target: String,
    /// A small stable word. `clock`, `gap` and `damaged` are the ledger's own.
    pub kind: String,
    /// What happened, for people.
    pub text: String,
    /// A number beside it, in the unit that the kind says.
    pub value: Option<f64>,
}

/// Equal to the bit.
impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        let all = |event: &Self| (event.time, event.value.map(f64::to_bits));
        all(self) == all(other) && [&self.target, &self.kind, &self.text] == [&other.target, &other.kind, &other.text]
    }
}

impl Event {
    pub(crate) fn check(&self) -> Result<(), Error> {
        let bytes = self.target.len() + self.kind.len() + self.text.len();
        if bytes > MOST_TEXT_BYTES {
            return Err(Error::Unfit(format!(
                "an event has {bytes} bytes of text, at most {MOST_TEXT_BYTES} are kept"
            )));
        }
        Ok(())
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.time.to_le_bytes());
        for text in [&self.target, &self.kind, &self.text] {
            put_text(out, text);
        }
        match self.value {
            None => out.push(0),
            Some(value) => {
                out.push(1);
                out.extend_from_slice(&value.to_le_bytes());
            }
        }
    }

    pub(crate) fn take(bytes: &mut Take) -> Option<Self> {
        let time = bytes.i64()?;
        let [target, kind, text] = [bytes.text()?, bytes.text()?, bytes.text()?].map(str::to_owned);
        let value = if bytes.byte()? == 0 { None } else { Some(bytes.f64()?) };
        Some(Self { time, target, kind, text, value })
    }
}

/// An event that is not in a segment yet, with its number among looks and events.
#[derive(Debug)]
pub(crate) struct Numbered {
    pub(crate) number: u64,
    pub(crate) event: Event,
}

/// A frame of these events: what it is about, and its body. There is at least one.
pub(crate) fn of_events(events: &[Arc<Numbered>]) -> (About, Vec<u8>) {
    let times = || events.iter().map(|event| event.event.time);
    let mut list = Vec::new();
    put_varint(&mut list, events.len() as u64);
    for event in events {
        event.event.put(&mut list);
    }
    let mut body = Vec::new();
    put_deflated(&mut body, &list);
    let about = About {
        target: "".into(),
        step: 0,
        from: times().min().unwrap_or_default(),
        to: times().max().unwrap_or_default(),
        first: events[0].number,
        last: events[events.len() - 1].number,
        rows: events.len() as u64,
        mark: 0,
    };
    (about, body)
}

/// The events of a body; `None` where it is none.
pub(crate) fn take_events(body: &[u8]) -> Option<Vec<Event>> {
    let mut body = Take(body);
    let list = take_deflated(&mut body)?;
    let mut list = Take(&list);
    let count = list.count(list.0.len())?;
    let events: Option<Vec<Event>> = (0..count).map(|_| Event::take(&mut list)).collect();
    events.filter(|_| list.is_empty() && body.is_empty())
}
