//! The texts of `/proc`, each read by a pure function.

use sense::process::{boot_time, container_of, listeners, local_addresses, split_argv, stat_of, uid_of, unit_of};

#[test]
fn command_lines() {
    assert_eq!(split_argv(b""), Vec::<String>::new());
    assert_eq!(split_argv(b"\0\0\0"), Vec::<String>::new());
    assert_eq!(split_argv(b"python3\0-m\0x y\0--empty\0\0--last\0"), ["python3", "-m", "x y", "--empty", "", "--last"]);
    // a title over the old arguments, with the rest of the memory zeroed
    assert_eq!(split_argv(b"engine::scheduler TP0\0\0\0\0\0\0"), ["engine::scheduler TP0"]);
    // a title without its end
    assert_eq!(split_argv(b"worker: idle"), ["worker: idle"]);
    assert_eq!(split_argv(b"a\0\xff\xfe\0"), ["a", "\u{fffd}\u{fffd}"]);
}

#[test]
fn stat_lines() {
    let tail = "S 17 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 999 88";
    for name in ["bash", "tmux: server", "a) S 99 (b", ""] {
        let stat = stat_of(&format!("42 ({name}) {tail}")).unwrap();
        assert_eq!((stat.ppid, stat.started), (17, 1234.56), "{name}");
    }
    for bad in ["", "42 (x", "42 (x) S", "42 (x) S y"] {
        assert_eq!(stat_of(bad), None);
    }
    assert_eq!(uid_of("Name:\tx\nUid:\t1000\t0\t1000\t1000\nGid:\t1\n"), Some(1000));
    assert_eq!(uid_of("Name:\tx\n"), None);
    assert_eq!(boot_time("cpu 1 2\nintr 1\nbtime 1700000000\n"), Some(1.7e9));
}

const A: &str = "a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90";
const B: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0";

fn unit(cgroup: &str) -> Option<(String, Option<u32>)> {
    unit_of(cgroup).map(|unit| (unit.to_string(), unit.user))
}

#[test]
fn units() {
    let system = |name: &str| Some((name.to_string(), None));
    // version 2, version 1, hybrid
    assert_eq!(unit("0::/system.slice/engine.service\n"), system("engine.service"));
    assert_eq!(
        unit("11:cpu,cpuacct:/system.slice\n2:pids:/system.slice/x.service\n1:name=systemd:/system.slice/x.service\n"),
        system("x.service")
    );
    assert_eq!(unit("1:name=systemd:/system.slice/x.service\n0::/\n"), system("x.service"));
    // hybrid, and systemd keeps the new hierarchy only
    assert_eq!(unit("1:name=systemd:/\n0::/system.slice/x.service\n"), system("x.service"));
    // deeper groups of its own, templates, escapes
    assert_eq!(unit("0::/system.slice/engine.service/worker/3\n"), system("engine.service"));
    assert_eq!(unit("0::/system.slice/system-engine.slice/engine@decode.service\n"), system("engine@decode.service"));
    assert_eq!(unit("0::/system.slice/a\\x2db.service\n"), system("a\\x2db.service"));
    // a user's
    let user = "0::/user.slice/user-1000.slice/user@1000.service";
    assert_eq!(unit(&format!("{user}/app.slice/engine.service\n")), Some(("engine.service".to_string(), Some(1000))));
    assert_eq!(unit(&format!("{user}\n")), system("user@1000.service"));
    assert_eq!(unit("0::/user.slice/user-1000.slice/session-3.scope\n"), system("session-3.scope"));
    // none
    for none in ["", "0::/\n", "0::/init\n", "nonsense", "0::/.service\n", "3:cpu:/x.service\n"] {
        assert_eq!(unit(none), None, "{none}");
    }
}

#[test]
fn containers() {
    let short = Some(A[..12].to_string());
    for (path, of_unit) in [
        (format!("/system.slice/docker-{A}.scope"), None),
        (format!("/docker/{A}"), None),
        (format!("/system.slice/docker-{A}.scope/system.slice/inner.service"), None),
        (format!("/machine.slice/libpod-{A}.scope/container"), None),
        (format!("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-{A}.scope"), None),
        (format!("/system.slice/engine.service/libpod-payload-{A}"), Some("engine.service")),
        (
            format!(
                "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a2b.slice/cri-containerd-{A}.scope"
            ),
            None,
        ),
        (format!("/kubepods/besteffort/pod0a1b2c3d-1111-2222-3333-444455556666/{A}"), None),
        (format!("/kubepods.slice/kubepods-pod1.slice/crio-{A}.scope"), None),
        (
            format!("/system.slice/containerd.service/kubepods-burstable-pod1:cri-containerd:{A}"),
            Some("containerd.service"),
        ),
        (format!("/default/{A}"), None),
        (format!("/docker/{B}/kubelet.slice/kubelet-kubepods.slice/cri-containerd-{A}.scope"), None),
    ] {
        for cgroup in [format!("0::{path}\n"), format!("4:memory:{path}\n1:name=systemd:{path}\n0::/\n")] {
            assert_eq!(container_of(&cgroup), short, "{cgroup}");
            assert_eq!(
                unit(&cgroup).map(|unit| unit.0).as_deref().filter(|name| !name.starts_with("user@")),
                of_unit,
                "{cgroup}"
            );
        }
    }
    assert_eq!(container_of("0::/system.slice/engine.service\n"), None);
    assert_eq!(container_of(&format!("0::/x/{A}0\n")), None);
}

const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:7532 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0000000000000000 100 0 0 10 0
   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1 0000000000000000 100 0 0 10 0
   2: 0100007F:7532 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 4243 1 0000000000000000 20 4 30 10 -1
   3: broken
";
const TCP6: &str = "  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000001000000:7530 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 99 1 0
   1: 0000000000000000FFFF00000100007F:7531 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 98 1 0
   2: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 97 1 0
";

/// Written for little-endian machines, as the captures are.
#[cfg(target_endian = "little")]
#[test]
fn socket_tables() {
    let found: Vec<_> =
        listeners(TCP).iter().map(|found| (found.address.to_string(), found.uid, found.inode)).collect();
    assert_eq!(found, [("127.0.0.1:30002".to_string(), 1000, 4242), ("0.0.0.0:8080".to_string(), 0, 77)]);
    let found: Vec<_> = listeners(TCP6).iter().map(|found| (found.address.to_string(), found.inode)).collect();
    let expected = [("[::1]:30000", 99), ("127.0.0.1:30001", 98), ("[::]:80", 97)];
    assert_eq!(found, expected.map(|(address, inode)| (address.to_string(), inode)));
    assert_eq!(listeners(""), []);
    assert_eq!(listeners("\u{fffd}\n\u{fffd}: \u{fffd}\u{fffd}:1 x 0A 1 2 3 4 5 6\n"), []);
}

#[test]
fn local_addresses_of_a_routing_table() {
    let trie = "Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     |-- 172.17.0.0
        /16 link UNICAST
     |-- 172.17.0.2
        /32 host LOCAL
     |-- 127.0.0.1
        /32 host LOCAL
     |-- 127.255.255.255
        /32 link BROADCAST
Local:
     |-- 172.17.0.2
        /32 host LOCAL
     |-- 10.1.2.3
        /32 host LOCAL
";
    let found: Vec<String> = local_addresses(trie).iter().map(ToString::to_string).collect();
    assert_eq!(found, ["10.1.2.3", "172.17.0.2"]);
    assert_eq!(local_addresses("garbage\n|-- x\n/32 host LOCAL"), Vec::<std::net::Ipv4Addr>::new());
}
