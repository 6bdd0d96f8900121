//! The command line: the one definition from which help, man page and completions are made.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand};

/// How full is the KV cache of your LLM servers, and how close to trouble are they?
///
/// Without a command it looks at this host and answers, as `plimsoll status` does. It reads and changes nothing.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, args_conflicts_with_subcommands = true, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) status: LookArgs,
}

impl Cli {
    /// Whether a command is called so.
    pub(crate) fn has_command(word: &str) -> bool {
        Cli::command().find_subcommand(word).is_some()
    }

    /// A word without a command before it that can be no target: a command mistyped.
    pub(crate) fn mistyped(&self) -> Option<&str> {
        let is_target = |word: &str| word.contains([':', '/']) || word.bytes().all(|byte| byte.is_ascii_digit());
        let is_target = |word: &str| is_target(word) || crate::look::saved::is_file(word);
        self.status.targets.iter().map(String::as_str).find(|word| !is_target(word))
    }
}

const EXIT_CODES: &str =
    "Exit codes: 0 answered, 1 no figure from any target, 2 wrong usage, 3 doctor found gaps, or engines faults.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// How full is it now: per server, rank and pool
    Status(LookArgs),
    /// What is hidden, why, and exactly what reveals it; is anything scraping these servers
    Doctor(DoctorArgs),
    /// For each number: which sources said what, which was taken and why
    Explain(LookArgs),
    /// Record everything that a look asks and gets, safe to send, to run any command on later
    Capture(CaptureArgs),
    /// Keep watching: a page, its history, and one /metrics for all
    Serve(ServeArgs),
    /// The configuration of `serve`
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// The engines that are known, and whether tables that you wrote are sound
    Engines {
        #[command(subcommand)]
        command: EnginesCommand,
    },
    /// A recorded deployment, served on loopback, with status and doctor run against it; needs no GPU
    Demo(DemoArgs),
    /// Print completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page (roff)
    Man,
}

/// What to look at and how.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LookArgs {
    /// Servers or routers to ask (http://host:port, host:port, [::1]:port or a port alone; a path may follow); a router
    /// leads to its workers. Other hosts over ssh (ssh://[user@]host[:port], searched as this one would be; of one server
    /// there: ssh://host/PORT). Or files (`-`: standard input) that were saved or pasted: metrics pages, answers, logs and,
    /// for doctor, units, commands, compose files and manifests. Without any, this host is searched
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// A log of one of the servers, where it is not found by itself (on this host it is: the file, the journal or the
    /// container's log that the process writes); may stand several times
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Vec<String>,
    /// Configuration for ssh, instead of its own (its -F)
    #[arg(long, value_name = "FILE")]
    pub(crate) ssh_config: Option<PathBuf>,
    /// Look at what `plimsoll capture` recorded, offline, instead of at what is there now
    #[arg(long, value_name = "FILE")]
    pub(crate) capture: Option<PathBuf>,
    /// The moment of the capture: a time (2026-11-29T12:00:00Z) or seconds from its beginning (90, 90s, 2m); its end, where
    /// none is given
    #[arg(long, value_name = "MOMENT", requires = "capture")]
    pub(crate) at: Option<String>,
    /// Tables of engines that replace or add to the built-in ones: one folder each, with any of engine.toml, sources.toml,
    /// knobs.toml and doctor.toml. Those in /etc/plimsoll/engines count without being named
    #[arg(long, value_name = "DIR")]
    pub(crate) engines: Option<PathBuf>,
    /// Print JSON (its schema is in the `schema` field)
    #[arg(long)]
    pub(crate) json: bool,
    /// Look now, also where a `plimsoll serve` on this host could answer from what it saw last
    #[arg(long)]
    pub(crate) direct: bool,
    #[command(flatten)]
    pub(crate) access: Access,
}

impl LookArgs {
    /// Whether this host is to be searched, and nothing else is said of how.
    pub(crate) fn is_plain(&self) -> bool {
        // What is printed, and when, does not count.
        let LookArgs { targets, log, ssh_config, capture, engines, access, at: _, json: _, direct: _ } = self;
        targets.is_empty()
            && log.is_empty()
            && [ssh_config, capture, engines].iter().all(|path| path.is_none())
            && *access == Access::default()
    }
}

/// Credentials and TLS for the targets given and, without any, for the servers that are found on this host. They are
/// never sent to workers that a router names; give those as targets, or in --targets-file.
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = "Credentials and TLS")]
pub(crate) struct Access {
    /// Targets with credentials of their own, in TOML: [[target]] with url, bearer_file, bearer_env, user,
    /// password_file, password_env, ca, pin, cert, key. A row opens exactly its url: scheme, host as spelled, port and
    /// path, be it given, found, named by a router or a --prometheus. Without TARGET its rows are the targets, and this
    /// host is not searched. Or a bare list, an address with its scheme (http://…) a line
    #[arg(long, value_name = "FILE")]
    pub(crate) targets_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) opener: Opener,
}

