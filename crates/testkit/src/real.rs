//! Real programs for tests: started on free loopback ports in a folder of their own, ended by their own pid.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Whether tests with real programs are to run: the test command sets this after it has installed them.
pub fn wanted() -> bool {
    std::env::var_os("PLIMSOLL_REAL").is_some()
}

/// A real program; ended when dropped.
pub struct Real {
    child: Child,
}

impl Real {
    /// Starts `program`; what it says goes to `log`.
    ///
    /// # Panics
    /// When it is not installed or cannot be started.
    pub fn start(program: &str, arguments: &[String], log: &Path) -> Real {
        let log = std::fs::File::create(log).expect("a log file");
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log file"))
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("{program} does not start: {error}"));
        Real { child }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A loopback port that nobody listens on now.
///
/// # Panics
/// When there is none.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port()
}

/// Waits until something listens on a loopback port.
///
/// # Panics
/// When nothing does within a minute.
pub fn wait_for_port(port: u16) {
    wait_until("a listener", || TcpStream::connect(("127.0.0.1", port)).is_ok());
}

/// Waits until `done`, a minute at most.
///
/// # Panics
/// When it is not done by then.
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_mins(1), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
