//! Reading files, folders and links of a place.

use std::os::unix::fs::symlink;
use std::path::Path;

use model::BlindKind;
use rustix::fs::{CWD, FileType, Mode};
use sense::{AllowList, Client, Host, Limits, Place};

pub(crate) fn place(root: &Path) -> Place {
    Place::from(Host::under(root, Client::new(AllowList::default(), Limits::default())))
}

#[tokio::test]
async fn files_have_caps() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "0123456789").unwrap();
    let place = place(dir.path());
    for (cap, bytes, cut) in
        [(20, "0123456789", false), (10, "0123456789", false), (9, "012345678", true), (0, "", true)]
    {
        let content = place.read("/file", cap).await.unwrap();
        assert_eq!((content.text().as_str(), content.cut), (bytes, cut));
    }
    let blind = place.read("/none", 10).await.unwrap_err();
    assert_eq!(blind.kind, BlindKind::Gone);
    assert!(blind.text.contains("/none: No such file"), "{blind}");
    let listing = place.list("/", 10).await.unwrap();
    assert_eq!((listing.names.len(), listing.cut), (1, false));
    std::fs::write(dir.path().join("other"), "").unwrap();
    let listing = place.list("/", 1).await.unwrap();
    assert_eq!((listing.names.len(), listing.cut), (1, true));
    // a batch answers in order, whatever fails
    let paths = ["/none", "/file", "/none/deeper", "/other"].map(Into::into).to_vec();
    let read: Vec<bool> = place.read_each(paths, 10).await.iter().map(Result::is_ok).collect();
    assert_eq!(read, [false, true, false, true]);
}

#[tokio::test]
async fn only_regular_files() {
    let dir = tempfile::tempdir().unwrap();
    rustix::fs::mknodat(CWD, dir.path().join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let place_here = place(dir.path());
    for (path, what) in [("/pipe", "a pipe"), ("/", "a folder")] {
        let blind = place_here.read(path, 10).await.unwrap_err();
        assert_eq!(blind.kind, BlindKind::Denied);
        assert!(blind.text.contains(what), "{blind}");
        let blind = place_here.read_under(Path::new("/"), Path::new(path), 10).await.unwrap_err();
        assert!(blind.text.contains(what), "{blind}");
    }
    let blind = place(Path::new("/")).read("/dev/zero", 10).await.unwrap_err();
    assert!(blind.text.contains("a device"), "{blind}");
}

/// Who waits to write into a pipe goes on waiting: it is never opened, also behind a link.
#[tokio::test]
async fn a_waiting_writer_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    std::os::unix::fs::symlink(&pipe, dir.path().join("link")).unwrap();
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::OpenOptions::new().write(true).open(pipe).map(drop)
    });
    // it needs a moment to get there
    std::thread::sleep(std::time::Duration::from_millis(100));
    for name in ["/pipe", "/link"] {
        let blind = place(dir.path()).read(name, 10).await.unwrap_err();
        assert!(blind.text.contains("a pipe"), "{blind}");
    }
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(!writer.is_finished());
    drop(std::fs::File::open(&pipe).unwrap());
    writer.join().unwrap().unwrap();
    // a link to a file of the kernel is none of the kernel's own paths
    std::os::unix::fs::symlink("/proc/self/status", dir.path().join("kernel")).unwrap();
    let blind = place(dir.path()).read("/kernel", 10).await.unwrap_err();
    assert!(blind.text.contains("a file of the kernel"), "{blind}");
}

/// What we kept for ourselves is read only where it is a regular file of ours; a pipe holds nobody up.
#[test]
fn own_files() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("file"), "kept").unwrap();
    std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
    rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    assert_eq!(sense::read_own(&at("file"), 3).as_deref(), Some(&b"kep"[..]));
    for name in ["link", "pipe", "none", ""] {
        assert_eq!(sense::read_own(&at(name), 9), None, "{name}");
    }
    assert!(sense::is_own(dir.path()) && sense::is_own(&at("none/deeper")) && !sense::is_own(&at("file")));
    if rustix::process::geteuid().is_root() {
        for name in ["file", ""] {
            std::os::unix::fs::chown(at(name), Some(1234), None).unwrap();
        }
        assert_eq!(sense::read_own(&at("file"), 9), None);
        assert!(!sense::is_own(&at("none/deeper")));
    }
}

#[tokio::test]
async fn links_stay_under_their_root() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    std::fs::create_dir_all(root.join("etc")).unwrap();
    std::fs::write(dir.path().join("outside"), "outside").unwrap();
    std::fs::write(root.join("etc/inside"), "inside").unwrap();
    symlink("/etc/inside", root.join("absolute")).unwrap();
    symlink("../../../../outside", root.join("etc/up")).unwrap();
    symlink(dir.path().join("outside"), root.join("out")).unwrap();
    let place = place(dir.path());
    let read = async |path: &str| {
        place.read_under(Path::new("/root"), Path::new(path), 100).await.map(|content| content.text())
    };
    for path in ["/etc/inside", "etc/inside", "/absolute", "/../../etc/inside", "/etc/../absolute"] {
        assert_eq!(read(path).await.unwrap(), "inside", "{path}");
    }
    for path in ["/etc/up", "/out", "/../outside"] {
        assert_eq!(read(path).await.unwrap_err().kind, BlindKind::Gone, "{path}");
    }
}

#[tokio::test]
async fn files_of_the_kernel_are_not_read_for_others() {
    // Reading some of them takes what they hold, such as a trace's lines.
    let blind =
        place(Path::new("/")).read_under(Path::new("/"), Path::new("/proc/self/status"), 100).await.unwrap_err();
    assert_eq!(blind.kind, BlindKind::Denied);
    assert!(blind.text.contains("is a file of the kernel"), "{blind}");
}
