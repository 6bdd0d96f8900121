//! The pages and the log that the speed of readers is measured on, and what is run over them.

pub mod logs;
pub mod pages;
pub mod parsers;
pub mod source;
