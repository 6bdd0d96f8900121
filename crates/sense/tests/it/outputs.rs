//! Where the output of processes goes.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use model::BlindKind;
use sense::Wanted;
use sense::process::{Output, container_logs, journal_stream, outputs_of, readers_of};

use crate::proc_real::{Running, again_as_nobody, here};
use crate::proc_tree::Tree;

/// A process that does nothing, with these outputs.
fn sleeper(stdout: impl Into<Stdio>, stderr: impl Into<Stdio>, env: Option<(&str, String)>) -> Running {
    let mut command = Command::new("sleep");
    command.arg("600").stdin(Stdio::null()).stdout(stdout).stderr(stderr).envs(env).env("OTHER_KEY", "canary");
    Running(command.spawn().unwrap())
}

async fn of(child: &Running) -> (Output, Output) {
    let outputs = outputs_of(&here(), &[child.0.id()]).await.remove(0);
    assert_eq!(outputs.pid, child.0.id());
    (outputs.stdout, outputs.stderr)
}

#[tokio::test]
async fn files_and_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap().join("log");
    std::fs::write(&path, "said").unwrap();
    let child = sleeper(File::options().append(true).open(&path).unwrap(), Stdio::null(), None);
    let file = |deleted| Output::File { fd: 1, path: path.clone(), deleted };
    assert_eq!(of(&child).await, (file(false), Output::Nothing));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(of(&child).await.0, file(true));
    let wanted = Wanted::Descriptor { pid: child.0.id(), fd: 1 };
    assert_eq!(here().ends_each(vec![wanted], 0, 10).await.remove(0).unwrap().tail, b"said");
}

/// A `tee` behind a pipe, and the log that it writes.
#[tokio::test]
async fn a_pipe_into_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().canonicalize().unwrap().join("log");
    let (reader, writer) = std::io::pipe().unwrap();
    let child = sleeper(writer.try_clone().unwrap(), writer, None);
    let mut tee = Command::new("tee");
    tee.arg("-a").arg(&log).stdin(reader).stdout(Stdio::null()).stderr(Stdio::null());
    let tee = Running(tee.spawn().unwrap());
    // it opens its file a little after it has started
    while !log.exists() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let (stdout, stderr) = of(&child).await;
    assert_eq!(stdout, stderr);
    let Output::Pipe { inode } = stdout else { panic!("{stdout:?}") };
    let start = std::time::Instant::now();
    let readers = readers_of(&here(), &[inode, 1]).await;
    eprintln!("looked for the readers of a pipe among {} processes in {:?}", readers.seen, start.elapsed());
    // a child that another test is just starting may hold our end for a moment
    let found: Vec<_> =
        readers.found.iter().filter(|found| found.pid != std::process::id() && found.name == "tee").collect();
    let [found] = &found[..] else { panic!("{readers:?}") };
    assert_eq!((found.pipe, found.pid, &found.reads), (inode, tee.0.id(), &[inode].into()));
    let [file] = &found.files[..] else { panic!("{found:?}") };
    assert_eq!((&file.path, file.deleted), (&log, false));
    // another test may have very many files open
    assert!(readers.seen > 2 && readers.notes.iter().all(|note| note.id == "readers-cut"), "{readers:?}");
}

/// A socket is the journal's if its inode is the one that systemd left in the environment.
#[tokio::test]
async fn sockets() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let theirs = OwnedFd::from(theirs);
    let stat = rustix::fs::fstat(&theirs).unwrap();
    let stream = Some(("JOURNAL_STREAM", format!("{}:{}", stat.st_dev, stat.st_ino)));
    let child = sleeper(theirs.try_clone().unwrap(), Stdio::null(), stream);
    assert_eq!(of(&child).await.0, Output::Journal);
    // a child that overwrote its environment is known by its parent's socket
    let titled = sleeper(theirs.try_clone().unwrap(), Stdio::null(), None);
    let family = outputs_of(&here(), &[titled.0.id(), child.0.id()]).await;
    assert!(family.iter().all(|outputs| outputs.stdout == Output::Journal), "{family:?}");
    let other = Some(("JOURNAL_STREAM", format!("{}:{}", stat.st_dev, stat.st_ino + 1)));
    let child = sleeper(theirs, Stdio::null(), other);
    let stdout = of(&child).await.0;
    let Output::Unseen(blind) = &stdout else {
        // run as a service itself, this test's sockets count as the journal's
        assert_eq!(stdout, Output::Journal);
        return;
    };
    assert!(blind.kind == BlindKind::Gone && blind.text.contains("socket:["), "{blind}");
    assert!(!format!("{stdout:?}").contains("canary"));
    drop(ours);
}

