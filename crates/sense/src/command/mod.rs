//! The few programs of this host that are asked, and nothing else can be run: each only tells, and none through a shell.
//!
//! A program is looked for in the system's own folders only, starts with an empty environment, and ends by a deadline
//! and a cap of what it may print.

mod gpu;
mod journal;
mod run;
#[cfg(test)]
mod run_test;
mod unit;

use std::time::Duration;

use model::{Blind, BlindKind, Time};
use serde::{Deserialize, Serialize};

pub(crate) use run::{Runner, STDOUT, shown};

use crate::capture::form::not;

/// How long a program may take by default.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// A program with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// `journalctl`: messages of a unit, one JSON object a line (`MESSAGE`, `_PID`, `__REALTIME_TIMESTAMP` in
    /// microseconds and others).
    Journal {
        /// The unit's name.
        unit: String,
        /// The user whose own systemd runs it.
        user: Option<u32>,
        /// Nothing older than this.
        since: Option<Time>,
        /// Nothing younger than this.
        until: Option<Time>,
        /// That many of the newest, *newest first*, so that the cap of output costs the oldest; without it all, oldest
        /// first, so that the cap costs the newest.
        newest: Option<u32>,
    },
    /// `nvidia-smi`: which process holds how much memory of which GPU, read by [`crate::gpu::gpu_apps`].
    GpuMemory,
    /// `nvidia-smi`: the GPUs, read by [`crate::gpu::gpus`].
    GpuList,
    /// `systemctl show`: files, command, times and state of a unit, as `Name=value` lines, times in UTC. Never its
    /// `Environment`, which may hold secrets; `ExecStart` may, too, as any command line.
    UnitProperties {
        /// The unit's name.
        unit: String,
        /// The user whose own systemd runs it.
        user: Option<u32>,
    },
}

/// What a program printed and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// What it printed, at most 4 MiB.
    #[serde(with = "wire::capture::bytes")]
    pub stdout: Vec<u8>,
    /// There was more; the program was ended.
    #[serde(default, skip_serializing_if = "not")]
    pub cut: bool,
    /// What it complained of: at most 2 KiB, safe to show.
    pub stderr: String,
    /// Its exit code; `None` when it was ended by us for its output.
    pub code: Option<i32>,
}

/// What is to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) program: &'static str,
    pub(crate) args: Vec<String>,
    /// Its environment beyond what every program gets.
    pub(crate) env: Vec<(&'static str, String)>,
}

impl Command {
    /// The program's name.
    pub fn program(&self) -> &'static str {
        match self {
            Command::Journal { .. } => "journalctl",
            Command::GpuMemory | Command::GpuList => "nvidia-smi",
            Command::UnitProperties { .. } => "systemctl",
        }
    }

    /// What it asks, in words and without times.
    pub(crate) fn key(&self) -> Vec<String> {
        let mut key = vec!["run".to_owned(), self.program().to_owned()];
        let mut of = |unit: &str, user: Option<u32>| {
            key.extend([unit.to_owned(), user.map_or_else(|| "system".to_owned(), |user| user.to_string())]);
        };
        match self {
            Command::Journal { unit, user, newest, .. } => {
                of(unit, *user);
                key.push(if newest.is_some() { "newest" } else { "start" }.to_owned());
            }
            Command::UnitProperties { unit, user } => of(unit, *user),
            Command::GpuMemory => key.push("memory".to_owned()),
            Command::GpuList => key.push("list".to_owned()),
        }
        key
    }

    pub(crate) fn plan(&self) -> Result<Plan, Blind> {
        let (args, env) = match self {
            Command::Journal { unit, user, since, until, newest } => {
                (journal::args(named(unit)?, *user, *since, *until, *newest), Vec::new())
            }
            Command::GpuMemory => (gpu::memory(), Vec::new()),
            Command::GpuList => (gpu::list(), Vec::new()),
            Command::UnitProperties { unit, user } => (unit::args(named(unit)?, *user), unit::env(*user)?),
        };
        Ok(Plan { program: self.program(), args, env })
    }

    /// What to ask as well when `ran` leaves a doubt: only its complaints count.
    pub(crate) fn doubt(&self, ran: &Ran) -> Option<Plan> {
        match self {
            Command::Journal { unit, user, .. } if ran.stdout.is_empty() && ran.code == Some(0) => {
                Some(Plan { program: self.program(), args: journal::remarks(unit, *user), env: Vec::new() })
            }
            _ => None,
        }
    }

    /// What `ran` means: some answers are the absence of one.
    pub(crate) fn judge(&self, ran: Ran) -> Result<Ran, Blind> {
        if ran.code.is_none() && !ran.cut {
            return Err(Blind::new(BlindKind::Gone, format!("{} was ended by a signal", self.program())));
        }
        match self {
            Command::Journal { unit, .. } => journal::judge(unit, ran),
            Command::GpuMemory | Command::GpuList => gpu::judge(ran),
            Command::UnitProperties { .. } => unit::judge(ran),
        }
    }
}

/// Longest name of a unit, characters.
const NAME: usize = 256;

/// `unit`, if it can be a unit's name and nothing else: no option, no pattern, no path.
fn named(unit: &str) -> Result<&str, Blind> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || ":-_.\\@".contains(letter);
    if unit.is_empty() || unit.len() > NAME || unit.starts_with('-') || !unit.chars().all(fits) {
        let shown = crate::text::printable(unit.as_bytes(), 60);
        return Err(Blind::new(BlindKind::Denied, format!("`{shown}` is no name of a unit; nothing was run")));
    }
    Ok(unit)
}

/// The first line of what a program said, for people.
fn first_line(ran: &Ran) -> String {
    let said = crate::text::printable(ran.stdout.split(|&byte| byte == b'\n').next().unwrap_or_default(), 200);
    let complaint = ran.stderr.lines().next().unwrap_or_default();
    if complaint.is_empty() { said } else { complaint.to_string() }
}
