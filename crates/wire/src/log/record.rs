//! Records of shippers: one JSON object a line, with the message under one of a few names.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::stamp::{self, Stamp};

/// Names of the message, the most telling first.
const MESSAGE: [&str; 7] = ["message", "msg", "MESSAGE", "log", "textPayload", "line", "body"];
/// Names of the time, the most telling first.
const TIME: [&str; 8] = [
    "timestamp",
    "@timestamp",
    "time",
    "ts",
    "asctime",
    "_SOURCE_REALTIME_TIMESTAMP",
    "__REALTIME_TIMESTAMP",
    "datetime",
];
/// Names of objects that hold the record proper.
const INNER: [&str; 4] = ["jsonPayload", "fields", "record", "log"];
/// Names of flags that say that a line goes on in the next record.
const PART: [&str; 2] = ["partial_message", "CONTAINER_PARTIAL_MESSAGE"];
/// Docker cuts lines into records of this many bytes, and only the last ends in a line feed.
const DOCKER_PART: usize = 16 << 10;
/// Records this deep inside records are not looked into.
const DEEPEST: u8 = 4;

/// What a record says.
#[derive(Default)]
pub(super) struct Record {
    /// The message as it was written.
    pub(super) message: String,
    /// When, by the shipper.
    pub(super) time: Option<Stamp>,
    /// Whether the message is a part of a line.
    pub(super) cut: bool,
}

/// Reads `text` as one record with a message; none when it is not.
pub(super) fn read(text: &str) -> Option<Record> {
    if !text.starts_with('{') {
        return None;
    }
    let fields: Fields = serde_json::from_str(text).ok()?;
    fields.record(0)
}

/// Strips `value`, a record that [`read`] reads, of all but its message, its time and its flags, and gives it another
/// message; `cut` says that the message is a part of a line.
pub(super) fn keep(value: &mut Value, message: &str, cut: bool) {
    let Value::Object(fields) = value else { return };
    let byte = |value: &Value| value.as_u64().is_some_and(|number| number < 256);
    let said = |name: &&str| match fields.get(*name) {
        Some(Value::String(_)) => true,
        Some(Value::Array(bytes)) => !bytes.is_empty() && bytes.iter().all(byte),
        _ => false,
    };
    let own = MESSAGE.into_iter().find(said);
    let inner = fields.keys().position(|key| INNER.contains(&key.as_str())).filter(|_| own.is_none());
    let inner = inner.and_then(|at| fields.keys().nth(at)).cloned();
    let flags = |key: &str| TIME.contains(&key) || PART.contains(&key) || ["logtag", "_PID"].contains(&key);
    fields.retain(|key, value| {
        Some(key.as_str()) == own
            || Some(key) == inner.as_ref()
            || flags(key) && !value.is_object() && !value.is_array()
    });
    if let Some(name) = own {
        fields.insert(name.to_owned(), message.into());
        // Whether docker cut a line is told by its length, which the message no longer has.
        if cut {
            fields.insert(PART[0].to_owned(), true.into());
        }
    } else if let Some(value) = inner.and_then(|name| fields.get_mut(&name)) {
        keep(value, message, cut);
    }
}

/// The fields of an object that can matter, in its order.
struct Fields(Vec<(String, Loose)>);

enum Loose {
    Text(String),
    Number(f64),
    Truth(bool),
    Object(Fields),
    Other,
}

impl Fields {
    fn record(mut self, depth: u8) -> Option<Record> {
        let time = TIME.iter().find_map(|name| self.get(name).and_then(Loose::time));
        let part = PART.iter().any(|name| self.get(name).is_some_and(Loose::truth));
        let part = part || matches!(self.get("logtag"), Some(Loose::Text(tag)) if tag.starts_with('P'));
        for name in MESSAGE {
            let at = self.0.iter().position(|(key, value)| key == name && matches!(value, Loose::Text(_)));
            if let Some((_, Loose::Text(message))) = at.map(|at| self.0.swap_remove(at)) {
                let docker = name == "log" && message.len() >= DOCKER_PART && !message.ends_with('\n');
                return Some(Record { message, time, cut: part || docker });
            }
        }
        let inner = self.0.into_iter().filter(|(key, _)| depth < DEEPEST && INNER.contains(&key.as_str()));
        let inner = inner.filter_map(|(_, value)| if let Loose::Object(fields) = value { Some(fields) } else { None });
        let record = inner.map(|fields| fields.record(depth + 1)).next()??;
        Some(Record { time: time.or(record.time), cut: part || record.cut, ..record })
    }

    fn get(&self, name: &str) -> Option<&Loose> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

impl Loose {
    fn time(&self) -> Option<Stamp> {
        match self {
            Loose::Text(text) => stamp::whole(text),
            Loose::Number(number) => stamp::number_since_1970(*number),
            _ => None,
        }
    }

    fn truth(&self) -> bool {
        match self {
            Loose::Text(text) => text == "true",
            Loose::Truth(truth) => *truth,
            _ => false,
        }
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Loose::deserialize(deserializer)? {
            Loose::Object(fields) => Ok(fields),
            _ => Err(serde::de::Error::custom("no object")),
        }
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Loose;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Loose, E> {
        Ok(Loose::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Loose, E> {
        Ok(Loose::Text(text))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Loose, E> {
        Ok(Loose::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Loose, E> {
        Ok(Loose::Number(number as f64))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Loose, E> {
        Ok(Loose::Number(number as f64))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Loose, E> {
        Ok(Loose::Truth(truth))
    }

    fn visit_unit<E>(self) -> Result<Loose, E> {
        Ok(Loose::Other)
    }

    /// A message with bytes that are no text: the journal writes all of them as numbers.
    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Loose, A::Error> {
        let (mut bytes, mut sound) = (Vec::new(), true);
        while let Some(value) = sequence.next_element::<Loose>()? {
            match value {
                Loose::Number(number) if (0.0..256.0).contains(&number) && number.fract() == 0.0 => {
                    bytes.push(number as u8);
                }
                _ => sound = false,
            }
        }
        let text = sound && !bytes.is_empty();
        Ok(if text { Loose::Text(String::from_utf8_lossy(&bytes).into_owned()) } else { Loose::Other })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Loose, A::Error> {
        let mut fields = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            let wanted =
                [&MESSAGE[..], &TIME, &INNER, &PART, &["logtag"]].iter().any(|names| names.contains(&key.as_str()));
            if wanted && fields.len() < 64 {
                fields.push((key, map.next_value()?));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Loose::Object(Fields(fields)))
    }
}
