//! Bytes to values and back: the formats that servers speak. Pure: no I/O, no clock, no panic on any input.
//!
//! Every reader here gives values *and* remarks: one bad line costs one line, never the page. Readers borrow from
//! their input, and everything that a peer can make large has a cap that is on by default.

pub mod capture;
pub mod event;
pub mod exposition;
pub mod json;
pub mod launch;
pub mod log;
pub mod msgpack;
pub mod python;
pub mod slab;
pub mod transcript;
pub mod zmtp;
