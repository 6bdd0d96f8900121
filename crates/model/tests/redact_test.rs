//! What may be secret goes: addresses lose it, and so do names that tell of a secret; other text stays as it is.

use model::{holds_secret, looks_secret, without_secrets};

#[test]
fn addresses_lose_their_secrets() {
    for (text, shown) in [
        ("http://h:1/path", "http://h:1/path"),
        ("http://me:word@h:1/path", "http://h:1/path"),
        ("http://me:w/o@r:d@h:1", "http://h:1"),
        ("http://h:1/?token=word#part", "http://h:1/"),
        ("http://h:1/?token=w@rd", "http://…"),
        ("a http://me:word@h, grpc://me@[::1]:2?x b", "a http://h, grpc://[::1]:2 b"),
        (r#"{"endpoint":"tcp://me:word@*:5557","x":1}"#, r#"{"endpoint":"tcp://*:5557","x":1}"#),
        ("me:word@10.0.0.1:5000, b", "10.0.0.1:5000, b"),
        ("me:word@3", "3"),
        ("org/model@main?x", "org/model@main?x"),
        ("image:1@sha256:0f", "image:1@sha256:0f"),
        ("10.0.0.1:30000@3", "10.0.0.1:30000@3"),
        ("://", "://"),
        ("", ""),
    ] {
        assert_eq!(without_secrets(text), shown, "{text}");
    }
}

#[test]
fn names_lose_their_secrets() {
    for (text, shown) in [
        ("api_key=word, port=3", "api_key=[secret], port=3"),
        ("api_key='a b', port=3", "api_key='[secret]', port=3"),
        (r#"{"api_key": "a\"b", "port": 3}"#, r#"{"api_key": "[secret]", "port": 3}"#),
        (r#""{\"token\":\"word\",\"port\":3}""#, r#""{\"token\":\"[secret]\",\"port\":3}""#),
        ("{'HF_TOKEN': 'word'}", "{'HF_TOKEN': '[secret]'}"),
        ("run --api-key word --port 3", "run --api-key [secret] --port 3"),
        ("run --api-key=a,b;c --port 3", "run --api-key=[secret] --port 3"),
        ("Authorization: Basic bWU6d29yZA==", "Authorization: [secret]"),
        ("authorization: bearer a.b-c", "authorization: [secret]"),
        ("it wants Bearer abc now", "it wants Bearer [secret] now"),
        ("password: word", "password: [secret]"),
        ("api_key=\"never closed, port=3", "api_key=\"[secret]"),
        ("SGLANG_API_KEY=x=y==", "SGLANG_API_KEY=[secret]"),
        ("pass: 123456", "pass: [secret]"),
        ("api_key='-word'", "api_key='[secret]'"),
        ("auth:3000word", "auth:[secret]"),
    ] {
        assert_eq!(without_secrets(text), shown, "{text}");
        assert_eq!(without_secrets(shown), shown, "again");
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    for text in [
        "#token: 1234567, token usage: 0.39",
        "gen throughput (token/s): 0.02",
        "max_total_num_tokens=65536, tokenizer_path='m'",
        "api_key=None, admin_api_key=null",
        "\"api_key\":null,\"watermark\":false",
        "auth:30000",
        "http://auth.example:30000/metrics",
        "http://gate-auth:80",
        "missing bearer token",
        "key",
        "--api-key",
        "--enable-auth --port 3",
        "command line of pid 7 without --api-key",
        "a: b, c = d",
        "größe: 3 ∙ schlüssel",
    ] {
        assert_eq!(without_secrets(text), text);
    }
}

#[test]
fn names_tell() {
    for name in
        ["HF_TOKEN", "--api-key", "admin_api_key", "ssl_keyfile_password", "Authorization", "X-Api-Key", "pgpass"]
    {
        assert!(looks_secret(name), "{name}");
    }
    for name in ["--port", "max_total_num_tokens", "tokenizer_path", "keyfile", "author", ""] {
        assert!(!looks_secret(name), "{name}");
    }
}

#[test]
fn commands_that_hold_a_secret_are_known() {
    for words in
        [&["x", "--api-key", "w"][..], &["env", "HF_TOKEN=w"], &["sh", "-c", "x --password w"], &["http://a:b@h"]]
    {
        assert!(holds_secret(words.iter().copied()), "{words:?}");
    }
    assert!(!holds_secret(["x", "--port", "1", "--api-key", "--host", "h"].into_iter()));
}

/// Whatever stands around a secret, its name tells of it; and nothing panics or grows.
#[test]
fn no_spelling_lets_a_value_through() {
    let value = "c4n4ry";
    for name in ["api_key", "--api-key", "HF_TOKEN", "password"] {
        for between in ["=", ": ", "\": \"", "': '", "=\"", "\\\":\\\"", " = ", ":"] {
            for behind in ["", "\"", "'", ", b=1", "\\\"}", " x", ")", "\n"] {
                let text = format!("a {name}{between}{value}{behind}");
                assert!(!without_secrets(&text).contains(value), "{text:?} {:?}", without_secrets(&text));
            }
        }
    }
    let all = "=:'\"\\ -{}@/?#,key.tokén1";
    let letters: Vec<char> = all.chars().collect();
    let mut dice = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..24 {
            dice = dice.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            text.push(letters[(dice >> 33) as usize % letters.len()]);
        }
        let once = without_secrets(&text);
        assert!(once.len() <= text.len() * 8 + 8, "{text:?}");
    }
}

/// A peer may send as much of it as a body holds.
#[test]
fn long_texts_take_no_longer_than_they_are_long() {
    for piece in
        ["key=-", "key:1/", "key=[secret", "key='", "key=\\", "--key ", "a:b@", "://", "bearer ", "key==", "key: \"\\"]
    {
        let text = piece.repeat((1 << 20) / piece.len());
        let begun = std::time::Instant::now();
        let shown = without_secrets(&text);
        // Seconds where each piece is read to the end; this much is for a machine that is busy.
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{piece:?}: {:?}", begun.elapsed());
        assert!(shown.len() <= text.len() * 8);
    }
}

/// Texts with nothing that could name or carry a secret are passed on as they are, and no others: whatever stands beside a
/// secret, it goes.
#[test]
fn a_secret_goes_whatever_stands_around_it() {
    let beside = ["", "page_size", "/server_info", "a b", "x-y", "'", "\\", "bear", "Ünï"];
    for (secret, shown) in [
        ("token=wordy1", "token=[secret]"),
        ("HF_TOKEN: wordy1", "HF_TOKEN: [secret]"),
        ("--api-key wordy1", "--api-key [secret]"),
        ("Bearer wordy1", "Bearer [secret]"),
        ("BEARER wordy1", "BEARER [secret]"),
        ("me:wordy1@h", "h"),
        ("http://h?wordy1", "http://h"),
    ] {
        for (before, behind) in beside.iter().flat_map(|before| beside.iter().map(move |behind| (before, behind))) {
            let (before, behind) = (format!("{before} "), format!(" {behind}"));
            let text = format!("{before}{secret}{behind}");
            assert_eq!(without_secrets(&text), format!("{before}{shown}{behind}"));
        }
    }
    for text in beside {
        assert_eq!(without_secrets(text), text);
    }
}
