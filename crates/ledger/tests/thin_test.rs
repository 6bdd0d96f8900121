//! Thinned looks say what all of them said: no peak is lost, no state becomes a number, and nothing counts twice.

mod support;

use std::collections::BTreeMap;

use ledger::{Counts, Event, Figures, Options, Point, Query, Sample, Series, Summary, Thinning};
use proptest::prelude::*;
use support::{BEGIN, Given, events, everything, give, key, open, small, tidy};

const STEP: i64 = 20_000;

fn options() -> Options {
    let thin = [(60_000, 4000), (300_000, STEP)].map(|(after_ms, step_ms)| Thinning { after_ms, step_ms });
    Options { thin: thin.to_vec(), segment_ms: 40_000, ..small() }
}

/// What the looks of each step say, by the definition: one after another, in the order of time.
fn steps(looks: &[(i64, Sample)], step: i64) -> BTreeMap<i64, (Counts, Vec<f64>)> {
    let mut all: BTreeMap<i64, (Counts, Vec<f64>)> = BTreeMap::new();
    for (time, sample) in looks {
        let (counts, values) = all.entry(time.div_euclid(step) * step).or_default();
        match sample {
            Sample::Value(value) if value.is_nan() => counts.nan += 1,
            Sample::Value(value) => {
                counts.values += 1;
                values.push(*value);
            }
            Sample::Stale(_) => counts.stale += 1,
            Sample::NotReported => counts.not_reported += 1,
            Sample::Unreachable => counts.unreachable += 1,
            Sample::Impossible(_) => counts.impossible += 1,
            Sample::Absent => counts.absent += 1,
        }
    }
    all
}

fn check(series: &Series, looks: &[(i64, Sample)], step: i64) {
    let should = steps(looks, step);
    let times: Vec<i64> = series.points.iter().map(Point::time).collect();
    assert_eq!(times, should.keys().copied().collect::<Vec<_>>());
    for (point, (counts, values)) in series.points.iter().zip(should.values()) {
        let Point::Step { step_ms, summary, .. } = point else { panic!("{point:?} was not thinned") };
        assert_eq!((*step_ms, &summary.counts), (step, counts));
        let Some(figures) = summary.figures else {
            assert!(values.is_empty());
            continue;
        };
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert_eq!((figures.min, figures.max, Some(&figures.last)), (min, max, values.last()));
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert!((figures.mean - mean).abs() <= 1e-9 * max.abs().max(min.abs()), "{} {mean}", figures.mean);
    }
}

fn sample() -> impl Strategy<Value = Sample> {
    (0..12u8, -1e6..1e6f64).prop_map(|(state, number)| match state {
        0 => Sample::Stale(number),
        1 => Sample::NotReported,
        2 => Sample::Unreachable,
        3 => Sample::Impossible(number),
        4 => Sample::Value(f64::NAN),
        5 => Sample::Value(number),
        _ => Sample::Value(number.trunc()),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn steps_say_what_their_looks_said(looks in prop::collection::vec((0..9000i64, sample()), 1..250), reopen in any::<bool>()) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut ledger = open(folder.path(), options());
        let mut now = BEGIN + 1234;
        let mut given = Vec::new();
        for (after, sample) in looks {
            now += after;
            given.push((now, sample));
            let samples = vec![(key("a"), sample), (key("b"), Sample::Value(1.0))];
            give(&mut ledger, &Given { target: "t".into(), time: now, samples }).expect("a look");
            tidy(&mut ledger, now);
        }
        // Whole looks and both kinds of steps stand side by side; each look counts once.
        let count = |point: &Point| match point {
            Point::Look { .. } => 1,
            Point::Step { summary: Summary { counts: c, .. }, .. } =>
                c.values + c.nan + c.stale + c.not_reported + c.unreachable + c.impossible + c.absent,
        };
        let counted: u64 = everything(&ledger.reader())[0].points.iter().map(count).sum();
        prop_assert_eq!(counted, given.len() as u64);
        if reopen {
            ledger.sync().expect("synced");
            drop(ledger);
            ledger = open(folder.path(), options());
        }
        // Years later all is of the longest steps, but for looks that are in no chunk: those become one by their age.
        tidy(&mut ledger, now + 100_000_000_000);
        check(&everything(&ledger.reader())[0], &given, STEP);
    }

    #[test]
    fn fewer_points_lose_no_peak(values in prop::collection::vec(0..1_000_000i64, 2..300), most in 1..40usize, thin in any::<bool>()) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut ledger = open(folder.path(), if thin { options() } else { small() });
        for (index, value) in (0i64..).zip(&values) {
            let time = BEGIN + index * 5000;
            let samples = vec![(key("a"), Sample::Value(*value as f64))];
            give(&mut ledger, &Given { target: "t".into(), time, samples }).expect("a look");
            tidy(&mut ledger, time);
        }
        let history = ledger.reader().history(&Query { most, ..Query::default() });
        let points = &history.series[0].points;
        prop_assert!(points.len() <= most || points.iter().all(|point| matches!(point, Point::Look { .. })) && values.len() <= most, "{} of {most}", points.len());
        let figures = points.iter().map(|point| match point {
            Point::Look { sample: Sample::Value(value), .. } => (*value, *value, 1),
            Point::Step { summary: Summary { figures: Some(Figures { min, max, .. }), counts }, .. } => (*min, *max, counts.values),
            _ => panic!("{point:?}"),
        });
        let found = figures.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1), a.2 + b.2));
        let should = (*values.iter().min().expect("some") as f64, *values.iter().max().expect("some") as f64, values.len() as u64);
        prop_assert_eq!(found, Some(should));
    }
}

#[test]
fn events_stay_whole_and_a_series_that_comes_later_was_absent_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = open(folder.path(), options());
    let mut told = Vec::new();
    for index in 0..200i64 {
        let time = BEGIN + index * 1000;
        let mut samples = vec![(key("a"), Sample::Value(index as f64))];
        // In every second step of 20 s of its own time, and from the third on.
        if index >= 40 && index / 20 % 2 == 0 {
            samples.push((key("b"), Sample::Value(1.0)));
        }
        give(&mut ledger, &Given { target: "t".into(), time, samples }).expect("a look");
        if index % 50 == 0 {
            let event =
                Event { time, target: "t".into(), kind: "restart".into(), text: "again".into(), value: Some(1.0) };
            ledger.event(event.clone()).expect("an event");
            told.push(event);
        }
        tidy(&mut ledger, time);
    }
    tidy(&mut ledger, BEGIN + 100_000_000_000);
    assert_eq!(events(&ledger.reader()), told);
    let series = everything(&ledger.reader());
    let late = series.iter().find(|series| series.key == key("b")).expect("the series");
    // Looks 40 to 59, 80 to 99, 120 to 139, 160 to 179 have it; the steps between have 20 looks without.
    let twenty = |index: i64| {
        let there = index / 20 % 2 == 0;
        let counts =
            if there { Counts { values: 20, ..Counts::default() } } else { Counts { absent: 20, ..Counts::default() } };
        let figures = there.then_some(Figures { min: 1.0, max: 1.0, last: 1.0, mean: 1.0 });
        Point::Step { time: BEGIN + index * 1000, step_ms: STEP, summary: Summary { counts, figures } }
    };
    assert_eq!(late.points, (40..180).step_by(20).map(twenty).collect::<Vec<_>>());
}
