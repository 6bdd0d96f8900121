//! The pages and the log that the speed of readers is measured on, and what is run over them.

pub mod history;
pub mod logs;
pub mod pages;
#[path = "../../crates/ledger/tests/support/pages.rs"]
mod pages_made;
pub mod parsers;
pub mod source;
