//! Processes that really run.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use model::BlindKind;
use sense::process::file_of;
use sense::{Place, Process, processes};

use crate::places::place;

/// Runs one test of this program again, as nobody; panics when it does not pass.
pub(crate) fn again_as_nobody(test: &str) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = dir.path().join("again");
    // By `cp`, not by us: a file that we wrote stays busy while a child forked by another test holds it open.
    assert!(Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap().success());
    let out = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"])
        .arg(&program)
        .args(["--exact", test, "--nocapture"])
        .current_dir(dir.path())
        .env("TMPDIR", "/tmp")
        .output();
    let Ok(out) = out else {
        eprintln!("skipped {test}: no setpriv here");
        return;
    };
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success() && said.contains("1 passed"), "as nobody: {said}");
}

/// A child that ends with its test.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts `command` and waits for the line that it prints once it is ready.
pub(crate) fn start(command: &mut Command) -> (Running, String) {
    let mut child = Running(command.stdout(Stdio::piped()).stdin(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().to_string())
}

pub(crate) fn here() -> Place {
    place(Path::new("/"))
}

/// The process among all that has this argument.
pub(crate) async fn find(mark: &str) -> Vec<Process> {
    processes(&here(), &[], |argv| argv.iter().any(|arg| arg == mark)).await.unwrap().found
}

fn python() -> bool {
    let there = Command::new("python3").arg("-c").arg("").status().is_ok_and(|status| status.success());
    if !there {
        eprintln!("skipped: no python3 here");
    }
    there
}

#[tokio::test]
async fn a_stand_in_with_chosen_arguments() {
    let mark = format!("--mark-a-{}", std::process::id());
    let dir = tempfile::tempdir().unwrap();
    let before = sense::clock::now();
    // the name of the program is chosen too, as a launcher or a title would
    let script = "exec -a engine-launch sh -c 'echo ready; read x; exit 0' sh \"$@\"";
    let mut command = Command::new("bash");
    command.args(["-c", script, "bash", &mark, "", "über"]).current_dir(dir.path()).env("SENSE_KEY", "canary");
    let (child, _) = start(&mut command);
    let found = find(&mark).await;
    let [process] = &found[..] else { panic!("{found:?}") };
    assert_eq!(process.pid, child.0.id());
    assert_eq!(process.ppid, std::process::id());
    assert_eq!(process.argv[0], "engine-launch");
    assert_eq!(process.argv[4..], [mark.as_str(), "", "über"]);
    assert_eq!(process.cwd.as_deref(), Some(dir.path().canonicalize().unwrap().as_path()));
    assert_eq!((process.same_netns_as_us, process.uid), (Some(true), rustix::process::getuid().as_raw()));
    assert!(process.exe.is_some() && process.denied.is_empty() && process.listening.is_empty());
    assert!((process.started_at.0 - before.0).abs() < 60.0, "{} {}", process.started_at.0, before.0);
    std::fs::write(dir.path().join("config"), "x").unwrap();
    assert_eq!(file_of(&here(), process.pid, Path::new("config"), 10).await.unwrap().text(), "x");
}

#[tokio::test]
async fn a_listener_in_a_forked_child() {
    if !python() {
        return;
    }
    let mark = format!("--mark-b-{}", std::process::id());
    // the parent listens nowhere itself; its child does
    let script = "
import os, socket, sys
r, w = os.pipe()
if os.fork() == 0:
    s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()
    t = socket.socket(socket.AF_INET6); t.bind(('::1', 0)); t.listen()
    os.write(w, f'{s.getsockname()[1]} {t.getsockname()[1]}\\n'.encode())
    sys.stdin.read()
    os._exit(0)
print(os.read(r, 100).decode(), end='', flush=True)
sys.stdin.read()
";
    let (child, line) = start(Command::new("python3").args(["-c", script, &mark]));
    let mut ports: Vec<u16> = line.split(' ').map(|port| port.parse().unwrap()).collect();
    ports.sort_unstable();
    let found = find(&mark).await;
    let parent = found.iter().find(|process| process.pid == child.0.id()).unwrap();
    let mut seen: Vec<u16> = parent.listening.iter().map(std::net::SocketAddr::port).collect();
    seen.sort_unstable();
    assert_eq!(seen, ports);
    let ips: Vec<String> = parent.listening.iter().map(|address| address.ip().to_string()).collect();
    assert_eq!(ips, ["127.0.0.1", "::1"]);
}

/// Another user's process: what it holds is hidden, what its namespace says is not.
#[tokio::test]
async fn another_users_process() {
    if rustix::process::geteuid().is_root() {
        // a process of root's is there to be looked at: the test program that waits for the other one
        again_as_nobody("proc_real::another_users_process");
        return;
    }
    let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get();
    let look = processes(&here(), &[], |_| true).await.unwrap();
    let Some(process) = look.found.iter().find(|process| process.pid == parent as u32 && process.uid == 0) else {
        eprintln!("skipped: not started by root");
        return;
    };
    assert!(process.denied.contains(&"fd") && process.denied.contains(&"exe"), "{process:?}");
    assert_ne!(process.same_netns_as_us, Some(false), "told by the sockets that listen, if there are any");
    assert!(look.denied > 0);
    let blind = file_of(&here(), process.pid, Path::new("/etc/hostname"), 10).await.unwrap_err();
    assert_eq!(blind.kind, BlindKind::Denied, "{blind}");
}
