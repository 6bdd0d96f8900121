#![no_main]

#[path = "../entries/events.rs"]
mod events;

libfuzzer_sys::fuzz_target!(|data: &[u8]| events::run(data));
