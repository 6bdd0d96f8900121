//! Lists that a file fills, with a cap, for `#[serde(deserialize_with)]`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads a list of at most `MOST` items; a longer one is an error, found before it is held.
pub fn few<'de, D: Deserializer<'de>, T: Deserialize<'de>, const MOST: usize>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_seq(Few::<T, MOST>(PhantomData))
}

struct Few<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Few<T, MOST> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of at most {MOST}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        let mut out = Vec::new();
        while let Some(item) = items.next_element()? {
            if out.len() == MOST {
                return Err(A::Error::custom(format_args!("more than {MOST} items")));
            }
            out.push(item);
        }
        Ok(out)
    }
}
