//! Any bytes as a snapshot in shared memory, and as msgpack: nothing panics, and the caps hold.

use serde_json::Value;
use wire::msgpack::{Limits, read};
use wire::slab::{Slot, decode};

/// Panics where an invariant of the reader does not hold for `data`.
pub(crate) fn run(data: &[u8]) {
    let magic = data.first_chunk().copied().unwrap_or(*b"SLNS");
    if let Ok(slab) = decode(data, &magic) {
        assert!(slab.ranks.len() <= 1024);
        for slot in &slab.ranks {
            match slot {
                Slot::Value(value) => assert!(value.is_object() && depth(value) <= 16, "{value}"),
                Slot::Torn(why) => assert!(!why.is_empty()),
                Slot::Empty => {}
            }
        }
        assert_eq!(decode(data, &magic), Ok(slab));
    }
    for limits in [Limits::default(), Limits { depth: 3, values: 20 }] {
        if let Ok((value, length)) = read(data, &limits) {
            assert!(
                (1..=data.len()).contains(&length) && depth(&value) <= limits.depth && count(&value) <= limits.values
            );
            // What follows a value has no part in it, and nothing less is the value.
            assert_eq!(read(&data[..length], &limits), Ok((value, length)));
            assert!(read(&data[..length - 1], &limits).is_err());
        }
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn count(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(count).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(|value| 1 + count(value)).sum::<usize>(),
        _ => 1,
    }
}
