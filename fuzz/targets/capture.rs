#![no_main]

#[path = "../entries/capture.rs"]
mod capture;

libfuzzer_sys::fuzz_target!(|data: &[u8]| capture::run(data));
