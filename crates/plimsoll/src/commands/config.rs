//! `plimsoll config check`: is the configuration of `serve` sound, and what does it put in force.

use std::path::PathBuf;

use anyhow::{Result, anyhow};

use crate::cli::{ConfigCommand, ServeArgs};
use crate::serve::{self, Settings};
use crate::{Said, wrong_usage};

/// Checks.
pub(crate) fn run(command: &ConfigCommand) -> Result<Said> {
    let ConfigCommand::Check { file } = command;
    let usual = PathBuf::from(serve::USUAL);
    let file = match file {
        Some(file) => file.clone(),
        None if usual.exists() => usual,
        None => return Err(wrong_usage(anyhow!("there is no {}, and none is needed", serve::USUAL))),
    };
    let args = ServeArgs { config: Some(file.clone()), ..ServeArgs::default() };
    let settings = Settings::read(&args).map_err(wrong_usage)?;
    settings.check().map_err(wrong_usage)?;
    Ok(Said { text: format!("{} is sound\n{}", file.display(), settings.told()), code: 0 })
}
