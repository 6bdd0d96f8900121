//! plimsoll: how full is the KV cache, and where is the line?

mod cli;
mod commands;
mod evidence;
mod look;
mod opener;
mod report;
mod serve;
mod show;
mod slip;
mod tables;

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

/// What was given on the command line, or in a file that it names, cannot be used: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0:#}")]
pub(crate) struct WrongUsage(pub(crate) anyhow::Error);

/// Marks an error as one of usage.
pub(crate) fn wrong_usage(error: impl Into<anyhow::Error>) -> anyhow::Error {
    WrongUsage(error.into()).into()
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(word) = cli.mistyped() {
        let text = if Cli::has_command(word) {
            format!("options stand behind the command: plimsoll {word} …")
        } else {
            format!("no command is called {word:?}; a target is http://HOST:PORT or HOST:PORT (see --help)")
        };
        return fail(&wrong_usage(anyhow::anyhow!(text)));
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
            Command::Capture(args) => commands::capture::run(&args).await,
            Command::Serve(args) => Box::pin(serve::run(&args)).await,
            Command::Config { command } => commands::config::run(&command),
            Command::Engines { command } => commands::engines::run(&command),
            Command::Demo(args) => Box::pin(commands::demo::run(&args)).await,
            Command::Completions { shell } => Ok(commands::completions(shell)),
            Command::Man => commands::man(),
        }
    });
    match said {
        Ok(said) => match print(&said.text) {
            Ok(()) => ExitCode::from(said.code),
            Err(error) => fail(&anyhow::Error::from(error).context("cannot print the answer")),
        },
        Err(error) => fail(&error),
    }
}

/// Prints to standard output. A reader that went away (a pipe into `head`) is no fault of ours; a full disk is.
pub(crate) fn print(text: &str) -> std::io::Result<()> {
    let mut out = anstream::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// What went wrong, on standard error, further lines (that of a file with its fault, and a mark below it) set in; exit code 2 for
/// wrong usage, 1 for anything else that kept the answer back.
fn fail(error: &anyhow::Error) -> ExitCode {
    let lines: Vec<String> = format!("{error:#}").lines().map(model::text::visible).collect();
    let text = lines.join("\n  ");
    let _ = writeln!(anstream::stderr(), "plimsoll: {text}");
    ExitCode::from(if error.is::<WrongUsage>() { 2 } else { 1 })
}
