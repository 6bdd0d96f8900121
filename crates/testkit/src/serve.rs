//! A running `plimsoll serve`, and what it answers.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

/// One look in the history: its time in seconds since 1970, what was said, and how, a letter.
pub type Kept = (f64, Option<f64>, char);

/// One that runs; ended by its own pid when dropped.
pub struct Serve {
    child: Child,
    port: u16,
    log: PathBuf,
    manager: Manager,
}

/// Stands in for the service manager: keeps what it is told.
struct Manager {
    path: PathBuf,
    told: Arc<Mutex<String>>,
}

impl Manager {
    fn listen(path: PathBuf) -> Manager {
        let socket = UnixDatagram::bind(&path).expect("a socket");
        let told = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&told);
        std::thread::spawn(move || {
            let mut room = vec![0; 64 << 10];
            // Nothing at all is what it is told at the end.
            while let Ok(length @ 1..) = socket.recv(&mut room) {
                let text = String::from_utf8_lossy(&room[..length]).into_owned() + "\n";
                heard.lock().expect("no panic while locked").push_str(&text);
            }
        });
        Manager { path, told }
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        if let Ok(socket) = UnixDatagram::unbound() {
            let _ = socket.send_to(&[], &self.path);
        }
    }
}

impl Serve {
    /// Starts `program serve` with these arguments on a free port; its history is in `folder/data`, its socket in `folder/run`.
    ///
    /// # Panics
    /// When it is not ready within a minute.
    pub fn start(program: &str, folder: &Path, arguments: &[&str]) -> Serve {
        let serve = Serve::begin(program, folder, arguments);
        serve.wait_for_page();
        serve
    }

    /// The same, without waiting for it.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn begin(program: &str, folder: &Path, arguments: &[&str]) -> Serve {
        Serve::begin_on(crate::real::free_port(), program, folder, arguments)
    }

    /// The same on a port that an earlier one had.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn begin_on(port: u16, program: &str, folder: &Path, arguments: &[&str]) -> Serve {
        let listen = format!("127.0.0.1:{port}");
        let data = folder.join("data");
        let data = ["--data".to_owned(), data.to_str().expect("a path").to_owned()];
        let data = if arguments.iter().any(|own| ["--data", "--no-history"].contains(own)) { &[][..] } else { &data };
        let log = folder.join(format!("serve-{port}.log"));
        let out = std::fs::File::create(&log).expect("a log file");
        std::fs::create_dir_all(folder.join("run")).expect("a folder");
        let manager = folder.join(format!("run/manager-{port}"));
        let _ = std::fs::remove_file(&manager);
        let manager = Manager::listen(manager);
        let child = Command::new(program)
            .args(["serve", "--listen", &listen])
            .args(data)
            .args(arguments)
            .env("XDG_RUNTIME_DIR", folder.join("run"))
            .env("RUNTIME_DIRECTORY", folder.join("run/plimsoll"))
            .env("NOTIFY_SOCKET", &manager.path)
            .env("NO_COLOR", "1")
            .env(crate::OWN, crate::canary::planted_in("own-environment"))
            .stdin(Stdio::null())
            .stdout(out.try_clone().expect("a log file"))
            .stderr(out)
            .spawn()
            .expect("it starts");
        Serve { child, port, log, manager }
    }

    /// Waits until the page is there.
    ///
    /// # Panics
    /// When it is not within a minute.
    pub fn wait_for_page(&self) {
        crate::real::wait_until("the page", || {
            !self.log().is_empty() && TcpStream::connect(("127.0.0.1", self.port)).is_ok()
        });
    }

    /// What it printed.
    ///
    /// # Panics
    /// When its log cannot be read.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).expect("its log")
    }

    /// What it told the service manager.
    ///
    /// # Panics
    /// When the thread that listens panicked.
    pub fn told(&self) -> String {
        self.manager.told.lock().expect("no panic while locked").clone()
    }

    /// The page's port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// GETs a path: status and body.
    ///
    /// # Panics
    /// When there is no answer.
    pub fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        let question = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(question.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, body.to_owned())
    }

    /// GETs a document of the API.
    ///
    /// # Panics
    /// When it is none.
    pub fn json(&self, path: &str) -> Value {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{path}: {error}: {body}"))
    }

    /// The card of the server at `url` in the overview.
    pub fn card(&self, url: &str) -> Option<Value> {
        let overview = self.json("/api/v1/overview");
        overview["servers"].as_array()?.iter().find(|server| server["url"] == url).cloned()
    }

    /// What the history has of a signal of the server's first pool.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn history(&self, url: &str, signal: &str) -> Vec<Kept> {
        self.history_of_all(url, signal).into_iter().next().unwrap_or_default()
    }

    /// The same of each pool that has it; nothing where nothing is kept of the server.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn history_of_all(&self, url: &str, signal: &str) -> Vec<Vec<Kept>> {
        let (status, body) = self.get(&format!("/api/v1/history?server={url}&signal={signal}&points=5000"));
        if status == 404 {
            return Vec::new();
        }
        let past: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
        assert_eq!(past["notes"], Value::Array(Vec::new()), "{}", past["notes"]);
        past["series"].as_array().expect("series").iter().map(looks).collect()
    }

    /// The events of a kind, oldest first.
    ///
    /// # Panics
    /// When there is no answer.
    pub fn events(&self, kind: &str) -> Vec<Value> {
        self.json(&format!("/api/v1/events?kind={kind}"))["events"].as_array().expect("events").clone()
    }

    /// Sends a signal, by its name.
    ///
    /// # Panics
    /// When it cannot be sent.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.pid().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Waits for its end: how it ended, and after how long.
    ///
    /// # Panics
    /// When it does not end within half a minute.
    pub fn ended(mut self) -> (ExitStatus, Duration) {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return (status, begun.elapsed());
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The looks of a series.
fn looks(series: &Value) -> Vec<Kept> {
    let column = |name: &str| series["looks"][name].as_array().expect("a column").iter().map(Value::as_f64);
    let letters = series["looks"]["state"].as_str().expect("states").chars();
    let both = column("at").zip(column("value")).zip(letters);
    both.map(|((at, value), letter)| (at.expect("a time"), value, letter)).collect()
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
