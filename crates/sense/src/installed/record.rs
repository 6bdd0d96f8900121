//! `RECORD`: what an installer put where, with a sum of each file.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Longest list that is read, bytes.
pub(super) const LONGEST: usize = 16 << 20;

/// The SHA-256 sum of each file, as the list writes it, by the path below the folder of packages.
pub(super) fn sums(record: &[u8]) -> HashMap<&Path, &[u8]> {
    let mut sums = HashMap::new();
    for line in record.split(|byte| *byte == b'\n') {
        let needle = b",sha256=";
        let Some(at) = memchr::memmem::find(line, needle) else { continue };
        let sum = line[at + needle.len()..].split(|byte| *byte == b',').next().unwrap_or_default();
        // A path with a comma in it is quoted; no module has one.
        sums.insert(Path::new(OsStr::from_bytes(&line[..at])), sum);
    }
    sums
}

/// A sum as the list writes it: base64 for URLs, without padding.
pub(super) fn shown(sum: &[u8; 32]) -> Vec<u8> {
    URL_SAFE_NO_PAD.encode(sum).into_bytes()
}

/// The sum of a file as such a list spells it.
pub fn sum_of(bytes: &[u8]) -> Vec<u8> {
    use sha2::Digest as _;
    shown(&sha2::Sha256::digest(bytes).into())
}
