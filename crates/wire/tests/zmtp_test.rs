//! ZMTP, by its specification (23/ZMTP, version 3.0) and by what a publisher of libzmq answered.

use wire::zmtp::{Bad, GREETING, Item, Limits, Reader, ready, subscribe};

/// The greeting of libzmq 4.3.5: version 3.1, NULL.
fn greeting() -> Vec<u8> {
    let mut bytes = b"\xff\0\0\0\0\0\0\0\x01\x7f\x03\x01NULL".to_vec();
    bytes.resize(64, 0);
    bytes
}

/// All that `bytes` hold, given in pieces of `size`.
fn all(bytes: &[u8], size: usize, limits: Limits) -> Result<Vec<Item>, Bad> {
    let (mut reader, mut items) = (Reader::new(limits), Vec::new());
    for piece in bytes.chunks(size) {
        reader.push(piece);
        while let Some(item) = reader.item()? {
            items.push(item);
        }
    }
    Ok(items)
}

#[test]
fn what_is_said_is_what_the_specification_says() {
    assert_eq!(GREETING[..16], *b"\xff\0\0\0\0\0\0\0\0\x7f\x03\0NULL");
    assert!(GREETING[16..].iter().all(|byte| *byte == 0));
    assert_eq!(ready(), b"\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03SUB");
    assert_eq!(subscribe("kv"), b"\0\x03\x01kv");
    assert_eq!(subscribe(&"x".repeat(400)).len(), 2 + 255);
}

#[test]
fn a_conversation_in_pieces_of_any_size() {
    let long = [&b"\x02\0\0\0\0\0\0\x01\x04"[..], &[7; 260]].concat();
    let sent = [&greeting()[..], b"\x04\x06\x05READY", b"\x01\x01t\x01\0\0\x02ab", &long].concat();
    let expected = vec![
        Item::Greeting,
        Item::Command(b"READY".to_vec()),
        Item::Message(vec![b"t".to_vec(), vec![], b"ab".to_vec()]),
        Item::Message(vec![vec![7; 260]]),
    ];
    for size in [1, 2, 3, 7, 64, 65, 1000] {
        assert_eq!(all(&sent, size, Limits::default()), Ok(expected.clone()), "{size}");
    }
}

#[test]
fn another_program_is_told_by_its_first_bytes() {
    let bad = |bytes: &[u8]| all(bytes, 1, Limits::default()).expect_err("it is refused");
    assert_eq!(bad(b"HTTP/1.1 400 Bad Request"), Bad::Greeting);
    assert_eq!(bad(b"\xff\0\0\0\0\0\0\0\x01\x7e"), Bad::Greeting);
    assert_eq!(bad(b"\xff\0\0\0\0\0\0\0\x01\x7f\x01"), Bad::Old(1));
    let mut curve = greeting();
    curve[12..17].copy_from_slice(b"CURVE");
    assert_eq!(bad(&curve), Bad::Secured("CURVE".to_owned()));
}

#[test]
fn what_is_too_large_is_refused_when_it_is_announced() {
    let limits = Limits { frame: 10, frames: 2 };
    let bad = |frame: &[u8]| all(&[&greeting()[..], frame].concat(), 1, limits).expect_err("it is refused");
    assert_eq!(bad(b"\0\x0b"), Bad::Large(11, 10));
    assert_eq!(bad(b"\x02\xff\xff\xff\xff\xff\xff\xff\xff"), Bad::Large(u64::MAX, 10));
    assert_eq!(bad(b"\x01\x01a\x01\x01b\x01\x01c"), Bad::Many(2));
    assert_eq!(bad(b"\x08\x01a"), Bad::Flags(8));
    assert_eq!(bad(b"\x04\x02\x05R"), Bad::Command);
    assert_eq!(bad(b"\x04\0"), Bad::Command);
    assert_eq!(bad(b"\x01\x01a\x04\x02\x01R"), Bad::Command);
}
