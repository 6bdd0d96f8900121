//! Reads that hang, or bring their thread down, cost their own entry.
#![allow(clippy::unwrap_used)] // tests: a panic is the report

use std::path::PathBuf;
use std::time::Duration;

use model::BlindKind;

use super::lookout::Lookout;

#[tokio::test]
async fn a_read_that_hangs_costs_itself() {
    let paths: Vec<PathBuf> = ["a", "hangs", "b", "breaks", "c"].map(PathBuf::from).to_vec();
    let results = Lookout::with(Duration::from_millis(300))
        .each(paths, |path| {
            match path.to_str() {
                Some("hangs") => std::thread::sleep(Duration::from_mins(10)),
                Some("breaks") => panic!("as asked"),
                _ => {}
            }
            Ok(path.clone())
        })
        .await;
    let read: Vec<Option<&str>> =
        results.iter().map(|result| result.as_ref().ok().and_then(|path| path.to_str())).collect();
    assert_eq!(read, [Some("a"), None, Some("b"), None, Some("c")]);
    let blind = results[1].as_ref().unwrap_err();
    assert_eq!(blind.kind, BlindKind::Deadline);
    assert!(blind.text.starts_with("hangs: the read did not return"), "{blind}");
}

#[tokio::test]
async fn threads_that_hang_are_bounded() {
    let lookout = Lookout::with(Duration::from_millis(20));
    let paths: Vec<PathBuf> = (0..40).map(|index| PathBuf::from(index.to_string())).collect();
    let results = lookout
        .each(paths, |_| -> Result<(), _> {
            std::thread::sleep(Duration::from_mins(10));
            unreachable!("the test has ended by then")
        })
        .await;
    let texts: Vec<String> = results.into_iter().map(|result| result.unwrap_err().text).collect();
    assert_eq!(texts.iter().filter(|text| text.contains("16 earlier reads")).count(), 24, "{texts:?}");
}

/// More at once than there are threads: they wait for one another, since none hangs.
#[tokio::test]
async fn the_many_wait_for_a_thread() {
    let lookout = Lookout::with(Duration::from_secs(20));
    let mut looks = tokio::task::JoinSet::new();
    for index in 0..64 {
        let lookout = lookout.clone();
        looks.spawn(async move {
            let paths = vec![PathBuf::from(index.to_string())];
            let results = lookout
                .each(paths, |_| {
                    std::thread::sleep(Duration::from_millis(20));
                    Ok(())
                })
                .await;
            results.iter().all(Result::is_ok)
        });
    }
    assert!(looks.join_all().await.into_iter().all(|read| read));
}
