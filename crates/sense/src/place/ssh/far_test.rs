//! What the far shell tells of files is what this host's own reader tells: the same questions to both, in every shell that
//! is installed here.
#![allow(clippy::unwrap_used)] // tests: a panic is the report

use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::frames::Frames;
use super::{answers, questions};
use crate::http::{AllowList, Client, Limits};
use crate::place::ask::{Answered, Ask, Told};
use crate::place::{Budget, Host, Sieve, SiftedFolder, Taken, Wanted};

const SHELLS: [&[&str]; 4] = [&["dash"], &["bash", "--posix"], &["busybox", "sh"], &["sh"]];

/// Asks a shell here as one there is asked.
fn far(shell: &[&str], asks: &[Ask]) -> Option<Vec<Answered>> {
    let mut child = Command::new(shell[0])
        .args(&shell[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let lines: String = asks.iter().enumerate().map(|(at, ask)| questions::line(at, ask)).collect();
    let script = format!("B='B0UND'\n{}{{\n{lines}b .\n}} </dev/null\n", include_str!("far.sh"));
    let mut stdin = child.stdin.take().unwrap();
    // its output may fill a pipe before all of the script is taken
    let writer = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let frames = Frames::new("B0UND").add(&output.stdout).unwrap().pop().expect("the end of the batch");
    let groups = answers::grouped(&frames);
    let of =
        |(at, ask): (usize, &Ask)| answers::of(ask, groups.get(format!("#{at}").as_str()).map_or(&[], Vec::as_slice)).0;
    Some(asks.iter().enumerate().map(of).collect())
}

/// Asks both, in every shell, and holds them against each other.
async fn same(asks: Vec<Ask>) {
    let host = Host::new(Client::new(AllowList::default(), Limits::default()));
    let near = host.each(asks.clone()).await;
    let mut tried = 0;
    for shell in SHELLS {
        let Some(far) = far(shell, &asks) else { continue };
        tried += 1;
        for ((ask, near), far) in asks.iter().zip(&near).zip(far) {
            let what = format!("{shell:?} of {:?}", ask.key());
            match (near, far) {
                (Ok(near), Ok(far)) => assert_eq!(plain(far), plain(near.clone()), "{what}"),
                (Err(near), Err(far)) => assert_eq!(far.kind, near.kind, "{what}: {far} and {near}"),
                (near, far) => panic!("{what}: {far:?} and {near:?}"),
            }
        }
    }
    assert!(tried > 0, "a shell is here");
}

/// Without what differs in good order: names without an order, times in whole seconds, stamps.
fn plain(told: Told) -> Told {
    match told {
        Told::Listing(mut listing) => {
            listing.names.sort();
            Told::Listing(listing)
        }
        Told::Ends(mut ends) => {
            ends.modified.0 = ends.modified.0.floor();
            Told::Ends(ends)
        }
        Told::Sifted(folder) => {
            let files = folder.files.into_iter().map(|mut file| {
                file.stamp = crate::place::Stamp { device: 0, inode: 0, size: 0, modified_ns: 0, changed_ns: 0 };
                file
            });
            Told::Sifted(SiftedFolder { id: (0, 0), files: files.collect(), ..folder })
        }
        other => other,
    }
}

fn read(path: impl Into<PathBuf>) -> Ask {
    Ask::Read { path: path.into(), cap: 100 }
}

/// A folder with everything that may lie in one.
fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("plain"), "one\ntwo\n").unwrap();
    std::fs::write(at("empty"), "").unwrap();
    std::fs::write(at("open end"), "no line end").unwrap();
    std::fs::write(at("binary"), (0..=255_u8).cycle().take(5000).collect::<Vec<_>>()).unwrap();
    std::fs::write(at("B0UND"), "\nB0UNDS ok\n\nB0UN").unwrap();
    std::fs::write(at("-dash"), "dash").unwrap();
    std::fs::write(at("quote'\"$(touch x)`\\ name"), "quoted").unwrap();
    std::fs::write(at("line\nend"), "named over two lines").unwrap();
    std::fs::write(at(".hidden"), "hidden").unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    symlink("plain", at("link")).unwrap();
    symlink("/proc/kmsg", at("to the kernel")).unwrap();
    symlink("/proc/self/status", at("to a process")).unwrap();
    symlink("/dev/null", at("to a device")).unwrap();
    symlink("loop", at("loop")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    dir
}

#[tokio::test]
async fn files_are_read_alike() {
    let dir = tree();
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut asks: Vec<Ask> = names.iter().map(read).collect();
    asks.extend(["not there", "plain/below", "folder/not there"].map(|name| read(dir.path().join(name))));
    asks.push(Ask::Read { path: dir.path().join("plain"), cap: 8 });
    asks.push(Ask::Read { path: dir.path().join("plain"), cap: 7 });
    asks.push(Ask::Read { path: dir.path().join("plain"), cap: 0 });
    asks.extend(["/proc/1/cgroup", "/proc/stat/no", "/proc/4000000000/status", "/sys/kernel/mm"].map(read));
    asks.extend(names.iter().map(|path| Ask::Link { path: path.clone() }));
    asks.push(Ask::List { path: dir.path().into(), cap: 100 });
    asks.push(Ask::List { path: dir.path().join("folder"), cap: 100 });
    asks.push(Ask::List { path: dir.path().join("plain"), cap: 100 });
    asks.push(Ask::List { path: dir.path().join("not there"), cap: 100 });
    let words = vec!["tw".to_owned(), "-e".to_owned(), " 0A ".to_owned()];
    asks.push(Ask::Lines { path: dir.path().join("plain"), words: words.clone(), cap: 100 });
    asks.push(Ask::Lines { path: dir.path().join("plain"), words: words.clone(), cap: 2 });
    asks.push(Ask::Lines { path: dir.path().join("not there"), words, cap: 2 });
    same(asks).await;
}

#[tokio::test]
async fn ends_are_read_alike() {
    let dir = tree();
    let big: Vec<u8> = (0..100_000_u32).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
    std::fs::write(dir.path().join("big"), &big).unwrap();
    let mut asks = Vec::new();
    for name in
        ["plain", "empty", "binary", "big", "link", "pipe", "folder", "dangling", "to the kernel", "to a device"]
    {
        for (head, tail) in
            [(0, 0), (100, 0), (0, 100), (4096, 4096), (5000, 3), (10, 1 << 20), (1 << 21, 10), (8192, 12_345)]
        {
            asks.push(Ask::Ends { wanted: Wanted::File(dir.path().join(name)), head, tail });
        }
    }
    let below = |path: &str| Ask::Ends {
        wanted: Wanted::Below { folder: dir.path().into(), path: path.into() },
        head: 10,
        tail: 10,
    };
    asks.extend(["plain", "/plain", "../plain", "link", "folder/../plain", "to a process", "loop"].map(below));
    same(asks).await;
}

/// Links inside of another root lead nowhere else.
#[tokio::test]
async fn roots_are_kept_alike() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir_all(at("etc/deep")).unwrap();
    std::fs::create_dir_all(at("usr/lib")).unwrap();
    std::fs::write(at("etc/passwd"), "inside").unwrap();
    std::fs::write(at("usr/lib/a.py"), "Gauge('x')").unwrap();
    std::fs::write(at("usr/lib/b.py"), "nothing").unwrap();
    std::fs::write(at("usr/lib/c.txt"), "Gauge").unwrap();
    std::fs::create_dir(at("usr/lib/sub")).unwrap();
    symlink("/etc/passwd", at("etc/absolute")).unwrap();
    symlink("../../../../../../etc/passwd", at("etc/deep/up")).unwrap();
    symlink("/usr", at("etc/folder")).unwrap();
    symlink("a", at("etc/b")).unwrap();
    symlink("b", at("etc/a")).unwrap();
    symlink("/etc/passwd", at("usr/lib/link.py")).unwrap();
    let under = |path: &str| Ask::Under { root: dir.path().into(), path: path.into(), cap: 100 };
    let mut asks: Vec<Ask> = ["/etc/passwd", "etc/passwd", "/etc/absolute", "/etc/deep/up", "/etc/folder/lib/a.py"]
        .into_iter()
        .chain(["/etc/a", "/../../etc/passwd", "/etc/./deep/../passwd", "/etc", "/etc/none", "/etc/hostname"])
        .map(under)
        .collect();
    let sieve = Sieve {
        ending: ".py".to_owned(),
        needles: vec!["Gauge(".to_owned(), "inside".to_owned()],
        longest: 1000,
        known: Arc::default(),
        budget: Arc::new(Budget::new(1000, 1 << 20)),
    };
    let sift = |folder: &str| Ask::Sift { root: dir.path().into(), folder: folder.into(), sieve: sieve.clone() };
    asks.extend(["/usr/lib", "/etc/folder/lib", "/usr", "/none", "/etc/passwd", "/etc/deep"].map(sift));
    // Of the machine's own root: links to the kernel's files are passed over, and a file is not taken for one without the
    // words where it was not searched.
    std::fs::create_dir(at("own")).unwrap();
    symlink("/proc/version", at("own/kernel.py")).unwrap();
    std::fs::write(at("own/long.py"), "Gauge('x')".repeat(200)).unwrap();
    let whole = Ask::Sift { root: "/".into(), folder: at("own"), sieve: sieve.clone() };
    asks.push(whole);
    same(asks).await;
    // Not only alike, but right: nothing of our own root.
    let told = far(&["sh"], &[under("/etc/absolute"), sift("/usr/lib")]).unwrap();
    assert!(matches!(&told[0], Ok(Told::Content(content)) if content.bytes == b"inside"), "{:?}", told[0]);
    let Ok(Told::Sifted(folder)) = &told[1] else { panic!("{:?}", told[1]) };
    let hits: Vec<_> = folder.files.iter().filter(|file| matches!(file.taken, Taken::With(_))).collect();
    assert_eq!(hits.len(), 2, "a.py, and what link.py leads to inside");
}

