//! The reference deployment as systemd units (lab/units.py) for tests: a systemd and a journald of its own, seen from
//! inside or with parts of it hidden, and the truth that does not come through plimsoll: the journal's lines as
//! `journalctl` gives them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::lab::number;
use crate::script::Script;

/// A running deployment; ended when dropped.
pub struct Units {
    script: Script,
    /// What `units.py` says of it: pids, ports, unit files.
    pub told: Value,
}

/// What a command inside shall not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hide {
    /// Every server's HTTP: it is in another network namespace, which has no connection, and may not enter theirs.
    Http,
    /// The journal: no journal file is there.
    Journal,
    /// Root's rights: it runs as an ordinary user in no group.
    Rights,
}

/// One line of a server's log.
#[derive(Debug, Clone)]
pub struct Line {
    /// Unix seconds, by the journal's clock (microseconds) or, in a file, by the line's own (whole seconds, UTC).
    pub at: f64,
    /// The line.
    pub text: String,
}

/// What a log line says of a decode batch.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// As in [`Line`].
    pub at: f64,
    /// Tokens in use.
    pub tokens: f64,
    /// Requests in the batch.
    pub running: f64,
}

/// Shared memory that was put out of sight; there again when dropped.
pub struct Hidden {
    moved: Vec<(PathBuf, PathBuf)>,
}

impl Units {
    /// Starts router, prefill and decode, and what these arguments of `units.py` say besides. None where this machine
    /// cannot do it; standard error has the reason.
    ///
    /// # Panics
    /// When they do not come up.
    pub fn start(arguments: &[&str]) -> Option<Units> {
        let (script, told) = Script::start("units.py", arguments)?;
        Some(Units { script, told })
    }

    /// Copies a program to where it can be run inside, as anyone; its path there.
    ///
    /// # Panics
    /// When it cannot be copied.
    pub fn install(&self, program: &str) -> String {
        let name = Path::new(program).file_name().expect("a file").to_string_lossy().into_owned();
        let place = format!("/srv/bin/{name}");
        let copy = self.outside(&place);
        std::fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder inside");
        std::fs::copy(program, &copy).unwrap_or_else(|error| panic!("{}: {error}", copy.display()));
        place
    }

