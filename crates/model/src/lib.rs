//! The words of plimsoll as types: signals, readings and their states, pools, ranks, servers, gaps, verdicts and the
//! snapshot that every surface shows. No I/O, no clock: time is passed in.
//!
//! The vocabulary itself is data: `signals.toml` at the repository's root.

mod account;
mod gap;
mod log;
mod note;
pub mod number;
mod observation;
mod rank;
mod reading;
mod redact;
mod server;
mod sign;
mod signal;
mod snapshot;
pub mod text;
mod time;
mod verdict;

pub use account::{
    Account, Fact, Facts, PoolSet, RankValue, Silence, SourceOutcome, SourceStatus, Unsaid, View, Worker,
};
pub use gap::{Finding, FindingState, Fix, Gap};
pub use log::{Log, LogClock, Stretch};
pub use note::Note;
pub use observation::{Answer, Blind, BlindKind, Observation, Passed};
pub use rank::{DEVICE, FULL, Pool, Rank, RankId, Readings, sum, whole_sum};
pub use reading::{Reading, State};
pub use redact::{BLOT, holds_secret, is_secret, looks_secret, without_secrets, without_tokens, without_userinfo};
pub use server::{GpuMemory, Role, RouterView, Server, TOLD_BY_ROUTER};
pub use sign::Sign;
pub use signal::{Kind, Row, Scope, Signal, Unit};
pub use snapshot::{Fleet, HostReport, SelfReport, Snapshot};
pub use time::Time;
pub use verdict::{Level, Trouble, Verdict};
