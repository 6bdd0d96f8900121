//! The HTTP side of `plimsoll serve`: the page, the JSON behind it, the stream of changes, and who may see them.
//!
//! It knows nothing of caches: a [`Source`] hands it whole documents. It opens no connection of its own, whatever a visitor
//! sends, and everything that a visitor can make it hold (heads, bodies, connections, streams, time) has a bound in
//! [`Limits`]. No clock is read here, only timers are set.

mod accept;
mod answer;
mod assets;
mod blocking;
mod busy;
mod connection;
mod documents;
mod door;
mod guard;
mod held;
mod hosts;
mod listener;
mod options;
mod pack;
mod patience;
mod places;
mod query;
mod routes;
mod secret;
mod sign_in;
mod site;
mod source;
mod stream;
mod tls;

pub use accept::serve;
pub use listener::{BindError, Listener};
pub use options::{Limits, Options};
pub use secret::{Secret, SecretError};
pub use source::{EventsAsk, HistoryAsk, Refused, ReportAsk, Source};
pub use tls::{Tls, TlsError};

/// What the API is and takes, as OpenAPI 3.1; also answered at `/api/v1/openapi.json`.
pub const OPENAPI: &str = include_str!("../../../schemas/plimsoll.openapi.json");

/// What the snapshot is, as a JSON schema, to which [`OPENAPI`] refers; answered beside it.
pub const STATUS_SCHEMA: &str = include_str!("../../../schemas/plimsoll.status-1.schema.json");
