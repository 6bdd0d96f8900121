//! Tests of `sense` against peers, files and processes that misbehave.
#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)] // tests: a panic is the report

mod capture;
mod commands;
mod ends;
mod events;
mod facts;
mod hostile;
mod installed;
mod manners;
mod misbehaving;
mod namespace;
mod outputs;
mod peer;
mod places;
mod proc_real;
mod proc_text;
mod proc_tree;
mod secrets;
mod slabs;
mod targets;
mod tls;
