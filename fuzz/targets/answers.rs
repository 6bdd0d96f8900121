#![no_main]

#[path = "../entries/answers.rs"]
mod answers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| answers::run(data));
