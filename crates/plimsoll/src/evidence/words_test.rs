//! Texts of every kind, one row a case: what goes in, what comes out.

use super::rule::Removed;
use super::{body, json, kernel, page, script, secret, slab, unit, yaml};

/// Runs `of` over rows of before and after; what is clean stays clean.
fn check(of: impl Fn(&str, &mut Removed) -> String, rows: &[(&str, &str)]) {
    for (before, after) in rows {
        let mut removed = Removed::default();
        let told = of(before, &mut removed);
        assert_eq!(told, *after, "of {before}");
        assert_eq!(removed == Removed::default(), before == after, "what was taken out of {before} is counted");
        assert_eq!(of(&told, &mut Removed::default()), told, "once is enough for {before}");
    }
}

fn bytes(of: impl Fn(&[u8], &mut Removed) -> Vec<u8>) -> impl Fn(&str, &mut Removed) -> String {
    move |text, removed| String::from_utf8(of(text.as_bytes(), removed)).expect("text")
}

#[test]
fn command_lines() {
    check(
        bytes(secret::command_line),
        &[
            (
                "python3\0-m\0e.run\0--model-path\0meta/llama\0--port\x0030000\0",
                "python3\0-m\0e.run\0--model-path\0meta/llama\0--port\x0030000\0",
            ),
            ("x\0--api-key\0abc\0--port\x001\0", "x\0--api-key\0[secret]\0--port\x001\0"),
            ("x\0--api-key=abc\0\0", "x\0--api-key=[secret]\0\0"),
            ("x\0--api-key\0--enable-metrics\0", "x\0--api-key\0--enable-metrics\0"),
            ("x\0--api-keys\0abc\0def\0--port\x001\0", "x\0--api-keys\0[secret]\0[secret]\0--port\x001\0"),
            ("env\0HF_TOKEN=a b\0python3\0", "env\0HF_TOKEN=[secret]\0python3\0"),
            ("x\0http://me:abc@w:1/p\0", "x\0http://w:1/p\0"),
            ("x\0hf_abcdefghijklmn\0", "x\0[secret]\0"),
            ("x\0--name\0m,sk-abcdefghijklmn\0", "x\0--name\0m,[secret]\0"),
            (
                "x\0--config\0{\"endpoint\":\"tcp://*:5557\",\"token\":\"abc\"}\0",
                "x\0--config\0{\"endpoint\":\"tcp://*:5557\",\"token\":\"[secret]\"}\0",
            ),
            (
                "bash\0-c\0cd / && HF_TOKEN='a b' python3 -m e \"--api-key=c d\" --port 1; true\0",
                "bash\0-c\0cd / && HF_TOKEN=[secret] python3 -m e \"--api-key=[secret]\" --port 1; true\0",
            ),
            ("x\0--api-key\0\0y\0", "x\0--api-key\0\0y\0"),
        ],
    );
}

#[test]
fn environments() {
    check(
        bytes(|bytes, removed| secret::environment(&engines::Tables::builtin(), bytes, removed)),
        &[
            ("TZ=UTC\0PATH=/bin\0", "TZ=UTC\0PATH=/bin\0"),
            ("A=1\0JOURNAL_STREAM=8:9\0TZX=1\0SECRET=x\0", "JOURNAL_STREAM=8:9\0"),
            ("HOME=/home/me\0PYTHONPATH=/a:/b\0KEY=1\0", "HOME=/home/me\0PYTHONPATH=/a:/b\0"),
        ],
    );
}

#[test]
fn units() {
    check(
        unit::unit,
        &[
            (
                "[Service]\n# a note\nExecStart=/usr/bin/python3 -m e \\\n    --port 1\nUser=me\n",
                "[Service]\n# a note\nExecStart=/usr/bin/python3 -m e \\\n    --port 1\nUser=me\n",
            ),
            (
                "Environment=A=1 HF_TOKEN=abc \"API_KEY=a b\" 'B=2'\n",
                "Environment=A=1 HF_TOKEN=[secret] \"API_KEY=[secret]\" 'B=2'\n",
            ),
            (
                "ExecStart=/x --api-key \\\n  # still going\n  abc \\\n  --admin-api-key=\"d e\"\nRestart=no",
                "ExecStart=/x --api-key \\\n  # still going\n  [secret] \\\n  --admin-api-key=[secret]\nRestart=no",
            ),
            ("SetCredential=id:abc \\\n  def\nX=1\n", "SetCredential=[secret]\\\n\nX=1\n"),
            ("# api_key=abc\n", "# api_key=[secret]\n"),
            ("[Service]\nsome text of nobody \\\nKey=1\nA=1\n", "[Service]\n-\n\nA=1\n"),
            ("ExecStart=/bin/bash -c 'exec e --api-key abc'\n", "ExecStart=/bin/bash -c 'exec e --api-key [secret]'\n"),
            ("Environment=\"A=http://me:abc@h\"\n", "Environment=\"A=http://h\"\n"),
        ],
    );
    check(
        unit::variables,
        &[
            ("A=1\n# note\nB='x y'\n", "A=1\n# note\nB='x y'\n"),
            ("HF_TOKEN=a b c\nA=1\n", "HF_TOKEN=[secret]\nA=1\n"),
            ("API_KEY=\"one\ntwo\"\nA=1\n", "API_KEY=[secret]\\\n\nA=1\n"),
            ("PASSWORD=one\\\ntwo\nA=1", "PASSWORD=[secret]\\\n\nA=1"),
            ("URL=http://me:abc@h/\n", "URL=http://h/\n"),
            ("HF_TOKEN=\nA=1\n", "HF_TOKEN=\nA=1\n"),
        ],
    );
    check(
        script::scrubbed,
        &[("--api-key 'a' --b c", "--api-key '[secret]' --b c"), ("a '''' \"'x'\" b\\ c", "a '''' \"'x'\" b\\ c")],
    );
}

