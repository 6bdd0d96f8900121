//! What a body is, before it is read: a login page answered with 200 must not pass for a page without samples.

use super::cursor::name_length;
use super::lines::{Line, Lines, without_indent};
use super::value::Dialect;
use super::{Limits, metadata, sample};

/// Lines that are tried before a body counts as some other text.
const TRIED: usize = 64;
/// Bytes that are looked at for what text does not hold.
const SNIFFED: usize = 1024;

/// What a body looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A page of samples or declarations; also one with other lines at its beginning, as `curl -i` saves it.
    Exposition,
    /// HTML or XML: most often a login page or a proxy's message.
    Html,
    /// JSON: most often an error of the server's own.
    Json,
    /// Nothing but blanks.
    Empty,
    /// Not text: compressed, or in another encoding than UTF-8.
    Binary,
    /// Some other text.
    Text,
}

/// Tells a page of samples from what servers and proxies answer in its place. Looks at the beginning only.
pub fn looks_like(page: &[u8]) -> Kind {
    let body = page.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(page).trim_ascii_start();
    match body.first() {
        None => return Kind::Empty,
        Some(b'<') => return Kind::Html,
        Some(_) => {}
    }
    if is_binary(&body[..body.len().min(SNIFFED)]) {
        return Kind::Binary;
    }
    if has_exposition(body) {
        return Kind::Exposition;
    }
    // After the samples, which can begin with a brace as well when their name is quoted.
    match body.first() {
        Some(b'{' | b'[' | b'"') => Kind::Json,
        _ => Kind::Text,
    }
}

/// Control characters do not occur in text, and what is compressed breaks UTF-8 within its first bytes. A broken
/// character further on may be one bad line of a good page.
fn is_binary(start: &[u8]) -> bool {
    let control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace() && *byte != 0x1B;
    let not_utf8 =
        std::str::from_utf8(start).is_err_and(|error| error.error_len().is_some() && error.valid_up_to() < 4);
    not_utf8 || start.iter().any(control)
}

fn has_exposition(body: &[u8]) -> bool {
    let limits = Limits::default();
    let lines = Lines::new(body).filter(|line| !line.bytes.trim_ascii().is_empty()).take(TRIED);
    // A sample needs its line end, so that the two words `Error 404` are no page.
    lines.filter(|line| line.bytes.len() <= limits.max_line && line.ended).any(|line| {
        match without_indent(line.bytes) {
            [b'#', ..] => {
                line.bytes.trim_ascii() == b"# EOF" || metadata::read(line).is_ok_and(|declared| declared.is_some())
            }
            bytes => sample::read(Line { bytes, ..line }, name_length(bytes), &limits, Dialect::Text).is_ok(),
        }
    })
}
