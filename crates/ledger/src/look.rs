//! One look as bytes, for the log and for memory: by itself, so that no lost frame costs another. Neighbours on a page are often
//! near each other (buckets of a histogram), so whole numbers are kept as the difference from the one before.

use std::sync::Arc;

use crate::bytes::{Take, put_varint, unzig, whole, zig};
use crate::key::Named;
use crate::sample::Sample;

/// Low bits of a varint: a whole fresh number, of which the other bits are the difference.
const WHOLE: u64 = 0;
/// The sample before, so many times more.
const AGAIN: u64 = 7;
/// A state's number + 1; the number itself follows where there is one.
const STATE: std::ops::Range<u64> = 1..7;

/// A look that is not in a chunk yet.
#[derive(Debug)]
pub(crate) struct Look {
    /// Which look of the ledger it is; each has another one.
    pub(crate) number: u64,
    /// Milliseconds since 1970.
    pub(crate) time: i64,
    pub(crate) shape: Arc<Named>,
    pub(crate) bytes: Box<[u8]>,
}

impl Look {
    /// Its samples, in the order of its shape.
    pub(crate) fn samples(&self) -> Vec<Sample> {
        // Only what `decode` took becomes a look, so there is always an answer.
        decode(&self.bytes, self.shape.keys.len()).unwrap_or_default()
    }
}

pub(crate) fn encode(out: &mut Vec<u8>, samples: &[Sample]) {
    let mut before = 0;
    let mut index = 0;
    while index < samples.len() {
        let sample = samples[index];
        match sample {
            Sample::Value(value) if let Some(number) = whole(value) => {
                // Two numbers below 2^53 are less than 2^54 apart, so three bits are free.
                put_varint(out, zig(number - before) << 3 | WHOLE);
                before = number;
            }
            _ => {
                out.push(sample.state() + 1);
                if let Some(number) = sample.number() {
                    out.extend_from_slice(&number.to_le_bytes());
                }
            }
        }
        let again = samples[index + 1..].iter().take_while(|next| **next == sample).count();
        // One more costs a byte either way.
        if again > 1 {
            put_varint(out, (again as u64) << 3 | AGAIN);
            index += again;
        }
        index += 1;
    }
}

/// The `count` samples of a look; `None` where these bytes are not exactly that.
pub(crate) fn decode(bytes: &[u8], count: usize) -> Option<Vec<Sample>> {
    let mut bytes = Take(bytes);
    let mut samples: Vec<Sample> = Vec::with_capacity(count);
    let mut before = 0i64;
    while samples.len() < count {
        let word = bytes.varint()?;
        match (word & 7, word >> 3) {
            (WHOLE, rest) => {
                before = before.checked_add(unzig(rest))?;
                samples.push(Sample::Value(before as f64));
            }
            (AGAIN, rest) => {
                let again = usize::try_from(rest).ok().filter(|again| *again <= count - samples.len())?;
                let last = *samples.last()?;
                samples.resize(samples.len() + again, last);
            }
            (state, 0) if STATE.contains(&state) => samples.push(Sample::of(state as u8 - 1, || bytes.f64())?),
            _ => return None,
        }
    }
    bytes.is_empty().then_some(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_comes_back_to_the_bit() {
        let samples = [
            Sample::Value(1364.0),
            Sample::Value(1364.0),
            Sample::Value(1364.0),
            Sample::Value(-0.0),
            Sample::Value(0.0),
            Sample::Value(f64::from_bits(0x7FF8_0000_0000_0001)),
            Sample::Stale(0.67),
            Sample::NotReported,
            Sample::Unreachable,
            Sample::Impossible(-3.0),
            Sample::Absent,
            Sample::Absent,
            Sample::Value(9_007_199_254_740_991.0),
            Sample::Value(-9_007_199_254_740_991.0),
            Sample::Value(f64::NEG_INFINITY),
        ];
        let mut bytes = Vec::new();
        encode(&mut bytes, &samples);
        assert_eq!(decode(&bytes, samples.len()).as_deref(), Some(&samples[..]));
        assert_eq!(decode(&bytes, samples.len() - 1), None, "bytes are left over");
        assert_eq!(decode(&bytes, samples.len() + 1), None, "a sample is missing");
        for end in 0..bytes.len() {
            assert_eq!(decode(&bytes[..end], samples.len()), None);
        }
    }

    #[test]
    fn a_quiet_look_is_small() {
        // 553 zeros: a zero, and 552 times more of it in two bytes.
        let mut bytes = Vec::new();
        encode(&mut bytes, &[Sample::Value(0.0); 553]);
        assert_eq!(bytes.len(), 3);
    }
}
