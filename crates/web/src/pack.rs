//! gzip.

use std::io::Write;

use axum::body::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::task::spawn_blocking;

/// Smaller documents gain nothing.
pub(crate) const LEAST_BYTES: usize = 1 << 10;
/// Larger ones would hold up everybody else on the thread that serves.
const INLINE_BYTES: usize = 256 << 10;

/// Packs fast: what is sent changes every second.
pub(crate) fn pack(plain: &[u8], level: Compression) -> Option<Bytes> {
    let mut packer = GzEncoder::new(Vec::with_capacity(plain.len() / 4), level);
    packer.write_all(plain).ok()?;
    packer.finish().ok().map(Bytes::from)
}

/// Packs where it holds up nobody. `None`: send it as it is.
pub(crate) async fn pack_aside(plain: Bytes) -> Option<Bytes> {
    match plain.len() {
        ..LEAST_BYTES => None,
        LEAST_BYTES..INLINE_BYTES => pack(&plain, Compression::fast()),
        _ => spawn_blocking(move || pack(&plain, Compression::fast())).await.ok().flatten(),
    }
}
