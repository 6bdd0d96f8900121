//! What shared memory says, by the table: two recorded slabs, read by hand from their bytes, and both layouts made here.

mod support;

use engines::interpret;
use model::{Account, Answer, Facts, Observation, RankId, Signal, SourceOutcome, Time};
use support::{AT, table};

const PATTERN: &str = "/dev/shm/sglang_loads_*.shm";

fn account(body: Vec<u8>, role: Option<&str>) -> Account {
    let answer = Answer { status: 200, body, ..Answer::default() };
    let observation =
        Observation { get: PATTERN.to_owned(), url: PATTERN.to_owned(), at: AT, took: 0.0, outcome: Ok(answer) };
    let mut known = Account::default();
    if let Some(role) = role {
        known.learn("role", role, "argv", 1);
    }
    interpret(table(), &[observation], &[], &Facts::clone(&known.facts))
}

fn recorded(name: &str) -> Account {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/slabs").join(name);
    account(std::fs::read(path).expect("a recorded slab"), None)
}

/// Each reading of data-parallel rank `dp`, by its name in JSON.
fn of_rank(account: &Account, dp: u32) -> Vec<(&'static str, f64)> {
    let rank = RankId { dp: Some(dp), ..RankId::ZERO };
    let sets = account.sets.iter().filter(|set| set.rank == rank).flat_map(|set| &set.readings);
    let pooled = sets.filter_map(|(signal, reading)| Some((*signal, reading.value?)));
    let values = account.values.iter().filter(|value| value.rank == rank);
    let all = pooled.chain(values.filter_map(|value| Some((value.signal, value.reading.value?))));
    let mut all: Vec<(&str, f64)> = all.map(|(signal, value)| (signal.row().json, value)).collect();
    all.sort_by_key(|(name, _)| *name);
    all
}

/// `cd 08 00` behind `max_total_num_tokens` is 2048, `cd 04 00` behind `max_running_requests` 1024, `token_usage` eight
/// zeros; `num_used_tokens` and the counts of requests are not among its 13 keys, which is how it writes 0. The time's
/// bytes are `41 da c3 0b d9 79 f1 2f`.
#[test]
fn a_recorded_slab() {
    let account = recorded("after-load.shm");
    let expected = [
        ("capacity", 2048.0),
        ("demand", 0.0),
        ("in_use", 0.0),
        ("max_running", 1024.0),
        ("running", 0.0),
        ("used", 0.0),
        ("waiting", 0.0),
    ];
    assert_eq!(of_rank(&account, 0), expected);
    assert_eq!(account.sets.len(), 1);
    assert_eq!(account.sets[0].at, Time(f64::from_bits(0x41da_c30b_d979_f12f)));
    assert_ne!(account.fact("role"), Some("null"));
}

/// A map of nothing is what a server that was just started writes: nothing is known, and nothing is 0.
#[test]
fn a_slab_that_was_never_published() {
    let account = recorded("all-default.shm");
    assert_eq!((account.sets.len(), account.values.len()), (0, 0), "{account:?}");
    assert!(account.sources.iter().all(|source| source.outcome != SourceOutcome::Answered), "{:?}", account.sources);
}

/// A map of texts and whole numbers (`ce`), and of lists of a text and whole numbers.
enum Field<'a> {
    Number(u32),
    Time,
    List(&'a str, &'a [u32]),
}

fn slab(ranks: &[&[(&str, Field)]]) -> Vec<u8> {
    let size: u32 = 1024;
    let mut bytes = b"SLNS\x02\0".to_vec();
    bytes.extend((ranks.len() as u16).to_le_bytes());
    bytes.extend(size.to_le_bytes());
    let text = |text: &str| [&[0xa0 | text.len() as u8][..], text.as_bytes()].concat();
    let long = |name: &str| [&[0xd9, name.len() as u8][..], name.as_bytes()].concat();
    let number = |number: u32| [&[0xce][..], &number.to_be_bytes()].concat();
    for fields in ranks {
        let mut map = vec![0xde];
        map.extend((fields.len() as u16).to_be_bytes());
        for (name, field) in *fields {
            map.extend(long(name));
            match field {
                Field::Number(value) => map.extend(number(*value)),
                Field::Time => map.extend([&[0xcb][..], &(AT.0 - 2.0).to_be_bytes()].concat()),
                Field::List(first, rest) => {
                    map.push(0x90 | (rest.len() + 1) as u8);
                    map.extend(text(first));
                    map.extend(rest.iter().flat_map(|value| number(*value)));
                }
            }
        }
        let start = bytes.len();
        bytes.extend((map.len() as u32).to_le_bytes());
        bytes.extend(map);
        bytes.resize(start + size as usize, 0);
    }
    bytes
}

/// From 0.5.16: `disaggregation` is [mode, bootstrap, inflight, prealloc, transfer, retracted, …], and tells the role.
#[test]
fn lists_of_two_ranks() {
    let rank = |used, queues| {
        [
            ("timestamp", Field::Time),
            ("num_used_tokens", Field::Number(used)),
            ("max_total_num_tokens", Field::Number(2048)),
            ("num_running_reqs", Field::Number(7)),
            ("num_waiting_reqs", Field::Number(9)),
            ("disaggregation", Field::List("decode", queues)),
        ]
    };
    let account = account(slab(&[&rank(512, &[0, 0, 3, 2, 1]), &rank(1024, &[0, 0, 6, 5, 4])]), None);
    assert_eq!(account.fact("role"), Some("decode"));
    let expected = |used, [prealloc, transfer, retracted]: [f64; 3]| {
        [
            ("capacity", 2048.0),
            ("decode_prealloc_queue", prealloc),
            ("decode_transfer_queue", transfer),
            ("demand", 0.0),
            ("in_use", 0.0),
            ("retracted_queue", retracted),
            ("running", 7.0),
            ("used", used),
            ("waiting", 9.0),
        ]
    };
    assert_eq!(of_rank(&account, 0), expected(512.0, [3.0, 2.0, 1.0]));
    assert_eq!(of_rank(&account, 1), expected(1024.0, [6.0, 5.0, 4.0]));
    assert!(account.sets.iter().all(|set| set.at == AT.plus(-2.0)));
}

/// 0.5.13 to 0.5.15: keys of their own; the mode is a number, and the role is known from elsewhere.
#[test]
fn flat_keys() {
    let fields = [
        ("timestamp", Field::Time),
        ("num_used_tokens", Field::Number(300)),
        ("max_total_num_tokens", Field::Number(4096)),
        ("has_disaggregation", Field::Number(1)),
        ("disagg_mode", Field::Number(1)),
        ("prefill_bootstrap_queue_reqs", Field::Number(4)),
        ("prefill_inflight_queue_reqs", Field::Number(5)),
        ("decode_prealloc_queue_reqs", Field::Number(6)),
    ];
    let account = account(slab(&[&fields]), Some("prefill"));
    let value = |name: &str| of_rank(&account, 0).into_iter().find(|(known, _)| *known == name).map(|(_, value)| value);
    assert_eq!((value("used"), value("capacity")), (Some(300.0), Some(4096.0)));
    assert_eq!((value("prefill_bootstrap_queue"), value("prefill_inflight_queue")), (Some(4.0), Some(5.0)));
    assert_eq!(value("decode_prealloc_queue"), None, "it is no decode server");
    // A prefill server's running batch is never filled: its 0 says nothing.
    assert_eq!(value("running"), None);
    assert!(account.values.iter().any(|value| value.signal == Signal::REQ_WAITING));
}
