#![no_main]

#[path = "../entries/saved.rs"]
mod saved;

libfuzzer_sys::fuzz_target!(|data: &[u8]| saved::run(data));
