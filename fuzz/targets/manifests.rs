#![no_main]

#[path = "../entries/manifests.rs"]
mod manifests;

libfuzzer_sys::fuzz_target!(|data: &[u8]| manifests::run(data));
