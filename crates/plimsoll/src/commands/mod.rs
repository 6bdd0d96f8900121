//! One file per sub-command.

pub(crate) mod capture;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod drop_in;
pub(crate) mod engines;
pub(crate) mod explain;
pub(crate) mod status;

use anyhow::Result;
use clap::CommandFactory as _;

use crate::Said;
use crate::cli::Cli;

/// Completions for a shell, from the one definition of the command line.
pub(crate) fn completions(shell: clap_complete::Shell) -> Said {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "plimsoll", &mut text);
    Said { text: String::from_utf8_lossy(&text).into_owned(), code: 0 }
}

/// The manual page, from the same definition.
pub(crate) fn man() -> Result<Said> {
    let mut text = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut text)?;
    Ok(Said { text: String::from_utf8_lossy(&text).into_owned(), code: 0 })
}
