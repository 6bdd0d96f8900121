//! Processes in a `/proc` made of files and dangling links.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use sense::process::{addresses_of, file_of, grounds_of, interface_addresses};
use sense::{Place, Processes, processes};
use tempfile::TempDir;

use crate::places::place;

pub(crate) struct Tree(TempDir);

const HEAD: &str = "sl local rem st tx tr tm uid timeout inode\n";

impl Tree {
    pub(crate) fn new() -> Tree {
        let tree = Tree(tempfile::tempdir().unwrap());
        tree.file("stat", "cpu 1\nbtime 1700000000\n");
        std::fs::create_dir_all(tree.path("self/ns")).unwrap();
        symlink("net:[1]", tree.path("self/ns/net")).unwrap();
        tree
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join("proc").join(path)
    }

    pub(crate) fn file(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A process with everything visible; `sockets` are inodes of its file descriptors, `net` its namespace.
    pub(crate) fn process(&self, pid: u32, parent: u32, cmdline: &str, sockets: &[u64], net: u64) {
        self.file(&format!("{pid}/cmdline"), cmdline);
        self.file(
            &format!("{pid}/stat"),
            format!("{pid} (x y) S {parent} 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5000 1 1"),
        );
        self.file(&format!("{pid}/status"), "Name:\tx\nUid:\t1000\t1000\t1000\t1000\n");
        self.file(&format!("{pid}/cgroup"), "0::/system.slice/engine.service\n");
        std::fs::create_dir_all(self.path(&format!("{pid}/fd"))).unwrap();
        std::fs::create_dir_all(self.path(&format!("{pid}/ns"))).unwrap();
        symlink("/usr/bin/python3.12", self.path(&format!("{pid}/exe"))).unwrap();
        symlink("/srv", self.path(&format!("{pid}/cwd"))).unwrap();
        symlink(format!("net:[{net}]"), self.path(&format!("{pid}/ns/net"))).unwrap();
        symlink("/dev/null", self.path(&format!("{pid}/fd/0"))).unwrap();
        for (index, inode) in sockets.iter().enumerate() {
            symlink(format!("socket:[{inode}]"), self.path(&format!("{pid}/fd/{}", index + 3))).unwrap();
        }
    }

    /// Listening ports of 127.0.0.1 with their users and inodes, as `pid` sees them.
    pub(crate) fn listens(&self, pid: u32, ports: &[(u16, u32, u64)]) {
        let row = |&(port, uid, inode): &(u16, u32, u64)| {
            format!("0: 0100007F:{port:04X} 0:0 0A 0:0 0:0 0 {uid} 0 {inode} 1\n")
        };
        self.file(&format!("{pid}/net/tcp"), HEAD.to_string() + &ports.iter().map(row).collect::<String>());
    }

    pub(crate) fn place(&self) -> Place {
        place(self.0.path())
    }

    async fn engines(&self) -> Processes {
        processes(&self.place(), &[], |argv| argv.iter().any(|arg| arg == "engine")).await.unwrap()
    }
}

fn ports(addresses: &[std::net::SocketAddr]) -> Vec<u16> {
    addresses.iter().map(std::net::SocketAddr::port).collect()
}

#[tokio::test]
async fn a_server_and_its_children() {
    let tree = Tree::new();
    tree.process(10, 1, "python3\0-m\0engine\0", &[100], 1);
    tree.process(11, 10, "engine::worker\0\0\0", &[101, 999], 1);
    tree.process(12, 11, "engine::detokenizer\0", &[102], 1);
    tree.process(20, 1, "sshd\0", &[200], 1);
    tree.process(30, 1, "engine\0", &[300], 7);
    tree.listens(10, &[(30000, 1000, 100), (30001, 1000, 101), (30002, 0, 102), (22, 0, 200), (9, 0, 300)]);
    tree.listens(30, &[(8000, 0, 300), (8001, 0, 100)]);
    tree.file("uptime", "not a process");
    let look = tree.engines().await;
    assert_eq!((look.seen, look.vanished, look.denied, look.notes.len()), (5, 0, 0, 0));
    let [server, other] = &look.found[..] else { panic!("{look:?}") };
    assert_eq!((server.pid, server.ppid, server.uid), (10, 1, 1000));
    assert_eq!((&server.family[..], &other.family[..]), (&[10, 11, 12][..], &[30][..]));
    assert_eq!(server.argv, ["python3", "-m", "engine"]);
    assert_eq!(server.exe.as_deref(), Some(Path::new("/usr/bin/python3.12")));
    assert_eq!(server.cwd.as_deref(), Some(Path::new("/srv")));
    assert_eq!(server.started_at, model::Time(1_700_000_050.0));
    assert_eq!(server.unit.as_ref().unwrap().name, "engine.service");
    assert_eq!((server.netns, server.same_netns_as_us), (Some(1), Some(true)));
    assert_eq!(ports(&server.listening), [30000, 30001, 30002]);
    assert_eq!(ports(&server.listening_itself), [30000]);
    assert!(look.hidden, "there is no first process in this tree");
    assert!(server.maybe_listening.is_empty() && server.denied.is_empty());
    // another namespace has its own table, and our inodes mean nothing there
    assert_eq!((other.same_netns_as_us, ports(&other.listening)), (Some(false), vec![8000]));
}

#[tokio::test]
async fn what_goes_away_is_dropped() {
    let tree = Tree::new();
    tree.process(10, 1, "engine\0", &[], 1);
    std::fs::remove_file(tree.path("10/stat")).unwrap();
    tree.process(11, 1, "engine\0", &[], 1);
    std::fs::remove_file(tree.path("11/status")).unwrap();
    std::fs::create_dir_all(tree.path("12")).unwrap();
    tree.process(13, 1, "engine\0", &[], 1);
    // fd, tables, links gone: the rest is still told
    std::fs::remove_dir_all(tree.path("13/fd")).unwrap();
    std::fs::remove_file(tree.path("13/exe")).unwrap();
    std::fs::remove_file(tree.path("13/ns/net")).unwrap();
    let look = tree.engines().await;
    assert_eq!((look.vanished, look.found.len(), look.denied), (3, 1, 0));
    assert_eq!((look.found[0].pid, &look.found[0].exe, look.found[0].same_netns_as_us), (13, &None, None));
}

#[tokio::test]
async fn long_and_odd_command_lines() {
    let tree = Tree::new();
    tree.process(10, 1, &format!("engine\0{}", "x".repeat(3 << 20)), &[], 1);
    tree.process(11, 1, "", &[], 1);
    tree.file("11/cmdline", b"engine\0\xff\xfe\0");
    tree.process(12, 12, "engine\0", &[], 1);
    let look = tree.engines().await;
    assert_eq!(look.found.len(), 3);
    assert_eq!(look.notes[0].id, "cmdline-cut");
    assert_eq!(look.found[1].argv[1], "\u{fffd}\u{fffd}");
}

#[tokio::test]
async fn no_proc_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let blind = processes(&place(dir.path()), &[], |_| true).await.unwrap_err();
    assert_eq!(blind.kind, model::BlindKind::Gone);
}

