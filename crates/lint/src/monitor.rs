//! The programs of `monitors.toml`, and recognising them from a command line.

use std::net::IpAddr;
use std::sync::OnceLock;

use serde::Deserialize;

/// All programs of `monitors.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Monitors {
    monitor: Vec<Monitor>,
}

/// One program; see `monitors.toml` for the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    /// Its name in JSON.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What it does.
    pub kind: Kind,
    commands: Vec<String>,
    listen: String,
    port: u16,
    /// Lists what it scrapes.
    #[serde(default)]
    pub targets: Option<String>,
    /// Answers queries.
    #[serde(default)]
    pub query: Option<String>,
    /// Answered by this program only.
    #[serde(default)]
    pub alive: Option<String>,
    #[serde(default)]
    config: Option<String>,
    #[serde(default)]
    prefix: Vec<String>,
}

/// What a monitor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Fetches pages.
    Scrapes,
    /// Sends alerts.
    Alerts,
    /// Draws graphs.
    Draws,
}

/// A monitor as its command line says it runs.
#[derive(Debug)]
pub struct Running {
    /// Which one.
    pub monitor: &'static Monitor,
    /// The address that its flag gives, if it gives one.
    pub address: Option<IpAddr>,
    /// The port that it listens on, by its flag or by default.
    pub port: u16,
    /// The flag is there: the port is no guess.
    pub told: bool,
    /// The path in front of all its paths; empty for none.
    pub prefix: String,
    /// The file that says what it scrapes.
    pub config: Option<String>,
}

/// The built-in programs.
pub fn monitors() -> &'static Monitors {
    static MONITORS: OnceLock<Monitors> = OnceLock::new();
    MONITORS.get_or_init(|| {
        // A test reads the file; an unreadable one would only mean that no monitor is known.
        toml::from_str(include_str!("../../../monitors.toml")).unwrap_or(Monitors { monitor: Vec::new() })
    })
}

impl Monitors {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Monitor> {
        self.monitor.iter()
    }

    /// The titles of those that do `kind` (or of all), as a list for people: `A, B or C`.
    pub fn titles(&self, kind: Option<Kind>, last: &str) -> String {
        let of_kind = self.iter().filter(|monitor| kind.is_none_or(|kind| monitor.kind == kind));
        let titles: Vec<&str> = of_kind.map(|monitor| monitor.title.as_str()).collect();
        match titles.split_last() {
            Some((end, rest)) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
            Some((only, _)) => (*only).to_owned(),
            None => String::new(),
        }
    }

    /// The paths that may be asked of monitors.
    pub fn allowed(&self) -> Vec<String> {
        self.iter().flat_map(|monitor| [&monitor.targets, &monitor.query, &monitor.alive]).flatten().cloned().collect()
    }

    /// Words of which one stands in the command line of every monitor.
    pub fn words(&self) -> Vec<String> {
        self.iter().flat_map(|monitor| monitor.commands.iter().cloned()).collect()
    }

    /// The monitor that this command line runs.
    pub fn recognise(&'static self, argv: &[String]) -> Option<Running> {
        let program = argv.first()?.rsplit('/').next()?;
        let monitor = self.iter().find(|monitor| monitor.commands.iter().any(|command| command == program))?;
        let listen = value(argv, &monitor.listen);
        let told: Option<u16> = listen.as_deref().and_then(|address| address.rsplit(':').next()?.parse().ok());
        let host = listen.as_deref().and_then(|address| address.rsplit_once(':')).map(|(host, _)| host);
        let prefix = monitor.prefix.iter().find_map(|flag| value(argv, flag)).map(|path| prefix(&path));
        let config = monitor.config.as_deref().and_then(|flag| value(argv, flag));
        Some(Running {
            monitor,
            address: host.and_then(|host| host.trim_matches(['[', ']']).parse().ok()),
            port: told.unwrap_or(monitor.port),
            told: told.is_some(),
            prefix: prefix.unwrap_or_default(),
            config,
        })
    }
}

/// The path of an address, or a path as it stands: starting with `/`, not ending in one.
fn prefix(text: &str) -> String {
    let path = match text.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
        None => text,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_matches('/');
    if path.is_empty() { String::new() } else { format!("/{path}") }
}

/// The value of `-flag`, `--flag`, with `=` or as the next word.
fn value(argv: &[String], flag: &str) -> Option<String> {
    argv.iter().enumerate().find_map(|(index, word)| {
        let word = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
        match word.strip_prefix(flag)? {
            "" => argv.get(index + 1).cloned(),
            rest => rest.strip_prefix('=').map(str::to_owned),
        }
    })
}
