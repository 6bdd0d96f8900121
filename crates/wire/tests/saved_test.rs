//! Lines of JSON values, and what stands around pasted text.

use proptest::prelude::*;
use wire::{json, transcript};

#[test]
fn each_value_has_the_line_of_its_key() {
    let text = b"\n{\n  \"a\": [\n    1,\n    {\"b\\\"{\": 2}\n  ],\n  \"c/d\": {\"e\": \"[,\"}\n}\n";
    let lines = json::lines(text);
    let of = |pointer: &str| lines.of(pointer);
    assert_eq!([of(""), of("/a"), of("/a/0"), of("/a/1"), of("/c~1d"), of("/c~1d/e")], [2, 3, 4, 5, 7, 7].map(Some));
    assert_eq!(of("/x"), None);
    assert_eq!(json::lines(b"\n\n{\"a\": 1}\n").of("/a"), Some(3));
}

#[test]
fn headers_prompts_and_fences_part_a_text() {
    let text = b"$ curl -i x\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nDate: D\r\n\r\n{\"a\": 1}root@h:~# \n```\nb\n```\n";
    let parts = transcript::parts(text);
    let shown: Vec<(u32, Option<&str>)> = parts.iter().map(|part| (part.first_line, part.date.as_deref())).collect();
    assert_eq!(shown, [(7, Some("D")), (9, None)]);
    assert_eq!(&*parts[0].json().expect("JSON").body, b"{\"a\": 1}");
    assert!(parts[1].json().is_none());
}

proptest! {
    #[test]
    fn nothing_panics_and_lines_stay(text in "[a$>`{}\\[\\]\",:#@ \\n\\r1]{0,200}") {
        let bytes = text.as_bytes();
        let count = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').count();
        prop_assert_eq!(count(&transcript::unquoted(bytes)), count(bytes));
        prop_assert!(count(&transcript::unfenced(bytes)) <= count(bytes) + 1);
        for part in transcript::parts(bytes) {
            prop_assert!(part.first_line as usize <= count(bytes) + 1);
            let _ = part.json();
        }
        let _ = json::lines(bytes);
    }
}
