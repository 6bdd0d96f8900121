//! `plimsoll serve` as a unit of the deployment's systemd (`packaging/plimsoll.service`), and what it says of the fleet, asked
//! through its socket, which is reached from outside as well.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::systemd::Units;

/// The unit.
const UNIT: &str = "plimsoll.service";
/// Where it reads its configuration.
pub const SETTINGS: &str = "/etc/plimsoll/plimsoll.toml";

/// The service in a deployment.
pub struct Service<'a> {
    /// The deployment.
    pub units: &'a Units,
}

impl Service<'_> {
    /// Copies the unit as it is but for where the program lies.
    ///
    /// # Panics
    /// When it cannot be copied.
    pub fn install(&self, program: &str) {
        let text = packaged(UNIT);
        assert!(text.contains("\nExecStart=/usr/local/bin/plimsoll serve\n"), "{text}");
        let text = text.replace("/usr/local/bin/plimsoll", program);
        std::fs::write(self.units.outside("/etc/systemd/system").join(UNIT), text).expect("a unit");
        self.systemctl(&["daemon-reload"]);
    }

    /// Puts drop-ins in the place of those that were there: of `packaging/`, or with a text of one's own.
    ///
    /// # Panics
    /// When they cannot be written.
    pub fn drop_ins(&self, names: &[&str], own: &str) {
        let folder = self.units.outside("/etc/systemd/system").join(format!("{UNIT}.d"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        for name in names {
            std::fs::write(folder.join(name), packaged(name)).expect("a drop-in");
        }
        if !own.is_empty() {
            std::fs::write(folder.join("own.conf"), own).expect("a drop-in");
        }
        self.systemctl(&["daemon-reload"]);
    }

    /// Writes its configuration.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn settings(&self, text: &str) {
        let path = self.units.outside(SETTINGS);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("its folder");
        std::fs::write(path, text).expect("its configuration");
    }

    /// Runs `systemctl`, which must succeed; how long it took.
    ///
    /// # Panics
    /// When it fails.
    pub fn systemctl(&self, words: &[&str]) -> Duration {
        let begun = Instant::now();
        let output = self.units.inside("systemctl").args(words).output().expect("systemctl runs");
        let took = begun.elapsed();
        assert!(output.status.success(), "{words:?}: {}\n{}", text(&output.stderr), self.journal());
        took
    }

    /// What it wrote into the journal.
    pub fn journal(&self) -> String {
        let lines = self.units.journal(UNIT);
        lines.iter().map(|line| format!("{}\n", line.text)).collect()
    }

    /// A property of the unit.
    ///
    /// # Panics
    /// When systemd does not say.
    pub fn property(&self, name: &str) -> String {
        let words = ["show", UNIT, "-p", name, "--value"];
        let output = self.units.inside("systemctl").args(words).output().expect("systemctl runs");
        text(&output.stdout).trim().to_owned()
    }

    /// Runs a command of plimsoll's as a user with no rights and no group.
    pub fn stranger(&self, program: &str, words: &[&str]) -> Output {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.units.told["systemd_pid"].to_string(), "-a", "--", "setpriv"]);
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", program]).args(words);
        crate::canary::run(command.env_clear().env("PATH", "/usr/bin:/bin").env("NO_COLOR", "1"))
    }

    /// What it answers to a GET; nothing where it does not.
    pub fn get(&self, path: &str) -> Option<String> {
        let mut stream = UnixStream::connect(self.units.outside("/run/plimsoll/serve.sock")).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
        stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").as_bytes()).ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        let answer = text(&answer);
        crate::canary::check("plimsoll serve", "page", &answer);
        let (head, body) = answer.split_once("\r\n\r\n")?;
        (head.split(' ').nth(1) == Some("200")).then(|| body.to_owned())
    }

    /// A document of its API.
    ///
    /// # Panics
    /// When it does not answer with one.
    pub fn document(&self, path: &str) -> Value {
        let body = self.get(path).unwrap_or_else(|| panic!("{path}: no answer; {}", self.journal()));
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{path}: {error}: {body}"))
    }

    /// The fleet.
    pub fn overview(&self) -> Value {
        self.document("/api/v1/overview")
    }

    /// Waits until the fleet is as is wanted.
    ///
    /// # Panics
    /// When it is not within so many seconds.
    pub fn wait(&self, what: &str, seconds: u64, wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let now = self.overview();
            if wanted(&now) {
                return now;
            }
            assert!(begun.elapsed() < Duration::from_secs(seconds), "waited in vain for {what}: {now}");
            std::thread::sleep(Duration::from_millis(250));
        }
    }

    /// Events of these kinds, oldest first.
    ///
    /// # Panics
    /// When it does not say.
    pub fn events(&self, kinds: &str) -> Vec<Value> {
        let all = self.document(&format!("/api/v1/events?kind={kinds}"));
        all["events"].as_array().expect("events").clone()
    }

    /// Everything kept of a signal of a server from `from` (Unix seconds) on: time, state, value.
    ///
    /// # Panics
    /// When it does not say.
    pub fn history(&self, server: &str, signal: &str, from: f64) -> Vec<(f64, char, Option<f64>)> {
        let words = format!("server={server}&signal={signal}&from={from}&points=5000");
        let all = self.document(&format!("/api/v1/history?{words}"));
        let series = all["series"].as_array().expect("series");
        assert!(series.len() <= 1, "{server} has one pool: {all}");
        let Some(series) = series.first() else { return Vec::new() };
        let looks = &series["looks"];
        let states = looks["state"].as_str().expect("states").chars();
        let values = looks["value"].as_array().expect("values").iter().map(Value::as_f64);
        let times = looks["at"].as_array().expect("times").iter().map(|at| at.as_f64().expect("a time"));
        times.zip(states).zip(values).map(|((at, state), value)| (at, state, value)).collect()
    }
}

/// The server at this address.
///
/// # Panics
/// When there is none, or more than one.
pub fn card<'a>(overview: &'a Value, url: &str) -> &'a Value {
    let mut cards = overview["servers"].as_array().expect("servers").iter().filter(|server| server["url"] == url);
    let card = cards.next().unwrap_or_else(|| panic!("no {url}: {overview}"));
    assert!(cards.next().is_none(), "{url} is there twice: {overview}");
    card
}

fn packaged(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
