//! Logs that are no logs, and logs that cost: nothing of it ends the program, and the good lines around are read.

mod support;

use std::time::Instant;

use model::{Account, Signal};
use support::{interpreted, live, read, saved};

const GOOD: &str =
    "[2026-11-29 16:15:23] Decode batch, #running-req: 5, #token: 512, token usage: 0.25, #queue-req: 0\n";

fn used(account: &Account) -> Vec<f64> {
    account.sets.iter().filter_map(|set| set.readings.get(&Signal::KV_USED)?.value).collect()
}

#[track_caller]
fn survives(bad: &[u8]) {
    for log in [[bad, b"\n", GOOD.as_bytes()].concat(), [GOOD.as_bytes(), bad, b"\n"].concat()] {
        assert_eq!(used(&read(&log)), [512.0]);
    }
    // Alone, and cut anywhere near its end.
    for cut in 0..bad.len().min(40) {
        read(&bad[..bad.len() - cut]);
        interpreted(live(&bad[..bad.len() - cut]));
    }
}

#[test]
fn a_line_of_ten_megabytes() {
    let mut line = b"[2026-11-29 16:15:23] Decode batch, #running-req: 5, ".to_vec();
    line.resize(10 << 20, b'x');
    line.extend(b", #token: 1556, token usage: 0.76");
    for log in [[&line[..], b"\n", GOOD.as_bytes()].concat(), [GOOD.as_bytes(), &line[..], b"\n"].concat()] {
        assert_eq!(used(&read(&log)), [512.0]);
    }
    assert_eq!(used(&read(&line)), Vec::<f64>::new());
}

#[test]
fn bytes_that_are_no_text() {
    survives(b"[2026-11-29 16:15:23] \xff\xfe\xc3( \xf0\x9f");
    survives(b"\0\0\0\0");
    survives(&(0..=255_u8).filter(|byte| *byte != b'\n').cycle().take(8192).collect::<Vec<u8>>());
    survives(b"\r\r\r");
    survives("\u{202e}\u{feff}\u{0}[2026-11-29".as_bytes());
    survives(b"{\"log\":\"[2026-11-29 16:15:23] Decode batch, #running-req: 5, #token: 1556, token us");
    survives(b"{\"log\":\"Decode batch, #token: 1556\\ud800\"}");
    survives(b"Decode batch");
    survives(b"[[[[[[[[[[[[((((((((((((((({{{{{{{{{{{{{{{{{{ Decode batch, #token: 1556");
    // A good line with bytes of no text in it is a good line.
    let spoilt = GOOD.replace("#queue-req: 0", "x").into_bytes();
    assert_eq!(used(&read(&[&spoilt[..spoilt.len() - 2], b"\xff\xfe\n"].concat())), [512.0]);
}

/// Numbers that no pool has are told as impossible, not shown; what cannot be read as a number is none.
#[test]
fn numbers_that_cannot_be() {
    for number in ["-5", "nan", "inf", "1e300", "99999999999999999999999999"] {
        let log = GOOD.replace("512", number);
        let account = read(log.as_bytes());
        let readings: Vec<_> = account.sets.iter().filter_map(|set| set.readings.get(&Signal::KV_USED)).collect();
        assert!(readings.iter().all(|reading| reading.value.is_none()), "{number}: {readings:?}");
    }
    for number in ["5.1.2", "0x10", "5abc", "١٢", "--5", ""] {
        assert_eq!(used(&read(GOOD.replace("512", number).as_bytes())), Vec::<f64>::new(), "{number}");
    }
}

/// Carriage returns alone: one line, of which a terminal shows what stands behind the last.
#[test]
fn lines_that_end_in_carriage_returns() {
    let log = GOOD.replace('\n', "\r").repeat(3);
    assert_eq!(used(&read(log.as_bytes())), [512.0]);
    assert_eq!(used(&read(GOOD.replace('\n', "\r\n").repeat(3).as_bytes())), [512.0]);
}

/// Lines beyond the cap of a stretch are not kept: a hundred times more cost what their search costs.
#[test]
fn a_million_lines_that_fit() {
    let newest = GOOD.replace("512", "600").replace("0.25", "0.29");
    let log = GOOD.repeat(1_000_000) + &newest;
    let begun = Instant::now();
    let account = read(log.as_bytes());
    let took = begun.elapsed().as_secs_f64();
    assert_eq!(used(&account), [600.0]);
    let begun = Instant::now();
    read((GOOD.repeat(5_000) + &newest).as_bytes());
    let few = begun.elapsed().as_secs_f64();
    // Work stops at the cap: 200 times the lines must not take many times as long.
    assert!(took < few * 5.0 + 2.0, "{took:.2} s, and {few:.2} s for 5,000");
}

#[test]
fn ranks_beyond_what_a_server_has_are_cut_with_a_note() {
    let line = |rank: usize| format!("[2026-11-29 16:15:23 DP{rank}] {}", GOOD.split_once("] ").expect("a line").1);
    let log: String = (0..1500).map(line).collect();
    let account = interpreted(saved(log.as_bytes()));
    // Newest first: of 1,500 the last 1,024.
    assert_eq!(used(&account).len(), 1024);
    assert!(account.notes.iter().any(|note| note.id == "cut"), "{:?}", account.notes);
    let few: String = (0..8).map(line).collect();
    assert!(interpreted(saved(few.as_bytes())).notes.iter().all(|note| note.id != "cut"));
}
