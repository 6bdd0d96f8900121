//! Answers in JSON without what no row reads. Most of a large answer is flags that no table knows: to make a tree of them
//! costs ten times as much as to pass over them.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::table::Wanted;

/// The whole text as the tree of what is wanted of it.
pub(super) fn read(text: &str, wanted: &Wanted) -> Result<Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let root = Pruned(wanted).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(root)
}

/// A value at a place of which so much is wanted.
#[derive(Clone, Copy)]
struct Pruned<'w>(&'w Wanted);

impl<'de> DeserializeSeed<'de> for Pruned<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.0.whole { Value::deserialize(deserializer) } else { deserializer.deserialize_any(self) }
    }
}

impl<'de> Visitor<'de> for Pruned<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        match &self.0.items {
            Some(wanted) => {
                while let Some(item) = access.next_element_seed(Pruned(wanted))? {
                    items.push(item);
                }
            }
            None => while access.next_element::<IgnoredAny>()?.is_some() {},
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        if self.0.items.is_some() {
            // A path may go through all of its fields.
            return Value::deserialize(MapAccessDeserializer::new(access));
        }
        let mut fields = Map::new();
        while let Some(field) = access.next_key_seed(Field(self.0))? {
            match field {
                Some((name, wanted)) => {
                    fields.insert(name.clone(), access.next_value_seed(Pruned(wanted))?);
                }
                None => {
                    access.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Value::Object(fields))
    }
}

/// The name of a field of an object; with what is wanted of the field, where anything is.
struct Field<'w>(&'w Wanted);

impl<'de, 'w> DeserializeSeed<'de> for Field<'w> {
    type Value = Option<&'w (String, Wanted)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'w> Visitor<'_> for Field<'w> {
    type Value = Option<&'w (String, Wanted)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.get(name))
    }
}
