//! For tests: servers that replay recorded answers over real HTTP, and running the real binary against them.

mod apart;
pub mod canary;
pub mod disk;
pub mod door;
pub mod dynamo;
pub mod engine;
mod events;
pub mod far;
pub mod lab;
pub mod made;
pub mod names;
pub mod pages;
mod program;
pub mod real;
mod replay;
mod schemas;
mod script;
mod serve;
pub mod service;
pub mod standin;
pub mod systemd;

pub use program::{OWN, Output, plimsoll};
pub use replay::{Answer, Manner, Replay};
pub use schemas::{api_faults, event_faults, schema_faults};
pub use serve::{Kept, Serve};
