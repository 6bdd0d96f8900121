//! Secrets never show.

use std::os::unix::fs::PermissionsExt as _;

use model::BlindKind;
use sense::{Credentials, Secret, SecretSource, Target};

use crate::peer::{Peer, get, patient};

const CANARY: &str = "canary-8f3a";

fn clean(text: &str) {
    let text = text.to_lowercase();
    assert!(!text.contains("canary"), "{text}");
    // the canary in base64, as basic credentials spell it in any of three places
    for part in ["Y2FuYXJ5", "NhbmFyeS", "jYW5hcnkt"] {
        assert!(!text.contains(&part.to_lowercase()), "{text}");
    }
}

#[test]
fn userinfo_is_taken_out() {
    let target: Target = format!("http://user:{CANARY}@h:30002/x").parse().unwrap();
    assert_eq!(target.to_string(), "http://h:30002/x");
    let password = Some(SecretSource::Url(Secret::new(CANARY)));
    assert_eq!(target.credentials, Credentials::Basic { user: Secret::new("user"), password });
    clean(&format!("{target:?} {target} {:?}", target.notes()));
    let target: Target = format!("http://{CANARY}@h").parse().unwrap();
    assert_eq!(target.credentials, Credentials::Basic { user: Secret::new(CANARY), password: None });
    clean(&format!("{target:?} {target}"));
    let target: Target = "http://a%40b:c%3ad@h".parse().unwrap();
    let password = Some(SecretSource::Url(Secret::new("c:d")));
    assert_eq!(target.credentials, Credentials::Basic { user: Secret::new("a@b"), password });
}

#[test]
fn mistakes_do_not_show_userinfo() {
    for text in [
        format!("http://u:{CANARY}@h:99999"),
        format!("http://u:{CANARY}/x@h"),
        format!("ftp://u:{CANARY}@h"),
        format!("u:{CANARY}%@h"),
        format!("http://u:{CANARY}?@h"),
        format!("http://u:{CANARY}@@"),
    ] {
        let error = text.parse::<Target>().unwrap_err();
        clean(&format!("{error} {error:?}"));
    }
}

#[test]
fn a_secret_only_says_that_it_is_one() {
    let secret = Secret::new(CANARY);
    assert_eq!((format!("{secret:?}"), secret.to_string()), ("[secret]".to_string(), "[secret]".to_string()));
    assert_eq!(secret.reveal(), CANARY);
}

#[test]
fn sources() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("token");
    let source = SecretSource::File(path.clone());
    assert_eq!(source.load().unwrap_err().kind, BlindKind::Denied);
    std::fs::write(&path, "\n").unwrap();
    assert!(source.load().unwrap_err().text.contains("is empty"));
    std::fs::write(&path, format!("{CANARY}\n")).unwrap();
    assert_eq!(source.load().unwrap(), Secret::new(CANARY));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(source.note(), None);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(source.note().unwrap().id, "secret-readable");
    assert_eq!(SecretSource::Env("PATH".to_string()).load().unwrap().reveal(), std::env::var("PATH").unwrap());
    let blind = SecretSource::Env("PLIMSOLL_NOT_SET".to_string()).load().unwrap_err();
    assert!(blind.text.contains("PLIMSOLL_NOT_SET is not set"), "{blind}");
}

#[test]
fn clear_text_is_a_note() {
    let noted = |text: &str| text.parse::<Target>().unwrap().notes().len();
    assert_eq!(noted("http://u:p@127.0.0.1:1"), 0);
    assert_eq!(noted("https://u:p@h:1"), 0);
    assert_eq!(noted("http://h:1"), 0);
    assert_eq!(noted("http://u:p@h:1"), 1);
}

#[tokio::test]
async fn a_secret_that_no_header_carries_sends_nothing() {
    let peer = Peer::answers(|_| crate::peer::ok("x"));
    let mut target = peer.target();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{CANARY}\nX: y\n")).unwrap();
    target.credentials = Credentials::Bearer(SecretSource::File(file.path().to_path_buf()));
    let blind = get(&target, patient()).await.unwrap_err();
    assert_eq!((blind.kind, peer.connections()), (BlindKind::Denied, 0));
    clean(&blind.text);
}

#[tokio::test]
async fn what_a_peer_sends_back_is_scrubbed() {
    for answer in
        ["SSH-{}", "HTTP/1.1 302 Found\r\nLocation: /x/{}\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Encoding: {}\r\n\r\n"]
    {
        for basic in [false, true] {
            let peer = Peer::on("127.0.0.1:0", move |peer, mut stream, _| {
                let head = peer.head(&mut stream).unwrap();
                let line = head.lines().find_map(|line| line.strip_prefix("authorization: ")).unwrap();
                let secret = line.split(' ').nth(1).unwrap().to_string();
                let _ = std::io::Write::write_all(&mut stream, answer.replace("{}", &secret).as_bytes());
            });
            let mut target = peer.target();
            let source = SecretSource::Url(Secret::new(CANARY));
            target.credentials = if basic {
                Credentials::Basic { user: Secret::new("u"), password: Some(source) }
            } else {
                Credentials::Bearer(source)
            };
            let look = crate::peer::client(patient()).get(&target, "/metrics").await;
            let blind = look.outcome.as_ref().unwrap_err();
            assert!(blind.text.contains("[secret]"), "{blind}");
            clean(&format!("{look:?}"));
        }
    }
}

/// Of what is no HTTP only the beginning is shown, which may end within the secret.
#[tokio::test]
async fn a_secret_cut_in_half_is_scrubbed_too() {
    let token = format!("{CANARY}-{}", "0123456789".repeat(20));
    let peer = Peer::sends(format!("you said {}\r\n", token.to_uppercase()));
    let mut target = peer.target();
    target.credentials = Credentials::Bearer(SecretSource::Url(Secret::new(token)));
    let blind = get(&target, patient()).await.unwrap_err();
    assert!(blind.text.contains("you said [secret]") && !blind.text.contains("0123"), "{blind}");
    clean(&blind.text);
    let peer = Peer::on("127.0.0.1:0", |peer, mut stream, _| {
        peer.head(&mut stream);
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: {CANARY}\r\nContent-Length: 0\r\n\r\n");
        let _ = std::io::Write::write_all(&mut stream, answer.as_bytes());
    });
    target.base.port = peer.port;
    assert_eq!(get(&target, patient()).await.unwrap().content_type, "[secret]");
}
