#![no_main]

#[path = "../entries/exposition.rs"]
mod exposition;

libfuzzer_sys::fuzz_target!(|data: &[u8]| exposition::run(data));
