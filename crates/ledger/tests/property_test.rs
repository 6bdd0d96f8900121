//! Whatever is appended is what is read, to the bit, through chunks, segments and reopening.

mod support;

use ledger::{Event, Sample};
use proptest::prelude::*;
use support::{BEGIN, Given, events, everything, expected, give, key, open, small};

/// One thing that somebody does to a ledger.
#[derive(Clone, Debug)]
enum Act {
    Look { target: u8, after: i64, samples: Vec<(u8, Sample)> },
    Event { text: String, value: Option<f64> },
    Sync,
    Tidy,
    Reopen,
}

fn sample() -> impl Strategy<Value = Sample> {
    let number = prop_oneof![
        4 => (-1000i64..100_000).prop_map(|number| number as f64),
        1 => any::<u64>().prop_map(f64::from_bits),
        1 => Just(0.0),
    ];
    (0..12u8, number).prop_map(|(state, number)| match state {
        0 => Sample::Stale(number),
        1 => Sample::NotReported,
        2 => Sample::Unreachable,
        3 => Sample::Impossible(number),
        4 => Sample::Absent,
        _ => Sample::Value(number),
    })
}

fn act() -> impl Strategy<Value = Act> {
    let after = prop_oneof![8 => Just(5000i64), 3 => 1..20_000i64, 1 => -30_000..0i64, 1 => Just(0)];
    let samples = prop::collection::vec(sample(), 1..6);
    let look = (0..3u8, after, samples, 0..4u8).prop_map(|(target, after, samples, first)| Act::Look {
        target,
        after,
        samples: samples.into_iter().enumerate().map(|(index, sample)| (first + index as u8, sample)).collect(),
    });
    prop_oneof![
        12 => look,
        1 => (".{0,40}", any::<Option<f64>>()).prop_map(|(text, value)| Act::Event { text, value }),
        1 => Just(Act::Sync),
        2 => Just(Act::Tidy),
        1 => Just(Act::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_appended_is_what_is_read(acts in prop::collection::vec(act(), 1..150)) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut ledger = open(folder.path(), small());
        let (mut looks, mut told) = (Vec::new(), Vec::new());
        let mut now = BEGIN;
        for act in acts {
            match act {
                Act::Look { target, after, samples } => {
                    now += after;
                    let samples = samples.into_iter().map(|(index, sample)| (key(&index.to_string()), sample)).collect();
                    let look = Given { target: format!("server{target}"), time: now, samples };
                    give(&mut ledger, &look).expect("a look");
                    looks.push(look);
                }
                Act::Event { text, value } => {
                    let event = Event { time: now, target: "server0".into(), kind: "restart".into(), text, value };
                    ledger.event(event.clone()).expect("an event");
                    told.push(event);
                }
                Act::Sync => ledger.sync().expect("synced"),
                Act::Tidy => while ledger.tidy(now).expect("tidied") {},
                Act::Reopen => {
                    ledger.sync().expect("synced");
                    drop(ledger);
                    ledger = open(folder.path(), small());
                }
            }
        }
        told.sort_by_key(|event| event.time);
        prop_assert_eq!(everything(&ledger.reader()), expected(&looks));
        prop_assert_eq!(events(&ledger.reader()), told.clone());
        ledger.sync().expect("synced");
        drop(ledger);
        let ledger = open(folder.path(), small());
        prop_assert_eq!(everything(&ledger.reader()), expected(&looks));
        prop_assert_eq!(events(&ledger.reader()), told);
    }
}
