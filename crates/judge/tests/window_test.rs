//! Verdicts over a window (design: "Verdicts", W): each level that only a window gives, and its near misses.

#[path = "window/looks.rs"]
mod looks;

use judge::{ONE_LOOK, ONE_LOOK_AND_LOG, verdict, verdict_over};
use looks::{Look, pairs};
use model::{Fix, Gap, Level, Reading, Role, Signal, Unit, Verdict};

const GENERATED: Signal = Signal::GEN_TOKENS_TOTAL;
const THROWN_OUT: Signal = Signal::REQ_RETRACTED_TOTAL;

fn judged(looks: &[Look]) -> Verdict {
    verdict_over(&pairs(looks), None).expect("a verdict")
}

/// Four looks, 17 s apart: 51 s, as a watch keeps them.
fn window(look: impl Fn(f64, f64) -> Look) -> Vec<Look> {
    (0..4).map(|step| look(f64::from(step), f64::from(step) * 17.0)).collect()
}

fn told(verdict: &Verdict, level: Level, parts: &[&str]) {
    assert_eq!(verdict.level, level, "{}", verdict.reason);
    for part in parts {
        assert!(verdict.reason.contains(part), "{part:?} is not in: {}", verdict.reason);
    }
}

#[test]
fn one_look_and_a_short_window_are_judged_as_one_look() {
    let look = |at: f64| Look::at(at, 0.5, 4.0, 0.0).says(GENERATED, 100.0 + at).says(THROWN_OUT, at);
    assert_eq!(judged(&[look(0.0)]), verdict(&look(0.0).server));
    // 29 s are less than the 30 s of verdicts.toml.
    let short = judged(&[look(0.0), look(15.0), look(29.0)]);
    assert_eq!(short, verdict(&look(29.0).server));
    assert!(short.reason.ends_with(ONE_LOOK), "{}", short.reason);
    // A page that was not read again is the same look again, however often it is shown.
    let again: Vec<Look> = [0.0, 20.0, 40.0].map(|later| Look { at: looks::START.plus(later), ..look(0.0) }).into();
    assert!(judged(&again).reason.ends_with(ONE_LOOK));
    assert!(verdict_over(&[], None).is_none());
}

#[test]
fn what_the_window_showed_is_said() {
    // 602 tokens between looks, three times.
    let calm = window(|step, at| Look::at(at, 0.4, 4.0, 0.0).says(GENERATED, 9.0 + 602.0 * step).says(THROWN_OUT, 7.0));
    let verdict = judged(&calm);
    told(&verdict, Level::Calm, &["; watched for 51 s: 1,806 tokens generated, no request thrown out"]);
    assert!(verdict.reason.contains("7 retractions since start") && !verdict.reason.contains(ONE_LOOK));
}

#[test]
fn a_request_thrown_out_in_the_window_strains() {
    let thrown = |step, at| Look::at(at, 0.6, 4.0, 0.0).says(GENERATED, 100.0 * step).says(THROWN_OUT, 5.0 + step);
    told(&judged(&window(thrown)), Level::Strained, &["strained since 3 requests were thrown out in 51 s"]);
    // Thrown out before the window: the counter stands.
    let before = window(|step, at| Look::at(at, 0.6, 4.0, 0.0).says(GENERATED, 100.0 * step).says(THROWN_OUT, 5.0));
    told(&judged(&before), Level::Calm, &["no request thrown out"]);
    // A counter that comes on the page with its first event was known to be 0 before: 2 were thrown out.
    let zero = |look: Look| {
        let reading = Reading::inferred(0.0, Unit::Requests, "not on the page", Some(look.at));
        look.reads(THROWN_OUT, reading)
    };
    let first = window(|step, at| {
        let look = Look::at(at, 0.6, 4.0, 0.0).says(GENERATED, 100.0 * step);
        if step < 2.0 { zero(look) } else { look.says(THROWN_OUT, step - 1.0) }
    });
    told(&judged(&first), Level::Strained, &["2 requests were thrown out"]);
    // How full it is nothing says, and yet it threw requests out for want of cache.
    let blind: Vec<Look> = window(thrown).into_iter().map(Look::without_use).collect();
    told(&judged(&blind), Level::Strained, &["3 requests were thrown out", "nothing says it"]);
}