#[tokio::test]
async fn addresses_files() {
    let tree = Tree::new();
    tree.file("10/net/fib_trie", "|-- 172.17.0.2\n   /32 host LOCAL\n");
    assert_eq!(addresses_of(&tree.place(), 10).await.unwrap(), ["172.17.0.2".parse::<std::net::Ipv4Addr>().unwrap()]);
    tree.file("10/root/srv/app/config.yaml", "a: 1\n");
    symlink("/srv/app", tree.path("10/cwd")).unwrap();
    for path in ["/srv/app/config.yaml", "config.yaml", "../app/config.yaml"] {
        assert_eq!(file_of(&tree.place(), 10, Path::new(path), 100).await.unwrap().text(), "a: 1\n", "{path}");
    }
    assert!(file_of(&tree.place(), 10, Path::new("/srv/app/config.yaml"), 2).await.unwrap().cut);
}

/// The ground that a process stands on: its namespace's own addresses, of both kinds, and who listens there.
#[tokio::test]
async fn grounds() {
    let tree = Tree::new();
    tree.process(10, 1, "engine\0", &[100], 7);
    tree.listens(10, &[(30000, 1000, 100), (22, 0, 99)]);
    tree.file("10/net/fib_trie", "|-- 127.0.0.1\n   /32 host LOCAL\n|-- 172.17.0.2\n   /32 host LOCAL\n");
    let six = "00000000000000000000000000000001 01 80 10 80 lo\nfd000000000000000000000000000002 02 40 00 80 eth0\nx\n";
    tree.file("10/net/if_inet6", six);
    assert_eq!(interface_addresses(six), ["fd00::2".parse::<std::net::Ipv6Addr>().unwrap()]);
    let found = grounds_of(&tree.place(), Some(10)).await;
    assert_eq!((found.netns, found.mark), (Some(7), Some(99)));
    let addresses: Vec<String> = found.addresses.iter().map(ToString::to_string).collect();
    assert_eq!(addresses, ["172.17.0.2", "fd00::2"]);
    assert_eq!(ports(&found.listening), [30000, 22]);
    // Nothing to read is nothing known, and no failure.
    assert_eq!(grounds_of(&tree.place(), Some(77)).await, sense::process::Grounds::default());
}

/// What rights hide. Root sees everything, so root runs this test again as nobody.
#[tokio::test]
async fn what_rights_hide() {
    if rustix::process::geteuid().is_root() {
        crate::proc_real::again_as_nobody("proc_tree::what_rights_hide");
        return;
    }
    let tree = Tree::new();
    let hide = |path: &str| {
        std::fs::set_permissions(tree.path(path), std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    };
    for pid in [10, 11, 12] {
        tree.process(pid, 1, "engine\0", &[100], 1);
        tree.listens(pid, &[(30000, 1000, 100), (22, 0, 200)]);
    }
    hide("10/fd");
    tree.file("11/status", "Uid:\t7\t7\t7\t7\n");
    hide("11/fd");
    hide("11/ns");
    hide("12/cmdline");
    let look = tree.engines().await;
    let [one, two] = &look.found[..] else { panic!("{look:?}") };
    assert_eq!((one.denied.as_slice(), ports(&one.listening)), (&["fd"][..], vec![]));
    assert_eq!(ports(&one.maybe_listening), [30000], "its user's only");
    assert_eq!(two.denied, ["ns/net", "fd"]);
    assert_eq!((ports(&two.maybe_listening), two.same_netns_as_us), (vec![22, 30000], None));
    assert_eq!(look.denied, 4);
    for path in ["10/fd", "11/fd", "11/ns"] {
        // so that the folder can be removed
        std::fs::set_permissions(tree.path(path), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    }
}
