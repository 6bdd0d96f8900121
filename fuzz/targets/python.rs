#![no_main]

#[path = "../entries/python.rs"]
mod python;

libfuzzer_sys::fuzz_target!(|data: &[u8]| python::run(data));