#[test]
fn ranks_add_up_and_copies_count_once() {
    // Rank 0 threw out 3 and is there twice, rank 1 threw out 6.
    let ranks = window(|step, at| {
        let first = Look::at(at, 0.6, 4.0, 0.0).says(THROWN_OUT, step).copied(1);
        first.rank(1, 0.6, 4.0, 0.0).says(THROWN_OUT, 40.0 + 2.0 * step)
    });
    told(&judged(&ranks), Level::Strained, &["9 requests were thrown out"]);
}

#[test]
fn a_rank_that_is_missing_in_one_look_neither_falls_nor_calms() {
    let both = |at: f64, first: f64, second: f64| {
        Look::at(at, 0.6, 4.0, 0.0).says(THROWN_OUT, first).rank(1, 0.6, 4.0, 0.0).says(THROWN_OUT, second)
    };
    let one = |at: f64, first: f64| Look::at(at, 0.6, 4.0, 0.0).says(THROWN_OUT, first);
    // Between: rank 1 went on from 50 to 51 over the whole window.
    let between = [both(0.0, 9.0, 50.0), one(20.0, 9.0), both(40.0, 9.0, 51.0)];
    told(&judged(&between), Level::Strained, &["1 request was thrown out"]);
    // At the end: what rank 1 did nobody knows.
    let end = [both(0.0, 9.0, 50.0), both(20.0, 9.0, 50.0), one(40.0, 9.0)];
    told(&judged(&end), Level::Calm, &["retractions are not judged: not every rank counts them"]);
    // At the beginning: 20 s of rank 1 are no window.
    let begin = [one(0.0, 9.0), both(20.0, 9.0, 50.0), both(40.0, 9.0, 50.0)];
    told(&judged(&begin), Level::Calm, &["retractions are not judged: not every rank counts them"]);
}

#[test]
fn what_nothing_counts_is_not_judged() {
    let bare = window(|_, at| Look::at(at, 0.4, 4.0, 0.0));
    let reasons =
        ["progress is not judged: nothing counts its tokens", "retractions are not judged: nothing counts them"];
    told(&judged(&bare), Level::Calm, &reasons);
    // It may be stuck for all that is known, and that is not said.
    let full = window(|_, at| Look::at(at, 0.97, 4.0, 9.0));
    told(&judged(&full), Level::Strained, &reasons);
    // Another page counts now: the two are not compared.
    let other = window(|step, at| {
        let look = Look::at(at, 0.4, 4.0, 0.0);
        let source = format!("http://w:1/page{step} tokens");
        let reading = Reading::reported(9.0, Unit::Tokens, source, look.at);
        look.reads(GENERATED, reading)
    });
    told(&judged(&other), Level::Calm, &["progress is not judged"]);
}

#[test]
fn the_log_tells_where_no_counter_does() {
    let log = |recent: f64| {
        window(|step, at| {
            Look::at(at, 0.4, 4.0, 0.0).says(GENERATED, 9.0 * step).says(Signal::REQ_RETRACTED_RECENT, recent)
        })
    };
    told(&judged(&log(0.0)), Level::Calm, &["no request thrown out by its log"]);
    told(&judged(&log(2.0)), Level::Strained, &["2 requests were retracted in the last minute"]);
    let one = log(0.0).remove(0);
    assert!(verdict(&one.server).reason.ends_with(ONE_LOOK_AND_LOG));
}

#[test]
fn work_and_no_token_is_stuck() {
    // A queue, at any use.
    let queue = window(|_, at| Look::at(at, 0.3, 0.0, 12.0).says(GENERATED, 500.0).says(THROWN_OUT, 0.0));
    let parts = ["stuck since no token was generated in 51 s", "12 requests wait", "no request thrown out"];
    told(&judged(&queue), Level::Stuck, &parts);
    // A full cache in which requests run, without a queue.
    let full = window(|_, at| Look::at(at, 0.99, 8.0, 0.0).says(GENERATED, 500.0));
    told(&judged(&full), Level::Stuck, &["99.0 % in use", "stuck since"]);
    // Those that were thrown out wait to be resumed.
    let swapped = window(|_, at| still_at(at).says(Signal::REQ_RETRACTED_QUEUE, 3.0));
    assert_eq!(judged(&swapped).level, Level::Stuck);
    // How full it is nothing says: the queue stands all the same.
    let blind = window(|_, at| Look::at(at, 0.3, 0.0, 12.0).says(GENERATED, 500.0).without_use());
    told(&judged(&blind), Level::Stuck, &["stuck since no token", "nothing says it"]);
}

