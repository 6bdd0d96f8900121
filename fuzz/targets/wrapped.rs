#![no_main]

#[path = "../entries/wrapped.rs"]
mod wrapped;

libfuzzer_sys::fuzz_target!(|data: &[u8]| wrapped::run(data));
