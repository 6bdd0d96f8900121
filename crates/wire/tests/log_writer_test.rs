//! Who a collector says wrote a line.

use wire::log::writer;

#[test]
fn prefixes_and_records_tell() {
    for (line, who) in [
        ("decode-1  | [2026-11-29 16:15:23] Decode batch", Some("decode-1")),
        ("[pod/decode-0/sglang] [2026-11-29 16:15:23] Decode batch", Some("decode-0/sglang")),
        // Nobody says it, or of a process only: ranks of one server are several.
        ("Nov 29 16:15:23 host python[123]: [2026-11-29 16:15:23] Decode batch", None),
        (r#"{"_PID":"42","MESSAGE":"Decode batch"}"#, None),
        ("[2026-11-29 16:15:23 TP0] Decode batch, #running-req: 1", None),
        ("Decode batch, #running-req: 1", None),
        (r#"{"log":"Decode batch","stream":"stderr"}"#, None),
        ("a b | c", None),
        ("", None),
    ] {
        assert_eq!(writer(line.as_bytes()), who, "{line}");
    }
}
