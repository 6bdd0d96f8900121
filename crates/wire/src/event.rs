//! Events in four frames: the topic; who publishes, in 8 bytes; a sequence number, likewise; the event, which is a byte for
//! its form, its length in 4 bytes, and a msgpack map in which the payload may stand as binary. All numbers big end first.

use serde_json::Value;

use crate::msgpack::{self, Limits};

/// The one form that is known.
const FORM: u8 = 1;

/// Why frames are no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Bad {
    /// Not four frames, or of other lengths.
    #[error("it is not in four frames")]
    Frames,
    /// Another form.
    #[error("its form is {0}, which is not known here")]
    Form(u8),
    /// Shorter or longer than it says.
    #[error("it says another length than it has")]
    Length,
    /// No msgpack.
    #[error("{0}")]
    Msgpack(#[from] msgpack::Bad),
    /// No map, or more than one.
    #[error("it is no map")]
    Map,
}

/// The event in these frames, as a JSON object.
///
/// # Errors
/// When they hold none.
pub fn decode(frames: &[Vec<u8>]) -> Result<Value, Bad> {
    let [_topic, publisher, sequence, body] = frames else { return Err(Bad::Frames) };
    if publisher.len() != 8 || sequence.len() != 8 {
        return Err(Bad::Frames);
    }
    let (form, rest) = body.split_first().ok_or(Bad::Length)?;
    if *form != FORM {
        return Err(Bad::Form(*form));
    }
    let (length, map) = rest.split_first_chunk::<4>().ok_or(Bad::Length)?;
    if usize::try_from(u32::from_be_bytes(*length)) != Ok(map.len()) {
        return Err(Bad::Length);
    }
    match msgpack::read_nested(map, &Limits::default())? {
        (event @ Value::Object(_), read) if read == map.len() => Ok(event),
        _ => Err(Bad::Map),
    }
}
