//! words
#[inline]
pub(super) fn name_length(bytes: &[u8]) -> usize {
    if bytes.first().is_some_and(u8::is_ascii_digit) {
        return 0;
    }
    bytes.iter().position(|byte| !IN_NAME[usize::from(*byte)]).unwrap_or(bytes.len())
}
#[inline]
pub(super) fn quote_or_backslash(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte == b'"' || *byte == b'\\').unwrap_or(bytes.len())
}

const IN_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':';
        byte += 1;
    }
    table
};
