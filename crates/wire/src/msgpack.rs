//! A reader of msgpack into JSON's values: small, tolerant, with caps.
//!
//! Binary and extension values are passed over (null where they are an element, left out where they are a field), keys
//! that are no text become text, floating-point numbers that JSON has not (NaN, infinite) become null. Some writers put one
//! value into another as binary: [`read_nested`] reads it in its place.

use serde_json::{Map, Number, Value};

/// What a value may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Arrays and maps within each other.
    pub depth: usize,
    /// Values of all kinds, keys included.
    pub values: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 16, values: 4096 }
    }
}

/// Why bytes are no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Bad {
    /// They end within a value.
    #[error("it ends within a value")]
    Short,
    /// A byte that begins no value.
    #[error("a byte that begins no value")]
    Unknown,
    /// Text that is no UTF-8.
    #[error("text that is no UTF-8")]
    Text,
    /// Arrays and maps nested deeper than the limit.
    #[error("nested too deeply")]
    Deep,
    /// More values than the limit.
    #[error("too many values")]
    Many,
}

/// Reads the value that `bytes` begin with; gives it with its length in bytes.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<(Value, usize), Bad> {
    Reader { bytes, at: 0, left: limits.values, nested: false }.whole(limits)
}

/// The same, with each binary value that is one whole map read as that map: it counts as one level deeper, and its values as
/// values of the whole. Other binary values are passed over.
pub fn read_nested(bytes: &[u8], limits: &Limits) -> Result<(Value, usize), Bad> {
    Reader { bytes, at: 0, left: limits.values, nested: true }.whole(limits)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    left: usize,
    nested: bool,
}

impl<'a> Reader<'a> {
    fn whole(mut self, limits: &Limits) -> Result<(Value, usize), Bad> {
        let value = self.value(limits.depth)?.unwrap_or(Value::Null);
        Ok((value, self.at))
    }

    /// The next value; none for one that is passed over.
    fn value(&mut self, depth: usize) -> Result<Option<Value>, Bad> {
        self.left = self.left.checked_sub(1).ok_or(Bad::Many)?;
        let mark = self.take(1)?[0];
        let value = match mark {
            0x00..=0x7f => Value::from(mark),
            0x80..=0x8f => self.map(usize::from(mark & 0x0f), depth)?,
            0x90..=0x9f => self.array(usize::from(mark & 0x0f), depth)?,
            0xa0..=0xbf => self.text(usize::from(mark & 0x1f))?,
            0xc0 => Value::Null,
            0xc1 => return Err(Bad::Unknown),
            0xc2 | 0xc3 => Value::Bool(mark == 0xc3),
            0xc4..=0xc6 => return self.binary(1 << (mark - 0xc4), depth),
            0xc7..=0xc9 => return self.passed(1 << (mark - 0xc7), 1),
            0xca => number(f64::from(f32::from_bits(self.unsigned(4)? as u32))),
            0xcb => number(f64::from_bits(self.unsigned(8)?)),
            0xcc..=0xcf => Value::from(self.unsigned(1 << (mark - 0xcc))?),
            0xd0..=0xd3 => self.signed(1 << (mark - 0xd0))?,
            0xd4..=0xd8 => return self.take(1 + (1 << (mark - 0xd4))).map(|_| None),
            0xd9..=0xdb => self.length(1 << (mark - 0xd9)).and_then(|length| self.text(length))?,
            0xdc | 0xdd => self.length(2 << (mark - 0xdc)).and_then(|count| self.array(count, depth))?,
            0xde | 0xdf => self.length(2 << (mark - 0xde)).and_then(|count| self.map(count, depth))?,
            0xe0..=0xff => Value::from(mark.cast_signed()),
        };
        Ok(Some(value))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Bad> {
        let end = self.at.checked_add(length).ok_or(Bad::Short)?;
        let taken = self.bytes.get(self.at..end).ok_or(Bad::Short)?;
        self.at = end;
        Ok(taken)
    }

    /// A big-endian number of 1 to 8 bytes.
    fn unsigned(&mut self, width: usize) -> Result<u64, Bad> {
        Ok(self.take(width)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn signed(&mut self, width: usize) -> Result<Value, Bad> {
        let unused = 64 - 8 * width as u32;
        Ok(Value::from((self.unsigned(width)? << unused).cast_signed() >> unused))
    }

    fn length(&mut self, width: usize) -> Result<usize, Bad> {
        usize::try_from(self.unsigned(width)?).map_err(|_| Bad::Short)
    }

    fn text(&mut self, length: usize) -> Result<Value, Bad> {
        let text = simdutf8::basic::from_utf8(self.take(length)?).map_err(|_| Bad::Text)?;
        Ok(Value::from(text))
    }

    fn passed(&mut self, width: usize, kind: usize) -> Result<Option<Value>, Bad> {
        let length = self.length(width)?;
        self.take(length.checked_add(kind).ok_or(Bad::Short)?)?;
        Ok(None)
    }

    fn binary(&mut self, width: usize, depth: usize) -> Result<Option<Value>, Bad> {
        let length = self.length(width)?;
        let bytes = self.take(length)?;
        let Some(depth) = depth.checked_sub(1).filter(|_| self.nested) else { return Ok(None) };
        let mut inner = Reader { bytes, at: 0, left: self.left, nested: true };
        match inner.value(depth) {
            Ok(Some(map @ Value::Object(_))) if inner.at == bytes.len() => {
                self.left = inner.left;
                Ok(Some(map))
            }
            // Too much is too much; what is no map is some other program's bytes.
            Err(bad @ (Bad::Many | Bad::Deep)) => Err(bad),
            _ => Ok(None),
        }
    }

    /// Nothing is set aside for what a length promises: each element has to be there.
    fn array(&mut self, count: usize, depth: usize) -> Result<Value, Bad> {
        let depth = depth.checked_sub(1).ok_or(Bad::Deep)?;
        let mut elements = Vec::new();
        for _ in 0..count {
            elements.push(self.value(depth)?.unwrap_or(Value::Null));
        }
        Ok(Value::Array(elements))
    }

    fn map(&mut self, count: usize, depth: usize) -> Result<Value, Bad> {
        let depth = depth.checked_sub(1).ok_or(Bad::Deep)?;
        let mut fields = Map::new();
        for _ in 0..count {
            let key = match self.value(depth)? {
                Some(Value::String(key)) => Some(key),
                other => other.map(|key| key.to_string()),
            };
            let value = self.value(depth)?;
            if let (Some(key), Some(value)) = (key, value) {
                fields.insert(key, value);
            }
        }
        Ok(Value::Object(fields))
    }
}

fn number(number: f64) -> Value {
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}