fn still_at(at: f64) -> Look {
    Look::at(at, 0.3, 4.0, 0.0).says(GENERATED, 500.0)
}

#[test]
fn near_misses_of_stuck() {
    let still = |at: f64, in_use: f64, running: f64, waiting: f64| {
        Look::at(at, in_use, running, waiting).says(GENERATED, 500.0).says(THROWN_OUT, 0.0)
    };
    // The queue was empty in between.
    let drains = window(|step, at| still(at, 0.3, 4.0, if step == 2.0 { 0.0 } else { 9.0 }));
    assert_eq!(judged(&drains).level, Level::Calm);
    // Idle, with sessions that hold the whole cache.
    let idle = window(|_, at| still(at, 0.99, 0.0, 0.0));
    assert_eq!(judged(&idle).level, Level::Strained);
    // One token.
    let slow = window(|step, at| Look::at(at, 0.3, 4.0, 9.0).says(GENERATED, if step > 2.0 { 501.0 } else { 500.0 }));
    assert_eq!(judged(&slow).level, Level::Calm);
    // 34 s: gauges may stand from the last batch for 30 s.
    let short: Vec<Look> = window(|_, at| still(at, 0.3, 4.0, 9.0)).drain(1..).collect();
    assert_eq!(judged(&short).level, Level::Calm);
    // A long prompt is computed: use grows by 2,000 of 100,000 tokens a look.
    let prompt = window(|step, at| still(at, 0.3 + 0.02 * step, 1.0, 9.0));
    told(&judged(&prompt), Level::Calm, &["its use grew"]);
    // Or is counted as it is computed.
    let counted = window(|step, at| still(at, 0.3, 1.0, 9.0).says(Signal::PROMPT_LIVE_TOTAL, 2048.0 * step));
    told(&judged(&counted), Level::Calm, &["6,144 prompt tokens computed"]);
    // All wait for another server: prompts that it computes, a decode server that has no room.
    for elsewhere in [Signal::PD_TRANSFER, Signal::PD_BOOTSTRAP, Signal::PD_INFLIGHT] {
        assert_eq!(judged(&window(|_, at| still(at, 0.3, 0.0, 9.0).says(elsewhere, 9.0))).level, Level::Calm);
        assert_eq!(judged(&window(|_, at| still(at, 0.3, 0.0, 9.0).says(elsewhere, 8.0))).level, Level::Stuck);
    }
    // A rank that is not seen may work.
    let mut unseen = window(|_, at| still(at, 0.3, 4.0, 9.0));
    let gap = Gap {
        id: "ranks".to_owned(),
        server: None,
        what: String::new(),
        evidence: String::new(),
        fix: Fix { flag: None, place: String::new(), series: Vec::new() },
        price: String::new(),
        meanwhile: String::new(),
    };
    unseen[3].server.gaps.push(gap);
    let not_judged = ["not every rank counts its tokens", "not every rank counts them"];
    told(&judged(&unseen), Level::Unknown, &not_judged);
    // Of two ranks only one counts.
    let half = window(|_, at| still(at, 0.3, 1.0, 9.0).rank(1, 0.3, 1.0, 9.0));
    told(&judged(&half), Level::Calm, &["not every rank counts its tokens"]);
}

#[test]
fn a_counter_that_moves_at_the_end_of_requests_stands_for_nothing() {
    let ended = |at: f64, used: f64, running: f64| Look::at(at, used, running, 9.0).says_at_end(GENERATED, 500.0);
    // Long answers: use grows by 64 tokens a look, less than a prompt would, and no request ends.
    let long = window(|step, at| ended(at, 0.5 + 0.00064 * step, 4.0));
    told(&judged(&long), Level::Calm, &["progress is not judged: it counts tokens when a request ends"]);
    // The same use to the token at four looks: no token was put into the cache.
    told(&judged(&window(|_, at| ended(at, 0.5, 4.0))), Level::Stuck, &["no token was generated in 51 s"]);
    // Use that is rounded may stand while it grows.
    let rounded = window(|_, at| {
        let mut look = ended(at, 0.5, 4.0);
        let pool = &mut look.server.ranks[0].pools[0];
        pool.readings.get_mut(&Signal::KV_USED).expect("used").precision = Some(500.0);
        look
    });
    assert_eq!(judged(&rounded).level, Level::Calm);
    // Nothing runs: nothing can end.
    told(&judged(&window(|step, at| ended(at, 0.5 - 0.01 * step, 0.0))), Level::Stuck, &["no token was generated"]);
    // What is counted live beside it tells.
    let live = window(|step, at| ended(at, 0.5, 4.0).says(Signal::GEN_LIVE_TOTAL, 80.0 * step));
    told(&judged(&live), Level::Calm, &["240 tokens generated"]);
    let hangs = window(|step, at| ended(at, 0.5 - 0.01 * step, 4.0).says(Signal::GEN_LIVE_TOTAL, 80.0));
    told(&judged(&hangs), Level::Stuck, &["no token was generated"]);
}

