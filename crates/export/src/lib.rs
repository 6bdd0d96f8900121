//! The text of plimsoll's own `/metrics`: Prometheus text 0.0.4, one schema for all engines. Pure: no I/O, no clock.
//!
//! Names and help of what servers say come from `signals.toml` by one rule ([`series_name`]); what plimsoll says of servers and
//! of itself is listed in `fixed.rs`. A reading that may not be believed now has no series: missing is never 0, and a value
//! that is too old never poses as fresh. How many readings are in which state is a family of its own.
//!
//! No series stands twice: of two servers with one address, two ranks or pools with one name, the first counts, and how
//! many were passed over is told.

mod family;
mod fixed;
mod health;
mod label;
mod name;
mod own;
mod pages;
mod schema;
mod servers;

pub use health::{Health, History, Target};
pub use name::series_name;
pub use pages::page;
pub use schema::{Described, SCHEMA, schema};
