//! Slabs: two recorded ones, read by hand from their bytes, and spoilt ones.

use serde_json::json;
use wire::slab::{Fault, Slot, decode};

const MAGIC: &[u8; 4] = b"SLNS";

fn recorded(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slabs").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn value(slot: &Slot) -> &serde_json::Value {
    match slot {
        Slot::Value(value) => value,
        other => panic!("{other:?}"),
    }
}

/// A slab of one rank with slots of 64 bytes.
fn made(length: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = b"SLNS\x02\0\x01\0\x40\0\0\0".to_vec();
    bytes.extend(length.to_le_bytes());
    bytes.extend(content);
    bytes.resize(12 + 64, 0);
    bytes
}

/// The file's bytes 0x10 on: `de 00 0d` is a map of 13; `cd 08 00` behind `max_total_num_tokens` is 2048, `cd 04 00`
/// behind `max_running_requests` 1024, `cd 39 e5` 14821, `ce 00 11 ff 12` 1179410, `00` 0, `3f ee db 8b ac 71 0c b3`
/// is 0.9643…, `94 … cd 08 00` four of which the last is 2048, `98 a4 "null"` eight of which the first is a text.
#[test]
fn a_recorded_slab_is_read_as_its_bytes_say() {
    let slab = decode(&recorded("after-load.shm"), MAGIC).expect("it can be read");
    assert_eq!((slab.version, slab.ranks.len()), (2, 1));
    let value = value(&slab.ranks[0]);
    assert_eq!(value.as_object().expect("it can be read").len(), 13);
    assert_eq!(value["max_total_num_tokens"], 2048);
    assert_eq!(value["max_running_requests"], 1024);
    assert_eq!(value["total_prefill_uncached_tokens"], 14821);
    assert_eq!(value["total_prefill_busy_us"], 1_179_410);
    assert_eq!((value["gen_throughput"].clone(), value["token_usage"].clone()), (json!(0), json!(0.0)));
    assert_eq!(value["timestamp"].as_f64().expect("it can be read"), f64::from_bits(0x41da_c30b_d979_f12f));
    assert_eq!(value["cache_hit_rate"].as_f64().expect("it can be read"), f64::from_bits(0x3fee_db8b_ac71_0cb3));
    assert_eq!(value["memory"], json!([0.0, 0.0, 0.0, 2048]));
    assert_eq!(value["disaggregation"], json!(["null", 0, 0, 0, 0, 0, 0.0, 0.0]));
    assert_eq!(value["queues"], json!([0, 0, 0, 0, 0]));
}

/// Length 3, `de 00 00`: a map in which every field is at its default, which is not the same as nothing.
#[test]
fn a_map_without_fields_is_not_an_empty_slot() {
    let slab = decode(&recorded("all-default.shm"), MAGIC).expect("it can be read");
    assert_eq!(slab.ranks, [Slot::Value(json!({}))]);
    assert_eq!(decode(&made(0, b"\x81\xa1a\x01"), MAGIC).expect("it can be read").ranks, [Slot::Empty]);
}

#[test]
fn what_is_no_slab_is_told_apart() {
    assert_eq!(decode(b"SLNS\x02\0", MAGIC), Err(Fault::Short));
    assert_eq!(decode(&made(0, b""), b"OTHR"), Err(Fault::Magic));
    assert_eq!(decode(b"SLNS\x02\0\x01\x04\x40\0\0\0", MAGIC), Err(Fault::Ranks(1025)));
    assert_eq!(decode(b"SLNS\x02\0\x01\0\x03\0\0\0", MAGIC), Err(Fault::Slot(3)));
    assert_eq!(decode(b"SLNS\x02\0\x01\0\x01\0\x10\0", MAGIC), Err(Fault::Slot(0x10_0001)));
    assert_eq!(decode(b"SLNS\x02\0\0\0\x40\0\0\0", MAGIC).expect("it can be read").ranks, []);
}

#[test]
fn a_torn_slot_costs_its_rank_only() {
    for (length, content) in [
        (4, &b"\x81\xa1a"[..]),     // the value is 0 of the bytes behind: fine, unless cut as in the next
        (3, &b"\x81\xa1a"[..]),     // ends within the map
        (5, &b"\x81\xa1a\x01"[..]), // a byte more than the map
        (61, &b"\x80"[..]),         // longer than the slot
        (u32::MAX, &b"\x80"[..]),
        (1, &b"\x01"[..]), // a number
        (1, &b"\xc1"[..]),
    ] {
        let slot = decode(&made(length, content), MAGIC).expect("it can be read").ranks.remove(0);
        assert_eq!(matches!(slot, Slot::Torn(_)), length != 4, "{length} {content:?} {slot:?}");
    }
    let mut two = made(4, b"\x81\xa1a\x07");
    two[6] = 2;
    let slab = decode(&two, MAGIC).expect("it can be read");
    assert_eq!(slab.ranks[0], Slot::Value(json!({ "a": 7 })));
    assert!(matches!(&slab.ranks[1], Slot::Torn(why) if why.contains("ends before")), "{slab:?}");
}
