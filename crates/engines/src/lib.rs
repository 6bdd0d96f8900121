//! The engines' tables, and what turns observations into accounts by them. Pure: no I/O, no clock, and no engine's name
//! in Rust; everything that is peculiar to an engine is a row in its folder under `engines/`.

mod builtin;
mod doctor;
mod interpret;
mod missing;
pub mod process;
pub mod table;

pub use builtin::Tables;
pub use doctor::{Whereabouts, examine, series_of, telling_series_of, unreached};
pub use interpret::{interpret, interpret_relayed};
pub use missing::why;
