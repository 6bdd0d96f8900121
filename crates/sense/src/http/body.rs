//! Reading a body with a cap, and unpacking it with another.

use std::io::{self, Read as _};

use flate2::bufread::GzDecoder;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use model::{Blind, BlindKind};

use super::stage::Stage;
use crate::text::{printable, size};

/// Gzip members of one body. Servers pack a body as one; each costs as much work to begin as some 10 KB, so that 16 MiB of
/// empty ones would keep us busy for seconds.
const MEMBERS: usize = 64;

/// Bytes for which room is made before they come.
const AHEAD: u64 = 128 << 10;

/// Why a body was not read.
pub(super) enum Unread {
    TooLarge(Blind),
    Broken(hyper::Error),
}

/// Reads the body, of which at most `cap` bytes are kept, or none where it says at once that it is larger.
pub(super) async fn read(mut body: Incoming, cap: usize, stage: &Stage) -> Result<Vec<u8>, Unread> {
    let announced = body.size_hint().lower();
    if announced > cap as u64 {
        let text = format!("the body is announced with {announced} bytes, more than {}: it was not read", size(cap));
        return Err(Unread::TooLarge(Blind::new(BlindKind::TooLarge, text)));
    }
    // what grows by itself is copied again and again; what is announced need not come
    let mut bytes = Vec::with_capacity(announced.min(AHEAD) as usize);
    while let Some(frame) = body.frame().await {
        // trailers say nothing that is of use here
        let Ok(data) = frame.map_err(Unread::Broken)?.into_data() else { continue };
        stage.add(data.len());
        if data.len() > cap - bytes.len() {
            let text = format!("the body is larger than {}: the rest was not read", size(cap));
            return Err(Unread::TooLarge(Blind::new(BlindKind::TooLarge, text)));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Whether a body is packed in a way that can be read here, and that shows where it ends.
pub(super) fn is_packed(encoding: &str) -> bool {
    ["gzip", "x-gzip"].contains(&encoding.trim().to_ascii_lowercase().as_str())
}

/// Undoes the content encoding `encoding`, to at most `cap` bytes.
pub(crate) fn unpack(bytes: Vec<u8>, encoding: &str, cap: usize) -> Result<Vec<u8>, Blind> {
    match encoding.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => return Ok(bytes),
        packed if is_packed(packed) => {}
        other => {
            let text = format!("the body is packed as {}, which was not asked for", printable(other.as_bytes(), 40));
            return Err(Blind::new(BlindKind::NotHttp, text));
        }
    }
    if bytes.is_empty() {
        return Ok(bytes);
    }
    let mut out = Vec::new();
    let mut rest = bytes.as_slice();
    for _ in 0..MEMBERS {
        let left = (cap - out.len()) as u64 + 1;
        GzDecoder::new(&mut rest).take(left).read_to_end(&mut out).map_err(|error| {
            if error.kind() == io::ErrorKind::UnexpectedEof {
                Blind::new(BlindKind::Cut, "the packed body ends in the middle")
            } else {
                Blind::new(BlindKind::NotHttp, format!("the body says that it is gzip and is not: {error}"))
            }
        })?;
        if out.len() > cap {
            let text = format!("the body is larger than {} when unpacked ({} bytes packed)", size(cap), bytes.len());
            return Err(Blind::new(BlindKind::TooLarge, text));
        }
        if rest.is_empty() {
            return Ok(out);
        }
    }
    let text = format!("the body is packed in more than {MEMBERS} pieces");
    Err(Blind::new(BlindKind::TooLarge, text))
}
