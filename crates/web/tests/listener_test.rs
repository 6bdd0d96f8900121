//! Where a site may listen, and what it says where it may not.

mod support;

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use support::{FakeSource, answer_of, patiently, with_token};
use tokio::net::UnixStream;
use tokio::sync::oneshot;
use web::{BindError, Listener, Secret};

#[tokio::test]
async fn others_reach_it_only_with_a_token() {
    let token = Secret::new(support::TOKEN).expect("a token");
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:9"] {
        let error = Listener::tcp(address.parse().expect("an address"), None).expect_err(address);
        assert!(matches!(error, BindError::NeedsToken(_)) && error.to_string().contains("token"), "{error}");
    }
    for address in ["127.0.0.1:0", "127.8.8.8:0", "[::1]:0"] {
        match Listener::tcp(address.parse().expect("an address"), None) {
            // A host without IPv6 has no such address.
            Ok(_) | Err(BindError::Address(..)) => (),
            Err(error) => panic!("{address}: {error}"),
        }
    }
    Listener::tcp("0.0.0.0:0".parse().expect("an address"), Some(&token)).expect("a port");
    let error = Listener::tcp("192.0.2.1:9000".parse().expect("an address"), Some(&token)).expect_err("not ours");
    assert!(error.to_string().contains("192.0.2.1:9000 cannot be listened on"), "{error}");
}

#[tokio::test]
async fn a_taken_port_is_said() {
    let first = Listener::tcp("127.0.0.1:0".parse().expect("an address"), None).expect("a port");
    let address = first.address().expect("an address");
    let error = Listener::tcp(address, None).expect_err("taken");
    assert!(error.to_string().starts_with(&format!("{address} is taken")), "{error}");
    drop(first);
    Listener::tcp(address, None).expect("free again");
}

#[tokio::test]
async fn the_socket_is_ours_alone_and_asks_no_token() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plimsoll.sock");
    let listener = Listener::unix(&path, false).expect("a socket");
    let mode = std::fs::metadata(&path).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let error = Listener::unix(&path, false).expect_err("taken");
    assert!(matches!(error, BindError::PathTaken(_)), "{error}");

    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(async move {
        web::serve(vec![listener], Arc::new(FakeSource::default()), with_token(), async {
            let _ = stopped.await;
        })
        .await;
    });
    let mut stream = UnixStream::connect(&path).await.expect("a connection");
    for (target, status) in [
        ("/api/v1/overview", 200),
        ("/", 200),
        ("/api/v1/report?command=explain&json=true&width=80&target=http://a&target=http://b", 200),
        ("/api/v1/report?command=doctor", 400),
    ] {
        let answer = answer_of(&mut stream, format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await;
        assert_eq!(answer.status, status, "{target}");
        if target.contains("explain") {
            // The exit code comes first, so it is text even where JSON was asked for.
            assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
            assert_eq!(answer.text(), "0\nexplain 80 http://a http://b");
        }
    }
    let posted = answer_of(&mut stream, b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n").await;
    assert_eq!(posted.status, 405);
    drop(stop);
    patiently(served).await.expect("no panic");
    assert!(!path.exists(), "the socket goes with the site");
}

#[tokio::test]
async fn a_dead_ones_socket_is_replaced_and_nothing_else_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plimsoll.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket that stays"));
    assert!(path.exists());
    let listener = Listener::unix(&path, false).expect("a socket");
    // Another one took the place: its file is not ours to remove.
    std::fs::remove_file(&path).expect("ours");
    let _other = std::os::unix::net::UnixListener::bind(&path).expect("theirs");
    drop(listener);
    assert!(path.exists());

    let file = folder.path().join("notes.txt");
    std::fs::write(&file, "kept").expect("a file");
    let error = Listener::unix(&file, false).expect_err("no socket");
    assert!(matches!(error, BindError::NoSocket(_)), "{error}");
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "kept");
    let error = Listener::unix(&folder.path().join("none/x.sock"), false).expect_err("no folder");
    assert!(error.to_string().contains("none/x.sock cannot be listened on"), "{error}");
}
