#![no_main]

#[path = "../entries/argv.rs"]
mod argv;

libfuzzer_sys::fuzz_target!(|data: &[u8]| argv::run(data));
