//! HTTP GET, and nothing else, towards peers that may misbehave in every way.
//!
//! One request at a time per target, over one kept connection; every request under a deadline and with caps; no
//! redirects; only paths on the caller's list.

mod allow;
mod body;
mod client;
mod connect;
mod counters;
mod credentials;
mod errors;
mod exchange;
mod lane;
mod limits;
mod names;
mod netns;
mod pin;
mod socket;
mod stage;
mod stream;
mod target;
mod tls;

pub use allow::AllowList;
pub(crate) use allow::with_query;
pub(crate) use body::unpack;
pub use client::Client;
pub use counters::Counts;
pub use credentials::Credentials;
pub(crate) use exchange::{acceptable, is_open_ended};
pub use limits::Limits;
pub use netns::NetNs;
pub use pin::{BadFingerprint, Fingerprint};
pub use target::{Base, Scheme, Target, TargetError};
pub use tls::{Identity, TlsOptions};