#[test]
fn restarts_and_several_processes_are_no_window() {
    let counts = |at: f64, tokens: f64| Look::at(at, 0.3, 0.0, 9.0).says(GENERATED, tokens).says(THROWN_OUT, 0.0);
    // It began anew 20 s ago: what is before is another process's.
    let restart = [counts(0.0, 50_000.0), counts(20.0, 50_000.0), counts(40.0, 12.0), counts(60.0, 12.0)];
    assert!(judged(&restart).reason.ends_with(ONE_LOOK));
    let pids = [counts(0.0, 5.0).pid(7), counts(20.0, 5.0).pid(7), counts(40.0, 5.0).pid(9), counts(60.0, 5.0).pid(9)];
    assert!(judged(&pids).reason.ends_with(ONE_LOOK));
    // Two processes in turn.
    let two = [counts(0.0, 50_000.0), counts(20.0, 30_000.0), counts(40.0, 50_000.0), counts(60.0, 30_000.0)];
    assert!(judged(&two).reason.ends_with(ONE_LOOK));
    // Another build.
    let mut build = window(|_, at| counts(at, 5.0));
    build[0].server.version = Some("0.9".to_owned());
    told(&judged(&build), Level::Calm, &["watched for 34 s"]);
}

#[test]
fn stale_looks_are_none() {
    let look = |at: f64| Look::at(at, 0.3, 0.0, 9.0).says(GENERATED, 500.0).says(THROWN_OUT, 0.0);
    // The newest look brought nothing new.
    let newest = [look(0.0), look(20.0), look(40.0).stale()];
    assert_eq!(judged(&newest), verdict(&newest[2].server));
    assert_eq!(judged(&newest).level, Level::Unknown);
    // One before it did not: the others are a window.
    let between = [look(0.0), look(20.0).stale(), look(40.0)];
    told(&judged(&between), Level::Stuck, &["in 40 s"]);
}

#[test]
fn stores_and_routers_have_no_requests_to_watch() {
    let store = window(|_, at| Look::at(at, 0.3, 0.0, 0.0).role(Role::Store));
    let occupied = |mut look: Look| {
        let pool = &mut look.server.ranks[0].pools[0];
        pool.readings.insert(Signal::KV_OCCUPIED, Reading::reported(0.99, Unit::Ratio, "own", look.at));
        look
    };
    let store: Vec<Look> = store.into_iter().map(occupied).collect();
    let verdict_of_store = judged(&store);
    told(&verdict_of_store, Level::Calm, &["occupied"]);
    assert!(!verdict_of_store.reason.contains("watched") && !verdict_of_store.reason.contains("one look"));
    let router = window(|_, at| Look::at(at, 0.3, 0.0, 9.0).says(GENERATED, 1.0).role(Role::Router));
    assert_eq!(judged(&router), verdict(&router[3].server));
}

#[test]
fn a_prefill_server_is_judged_by_prompts_alone() {
    let prefill = |at: f64| Look::at(at, 0.3, 2.0, 9.0).role(Role::Prefill).says(GENERATED, 40.0);
    // It generates nothing, by its work.
    let untold = judged(&window(|_, at| prefill(at)));
    told(&untold, Level::Calm, &["progress is not judged: nothing counts the prompts that it computes"]);
    assert!(!untold.reason.contains("retractions are"), "{}", untold.reason);
    let works = window(|step, at| prefill(at).says(Signal::PROMPT_LIVE_TOTAL, 8192.0 * step));
    told(&judged(&works), Level::Calm, &["24,576 prompt tokens computed"]);
    let hangs = window(|_, at| prefill(at).says(Signal::PROMPT_LIVE_TOTAL, 8192.0));
    told(&judged(&hangs), Level::Stuck, &["stuck since no prompt token was computed in 51 s"]);
}