/// Lines keep their numbers, whatever goes.
#[test]
fn lines_stay() {
    let unit = "[Service]\nEnvironment=\"KEY=a \\\n b\" \\\n C=1\nExecStart=/x --api-key 'a\nb' \\\n --port 1\nEnvironment=Z=1\n";
    let told = unit::unit(unit, &mut Removed::default());
    assert_eq!(told.lines().count(), unit.lines().count(), "{told}");
    assert!(told.contains("\nEnvironment=Z=1\n") && told.contains(" C=1\n") && !told.contains("a \\"), "{told}");
}

#[test]
fn settings() {
    check(
        yaml::scrubbed,
        &[
            ("model-path: m # x\n", "model-path: m #\n"),
            ("model-path: 'm'\nport: 30000\n", "model-path: 'm'\nport: 30000\n"),
            ("api-key: abc\nport: 1\n", "api-key: \"[secret]\"\nport: 1\n"),
            ("api-key: |\n  one\n  two\nport: 1\n", "api-key: |\n  [secret]\n\nport: 1\n"),
            ("api_keys:\n  - abc\n  - 'de f'\nport: 1\n", "api_keys:\n  - \"[secret]\"\n  - \"[secret]\"\nport: 1\n"),
            ("{\"api_key\": \"abc\", \"port\": 1}", "{\"api_key\": \"[secret]\", \"port\": 1}"),
            ("env:\n- name: HF_TOKEN\n  value: abc\n", "env:\n- name: HF_TOKEN\n  value: \"[secret]\"\n"),
            (
                "environment:\n  A: x\n  B: y\ncommand: run $B\n",
                "environment:\n  A: \"[value]\"\n  B: y\ncommand: run $B\n",
            ),
            ("environment:\n- A=x\n", "environment:\n- \"A=[value]\"\n"),
            ("args: [--api-key, abc, --port, '1']\n", "args: [--api-key, \"[secret]\", --port, '1']\n"),
            ("command: >\n  run --api-key\n  abc --port 1\n", "command: >\n  run --api-key\n  [secret] --port 1\n"),
            ("kind: Secret\nstringData:\n  a: b\n", "kind: Secret\nstringData:\n  a: \"[secret]\"\n"),
            ("a: s3://me:abc@b/m\n", "a: s3://b/m\n"),
        ],
    );
}

#[test]
fn objects() {
    check(
        bytes(json::scrubbed),
        &[
            (
                "{\"a\": 1e3, \"b\":0.10,\"c\":12345678901234567890 ,\"d\":[null,true,NaN]}\n",
                "{\"a\": 1e3, \"b\":0.10,\"c\":12345678901234567890 ,\"d\":[null,true,NaN]}\n",
            ),
            ("{\"api_key\":\"abc\",\"port\":1}", "{\"api_key\":\"[secret]\",\"port\":1}"),
            ("{\"api_key\":null,\"token_usage\":0.12345678901}", "{\"api_key\":null,\"token_usage\":0.12345678901}"),
            (
                "{\"auth\":{\"user\":\"x\",\"n\":1},\"b\":\"x\"}",
                "{\"auth\":{\"user\":\"[secret]\",\"n\":1},\"b\":\"x\"}",
            ),
            ("{\"api_keys\":[\"a\",\"b\"],\"c\":[\"d\"]}", "{\"api_keys\":[\"[secret]\",\"[secret]\"],\"c\":[\"d\"]}"),
            ("{\"url\":\"http://me:abc@w:1\"}", "{\"url\":\"http://w:1\"}"),
            ("[\"hf_abcdefghijklmn\"]", "[\"[secret]\"]"),
            ("{\"sk-abcdefghijklmn\":1}", "{\"[secret]\":1}"),
            (
                "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\",\"n\":2}],\"model\":\"m\"}",
                "{\"messages\":[{\"role\":\"[text]\",\"content\":\"[text]\",\"n\":2}],\"model\":\"m\"}",
            ),
            ("{\"config\":\"{\\\"token\\\":\\\"abc\\\"}\"}", "{\"config\":\"{\\\"token\\\":\\\"[secret]\\\"}\"}"),
            ("{\"api_key\":\"cut", "{\"[text]\":\"[text]\""),
        ],
    );
    let long = format!("{{\"a\":\"{}\",\"b\":\"{}\"}}", "x".repeat(513), "y".repeat(512));
    let kept = json::scrubbed(long.as_bytes(), &mut Removed::default());
    assert_eq!(String::from_utf8_lossy(&kept), format!("{{\"a\":\"[text]\",\"b\":\"{}\"}}", "y".repeat(512)));
    // What is no JSON keeps nothing that stands outside of strings.
    assert_eq!(
        json::scrubbed(b"{\"a\":secret word, \"b\":1}", &mut Removed::default()),
        b"{\"[text]\": , \"[text]\":1}"
    );
    // Deep and broken, and still an answer.
    json::scrubbed("[".repeat(100_000).as_bytes(), &mut Removed::default());
    json::scrubbed(b"]}]\"\\", &mut Removed::default());
}