    /// Where a path inside is as seen from outside.
    ///
    /// # Panics
    /// When `units.py` did not say.
    pub fn outside(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("{}{path}", self.told["root"].as_str().expect("a root")))
    }

    /// A command inside, as root, that sees everything.
    pub fn inside(&self, program: &str) -> Command {
        self.hiding(&[], program)
    }

    /// A command inside that sees all but these.
    pub fn hiding(&self, hidden: &[Hide], program: &str) -> Command {
        let mut words: Vec<OsString> = Vec::new();
        let mut say = |text: &str| words.extend(text.split(' ').map(OsString::from));
        say(&format!("-t {} -m -u -i -p -C", self.told["systemd_pid"]));
        say(if hidden.contains(&Hide::Http) { "-- unshare --net" } else { "-n --" });
        if hidden.contains(&Hide::Journal) {
            say("unshare --mount sh -c");
            words.push(WITHOUT_JOURNAL.into());
            words.push("sh".into());
        }
        let mut say = |text: &str| words.extend(text.split(' ').map(OsString::from));
        if hidden.contains(&Hide::Rights) {
            say("setpriv --reuid=65534 --regid=65534 --clear-groups");
        } else if hidden.contains(&Hide::Http) {
            // Else root enters the servers' namespace all the same.
            say("setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin");
        }
        let mut command = Command::new("nsenter");
        command.args(words).arg(program).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("NO_COLOR", "1");
        command
    }

    /// Puts the servers' load snapshots out of sight, for everybody; the servers go on writing into them.
    ///
    /// # Panics
    /// When there are none.
    pub fn hide_shared_memory(&self) -> Hidden {
        let shown = self.outside("/dev/shm");
        let away = shown.join("away");
        std::fs::create_dir_all(&away).expect("a folder");
        let files = std::fs::read_dir(&shown).expect("shared memory").filter_map(Result::ok);
        let snapshots = files.filter(|file| file.path().extension().is_some_and(|ending| ending == "shm"));
        let moved: Vec<_> = snapshots.map(|file| (file.path(), away.join(file.file_name()))).collect();
        assert!(!moved.is_empty(), "the servers have load snapshots");
        for (here, there) in &moved {
            std::fs::rename(here, there).expect("it moves");
        }
        Hidden { moved }
    }

    /// Starts a load (`load.py`'s arguments, separated by blanks).
    ///
    /// # Panics
    /// When it does not start.
    pub fn load(&self, arguments: &str) -> Child {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.told["netns_pid"].to_string(), "-n", "python3", "-B"]);
        command.arg(self.script.folder.join("load.py")).args(arguments.split(' ')).stdout(Stdio::piped());
        command.spawn().expect("load.py starts")
    }

    /// A unit's process as it is seen inside.
    ///
    /// # Panics
    /// When there is no such unit.
    pub fn pid(&self, unit: &str) -> u64 {
        self.told["units"][unit]["pid_inside"].as_u64().unwrap_or_else(|| panic!("no pid of {unit}: {}", self.told))
    }

    /// A unit's process as it is seen from outside.
    ///
    /// # Panics
    /// When there is no such unit.
    pub fn pid_outside(&self, unit: &str) -> u64 {
        self.told["units"][unit]["pid"].as_u64().unwrap_or_else(|| panic!("no pid of {unit}: {}", self.told))
    }

    /// How many canaries lie in the servers' files.
    ///
    /// # Panics
    /// When `units.py` did not say, or a secret is none.
    pub fn canaries(&self) -> usize {
        let secrets = self.told["secrets"].as_array().expect("secrets");
        assert!(secrets.iter().all(|secret| secret.as_str().and_then(crate::canary::found) == Some(0)));
        secrets.len()
    }

    /// What the unit's processes wrote into the journal, oldest first.
    ///
    /// # Panics
    /// When `journalctl` does not say.
    pub fn journal(&self, unit: &str) -> Vec<Line> {
        let words =
            ["--output=json", "--output-fields=MESSAGE", "--all", "--no-pager", &format!("_SYSTEMD_UNIT={unit}")];
        let output = self.inside("journalctl").args(words).output().expect("journalctl runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("JSON");
        let records = text.lines().map(|line| serde_json::from_str(line).expect("a record"));
        records.filter_map(|record: Value| entry(&record)).collect()
    }

    /// The unit's log, wherever it goes; of a file only the lines that begin with a time.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn log(&self, unit: &str) -> Vec<Line> {
        let place = self.told["units"][unit]["log"].as_str().expect("a place of the log");
        if place == "journal" {
            return self.journal(unit);
        }
        let bytes = std::fs::read(self.outside(place)).expect("a log file");
        let text = String::from_utf8_lossy(&bytes);
        text.lines().filter_map(|line| Some(Line { at: stamp(line)?, text: line.to_owned() })).collect()
    }

    /// What the unit's log says of its decode batches, oldest first.
    pub fn steps(&self, unit: &str) -> Vec<Step> {
        self.log(unit).iter().filter_map(step).collect()
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        for (here, there) in &self.moved {
            let _ = std::fs::rename(there, here);
        }
    }
}

/// Runs its arguments where the journal's folders are empty.
const WITHOUT_JOURNAL: &str = "for d in /var/log/journal /run/log/journal; do \
     if [ -d $d ]; then mount -t tmpfs none $d || exit 99; fi; done; exec \"$@\"";

fn entry(record: &Value) -> Option<Line> {
    let micros: f64 = record["__REALTIME_TIMESTAMP"].as_str()?.parse().ok()?;
    let text = match &record["MESSAGE"] {
        Value::String(text) => text.clone(),
        // what is no plain text comes as bytes
        Value::Array(bytes) => {
            let bytes: Vec<u8> = bytes.iter().filter_map(|byte| u8::try_from(byte.as_u64()?).ok()).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        }
        _ => return None,
    };
    Some(Line { at: micros / 1.0e6, text })
}

/// `… Decode batch, #running-req: 3, #token: 4040, …`
fn step(line: &Line) -> Option<Step> {
    let (_, rest) = line.text.split_once("Decode batch")?;
    Some(Step { at: line.at, tokens: number(rest, "#token: ")?, running: number(rest, "#running-req: ")? })
}

/// `[2026-11-29 18:45:29] …`, with more behind the time where there are ranks.
fn stamp(line: &str) -> Option<f64> {
    let time = line.strip_prefix('[')?.get(..19)?.replace(' ', "T") + "Z";
    let at: jiff::Timestamp = time.parse().ok()?;
    Some(at.as_second() as f64)
}
