//! The engines' tables, and what turns observations into accounts by them. Pure: no I/O, no clock, and no engine's name
//! in Rust; everything that is peculiar to an engine is a row in its folder under `engines/`.

mod apart;
mod builtin;
mod doctor;
mod from_files;
mod interpret;
mod missing;
mod offered;
pub mod process;
pub mod saved;
pub mod table;
pub mod tree;
mod wrapped;

pub use apart::{Apart, Page, apart};
pub use builtin::Tables;
pub use doctor::{Whereabouts, examine, series_of, telling_series_of, unreached};
pub use interpret::{
    Need, Telling, Trees, interpret, interpret_again, interpret_known, interpret_relayed, is_being_written,
    reads_as_json,
};
pub use missing::why;
pub use offered::{Build, Offered, OfferedSeries, Renamed, offered_by_source};
