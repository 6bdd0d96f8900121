//! How targets are spelled.

use sense::Target;
use sense::http::Fingerprint;

#[test]
fn spellings() {
    for (text, shown) in [
        ("http://host:30002", "http://host:30002"),
        ("HTTP://Host:30002/", "http://host:30002"),
        ("https://h/path", "https://h/path"),
        ("https://h/path/", "https://h/path"),
        ("https://h:443/a/b", "https://h/a/b"),
        ("https://h:80", "https://h:80"),
        ("h:30002", "http://h:30002"),
        ("h:30002/x", "http://h:30002/x"),
        ("30777/x", "http://127.0.0.1:30777/x"),
        ("localhost", "http://localhost"),
        ("[::1]:30000", "http://[::1]:30000"),
        ("http://[0:0::1]", "http://[::1]"),
        ("30002", "http://127.0.0.1:30002"),
        (" 30002\n", "http://127.0.0.1:30002"),
        ("10.0.0.7:8000", "http://10.0.0.7:8000"),
        ("my_host.example-x:1", "http://my_host.example-x:1"),
    ] {
        let target: Target = text.parse().unwrap();
        assert_eq!(target.to_string(), shown, "{text:?}");
        assert_eq!(shown.parse::<Target>().unwrap(), target, "{text:?}");
    }
}

#[test]
fn mistakes_are_told() {
    for (text, why) in [
        ("", "empty"),
        ("ftp://h", "only http and https"),
        ("http://", "no host"),
        ("http://:80", "no host"),
        ("h:0", "1 to 65535"),
        ("h:65536", "1 to 65535"),
        ("h:+80", "1 to 65535"),
        ("h:", "1 to 65535"),
        ("99999", "1 to 65535"),
        ("::1", "stands in brackets"),
        ("http://::1:80", "stands in brackets"),
        ("[::1", "does not close"),
        ("[::1]x", "follows the bracket"),
        ("[1.2.3.4]:80", "no IPv6"),
        ("http://h/metrics?x=1", "query"),
        ("http://h/#x", "query or fragment"),
        ("http://h/a/../b", "goes up"),
        ("http://h/a b", "blanks"),
        ("http://höst", "xn--"),
        ("http://h h", "no host name"),
    ] {
        let error = text.parse::<Target>().unwrap_err().to_string();
        assert!(error.contains(why), "{text:?}: {error}");
        assert!(error.contains("write http://host:port"), "{error}");
    }
}

#[test]
fn what_may_be_secret_in_a_wrong_address_is_not_shown() {
    for text in ["http://me:canary@h:0", "http://h/?token=canary", "ftp://me@h?canary", "http://h/#canary", "canary@"] {
        let error = text.parse::<Target>().unwrap_err().to_string();
        assert!(!error.contains("canary"), "{text:?}: {error}");
    }
}

#[test]
fn fingerprints() {
    let hex = "0123456789abcdef".repeat(4);
    let shown = format!("sha256:{hex}");
    for text in [hex.clone(), shown.clone(), hex.to_uppercase(), format!("SHA256:{hex}"), {
        let pairs: Vec<&str> = (0..32).map(|at| &hex[at * 2..at * 2 + 2]).collect();
        pairs.join(":")
    }] {
        assert_eq!(text.parse::<Fingerprint>().unwrap().to_string(), shown);
    }
    for text in ["", "sha256:", &hex[1..], &format!("{}g", &hex[1..]), "sha1:00"] {
        assert!(text.parse::<Fingerprint>().is_err(), "{text}");
    }
    // the digest of nothing
    assert!(Fingerprint::of(b"").to_string().starts_with("sha256:e3b0c44298fc1c14"));
}
