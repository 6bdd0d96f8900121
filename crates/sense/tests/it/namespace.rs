//! A server that listens only in another network namespace.

use std::process::Command;

use model::BlindKind;
use sense::process::addresses_of;
use sense::{NetNs, Target};

use crate::peer::{Peer, client, get, ok, patient};
use crate::proc_real::{Running, again_as_nobody, find, here, start};

const SCRIPT: &str = "
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        self.send_response(200); self.send_header('Content-Length', '6'); self.end_headers(); self.wfile.write(b'inside')
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H)
print(s.server_port, flush=True)
s.serve_forever()
";

/// A server in a fresh namespace, its port, and its mark; `None` where that cannot be had.
fn inside(mark: &str) -> Option<(Running, u16)> {
    let may = Command::new("unshare").args(["--net", "true"]).status().is_ok_and(|status| status.success());
    if !may || !rustix::process::geteuid().is_root() {
        eprintln!("skipped: not root, or no network namespaces here");
        return None;
    }
    // exec, so that the child's id is the server's
    let script = "ip link set lo up && ip addr add 10.99.88.77/24 dev lo && exec python3 -c \"$0\" \"$1\"";
    let (child, line) = start(Command::new("unshare").args(["--net", "sh", "-c", script, SCRIPT, mark]));
    Some((child, line.parse().ok()?))
}

#[tokio::test]
async fn found_and_reached() {
    let mark = format!("--mark-ns-{}", std::process::id());
    let Some((child, port)) = inside(&mark) else { return };
    let found = find(&mark).await;
    let [process] = &found[..] else { panic!("{found:?}") };
    assert_eq!((process.pid, process.same_netns_as_us), (child.0.id(), Some(false)));
    assert_eq!(process.listening, [std::net::SocketAddr::from(([127, 0, 0, 1], port))]);
    let addresses = addresses_of(&here(), process.pid).await.unwrap();
    assert!(addresses.contains(&[10, 99, 88, 77].into()), "{addresses:?}");
    let mut target: Target = format!("127.0.0.1:{port}").parse().unwrap();
    // Out here nothing listens on that port, unless another test's server happens to.
    let ours = get(&target, patient()).await;
    assert!(!ours.is_ok_and(|answer| answer.body == b"inside"), "the port out here is not the server's");
    target.namespace = Some(NetNs(process.pid));
    let client = client(patient());
    for _ in 0..2 {
        assert_eq!(client.get(&target, "/metrics").await.outcome.unwrap().body, b"inside");
    }
    // the same port elsewhere is another target
    let peer = Peer::answers(|_| ok("outside"));
    assert_eq!(client.get(&peer.target(), "/metrics").await.outcome.unwrap().body, b"outside");
    target.base.port = 1;
    let blind = client.get(&target, "/metrics").await.outcome.unwrap_err();
    assert_eq!(blind.kind, BlindKind::Refused);
    assert!(blind.text.contains(&format!("in the network namespace of process {}", process.pid)), "{blind}");
}

#[tokio::test]
async fn our_own_needs_no_entering() {
    let peer = Peer::answers(|_| ok("x"));
    let mut target = peer.target();
    target.namespace = Some(NetNs(std::process::id()));
    assert_eq!(get(&target, patient()).await.unwrap().body, b"x");
    target.namespace = Some(NetNs(u32::MAX));
    assert_eq!(get(&target, patient()).await.unwrap_err().kind, BlindKind::Gone);
}

#[tokio::test]
async fn without_rights() {
    if rustix::process::geteuid().is_root() {
        again_as_nobody("namespace::without_rights");
        return;
    }
    let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get() as u32;
    let mut target: Target = "127.0.0.1:1".parse().unwrap();
    target.namespace = Some(NetNs(parent));
    let blind = get(&target, patient()).await.unwrap_err();
    if blind.kind == BlindKind::Refused {
        eprintln!("skipped: not started by root");
        return;
    }
    assert_eq!(blind.kind, BlindKind::Denied, "{blind}");
    assert!(blind.text.contains(&format!("nsenter -t {parent} -n")), "{blind}");
}
