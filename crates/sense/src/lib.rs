//! The only crate that touches the observed side: its files, its processes, its HTTP pages. It only reads.
//!
//! Everything goes through one [`Place`], made for three ways of being there: this host now, ssh and a capture later.
//! Every read has a cap and a deadline, and what could not be seen is a [`model::Blind`] with its kind and its story,
//! never an error that ends the look.

mod aside;
pub mod capture;
pub mod clock;
pub mod command;
mod event;
pub mod gpu;
pub mod http;
pub mod installed;
mod own;
pub mod place;
pub mod process;
pub mod secret;
mod text;

pub use command::{Command, Ran};
pub use event::{Heard, Keep, Publisher};
pub use http::{AllowList, Client, Counts, Credentials, Limits, NetNs, Target, TlsOptions};
pub use installed::{Installed, Stamps};
pub use own::{foreign, is_own, is_root, own_uid, read_own};
pub use place::{Content, Ends, Host, Kept, Place, Recorder, Wanted, ssh};
pub use process::{Process, Processes, processes};
pub use secret::{Secret, SecretSource};
