//! Shared-memory files, their writers, and what stays of the dead.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use model::BlindKind;
use sense::process::{matches, reread, slabs_of};

use crate::proc_real::{Running, again_as_nobody, here, start};
use crate::proc_tree::Tree;

/// Makes the file and holds it in one of three ways, as `sys.argv` says.
const HOLDER: &str = "
import mmap, os, sys
path, how = sys.argv[1:3]
if how == 'read':
    fd = os.open(path, os.O_RDONLY)
    m = mmap.mmap(fd, 100, access=mmap.ACCESS_READ)
else:
    fd = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    os.ftruncate(fd, 100)
    m = mmap.mmap(fd, 100, access=mmap.ACCESS_WRITE)
    m[:5] = b'first'
if how == 'mapped':
    # the module keeps a descriptor of its own
    for name in os.listdir('/proc/self/fd'):
        try:
            if os.readlink('/proc/self/fd/' + name) == path: os.close(int(name))
        except OSError: pass
print('ready', flush=True)
for line in sys.stdin:
    m[:5] = line.strip().encode()
";

/// A file of shared memory that goes with its test, as its server would not let it.
struct Shm(PathBuf);

impl Shm {
    fn new(name: &str) -> Shm {
        Shm(PathBuf::from(format!("/dev/shm/sense_test_{}_{name}.shm", std::process::id())))
    }

    fn pattern(&self) -> Vec<String> {
        vec![self.0.to_str().unwrap().replace("_test_", "_te*t_")]
    }

    fn holder(&self, how: &str) -> Option<Running> {
        let there = Command::new("python3").arg("-c").arg("").status().is_ok_and(|status| status.success());
        if !there || !Path::new("/dev/shm").is_dir() {
            eprintln!("skipped: no python3 or no /dev/shm here");
            return None;
        }
        let (child, line) = start(Command::new("python3").args(["-c", HOLDER, self.0.to_str().unwrap(), how]));
        assert_eq!(line, "ready");
        Some(child)
    }
}

