//! Bytes in JSON, for `#[serde(with)]`: a string where they are UTF-8, else `{"base64": …}`.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserializer, Serializer};

/// Writes bytes.
pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return serializer.serialize_str(text);
    }
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry("base64", &STANDARD.encode(bytes))?;
    map.end()
}

/// Reads bytes.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    deserializer.deserialize_any(Bytes)
}

struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(r#"a string or {"base64": …}"#)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
        Ok(text.as_bytes().to_vec())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Vec<u8>, E> {
        Ok(text.into_bytes())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = None;
        while let Some(key) = map.next_key::<String>()? {
            if key == "base64" {
                let text: String = map.next_value()?;
                bytes = Some(STANDARD.decode(text).map_err(A::Error::custom)?);
            } else {
                map.next_value::<serde::de::IgnoredAny>()?;
            }
        }
        bytes.ok_or_else(|| A::Error::missing_field("base64"))
    }
}
