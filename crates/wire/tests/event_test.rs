//! Events as one publisher sent them (the worked example of engines/dynamo-worker/NOTES.md), and what is none.

use serde_json::{Value, json};
use wire::event::{Bad, decode};
use wire::msgpack;

/// The second message of a recorded run: its frames byte by byte, as NOTES.md spells them.
fn example() -> [Vec<u8>; 4] {
    let payload =
        hex("85a9776f726b65725f6964cf088852e6e001fda7a764705f72616e6b00b46163746976655f6465636f64655f626c6f636b73c0\
         b56163746976655f70726566696c6c5f746f6b656e73c0ae6b765f757365645f626c6f636b731d");
    let mut map = vec![0x85];
    map.extend(b"\xacpublisher_id\xcf\x00\x09\x85\x51\xe9\xa0\xda\x4f");
    map.extend(b"\xa8sequence\x01\xacpublished_at\xcf");
    map.extend(1_795_960_953_204_u64.to_be_bytes());
    map.extend(b"\xa5topic\xaakv_metrics\xa7payload\xc4");
    map.push(payload.len() as u8);
    map.extend(payload);
    // Its length is given there: ac, 172 bytes.
    assert_eq!(map.len(), 0xac);
    let body = [&[1, 0, 0, 0, 0xac][..], &map].concat();
    [hex("6b765f6d657472696373"), hex("00098551e9a0da4f"), hex("0000000000000001"), body]
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[test]
fn the_worked_example() {
    let decoded = json!({
        "publisher_id": 2_679_861_648_874_063_u64,
        "sequence": 1,
        "published_at": 1_795_960_953_204_u64,
        "topic": "kv_metrics",
        "payload": {
            "worker_id": 614_832_500_690_255_271_u64,
            "dp_rank": 0,
            "active_decode_blocks": null,
            "active_prefill_tokens": null,
            "kv_used_blocks": 29
        }
    });
    assert_eq!(decode(&example()), Ok(decoded));
}

#[test]
fn what_is_no_event_is_said() {
    let [topic, publisher, sequence, body] = example();
    let with = |body: Vec<u8>| decode(&[topic.clone(), publisher.clone(), sequence.clone(), body]);
    assert_eq!(decode(&[]), Err(Bad::Frames));
    assert_eq!(decode(&[topic.clone(), publisher.clone(), body.clone()]), Err(Bad::Frames));
    assert_eq!(decode(&[topic.clone(), sequence[..7].to_vec(), sequence.clone(), body.clone()]), Err(Bad::Frames));
    assert_eq!(with(vec![]), Err(Bad::Length));
    assert_eq!(with(vec![1, 0, 0]), Err(Bad::Length));
    assert_eq!(with([&[2], &body[1..]].concat()), Err(Bad::Form(2)));
    // Cut anywhere, or with more behind it, it is not what its length says.
    for end in 0..body.len() {
        assert!(with(body[..end].to_vec()).is_err(), "{end}");
    }
    assert_eq!(with([&body[..], &[0]].concat()), Err(Bad::Length));
    // A length that nobody sets room aside for.
    assert_eq!(with(vec![1, 0xff, 0xff, 0xff, 0xff, 0x80]), Err(Bad::Length));
    assert_eq!(with(vec![1, 0, 0, 0, 1, 0x90]), Err(Bad::Map));
    assert_eq!(with(vec![1, 0, 0, 0, 2, 0x80, 0x80]), Err(Bad::Map));
    assert_eq!(with(vec![1, 0, 0, 0, 5, 0xdf, 0xff, 0xff, 0xff, 0xff]), Err(Bad::Msgpack(msgpack::Bad::Short)));
}

#[test]
fn payloads_within_payloads_end_somewhere() {
    // Each a map whose one field is the next one as binary.
    let mut map = b"\x81\xa1a\x01".to_vec();
    for _ in 0..20 {
        map = [&b"\x81\xa1a\xc5"[..], &(map.len() as u16).to_be_bytes(), &map].concat();
    }
    let body = [&[1][..], &(map.len() as u32).to_be_bytes(), &map].concat();
    assert_eq!(decode(&[vec![], vec![0; 8], vec![0; 8], body]), Err(Bad::Msgpack(msgpack::Bad::Deep)));
}

#[test]
fn a_payload_of_another_kind_is_no_number() {
    // Binary that is no map, or is cut: left out, as any binary is. Text stays text.
    let of = |field: &[u8]| {
        let map = [&b"\x81\xa7payload"[..], field].concat();
        let body = [&[1][..], &(map.len() as u32).to_be_bytes(), &map].concat();
        decode(&[vec![], vec![0; 8], vec![0; 8], body]).expect("it is an event")
    };
    assert_eq!(of(b"\xc4\x01\x07"), json!({}));
    assert_eq!(of(b"\xc4\x03\x82\xa1a"), json!({}));
    assert_eq!(of(b"\xc4\x02\x80\x80"), json!({}));
    assert_eq!(of(b"\xa1x"), json!({ "payload": "x" }));
    assert_eq!(of(b"\xc4\x04\x81\xa1a\x07")["payload"]["a"], Value::from(7));
}
