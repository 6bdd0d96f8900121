//! What programs of the far host fetched: an answer, or why there is none, in the same words as our own requests have.

use model::{Answer, Blind, BlindKind};

use crate::http::{self, Limits};
use crate::text::printable;

/// Bytes of head and body that are fetched at most: as many as our own requests take.
pub(super) const MOST: usize = (16 << 20) + (64 << 10);
/// Heads of one answer: those of interim answers come before the last.
const HEADS: usize = 8;

/// Reads what `tool` brought. `told`: status, seconds and its exit code; of wget the head in place of the first two.
pub(super) fn of(tool: &str, told: &str, bytes: &[u8]) -> (f64, Result<Answer, Blind>) {
    let last = |text: &str| -> (String, i32) {
        let (front, code) = text.trim_end().rsplit_once(' ').unwrap_or(("", text));
        (front.to_owned(), code.trim().parse().unwrap_or(-1))
    };
    let (front, code) = last(told);
    if tool == "wget" {
        // Its own code stands in front of that of the function that called it.
        let (head, code) = last(&front);
        return (0.0, by_wget(&head, code, bytes));
    }
    let seconds = front.rsplit(' ').next().and_then(|seconds| seconds.parse().ok()).unwrap_or_default();
    (seconds, if code == 0 { whole(bytes) } else { Err(failure(code)) })
}

/// Head and body in one.
fn whole(bytes: &[u8]) -> Result<Answer, Blind> {
    let mut rest = bytes;
    for _ in 0..HEADS {
        let Some(length) = head_of(rest) else { break };
        let head = String::from_utf8_lossy(&rest[..length]).into_owned();
        rest = &rest[length..];
        // What goes on comes behind it.
        if status(&head).is_some_and(|status| !(100..200).contains(&status)) {
            return answer(&head, rest.to_vec());
        }
    }
    Err(Blind::new(BlindKind::NotHttp, "what came back is not HTTP"))
}

/// Bytes of the head, with the empty line behind it.
fn head_of(bytes: &[u8]) -> Option<usize> {
    if !bytes.starts_with(b"HTTP/") {
        return None;
    }
    memchr::memmem::find(bytes, b"\r\n\r\n").map(|at| at + 4)
}

fn by_wget(told: &str, code: i32, body: &[u8]) -> Result<Answer, Blind> {
    /// Its code for an answer whose status says that there is no page.
    const STATUS: i32 = 8;
    let head: String =
        told.lines().map(str::trim).skip_while(|line| !line.starts_with("HTTP/")).collect::<Vec<_>>().join("\n");
    if let Some(status) = status(&head) {
        // An answer that ends in the middle has a status, too.
        let whole = code == 0 || code == STATUS && !(200..300).contains(&status);
        return if whole { answer(&head, body.to_vec()) } else { Err(failure(56)) };
    }
    Err(match code {
        4 if told.contains("refused") => failure(7),
        4 if told.contains("timed out") => failure(28),
        4 => failure(56),
        _ => Blind::new(BlindKind::NotHttp, format!("wget there ended with {code}")),
    })
}

fn status(head: &str) -> Option<u16> {
    head.lines().next()?.split(' ').nth(1)?.parse().ok()
}

fn answer(head: &str, body: Vec<u8>) -> Result<Answer, Blind> {
    let header = |name: &str| {
        let lines = head.lines().skip(1).take_while(|line| !line.starts_with("HTTP/"));
        let mut pairs = lines.filter_map(|line| line.split_once(':'));
        pairs.find(|(known, _)| known.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    };
    let limits = Limits::default();
    let status = status(head).unwrap_or_default();
    http::acceptable(status, header("location").as_deref().map(str::as_bytes))?;
    if body.len() > limits.body {
        let text = format!("the body is larger than {}: the rest was not read", crate::text::size(limits.body));
        return Err(Blind::new(BlindKind::TooLarge, text));
    }
    let body = http::unpack(body, &header("content-encoding").unwrap_or_default(), limits.unpacked)?;
    let content_type = printable(header("content-type").unwrap_or_default().as_bytes(), 200).to_lowercase();
    let open_ended = http::is_open_ended(header);
    Ok(Answer { status, content_type, body, open_ended, ..Answer::default() })
}

/// Exit codes of curl, which the others are made to share.
fn failure(code: i32) -> Blind {
    let (kind, text) = match code {
        6 => (BlindKind::Name, "the name does not resolve there".to_owned()),
        7 => (BlindKind::Refused, "nothing listens there (connection refused)".to_owned()),
        28 => (BlindKind::Deadline, "given up there after 3 s".to_owned()),
        52 => (BlindKind::Cut, "the server closed the connection without an answer".to_owned()),
        18 | 55 | 56 => (BlindKind::Cut, "the connection ended in the middle".to_owned()),
        23 | 63 => {
            (BlindKind::TooLarge, format!("the body is larger than {}: it was not read", crate::text::size(16 << 20)))
        }
        1 | 8 => (BlindKind::NotHttp, "what came back is not HTTP".to_owned()),
        127 => (BlindKind::Gone, "there is no such program there".to_owned()),
        code => (BlindKind::Cut, format!("it could not be fetched there (curl's code {code})")),
    };
    Blind::new(kind, text)
}
