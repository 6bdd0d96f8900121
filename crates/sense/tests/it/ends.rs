//! Both ends of files, whatever they are and whatever happens to them meanwhile.

use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::{Blind, BlindKind};
use rustix::fs::{CWD, FileType, Mode};
use sense::{Ends, Wanted};

use crate::proc_real::here;

async fn one(wanted: Wanted, head: usize, tail: usize) -> Result<Ends, Blind> {
    here().ends_each(vec![wanted], head, tail).await.remove(0)
}

fn file(path: impl AsRef<Path>) -> Wanted {
    Wanted::File(path.as_ref().to_path_buf())
}

fn inside(path: impl AsRef<Path>) -> Wanted {
    Wanted::Inside { pid: std::process::id(), path: path.as_ref().to_path_buf() }
}

fn descriptor(file: &impl std::os::fd::AsRawFd) -> Wanted {
    Wanted::Descriptor { pid: std::process::id(), fd: file.as_raw_fd() as u32 }
}

/// Head and tail never overlap; together they hold all of a file that fits.
#[tokio::test]
async fn head_and_tail() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    std::fs::write(&path, "0123456789").unwrap();
    for (head, tail, first, last, from) in [
        (3, 4, "012", "6789", 6),
        (0, 4, "", "6789", 6),
        (4, 0, "0123", "", 10),
        (8, 8, "01234567", "89", 8),
        (5, 5, "01234", "56789", 5),
        (10, 5, "0123456789", "", 10),
        (99, 99, "0123456789", "", 10),
        (0, 99, "", "0123456789", 0),
        (0, 0, "", "", 0),
    ] {
        for wanted in [file(&path), inside(&path)] {
            let ends = one(wanted.clone(), head, tail).await.unwrap();
            let seen = (&ends.head[..], &ends.tail[..], ends.tail_from, ends.size);
            assert_eq!(seen, (first.as_bytes(), last.as_bytes(), from, 10), "{head} {tail} {wanted:?}");
            assert_eq!(ends.owner, rustix::process::geteuid().as_raw());
            assert!((sense::clock::now().since(ends.modified)).abs() < 60.0, "{ends:?}");
        }
    }
    std::fs::write(&path, "").unwrap();
    let ends = one(file(&path), 5, 5).await.unwrap();
    assert_eq!((ends.size, ends.head.len(), ends.tail.len(), ends.tail_from), (0, 0, 0, 0));
    // a batch answers in order, whatever fails
    let wanted = vec![file(dir.path().join("none")), file(&path), inside(dir.path())];
    let kinds: Vec<_> = here()
        .ends_each(wanted, 1, 1)
        .await
        .into_iter()
        .map(|ends| ends.map_err(|blind| blind.kind).map(drop))
        .collect();
    assert_eq!(kinds, [Err(BlindKind::Gone), Ok(()), Err(BlindKind::Denied)]);
}

/// What a process has open is reached after it was deleted, and known again by its identity.
#[tokio::test]
async fn open_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    // opened for writing only: the read goes through a handle of its own
    let mut open = std::fs::File::create(&path).unwrap();
    open.write_all(b"first last").unwrap();
    let named = one(file(&path), 5, 4).await.unwrap();
    assert_eq!(one(descriptor(&open), 5, 4).await.unwrap(), named);
    std::fs::remove_file(&path).unwrap();
    let ends = one(descriptor(&open), 5, 4).await.unwrap();
    assert_eq!((&ends.head[..], &ends.tail[..], ends.identity), (&b"first"[..], &b"last"[..], named.identity));
    assert_eq!(one(file(&path), 5, 4).await.unwrap_err().kind, BlindKind::Gone);
}

/// A huge file costs what is asked of it: nothing between its ends is read.
#[tokio::test]
async fn ten_gigabytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let mut open = std::fs::File::create(&path).unwrap();
    open.write_all(b"begin").unwrap();
    open.set_len(10 << 30).unwrap();
    std::os::unix::fs::FileExt::write_at(&open, b"end", (10 << 30) - 3).unwrap();
    let start = Instant::now();
    let ends = one(file(&path), 5, 1 << 20).await.unwrap();
    // not a measure of speed: reading all of it would take minutes, and the caps are what is held
    assert!(start.elapsed() < Duration::from_secs(5));
    eprintln!("the ends of a sparse file of 10 GiB: {:?}", start.elapsed());
    assert_eq!((ends.size, ends.tail.len(), ends.tail_from), (10 << 30, 1 << 20, (10 << 30) - (1 << 20)));
    assert_eq!((&ends.head[..], &ends.tail[ends.tail.len() - 3..]), (&b"begin"[..], &b"end"[..]));
}

