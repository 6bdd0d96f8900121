//! Ranks as lines name them: `DP0 TP3`, `gpu=0`.

/// The rank that `text` begins with, and its length in bytes.
pub(super) fn at_start<'t>(text: &str, tags: &[(&str, &'t str)]) -> Option<((&'t str, u32), usize)> {
    tags.iter().find_map(|(written, kind)| {
        let rest = text.strip_prefix(written).filter(|_| !written.is_empty())?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = rest[..digits].parse().ok()?;
        let ends = rest
            .as_bytes()
            .get(digits)
            .is_none_or(|byte| matches!(byte, b' ' | b']' | b')' | b':' | b',' | b'|' | b'_'));
        ends.then_some(((*kind, number), written.len() + digits))
    })
}

/// All ranks in the inner part of a bracket, whose words stand apart by one of `between`.
pub(super) fn within<'t>(text: &str, between: &[char], tags: &[(&str, &'t str)], found: &mut Vec<(&'t str, u32)>) {
    let mut rest = text;
    while !rest.is_empty() {
        if let Some((rank, length)) = at_start(rest, tags) {
            put(found, rank);
            rest = &rest[length..];
        }
        let next = rest.find(between).map_or(rest.len(), |at| at + 1);
        rest = &rest[next..];
    }
}

/// Puts a rank in the place of an outer one of its kind.
pub(super) fn put<'t>(found: &mut Vec<(&'t str, u32)>, rank: (&'t str, u32)) {
    match found.iter_mut().find(|(kind, _)| *kind == rank.0) {
        Some(known) => known.1 = rank.1,
        None => found.push(rank),
    }
}