impl Drop for Shm {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[tokio::test]
async fn a_writer_and_its_death() {
    for how in ["open", "mapped"] {
        let shm = Shm::new(how);
        let Some(mut child) = shm.holder(how) else { return };
        let pids = [std::process::id(), child.0.id()];
        let found = slabs_of(&here(), &pids, &shm.pattern()).await;
        let [slab] = &found[..] else { panic!("{how} {found:?}") };
        assert_eq!((slab.pid, &slab.path, &slab.writer), (child.0.id(), &shm.0, &Ok(())), "{how}");
        let content = slab.bytes.as_ref().unwrap();
        assert_eq!((&content.bytes[..6], content.bytes.len(), content.cut), (&b"first\0"[..], 100, false));
        assert!(slab.modified.is_some());
        // it writes on, and a reader sees it at once
        std::io::Write::write_all(child.0.stdin.as_mut().unwrap(), b"again\n").unwrap();
        for _ in 0..200 {
            if reread(&here(), slab).await.unwrap().bytes.starts_with(b"again") {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert!(reread(&here(), slab).await.unwrap().bytes.starts_with(b"again"));
        // a family that does not hold it is not given it
        assert!(slabs_of(&here(), &[std::process::id()], &shm.pattern()).await.is_empty());
        // SIGKILL: the file stays behind, and is not given
        child.0.kill().unwrap();
        child.0.wait().unwrap();
        assert!(shm.0.exists());
        assert!(slabs_of(&here(), &pids, &shm.pattern()).await.is_empty(), "{how}");
        assert_eq!(reread(&here(), slab).await.unwrap_err().kind, BlindKind::Gone);
    }
}

/// Who only reads keeps nothing alive; and no lock is taken.
#[tokio::test]
async fn a_reader_is_no_writer() {
    let shm = Shm::new("reader");
    let Some(mut writer) = shm.holder("open") else { return };
    let Some(reader) = shm.holder("read") else { return };
    let pids = [reader.0.id(), writer.0.id()];
    let found = slabs_of(&here(), &pids, &shm.pattern()).await;
    assert_eq!((found.len(), found[0].pid), (1, writer.0.id()));
    // a writer in the middle of a write holds the lock: that holds up nobody here
    let locked = std::fs::File::open(&shm.0).unwrap();
    rustix::fs::flock(&locked, rustix::fs::FlockOperation::LockExclusive).unwrap();
    assert!(slabs_of(&here(), &pids, &shm.pattern()).await[0].bytes.is_ok());
    writer.0.kill().unwrap();
    writer.0.wait().unwrap();
    let found = slabs_of(&here(), &pids, &shm.pattern()).await;
    let [slab] = &found[..] else { panic!("{found:?}") };
    assert_eq!(slab.pid, reader.0.id());
    for blind in [slab.writer.as_ref().unwrap_err(), slab.bytes.as_ref().unwrap_err()] {
        assert!(blind.kind == BlindKind::Gone && blind.text.contains("no living process writes"), "{blind}");
    }
}

/// Tricks with what lies at the path, in a tree of files.
#[tokio::test]
async fn tricks() {
    let tree = Tree::new();
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let own = rustix::process::geteuid().as_raw();
    std::fs::write(at("x_a.shm"), "a").unwrap();
    std::fs::write(at("other"), "b").unwrap();
    let huge = std::fs::File::create(at("x_huge.shm")).unwrap();
    huge.set_len(1 << 30).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, at("x_pipe.shm"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
        .unwrap();
    let pattern = vec![format!("{}/x_*.shm", dir.path().display())];
    let process = |pid: u32, uid: u32, file: &str| {
        tree.process(pid, 1, "engine\0", &[], 1);
        tree.file(&format!("{pid}/status"), format!("Uid:\t{uid}\t{uid}\t{uid}\t{uid}\n"));
        tree.file(&format!("{pid}/fdinfo/9"), "pos:\t0\nflags:\t02100002\n");
        symlink(at(file), tree.path(&format!("{pid}/fd/9"))).unwrap();
    };
    process(10, own, "x_a.shm");
    process(11, own + 1, "x_a.shm");
    process(12, own, "x_pipe.shm");
    process(13, own, "other");
    process(14, own, "x_huge.shm");
    let one = async |pid: u32| slabs_of(&tree.place(), &[pid], &pattern).await;
    assert_eq!(one(10).await[0].bytes.as_ref().unwrap().bytes, b"a");
    let blind = one(11).await[0].bytes.clone().unwrap_err();
    assert!(blind.kind == BlindKind::Denied && blind.text.contains("another user"), "{blind}");
    let blind = one(12).await[0].bytes.clone().unwrap_err();
    assert!(blind.kind == BlindKind::Denied && blind.text.contains("a pipe"), "{blind}");
    assert!(one(13).await.is_empty());
    let content = one(14).await[0].bytes.clone().unwrap();
    assert_eq!((content.bytes.len(), content.cut), ((16 << 20) + 12, true));
    // another file at the path that was mapped
    let inode = std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(at("x_a.shm")).unwrap());
    let maps = |inode: u64, rights: &str, end: &str| {
        format!(
            "55d-55e r--p 00000000 00:1a 5                          /usr/bin/python3.12\nx\n\n\
             7f0-7f1 {rights} 00000000 00:1a {inode}                  {}{end}\n",
            at("x_a.shm").display()
        )
    };
    for (pid, maps, given) in [
        (20, maps(inode, "rw-s", ""), Some(true)),
        (21, maps(inode + 1, "rw-s", ""), Some(false)),
        (22, maps(inode, "r--s", ""), Some(false)),
        (23, maps(inode, "rw-p", ""), Some(false)),
        (24, maps(inode, "rw-s", " (deleted)"), None),
    ] {
        process(pid, own, "other");
        tree.file(&format!("{pid}/maps"), maps);
        symlink("/", tree.path(&format!("{pid}/root"))).unwrap();
        let found = one(pid).await;
        assert_eq!(found.first().map(|slab| slab.bytes.is_ok()), given, "{pid} {found:?}");
    }
}

#[test]
fn patterns() {
    for (pattern, path, fits) in [
        ("/dev/shm/x_*.shm", "/dev/shm/x_1_a.shm", true),
        ("/dev/shm/x_*.shm", "/dev/shm/x_.shm", true),
        ("/dev/shm/x_*.shm", "/dev/shm/x.shm", false),
        ("/dev/shm/x_*.shm", "/dev/shm/y_1.shm", false),
        ("/dev/shm/x_*.shm", "/tmp/x_1.shm", false),
        ("/dev/shm/x_*.shm", "/dev/shm/deeper/x_1.shm", false),
        ("/dev/shm/x_*.shm", "/dev/shm/x_1.shm2", false),
        ("/dev/shm/a*b*c", "/dev/shm/a-b-c", true),
        ("/dev/shm/a*b*c", "/dev/shm/abc", true),
        ("/dev/shm/a*b*c", "/dev/shm/acb", false),
        ("/dev/shm/aa*aa", "/dev/shm/aaa", false),
        ("/dev/shm/*", "/dev/shm/anything", true),
        ("/dev/shm/**x**", "/dev/shm/x", true),
        ("/dev/shm/plain", "/dev/shm/plain", true),
        ("/dev/shm/plain", "/dev/shm/plain2", false),
        ("/dev/*/x", "/dev/shm/x", false),
        ("", "/dev/shm/x", false),
        ("x", "x", false),
    ] {
        assert_eq!(matches(pattern, Path::new(path)), fits, "{pattern} {path}");
    }
}

/// Another user's processes may hold anything: that is said, and nothing is given.
#[tokio::test]
async fn without_rights() {
    if rustix::process::geteuid().is_root() {
        again_as_nobody("slabs::without_rights");
        return;
    }
    let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get() as u32;
    let found = slabs_of(&here(), &[parent], &["/dev/shm/x_*.shm".to_string()]).await;
    let Some(slab) = found.first() else {
        eprintln!("skipped: not started by root");
        return;
    };
    assert_eq!((found.len(), slab.pid, slab.path.as_path()), (1, parent, Path::new("/dev/shm/x_*.shm")));
    for blind in [slab.writer.as_ref().unwrap_err(), slab.bytes.as_ref().unwrap_err()] {
        assert!(blind.kind == BlindKind::Denied && blind.text.contains("as root"), "{blind}");
    }
}