#[test]
fn pages() {
    check(
        bytes(page::scrubbed),
        &[
            ("# TYPE a gauge\na{x=\"y\"} 1 2\na 0.10\n", "# TYPE a gauge\na{x=\"y\"} 1 2\na 0.10\n"),
            ("# HELP a What it is.\n# HELP b -\n# HELP c\n", "# HELP a -\n# HELP b -\n# HELP c\n"),
            ("# a remark of somebody\na 1\n", "#\na 1\n"),
            (
                "a{token=\"x\",b=\"c\"} 1\na{token=\"y\"} 2\na{token=\"x\"} 3\n",
                "a{token=\"[secret]\",b=\"c\"} 1\na{token=\"[secret 2]\"} 2\na{token=\"[secret]\"} 3\n",
            ),
            ("a{w=\"http://me:abc@w:1\"} 1\n", "a{w=\"http://w:1\"} 1\n"),
            ("a{m=\"hf_abcdefghijklmn\"} 1\n", "a{m=\"[secret]\"} 1\n"),
            ("a{b=\"c\"} NaN\na{b=\"c\"} +Inf\na{b=\"c\"} 1e-9", "a{b=\"c\"} NaN\na{b=\"c\"} +Inf\na{b=\"c\"} 1e-9"),
            ("a 1 # {trace_id=\"abc\"} 2\n", "a 1 \n"),
        ],
    );
    let told = |text: &str| String::from_utf8(page::scrubbed(text.as_bytes(), &mut Removed::default())).expect("text");
    for (before, after) in [
        ("api_key=abc\n", "api_key=-\n"),
        ("the password is abc\n", "the -\n"),
        ("x{token=\"abc\" 1\n", "x{-\n"),
        ("x{a=\"b\"} word\n", "x{} -\n"),
    ] {
        assert_eq!(told(before), after);
    }
    let long = format!("a{{b=\"{}\"}} 1\n", "x".repeat(513));
    assert_eq!(told(&long), "a{b=\"[text]\"} 1\n");
    assert_eq!(body::body(b"<html>hello</html>", &mut Removed::default()), b"<html>");
    assert_eq!(body::body(b"my password is abc", &mut Removed::default()), b"other");
    assert_eq!(body::body(b"\0\x01abc", &mut Removed::default()), b"\0");
    assert_eq!(body::body(b" 17\n", &mut Removed::default()), b" 17\n");
}

#[test]
fn tables_of_the_kernel() {
    let mut removed = Removed::default();
    let table = "  sl  local_address rem_address   st\n   0: 0100007F:7532 00000000:0000 0A 0\n   1: 0100007F:7532 0200000A:1234 01 0\n";
    let kept = kernel::listeners(table.as_bytes(), &mut removed);
    assert_eq!(
        String::from_utf8(kept).expect("text"),
        table.lines().take(2).map(|line| format!("{line}\n")).collect::<String>()
    );
    let trie = "Local:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 10.0.0.0\n        /24 link UNICAST\n     |-- 10.0.0.5\n        /32 host LOCAL\n";
    let kept = kernel::own_addresses(trie.as_bytes(), &mut removed);
    assert_eq!(String::from_utf8(kept).expect("text"), "     |-- 10.0.0.5\n        /32 host LOCAL\n");
    assert_eq!(kernel::lines(b"cpu 1 2\nbtime 7\n", &["btime"], &mut removed), b"btime 7\n");
}

#[test]
fn shared_memory() {
    for (bytes, plain) in [
        (&b"\x00\x01kv_used_tokens\xcd\x01\x02"[..], true),
        (&[b'x'; 300], false),
        (b"\x01token=abcdefghijk\x00", false),
        (b"\x01hf_abcdefghijklmn\x00", false),
        (b"\xa8password\xa3abc", false),
    ] {
        assert_eq!(slab::is_plain(bytes), plain, "{bytes:?}");
    }
}