/// What opens servers; files spell it so, too.
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = "Credentials and TLS")]
pub(crate) struct Opener {
    /// File that holds a bearer token, for the targets given or, without any, for each server found on this host
    #[arg(long, value_name = "FILE", conflicts_with_all = ["bearer_env", "user"])]
    pub(crate) bearer_file: Option<PathBuf>,
    /// Environment variable that holds a bearer token
    #[arg(long, value_name = "NAME", conflicts_with = "user")]
    pub(crate) bearer_env: Option<String>,
    /// User name for basic authentication
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// File that holds the password
    #[arg(long, value_name = "FILE", conflicts_with = "password_env")]
    pub(crate) password_file: Option<PathBuf>,
    /// Environment variable that holds the password
    #[arg(long, value_name = "NAME")]
    pub(crate) password_env: Option<String>,
    /// Certificate authority to trust instead of the public ones (PEM)
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// SHA-256 of the server's certificate, in hex; enough by itself
    #[arg(long, value_name = "SHA256")]
    pub(crate) pin: Option<String>,
    /// Client certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// Key of the client certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
}

/// What to watch, and where to show it.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ServeArgs {
    /// Servers or routers to watch, as `plimsoll status` takes them; without any, this host is searched again and again
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// Where the history is kept; by default /var/lib/plimsoll of root, else ~/.local/share/plimsoll
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// How large the history may become, 1GiB by default; the oldest goes first
    #[arg(long, value_name = "SIZE")]
    pub(crate) keep: Option<String>,
    /// Keep no history
    #[arg(long, conflicts_with = "data")]
    pub(crate) no_history: bool,
    /// Where the page is, 127.0.0.1:7546 by default; an address that others reach wants a token
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) listen: Option<String>,
    /// File that holds the token which visitors of the page must give
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Environment variable that holds it
    #[arg(long, value_name = "NAME", conflicts_with = "token_file")]
    pub(crate) token_env: Option<String>,
    /// Certificate of the page (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Its key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// The configuration; /etc/plimsoll/plimsoll.toml where that is there. The command line comes first
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// How often servers are looked at, 5s by default; less often where one would spend more than 1 % of its time on it
    #[arg(long, value_name = "LENGTH")]
    pub(crate) every: Option<String>,
    /// A log of one of the servers, where it is not found by itself; may stand several times
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Vec<String>,
    /// Configuration for ssh, instead of its own (its -F)
    #[arg(long, value_name = "FILE")]
    pub(crate) ssh_config: Option<PathBuf>,
    /// Tables of engines that replace or add to the built-in ones
    #[arg(long, value_name = "DIR")]
    pub(crate) engines: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) access: Access,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check a configuration: what is wrong with its line, exit code 2; else what it puts in force
    Check {
        /// The file; /etc/plimsoll/plimsoll.toml by default
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) look: LookArgs,
    /// A Prometheus, VictoriaMetrics or vmagent to ask whether it scrapes these servers; may stand several times.
    /// Without it and without TARGET those on this host are asked. A row of --targets-file may hold its credentials
    #[arg(long, value_name = "URL")]
    pub(crate) prometheus: Vec<String>,
    /// Write systemd drop-ins that add the missing flags below this folder, one for each unit. Never where systemd reads
    /// them, and nothing is restarted
    #[arg(long, value_name = "DIR")]
    pub(crate) write_dropin: Option<PathBuf>,
}

#[derive(Debug, Clone, Default, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct CaptureArgs {
    #[command(subcommand)]
    pub(crate) command: Option<CaptureCommand>,
    /// The file to write (`-`: standard output); a new one, by default plimsoll-TIME.capture
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Look again and again for so long (60s, 5m, 2h); once, where this is not given
    #[arg(long = "for", value_name = "LENGTH")]
    pub(crate) length: Option<String>,
    /// How often, by default every second; less often where a server would spend more than 1 % of its time on it
    #[arg(long, value_name = "LENGTH")]
    pub(crate) every: Option<String>,
    /// Replace names of hosts, addresses and users, each by the same other one everywhere
    #[arg(long)]
    pub(crate) anonymise: bool,
    /// A Prometheus, VictoriaMetrics or vmagent to ask as well, as doctor does; may stand several times
    #[arg(long, value_name = "URL")]
    pub(crate) prometheus: Vec<String>,
    #[command(flatten)]
    pub(crate) look: LookArgs,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum CaptureCommand {
    /// List what is inside of a capture, before it is sent
    Show(ShowArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ShowArgs {
    /// The capture
    pub(crate) file: PathBuf,
    /// The moment of which to list: a time, or seconds from its beginning; the first look, where none is given
    #[arg(long, value_name = "MOMENT")]
    pub(crate) at: Option<String>,
    /// List everything of each kind
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum EnginesCommand {
    /// List the engines, and where the tables of each come from
    List(EnginesArgs),
    /// Check tables that you wrote: faults with their line, exit code 3 where there are any
    Check {
        /// A folder of one engine, or one of such folders
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct EnginesArgs {
    /// Tables that replace or add to the built-in ones
    #[arg(long, value_name = "DIR")]
    pub(crate) engines: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DemoArgs {
    /// Leave the recorded deployment up after the answers, until interrupted
    #[arg(long)]
    pub(crate) keep: bool,
    /// The moment of the recording at which it begins, in seconds; its end, where that is beyond it
    #[arg(long, value_name = "SECONDS")]
    pub(crate) at: Option<f64>,
}