#[test]
fn journal_streams() {
    assert_eq!(journal_stream(b"A=1\0JOURNAL_STREAM=8:12345\0B=2\0"), Some(12345));
    for environ in [
        &b""[..],
        b"JOURNAL_STREAM=",
        b"JOURNAL_STREAM=8",
        b"JOURNAL_STREAM=8:x",
        b"XJOURNAL_STREAM=8:1",
        b"JOURNAL_STREAM=8:\xff",
        b"A=JOURNAL_STREAM=8:1",
    ] {
        assert_eq!(journal_stream(environ), None, "{}", environ.escape_ascii());
    }
}

/// What links say, in a tree of files.
#[tokio::test]
async fn what_links_say() {
    let tree = Tree::new();
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let pipe = pipe.to_str().unwrap();
    let cases = [
        ("/dev/pts/3", "0::/user.slice/session-1.scope", "Terminal"),
        ("/dev/pts/3 (deleted)", "", "Terminal"),
        ("/dev/tty1", "", "Terminal"),
        ("/dev/console", "", "Terminal"),
        ("/dev/null", "", "Nothing"),
        ("pipe:[77]", "", "Pipe"),
        ("socket:[78]", "0::/system.slice/engine.service", "Journal"),
        ("socket:[79]", "0::/user.slice/user-0.slice/session-1.scope", "Unseen"),
        ("socket:[80]", "", "Unseen"),
        ("anon_inode:[eventpoll]", "0::/system.slice/engine.service", "Unseen"),
        ("/dev/zero", "", "Unseen"),
        ("/none/log", "", "Unseen"),
        (pipe, "", "Unseen"),
    ];
    let pids: Vec<u32> = (0..).map(|at| 100 + at).take(cases.len()).collect();
    for (pid, (link, cgroup, _)) in pids.iter().zip(cases) {
        tree.process(*pid, 1, "engine\0", &[], 1);
        tree.file(&format!("{pid}/cgroup"), format!("{cgroup}\n"));
        symlink(link, tree.path(&format!("{pid}/fd/1"))).unwrap();
    }
    for (outputs, (link, cgroup, expected)) in outputs_of(&tree.place(), &pids).await.into_iter().zip(cases) {
        let said = format!("{:?}", outputs.stdout);
        assert!(said.starts_with(expected), "{link} {cgroup}: {said}");
        // descriptor 2 is closed in this tree
        assert!(matches!(outputs.stderr, Output::Unseen(ref blind) if blind.kind == BlindKind::Gone));
    }
    assert!(outputs_of(&tree.place(), &[]).await.is_empty());
}

