//! Stand-ins: real processes under any command line, which only sleep and listen.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};

use crate::canary::planted_in;

/// Says to a test program that it runs as a stand-in, and on which loopback ports it listens (separated by commas).
const LISTEN: &str = "PLIMSOLL_STANDIN";

/// Says to a stand-in which file it holds open for reading and writing.
const HOLD: &str = "PLIMSOLL_STANDIN_HOLDS";

/// The file in its working folder in which a stand-in keeps what it was asked.
pub const REQUESTS: &str = "requests";

/// The file in its working folder that a stand-in sends to who greets as a subscriber of ZMQ does; then it waits.
pub const PUBLISHES: &str = "publishes";

/// A running stand-in; ended when dropped.
pub struct Standin {
    child: Child,
}

/// What a stand-in leaves on its host.
pub struct Leaves {
    /// Where its standard output goes.
    pub output: Stdio,
    /// A file that it holds open, and may write to.
    pub held: Option<PathBuf>,
}

/// A test of a program whose links are stand-ins.
pub type Test = fn() -> Result<(), Failed>;

/// What `main` of such a test program does: runs these tests by their names, or acts as a stand-in, see [`acts`].
pub fn run(tests: &[(&str, Test)]) -> ExitCode {
    if acts() {
        return ExitCode::SUCCESS;
    }
    let trials = tests.iter().map(|(name, test)| Trial::test(*name, *test)).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// To be called first in a test program whose links are stand-ins: acts as one, if it was started as one, listening and
/// answering 404 until its standard input ends, and then returns true.
pub fn acts() -> bool {
    let Ok(ports) = std::env::var(LISTEN) else { return false };
    for port in ports.split(',').filter(|port| !port.is_empty()) {
        let Ok(listener) = TcpListener::bind(format!("127.0.0.1:{port}")) else { continue };
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut request = [0; 4096];
                let read = stream.read(&mut request).unwrap_or(0);
                let log = std::fs::OpenOptions::new().create(true).append(true).open(REQUESTS);
                let _ = log.and_then(|mut log| log.write_all(&request[..read]));
                if let (true, Ok(published)) = (request.starts_with(b"\xff"), std::fs::read(PUBLISHES)) {
                    let _ = stream.write_all(&published);
                    // Until the subscriber hangs up.
                    while stream.read(&mut request).is_ok_and(|read| read > 0) {}
                    continue;
                }
                let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            }
        });
    }
    let held = std::env::var_os(HOLD);
    let _held = held.map(|path| std::fs::OpenOptions::new().read(true).write(true).open(path));
    let mut ignored = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut ignored);
    true
}

/// Puts links to this very program, called `names`, into `folder`.
///
/// # Panics
/// When they cannot be made.
pub fn links(folder: &Path, names: &[&str]) -> PathBuf {
    let program = std::env::current_exe().expect("our own path");
    for name in names {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::os::unix::fs::symlink(&program, path).expect("a link");
    }
    folder.to_path_buf()
}

impl Standin {
    /// Starts `argv` with `folder` first in the search path and as its working folder; `title` is its first argument as
    /// others see it, where that differs.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(folder: &Path, argv: &[String], title: Option<&str>, listen: &str) -> Standin {
        Standin::leaving(folder, argv, title, listen, Leaves { output: Stdio::null(), held: None })
    }

    /// The same, with what it leaves beside its answers.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn leaving(folder: &Path, argv: &[String], title: Option<&str>, listen: &str, leaves: Leaves) -> Standin {
        use std::os::unix::process::CommandExt as _;
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
        let here = folder.join(&argv[0]);
        let mut command = Command::new(if here.exists() { here.as_os_str() } else { argv[0].as_ref() });
        let child = command
            .arg0(title.unwrap_or(&argv[0]))
            .args(&argv[1..])
            .env("PATH", path)
            .env(LISTEN, listen)
            .envs(leaves.held.map(|path| (HOLD, path)))
            .env("TZ", "UTC")
            .env("HF_TOKEN", planted_in("environment"))
            .env("SGLANG_API_KEY", planted_in("environment-key"))
            .env("HTTPS_PROXY", format!("http://me:{}@proxy.invalid:1", planted_in("environment-url")))
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(leaves.output)
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", argv[0]));
        Standin { child }
    }

    /// Its process, and every process below it that is there now.
    pub fn pids(&self) -> Vec<u32> {
        let mut pids = vec![self.child.id()];
        let mut next = 0;
        while let Some(pid) = pids.get(next).copied() {
            let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
            pids.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
            next += 1;
        }
        pids
    }
}

impl Drop for Standin {
    fn drop(&mut self) {
        let below = self.pids();
        drop(self.child.stdin.take());
        for pid in below.into_iter().skip(1).rev() {
            let _ = Command::new("kill").arg(pid.to_string()).stderr(Stdio::null()).status();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
