//! plimsoll: how full is the KV cache, and where is the line?

mod cli;
mod commands;
mod look;
mod report;
mod show;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use cli::{Cli, Command};

/// Program and version, as JSON says who made it.
pub(crate) const MADE_BY: &str = concat!("plimsoll ", env!("CARGO_PKG_VERSION"));

/// What a command prints and how it exits.
pub(crate) struct Said {
    /// Standard output.
    pub(crate) text: String,
    /// Exit code: 0 answered, 1 could not answer, 3 found gaps.
    pub(crate) code: u8,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(word) = cli.mistyped() {
        return fail(&anyhow::anyhow!(
            "no command is called {word:?}; a target is http://HOST:PORT or HOST:PORT (see --help)"
        ));
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    let said = runtime.block_on(async {
        match cli.command.unwrap_or(Command::Status(cli.status)) {
            Command::Status(args) => commands::status::run(&args).await,
            Command::Doctor(args) => commands::doctor::run(&args).await,
            Command::Explain(args) => commands::explain::run(&args).await,
            Command::Demo(args) => commands::demo::run(&args).await,
            Command::Completions { shell } => Ok(commands::completions(shell)),
            Command::Man => commands::man(),
        }
    });
    match said {
        Ok(said) => {
            // A reader that went away (a pipe into `head`) is no fault of ours.
            let _ = anstream::stdout().write_all(said.text.as_bytes());
            ExitCode::from(said.code)
        }
        Err(error) => fail(&error),
    }
}

/// Wrong usage or a broken file of our own: one line, exit code 2.
fn fail(error: &anyhow::Error) -> ExitCode {
    let _ = writeln!(anstream::stderr(), "plimsoll: {error:#}");
    ExitCode::from(2)
}