/// All processes: the far shell finds this one by its words, and its family.
#[tokio::test]
async fn processes_are_found_alike() {
    let mut child = Command::new("sleep").arg("600").stdout(Stdio::piped()).spawn().unwrap();
    let pid = child.id();
    let asks =
        [Ask::Commands { words: vec!["sleep\x00600".replace('\0', ""), "600".to_owned()] }, Ask::Kin, Ask::Pipes];
    let listed = Ask::List { path: Path::new(&format!("/proc/{pid}/fd")).into(), cap: 1000 };
    for shell in SHELLS {
        let Some(told) = far(shell, &[asks.as_slice(), std::slice::from_ref(&listed)].concat()) else { continue };
        let Ok(Told::Commands(commands)) = &told[0] else { panic!("{:?}", told[0]) };
        let own = commands.found.iter().find(|line| line.pid == pid).expect("it is found");
        assert_eq!(own.bytes, b"sleep\x00600\0");
        assert!(commands.seen > 1);
        let Ok(Told::Kin(kin)) = &told[1] else { panic!("{:?}", told[1]) };
        assert_eq!(kin.iter().find(|kin| kin.pid == pid).expect("it has a parent").ppid, std::process::id());
        let Ok(Told::Pipes(pipes)) = &told[2] else { panic!("{:?}", told[2]) };
        assert!(pipes.ends.iter().any(|end| end.pid == pid && end.fd == 1), "{shell:?}: its output is a pipe");
        let Ok(Told::Listing(listing)) = &told[3] else { panic!("{:?}", told[3]) };
        assert!(["0", "1", "2"].iter().all(|fd| listing.names.iter().any(|name| name == fd)), "{listing:?}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
