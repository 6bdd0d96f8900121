//! Numbers and texts as bytes: little endian, varints (seven bits a byte, low ones first), zigzag for what may be negative.

/// Reads from the front of a slice; `None` where it ends too early or a varint is too long.
#[derive(Clone, Copy)]
pub(crate) struct Take<'a>(pub(crate) &'a [u8]);

impl<'a> Take<'a> {
    pub(crate) fn slice(&mut self, length: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(front)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.slice(N)?.try_into().ok()
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    pub(crate) fn f64(&mut self) -> Option<f64> {
        self.array().map(f64::from_le_bytes)
    }

    pub(crate) fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A varint that counts something of which `most` are believed.
    pub(crate) fn count(&mut self, most: usize) -> Option<usize> {
        usize::try_from(self.varint()?).ok().filter(|count| *count <= most)
    }

    pub(crate) fn zigzag(&mut self) -> Option<i64> {
        self.varint().map(unzig)
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let length = self.count(self.0.len())?;
        std::str::from_utf8(self.slice(length)?).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Small numbers of either sign become small numbers: 0, -1, 1, -2 … are 0, 1, 2, 3 …
pub(crate) fn zig(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

pub(crate) fn unzig(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// A number that is whole and so small that f64 holds it and all its neighbours, as the integer that gives its very bits back;
/// -0.0 is none.
pub(crate) fn whole(value: f64) -> Option<i64> {
    const BOUND: f64 = 9_007_199_254_740_992.0;
    (value.abs() < BOUND && (value as i64 as f64).to_bits() == value.to_bits()).then_some(value as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_and_zigzag_give_back_what_they_took() {
        for value in [0, 1, 127, 128, 16_383, 16_384, u64::MAX / 2, u64::MAX] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            let mut take = Take(&bytes);
            assert_eq!((take.varint(), take.is_empty()), (Some(value), true));
        }
        for value in [0, -1, 1, i64::MIN, i64::MAX] {
            assert_eq!(unzig(zig(value)), value);
        }
        assert_eq!((zig(0), zig(-1), zig(1), zig(-2)), (0, 1, 2, 3));
        // Ten bytes hold 70 bits; what is over 64 is no number.
        assert_eq!(Take(&[0xFF; 10]).varint(), None);
        assert_eq!(Take(&[0x80]).varint(), None);
    }

    #[test]
    fn only_what_comes_back_to_the_bit_is_whole() {
        assert_eq!((whole(3.0), whole(-3.0), whole(0.0)), (Some(3), Some(-3), Some(0)));
        for value in [-0.0, 0.5, f64::NAN, f64::INFINITY, 9_007_199_254_740_992.0, 1e300] {
            assert_eq!(whole(value), None, "{value}");
        }
    }
}
