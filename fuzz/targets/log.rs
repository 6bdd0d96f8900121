#![no_main]

#[path = "../entries/log.rs"]
mod log;

libfuzzer_sys::fuzz_target!(|data: &[u8]| log::run(data));
