#![no_main]

#[path = "../entries/units.rs"]
mod units;

libfuzzer_sys::fuzz_target!(|data: &[u8]| units::run(data));
