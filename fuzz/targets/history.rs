#![no_main]

#[path = "../entries/history.rs"]
mod history;

libfuzzer_sys::fuzz_target!(|data: &[u8]| history::run(data));
