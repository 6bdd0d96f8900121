//! What a far shell says, in whatever pieces it comes.
#![allow(clippy::unwrap_used)] // tests: a panic is the report

use super::frames::{Frame, Frames};

fn frame(head: &str, body: &[u8]) -> Frame {
    Frame { head: head.to_owned(), body: body.to_vec() }
}

const SAID: &[u8] = b"Welcome to gpu-a!\nB0 looks like it\n\nB0UND #0 ok\na file\nwith lines\0\xff\n\nB0UND #0 end 0\n\nB0UND #1 gone\n\nB0UND .\n\nB0UND #0 ok\n\n\nB0UND .\n";

fn expected() -> Vec<Vec<Frame>> {
    vec![
        vec![frame("#0 ok", b"a file\nwith lines\0\xff\n"), frame("#0 end 0", b""), frame("#1 gone", b"")],
        vec![frame("#0 ok", b"\n")],
    ]
}

#[test]
fn pieces_of_any_length_are_the_same() {
    for length in 1..SAID.len() {
        let mut frames = Frames::new("B0UND");
        let mut batches = Vec::new();
        for piece in SAID.chunks(length) {
            batches.extend(frames.add(piece).unwrap());
        }
        assert_eq!(batches, expected(), "in pieces of {length}");
        assert!(frames.begun());
    }
}

#[test]
fn a_login_shell_that_never_stops_printing_is_given_up() {
    let mut frames = Frames::new("B0UND");
    let told = (0..64).find_map(|_| frames.add(&vec![b'x'; 64 << 10]).err());
    assert!(told.unwrap().text.contains("prints without end"), "1 MiB of noise is enough");
    assert!(!frames.begun());
}
