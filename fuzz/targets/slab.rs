#![no_main]

#[path = "../entries/slab.rs"]
mod slab;

libfuzzer_sys::fuzz_target!(|data: &[u8]| slab::run(data));
