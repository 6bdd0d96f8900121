//! How many bytes a sample costs on the disk.
#![allow(clippy::print_stdout, reason = "a test's own output")]

#[path = "support/pages.rs"]
mod pages;

mod support;

use ledger::Options;
use pages::Page;
use support::{BEGIN, open, tidy};

#[test]
fn two_hours_of_a_large_page_cost_less_than_half_a_byte_a_sample() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = open(folder.path(), Options::default());
    let keys = Page::keys();
    assert_eq!(keys.len(), 553);
    let shape = ledger.shape("server", keys).expect("a shape");
    let mut page = Page::new(1);
    let looks = 1440;
    for look in 0..looks {
        ledger.append(&shape, BEGIN + look * 5000, &page.step()).expect("a look");
    }
    ledger.sync().expect("synced");
    tidy(&mut ledger, BEGIN + looks * 5000);
    let files = std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry"));
    let kept = files.filter(|entry| !entry.file_name().to_string_lossy().starts_with("log-"));
    let bytes: u64 = kept.map(|entry| entry.metadata().expect("a file").len()).sum();
    let each = bytes as f64 / (looks * 553) as f64;
    // Its place in the log is not counted: it is bounded, and does not grow with the history.
    assert!(each > 0.05 && each < 0.5, "{bytes} bytes are {each} a sample");
    println!("{each:.3} bytes a sample");
}
