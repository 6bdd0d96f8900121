//! The pages that the speed of parsers is measured on, and what is run over them.

pub mod pages;
pub mod parsers;
