//! msgpack: each form of its specification, written out by hand.

use serde_json::{Value, json};
use wire::msgpack::{Bad, Limits, read};

fn of(bytes: &[u8]) -> Value {
    let (value, length) = read(bytes, &Limits::default()).expect("it can be read");
    assert_eq!(length, bytes.len(), "{bytes:x?}");
    value
}

#[test]
fn numbers_of_all_widths() {
    assert_eq!(of(b"\x7f"), json!(127));
    assert_eq!(of(b"\xff"), json!(-1));
    assert_eq!(of(b"\xe0"), json!(-32));
    assert_eq!(of(b"\xcc\xff"), json!(255));
    assert_eq!(of(b"\xcd\xff\xff"), json!(65_535));
    assert_eq!(of(b"\xce\xff\xff\xff\xff"), json!(4_294_967_295_u64));
    assert_eq!(of(b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff"), json!(u64::MAX));
    assert_eq!(of(b"\xd0\x80"), json!(-128));
    assert_eq!(of(b"\xd1\xff\xfe"), json!(-2));
    assert_eq!(of(b"\xd2\x80\0\0\0"), json!(i32::MIN));
    assert_eq!(of(b"\xd3\x80\0\0\0\0\0\0\0"), json!(i64::MIN));
    assert_eq!(of(b"\xca\x3f\xc0\0\0"), json!(1.5));
    assert_eq!(of(b"\xcb\x3f\xf8\0\0\0\0\0\0"), json!(1.5));
    assert_eq!(of(b"\xcb\x7f\xf8\0\0\0\0\0\0"), Value::Null);
}

#[test]
fn words_texts_and_what_is_passed_over() {
    assert_eq!((of(b"\xc0"), of(b"\xc2"), of(b"\xc3")), (Value::Null, json!(false), json!(true)));
    assert_eq!(
        (of(b"\xa2ab"), of(b"\xd9\x01a"), of(b"\xda\0\x01a"), of(b"\xdb\0\0\0\x01a")),
        (json!("ab"), json!("a"), json!("a"), json!("a"))
    );
    // Binary and extension values: null as elements, left out as fields.
    assert_eq!(of(b"\x93\xc4\x02\0\0\xd4\x05\0\x07"), json!([null, null, 7]));
    assert_eq!(of(b"\x83\xa1a\xc5\0\x01x\xa1b\xc7\x01\x05x\xa1c\x01"), json!({ "c": 1 }));
    assert_eq!(of(b"\x91\xd8\x010123456789abcdef"), json!([null]));
}

#[test]
fn arrays_maps_and_keys_that_are_no_text() {
    assert_eq!(of(b"\xdc\0\x02\x01\x02"), json!([1, 2]));
    assert_eq!(of(b"\xdd\0\0\0\x01\x01"), json!([1]));
    assert_eq!(of(b"\xde\0\x01\xa1a\x90"), json!({ "a": [] }));
    assert_eq!(of(b"\xdf\0\0\0\x01\x01\x80"), json!({ "1": {} }));
    assert_eq!(of(b"\x82\xc3\x01\xff\x02"), json!({ "true": 1, "-1": 2 }));
}

#[test]
fn what_is_cut_or_too_large_is_said() {
    let limits = Limits { depth: 2, values: 5 };
    let bad = |bytes: &[u8]| read(bytes, &limits).expect_err("it cannot be read");
    assert_eq!(bad(b""), Bad::Short);
    assert_eq!(bad(b"\xcd\x01"), Bad::Short);
    assert_eq!(bad(b"\xdb\xff\xff\xff\xffa"), Bad::Short);
    assert_eq!(bad(b"\xdd\xff\xff\xff\xff\x01"), Bad::Short);
    assert_eq!(bad(b"\xc1"), Bad::Unknown);
    assert_eq!(bad(b"\xa1\xff"), Bad::Text);
    assert_eq!(bad(b"\x91\x91\x91\x01"), Bad::Deep);
    assert_eq!(bad(b"\x95\x01\x01\x01\x01\x01"), Bad::Many);
    assert_eq!(read(b"\x91\x91\x01", &limits).expect("it can be read").0, json!([[1]]));
}
