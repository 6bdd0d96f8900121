//! What a body is, when it is no page of samples.

mod support;

use wire::exposition::{Kind, looks_like};

#[track_caller]
fn check(body: &[u8], expected: Kind) {
    assert_eq!(looks_like(body), expected, "{}", body.escape_ascii());
}

#[test]
fn exposition() {
    check(b"a 1\n", Kind::Exposition);
    check(b"\xEF\xBB\xBF\n\n  a{x=\"y\"} 1\n", Kind::Exposition);
    check(b"# HELP a -\n# TYPE a gauge\n", Kind::Exposition);
    check(b"# EOF\n", Kind::Exposition);
    // Begins as JSON does.
    check(b"{\"a.b\",x=\"y\"} 1\n", Kind::Exposition);
    // One broken character is one bad line.
    check(b"a{x=\"\xFF\"} 1\nb 2\n", Kind::Exposition);
    // Lines of a log or of a header stand before it.
    check(b"HTTP/1.1 200 OK\r\nserver: x\r\n\r\na 1\r\n", Kind::Exposition);
}

#[test]
fn html() {
    check(b"<!DOCTYPE html>\n<html><body>Sign in</body></html>\n", Kind::Html);
    check(b"\r\n  <html>", Kind::Html);
    check(b"<?xml version=\"1.0\"?>", Kind::Html);
}

#[test]
fn json() {
    check(&support::page("sglang-off.json"), Kind::Json);
    check(&support::page("smg-unknown-url.json"), Kind::Json);
    check(b"{\n  \"status\": 404,\n  \"ok\": false\n}\n", Kind::Json);
    check(b"[1, 2]\n", Kind::Json);
    check(b"\"ok\"\n", Kind::Json);
}

#[test]
fn text() {
    // An HTTP header in front hides the JSON behind it, as it hides HTML: still no page.
    check(&support::page("llamacpp-off.txt"), Kind::Text);
    check(&support::page("sglang-0.5.9-loads-500.txt"), Kind::Text);
    check(b"Not Found", Kind::Text);
    check(b"Error 404", Kind::Text);
    check(b"# A title\n\nand a sentence.\n", Kind::Text);
}

#[test]
fn empty() {
    check(b"", Kind::Empty);
    check(b" \r\n\t\n", Kind::Empty);
    check(b"\xEF\xBB\xBF", Kind::Empty);
}

#[test]
fn binary() {
    // gzip, zstd, and what PowerShell's `>` makes of a page.
    check(b"\x1F\x8B\x08\x00\x00\x00\x00\x00", Kind::Binary);
    check(b"\x28\xB5\x2F\xFD\x24\x0D", Kind::Binary);
    check(b"\xFF\xFEa\0 \x001\0\n\0", Kind::Binary);
}
