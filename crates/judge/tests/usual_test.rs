//! What a server usually gets done, and thrashing, which is judged by it.

#[allow(dead_code)] // the test of windows uses the rest
#[path = "window/looks.rs"]
mod looks;

use judge::{Paces, verdict_over};
use looks::{Look, pairs};
use model::{Level, Signal};

/// Looks 17 s apart of a server that runs `running` and generates `rate` tokens per second, from `from` seconds on.
struct Run {
    from: f64,
    running: f64,
    rate: f64,
    /// Thrown out between two looks.
    thrown_out: f64,
    in_use: f64,
}

impl Run {
    fn calm(from: f64, running: f64, rate: f64) -> Run {
        Run { from, running, rate, thrown_out: 0.0, in_use: 0.6 }
    }

    /// A window of four looks that begins `step` looks after the run did.
    fn window(&self, step: u32) -> Vec<Look> {
        (step..step + 4).map(|step| self.look(f64::from(step))).collect()
    }

    fn look(&self, step: f64) -> Look {
        let at = self.from + 17.0 * step;
        let look = Look::at(at, self.in_use, self.running, 0.0);
        look.says(Signal::GEN_TOKENS_TOTAL, 1.0e6 + self.rate * at)
            .says(Signal::REQ_RETRACTED_TOTAL, self.thrown_out * step)
    }

    /// Learns from windows that move on by a look each.
    fn learned(&self, paces: &mut Paces, windows: u32) {
        for step in 0..windows {
            paces.learn(&pairs(&self.window(step)));
        }
    }
}

#[test]
fn thrown_out_and_less_than_half_of_usual_is_thrashing() {
    let mut paces = Paces::default();
    // A sample a minute or so: 20 minutes are 60 windows of 17 s each, and more than 12 samples over 10 minutes.
    Run::calm(0.0, 32.0, 1000.0).learned(&mut paces, 75);
    let usual = paces.usual(32.0).expect("usual");
    assert!((usual - 1000.0).abs() < 1.0e-6, "{usual}");
    let judged = |rate: f64, running: f64, thrown_out: f64| {
        let run = Run { thrown_out, in_use: 0.9, ..Run::calm(3000.0, running, rate) };
        verdict_over(&pairs(&run.window(0)), Some(&paces)).expect("a verdict")
    };
    let thrashes = judged(400.0, 32.0, 1.0);
    assert_eq!(thrashes.level, Level::Thrashing, "{}", thrashes.reason);
    let rule =
        "thrashing since 3 requests were thrown out in 51 s, and 400 tokens/s are generated where 1,000 are usual";
    assert!(thrashes.reason.contains(rule), "{}", thrashes.reason);
    // Half of it and a little is only strained; so is another number of requests, of which nothing is known.
    assert_eq!(judged(510.0, 32.0, 1.0).level, Level::Strained);
    assert_eq!(judged(400.0, 8.0, 1.0).level, Level::Strained);
    // Slow without anything thrown out is something else.
    assert_eq!(judged(400.0, 32.0, 0.0).level, Level::Tight);
    // Without a memory it is not judged.
    let run = Run { thrown_out: 1.0, ..Run::calm(3000.0, 32.0, 400.0) };
    assert_eq!(verdict_over(&pairs(&run.window(0)), None).expect("a verdict").level, Level::Strained);
}

#[test]
fn it_speaks_only_of_what_it_saw_often_and_for_long() {
    let mut paces = Paces::default();
    // 30 windows are under 9 minutes: fewer than 12 samples a minute apart.
    Run::calm(0.0, 32.0, 1000.0).learned(&mut paces, 30);
    assert_eq!(paces.usual(32.0), None);
    // The same looks again teach nothing.
    for _ in 0..100 {
        paces.learn(&pairs(&Run::calm(0.0, 32.0, 1000.0).window(29)));
    }
    assert_eq!(paces.usual(32.0), None);
    assert_eq!(paces.usual(0.0), None);
}

#[test]
fn strained_windows_teach_nothing() {
    let mut paces = Paces::default();
    Run { thrown_out: 1.0, ..Run::calm(0.0, 32.0, 400.0) }.learned(&mut paces, 75);
    Run { in_use: 0.97, ..Run::calm(2000.0, 32.0, 400.0) }.learned(&mut paces, 75);
    assert_eq!(paces.usual(32.0), None);
}

#[test]
fn a_new_process_begins_anew_and_old_days_are_forgotten() {
    let learned = || {
        let mut paces = Paces::default();
        Run::calm(0.0, 32.0, 1000.0).learned(&mut paces, 75);
        assert!(paces.usual(32.0).is_some());
        paces
    };
    // All counters fall together.
    let mut paces = learned();
    let mut looks = Run::calm(2000.0, 32.0, 1000.0).window(0);
    looks[3] = Look::at(2051.0, 0.6, 32.0, 0.0).says(Signal::GEN_TOKENS_TOTAL, 12.0);
    paces.learn(&pairs(&looks));
    assert_eq!(paces.usual(32.0), None);
    // Another build.
    let mut paces = learned();
    let mut looks = Run::calm(2000.0, 32.0, 1000.0).window(0);
    for look in &mut looks {
        look.server.version = Some("2.0".to_owned());
    }
    paces.learn(&pairs(&looks));
    assert_eq!(paces.usual(32.0), None);
    // Two days later.
    let mut paces = learned();
    let later = Run::calm(2.0 * 86_400.0, 8.0, 300.0);
    later.learned(&mut paces, 3);
    assert_eq!(paces.usual(32.0), None);
    // A clock that is set makes nothing older.
    let mut paces = learned();
    paces.clock_set(2.0 * 86_400.0);
    Run { from: later.from + 2000.0, ..later }.learned(&mut paces, 3);
    assert!(paces.usual(32.0).is_some());
}

#[test]
fn what_is_counted_at_the_end_of_requests_is_no_throughput() {
    let mut paces = Paces::default();
    for step in 0..75 {
        let mut looks = Run::calm(0.0, 32.0, 1000.0).window(step);
        for look in &mut looks {
            let tokens = look.server.ranks[0].readings.get_mut(&Signal::GEN_TOKENS_TOTAL);
            tokens.expect("tokens").at_end = true;
        }
        paces.learn(&pairs(&looks));
    }
    assert_eq!(paces.usual(32.0), None);
}