/// Readers of a pipe are those that opened it to read; what they write to counts, what they read does not.
#[tokio::test]
async fn ends_of_pipes() {
    let tree = Tree::new();
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    std::fs::write(&log, "").unwrap();
    let log = log.to_str().unwrap();
    for (pid, fd, link, flags) in [
        (10, 5, "pipe:[7]", "0100001"),
        (11, 5, "pipe:[7]", "0100000"),
        (11, 6, log, "0102001"),
        (11, 7, log, "0100000"),
        (11, 8, "/dev/null", "0100002"),
        // its own, to wake itself; another's, that it reads too; and one that it writes
        (11, 9, "pipe:[20]", "0100000"),
        (11, 10, "pipe:[20]", "0100001"),
        (11, 11, "pipe:[21]", "0100000"),
        (11, 12, "pipe:[22]", "0100001"),
        (12, 5, "pipe:[8]", "0100000"),
        (13, 5, "pipe:[7]", "x"),
    ] {
        tree.file(&format!("{pid}/fdinfo/{fd}"), format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t9\n"));
        tree.file(&format!("{pid}/comm"), "t\u{1b}e\n");
        std::fs::create_dir_all(tree.path(&format!("{pid}/fd"))).unwrap();
        symlink(link, tree.path(&format!("{pid}/fd/{fd}"))).unwrap();
    }
    let readers = readers_of(&tree.place(), &[7]).await;
    let [reader] = &readers.found[..] else { panic!("{readers:?}") };
    assert_eq!((reader.pid, reader.pipe, reader.name.as_str()), (11, 7, "t\\u{1b}e"));
    assert_eq!(reader.reads, [7, 21].into());
    assert_eq!(reader.files.iter().map(|held| held.fd).collect::<Vec<_>>(), [6]);
    assert_eq!((readers.seen, readers.denied), (4, 0));
    let nowhere = tempfile::tempdir().unwrap();
    assert_eq!(readers_of(&crate::places::place(nowhere.path()), &[7]).await.notes[0].id, "readers-unseen");
}

/// The folders of docker, podman and Kubernetes, as their manuals describe them.
#[tokio::test]
async fn containers() {
    let dir = tempfile::tempdir().unwrap();
    let place = crate::places::place(dir.path());
    let put = |path: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    };
    let id = |first: &str| format!("{first}{}", "0".repeat(64 - first.len()));
    let [docker, podman, own, pod] = ["d0c", "90d", "0e0", "0ca"].map(|first| id(&first.repeat(4)));
    put(&format!("var/lib/docker/containers/{docker}/{docker}-json.log"));
    put(&format!("var/lib/docker/containers/{}/x-json.log", id("ffff")));
    put(&format!("var/lib/containers/storage/overlay-containers/{podman}/userdata/ctr.log"));
    // another user's folder, in which a link leads to a file of ours
    let planted =
        dir.path().join(format!("home/y/.local/share/containers/storage/overlay-containers/{docker}/userdata"));
    std::fs::create_dir_all(&planted).unwrap();
    std::fs::write(dir.path().join("other"), "x").unwrap();
    symlink(dir.path().join("other"), planted.join("ctr.log")).unwrap();
    put(&format!("home/x/.local/share/containers/storage/overlay-containers/{own}/userdata/ctr.log"));
    put("var/log/pods/ns_name_uid/engine/0.log");
    put("var/log/pods/ns_name_uid/engine/1.log");
    std::fs::create_dir_all(dir.path().join("var/log/containers")).unwrap();
    let link = |to: &str, id: &str| {
        symlink(to, dir.path().join(format!("var/log/containers/name_ns_engine-{id}.log"))).unwrap();
    };
    link("/var/log/pods/ns_name_uid/engine/1.log", &pod);
    link("../../../var/log/pods/ns_name_uid/engine/0.log", &id("abab"));
    let owner = [rustix::process::geteuid().as_raw()];
    for (id, file) in [
        (&docker, format!("/var/lib/docker/containers/{docker}/{docker}-json.log")),
        (&podman, format!("/var/lib/containers/storage/overlay-containers/{podman}/userdata/ctr.log")),
        (&own, format!("/home/x/.local/share/containers/storage/overlay-containers/{own}/userdata/ctr.log")),
        (&pod, "/var/log/pods/ns_name_uid/engine/1.log".to_string()),
    ] {
        let logs = container_logs(&place, &id[..12], &owner).await;
        let paths: Vec<PathBuf> = logs.files.into_iter().map(|(path, _)| path).collect();
        assert_eq!((paths, logs.unseen), (vec![PathBuf::from(file)], vec![]));
    }
    // below a home folder only what belongs to the container's user, or to root
    let path =
        dir.path().join(format!("home/x/.local/share/containers/storage/overlay-containers/{own}/userdata/ctr.log"));
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(1234), None).unwrap();
        let logs = container_logs(&place, &own[..12], &[1234]).await;
        let [(_, wanted)] = &logs.files[..] else { panic!("{logs:?}") };
        assert_eq!(place.ends_each(vec![wanted.clone()], 9, 0).await.remove(0).unwrap().head, b"x");
    }
    let logs = container_logs(&place, &own[..12], &[4321]).await;
    assert!(logs.files.is_empty() && logs.unseen[0].text.contains("belongs to neither"), "{logs:?}");
    // a log that is a pipe is no log; names that are no ids are not looked for
    let pipe = dir.path().join(format!("var/lib/docker/containers/{docker}/{docker}-json.log"));
    std::fs::remove_file(&pipe).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    let logs = container_logs(&place, &docker[..12], &owner).await;
    assert!(logs.files.is_empty() && logs.unseen[0].text.contains("a pipe"), "{logs:?}");
    for id in ["", "d0c", "../../../../x", "************"] {
        assert!(container_logs(&place, id, &owner).await.files.is_empty());
    }
    assert_eq!(container_logs(&place, &"ab".repeat(6), &owner).await, sense::process::ContainerLogs::default());
}

/// Another user's outputs are hidden, and that is said.
#[tokio::test]
async fn without_rights() {
    if rustix::process::geteuid().is_root() {
        again_as_nobody("outputs::without_rights");
        return;
    }
    let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get() as u32;
    if !Path::new("/proc/1").metadata().is_ok_and(|meta| meta.uid() == 0) {
        return;
    }
    let outputs = outputs_of(&here(), &[parent]).await.remove(0);
    let Output::Unseen(blind) = outputs.stdout else {
        eprintln!("skipped: not started by root");
        return;
    };
    assert_eq!(blind.kind, BlindKind::Denied, "{blind}");
    assert!(readers_of(&here(), &[1]).await.denied > 0);
}