/// Pipes, sockets, devices, folders and files of the kernel are refused by name, directly and behind links.
#[tokio::test]
async fn tricks() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let zero = std::fs::File::open("/dev/zero").unwrap();
    let mut refused: Vec<(Wanted, &str)> = Vec::new();
    for (target, what) in [
        (at("pipe"), "a pipe"),
        (at("socket"), "a socket"),
        (PathBuf::from("/dev/zero"), "a device"),
        (PathBuf::from("/dev/null"), "a device"),
        (dir.path().to_path_buf(), "a folder"),
        (PathBuf::from("/proc/self/status"), "a file of the kernel"),
        (PathBuf::from("/sys/kernel/mm/transparent_hugepage/enabled"), "a file of the kernel"),
    ] {
        if !target.exists() {
            continue;
        }
        let link = at(&format!("to-{}", what.replace(' ', "-") + &refused.len().to_string()));
        symlink(&target, &link).unwrap();
        refused.extend([file(&target), file(&link), inside(&target), inside(&link)].map(|wanted| (wanted, what)));
    }
    refused.extend([(descriptor(&reader), "a pipe"), (descriptor(&writer), "a pipe"), (descriptor(&zero), "a device")]);
    for (wanted, what) in refused {
        for (head, tail) in [(0, 0), (10, 10)] {
            let blind = one(wanted.clone(), head, tail).await.unwrap_err();
            assert_eq!(blind.kind, BlindKind::Denied, "{wanted:?} {blind}");
            assert!(blind.text.contains(what), "{wanted:?} {blind}");
        }
    }
    // a link to a regular file is fine
    std::fs::write(at("log"), "x").unwrap();
    symlink(at("log"), at("link")).unwrap();
    assert_eq!(one(file(at("link")), 1, 1).await.unwrap().head, b"x");
}

/// A log that is cut down and written again while we look: what is there is given, and nobody hangs.
#[tokio::test]
async fn shrinking_and_growing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    std::fs::write(&path, vec![b'x'; 1 << 20]).unwrap();
    let writer = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stopped = std::sync::Arc::clone(&stop);
    let thread = std::thread::spawn(move || {
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
            writer.set_len(10).unwrap();
            writer.set_len(1 << 20).unwrap();
        }
    });
    let mut short = 0;
    for _ in 0..300 {
        let ends = one(file(&path), 64 << 10, 64 << 10).await.unwrap();
        assert!(
            ends.head.len() as u64 <= ends.size
                && ends.tail_from + ends.tail.len() as u64 <= ends.size.max(ends.tail_from)
        );
        short += usize::from(ends.tail_from + ends.tail.len() as u64 != ends.size);
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    thread.join().unwrap();
    eprintln!("{short} of 300 looks found less than the size said");
}

/// The path of another root is resolved there, and its links do not lead out.
#[tokio::test]
async fn another_root() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("proc/7/root");
    std::fs::create_dir_all(root.join("var/log")).unwrap();
    std::fs::create_dir_all(dir.path().join("proc/7/fd")).unwrap();
    std::fs::write(root.join("var/log/x"), "inside").unwrap();
    std::fs::write(dir.path().join("outside"), "outside").unwrap();
    symlink("/var/log/x", root.join("link")).unwrap();
    symlink(dir.path().join("outside"), root.join("out")).unwrap();
    symlink(dir.path().join("outside"), dir.path().join("proc/7/fd/3")).unwrap();
    let place = crate::places::place(dir.path());
    let wanted = |path: &str| Wanted::Inside { pid: 7, path: path.into() };
    let all = vec![wanted("/link"), wanted("/out"), Wanted::Descriptor { pid: 7, fd: 3 }, file("/outside")];
    let heads: Vec<_> =
        place.ends_each(all, 10, 0).await.into_iter().map(|ends| ends.map(|ends| ends.head).ok()).collect();
    assert_eq!(heads, [Some(b"inside".to_vec()), None, Some(b"outside".to_vec()), Some(b"outside".to_vec())]);
}

/// An ordinary user is told that a file is not theirs to read, and may still ask what it is.
#[tokio::test]
async fn without_rights() {
    if rustix::process::geteuid().is_root() {
        crate::proc_real::again_as_nobody("ends::without_rights");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    std::fs::write(&path, "x").unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o200)).unwrap();
    assert_eq!(one(file(&path), 1, 1).await.unwrap_err().kind, BlindKind::Denied);
    assert_eq!(one(file(&path), 0, 0).await.unwrap().size, 1);
}
