//! The history on a real disk that hangs for so long that not everything can wait for it.

use std::time::Duration;

use ledger::Event;
use model::{Rank, RankId, Reading, Server, Signal, Time, Unit};
use testkit::disk::Disk;
use testkit::made;
use testkit::real::wait_until;

use super::history::{History, WAITING};

fn event(number: i64) -> Event {
    Event { time: number, target: "t".to_owned(), kind: "mark".to_owned(), text: String::new(), value: None }
}

/// The times of the events of a kind that the history has.
fn times(history: &History, kind: &str) -> Vec<i64> {
    let (events, notes) = history.reader.events(i64::MIN, i64::MAX);
    assert_eq!(notes, []);
    events.iter().filter(|event| event.kind == kind).map(|event| event.time).collect()
}

/// 65,536 samples a look.
fn large() -> Server {
    let said = |signal| (signal, Reading::reported(1.0, Unit::Tokens, "s".to_owned(), Time(0.0)));
    let signals = [Signal::KV_USED, Signal::KV_CAPACITY, Signal::KV_AVAILABLE, Signal::KV_EVICTABLE];
    let pool = made::pool(signals.into_iter().map(said).collect());
    let rank = |dp| Rank {
        rank: RankId { dp: Some(dp), ..RankId::ZERO },
        pools: vec![pool.clone()],
        readings: model::Readings::default(),
    };
    Server { ranks: (0..1 << 14).map(rank).collect(), ..made::server("http://10.0.0.1:1") }
}

#[test]
fn what_cannot_wait_for_the_disk_is_counted_and_said() {
    Disk::run("serve::history_test::told_more_than_can_wait");
}

#[test]
#[ignore = "what_cannot_wait_for_the_disk_is_counted_and_said runs it on its disk"]
fn told_more_than_can_wait() {
    let disk = Disk::given();
    let history = History::open(&disk.path("data"), 64 << 20).expect("a history");
    let hang = || {
        let unkept = || history.writing().waiting + history.writing().unsynced;
        wait_until("all to be on the disk", || unkept() == 0);
        let hanging = disk.hang();
        history.event(event(0));
        wait_until("it to wait in the sync", || {
            std::thread::sleep(Duration::from_secs(2));
            history.writing().failing.is_some()
        });
        hanging
    };
    let hanging = hang();
    let most = i64::try_from(WAITING).expect("a small number");
    // One at a time, each 5 s after the one before, as the numbers' times say.
    (1..=most + 500).for_each(|number| history.event(event(number * 5000)));
    let writing = history.writing();
    let lost = writing.lost;
    // The one that hangs may have left the room for those that wait, or not.
    assert!((500..=501).contains(&lost), "{lost}");
    let newest = most + 500 - i64::try_from(lost).expect("a small number");
    let why = writing.failing.expect("why");
    assert!(why.contains("too slow") && why.contains(&format!("{lost} that came later are lost")), "{why}");
    drop(hanging);
    wait_until("the disk to be fast again", || history.writing().failing.is_none());
    // What could wait is all there, the rest is not, and where it is missing stands beside.
    assert_eq!(times(&history, "mark"), (0..=newest).map(|number| number * 5000).collect::<Vec<_>>());
    wait_until("the gap", || times(&history, "gap") == [(newest + 1) * 5000]);
    history.event(event((most + 501) * 5000));
    wait_until("what comes then", || times(&history, "mark").last() == Some(&((most + 501) * 5000)));
    assert_eq!(history.writing().lost, lost);

    let _hanging = hang();
    // Eight of these are all that may wait, however few they are; seven, where the one that hangs waits among them.
    let server = large();
    (0..10).for_each(|number| history.look(&server, number));
    let then = history.writing().lost - lost;
    assert!((2..=3).contains(&then), "{then}");
    let begun = std::time::Instant::now();
    let said = history.stop().expect("what is lost");
    assert!(said.contains(&format!("{} looks and events", 11 - then)) && said.contains("may be lost"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}
