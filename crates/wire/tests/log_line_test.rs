//! What stands around a line, each form alone and some within each other. The forms are those of the tools' own
//! documentation; the message inside is always the same, so that what must come out is known.

use model::Time;
use wire::log::{Line, Stamp, line};

const TAGS: [(&str, &str); 9] = [
    ("DP", "dp"),
    ("TP", "tp"),
    ("PP", "pp"),
    ("EP", "ep"),
    ("ATTN_CP", "cp"),
    ("gpu=", "gpu"),
    ("gpu_id=", "gpu"),
    ("rank=", "rank"),
    ("Rank ", "rank"),
];
const MESSAGE: &str = "Decode batch. #running-req: 6, #token: 1556, token usage: 0.76, #queue-req: 0";
/// `date -u -d '2026-11-29 16:15:23' +%s`
const AT: f64 = 1_795_968_923.0;

fn read(text: &str) -> Line<'_, 'static> {
    line(text.as_bytes(), &TAGS)
}

fn with(around: &str) -> String {
    around.replace("@@", MESSAGE)
}

/// Each `around` gives the message alone, with this time and these ranks.
fn gives(stamp: Option<Stamp>, ranks: &[(&str, u32)], around: &[&str]) {
    for around in around {
        let text = with(around);
        let line = read(&text);
        assert_eq!(line.message, MESSAGE, "{text}");
        assert_eq!(line.ranks, ranks, "{text}");
        assert!(!line.cut, "{text}");
        let close = |one: f64, other: f64| (one - other).abs() < 1e-5;
        let same = match (line.stamp, stamp) {
            (Some(Stamp::Utc(Time(one))), Some(Stamp::Utc(Time(other))))
            | (Some(Stamp::Local(Time(one))), Some(Stamp::Local(Time(other))))
            | (Some(Stamp::Clock(one)), Some(Stamp::Clock(other))) => close(one, other),
            (Some(Stamp::Day(a, b, one)), Some(Stamp::Day(c, d, other))) => (a, b) == (c, d) && close(one, other),
            (one, other) => one == other,
        };
        assert!(same, "{text}: {:?}, not {stamp:?}", line.stamp);
    }
}

fn utc(seconds: f64) -> Stamp {
    Stamp::Utc(Time(seconds))
}

fn local(seconds: f64) -> Stamp {
    Stamp::Local(Time(seconds))
}

const DAY: f64 = 16.0 * 3600.0 + 15.0 * 60.0 + 23.0;

#[test]
fn times_as_logs_write_them() {
    gives(
        Some(local(AT)),
        &[],
        &[
            "[2026-11-29 16:15:23] @@",
            "2026-11-29 16:15:23 @@",
            "2026/11/29 16:15:23 @@",
            "2026-11-29T16:15:23 @@",
            "2026-11-29 16:15:23 - INFO - @@",
        ],
    );
    gives(
        Some(local(AT + 0.86)),
        &[],
        &[
            "[2026-11-29 16:15:23.860] @@",
            "[2026-11-29 16:15:23,860] @@",
            "2026-11-29 16:15:23,860 - name.of.logger - INFO - @@",
            "2026-11-29 16:15:23,860 [INFO] name.of.logger: @@",
            "2026-11-29 16:15:23.860 | INFO     | @@",
        ],
    );
    gives(
        Some(utc(AT)),
        &[],
        &[
            "2026-11-29T16:15:23Z @@",
            "2026-11-29T17:15:23+01:00 @@",
            "2026-11-29T10:45:23-0530 @@",
            "2026-11-29 16:15:23 UTC @@",
            "2026-11-29T16:15:23.000000000Z @@",
        ],
    );
    gives(Some(Stamp::Clock(DAY)), &[], &["16:15:23 @@", "[16:15:23] @@", "INFO 16:15:23 x.py:12] @@"]);
    gives(
        Some(Stamp::Day(11, 29, DAY)),
        &[],
        &[
            "11-29 16:15:23 @@",
            "INFO 11-29 16:15:23 [scheduler.py:1] @@",
            "I1129 16:15:23.000000 12345 scheduler.py:12] @@",
        ],
    );
    gives(None, &[], &["@@", "INFO:name.of.logger:@@", "INFO: @@", "  @@"]);
}

#[test]
fn times_that_cannot_be_are_none() {
    for text in
        ["2026-13-29 16:15:23 x", "2026-11-32 16:15:23 x", "24:00:00 x", "16:60:23 x", "16:15:23abc x", "1.2.3 x"]
    {
        let line = read(text);
        assert_eq!((line.stamp, &*line.message), (None, text));
    }
    // A leap day and the first second of a year, by `date -u`.
    assert_eq!(read("2024-02-29 00:00:00 x").stamp, Some(local(1_709_164_800.0)));
    assert_eq!(read("2000-01-01T00:00:00Z x").stamp, Some(utc(946_684_800.0)));
    assert_eq!(read("1970-01-01T00:00:00Z x").stamp, Some(utc(0.0)));
}

#[test]
fn ranks_inside_and_outside_of_brackets() {
    gives(
        Some(local(AT)),
        &[("dp", 0), ("tp", 3)],
        &[
            "[2026-11-29 16:15:23 DP0 TP3] @@",
            "[2026-11-29 16:15:23 DP0 TP3] INFO: @@",
            "[2026-11-29 16:15:23] DP0 TP3 @@",
            "[2026-11-29 16:15:23] [DP0 TP3] @@",
            "[2026-11-29 16:15:23] INFO [DP0 TP3]: @@",
            "DP0 TP3 2026-11-29 16:15:23 INFO @@",
            "[DP0] [2026-11-29 16:15:23 TP3] @@",
            "(Worker_DP0_TP9 pid=12) [2026-11-29 16:15:23 TP3] @@",
        ],
    );
    gives(Some(local(AT)), &[("cp", 1), ("tp", 2)], &["[2026-11-29 16:15:23 ATTN_CP1 MOE_DP1 TP2] @@"]);
    gives(None, &[("gpu", 1)], &["[gpu=1] @@", "[gpu_id=1] @@", "INFO [gpu=1] @@"]);
    gives(None, &[("rank", 0)], &["Rank 0: @@", "[rank=0] @@"]);
    gives(None, &[("tp", 12)], &["TP12: @@", "[TP12] @@"]);
    assert_eq!(read("TP0x: 1").ranks, []);
    assert_eq!(read("on TP0 and TP1").ranks, []);
}

#[test]
fn containers_and_their_tools() {
    gives(
        Some(utc(AT + 0.123_456)),
        &[("tp", 0)],
        &[
            "2026-11-29T16:15:23.123456789Z stderr F [2026-11-29 16:15:23 TP0] @@",
            "2026-11-29T16:15:23.123456789Z [2026-11-29 17:15:23 TP0] @@",
            "[pod/worker-0/main] 2026-11-29T16:15:23.123456789Z [2026-11-29 16:15:23 TP0] @@",
            r#"{"log":"[2026-11-29 16:15:23 TP0] @@\n","stream":"stderr","time":"2026-11-29T16:15:23.123456789Z"}"#,
            "worker-1  | 2026-11-29T16:15:23.123456Z [2026-11-29 16:15:23 TP0] @@",
        ],
    );
    gives(
        Some(local(AT)),
        &[("tp", 0)],
        &[
            "worker-1  | [2026-11-29 16:15:23 TP0] @@",
            "worker_1 | [2026-11-29 16:15:23 TP0] @@",
            "[pod/worker-0/main] [2026-11-29 16:15:23 TP0] @@",
            "worker-0 main [2026-11-29 16:15:23 TP0] @@",
            "worker-0 › main [2026-11-29 16:15:23 TP0] @@",
        ],
    );
    gives(None, &[], &["worker-1  | @@", "[pod/worker-0/main] @@"]);
}

#[test]
fn the_journal_and_syslog() {
    gives(
        Some(Stamp::Day(11, 29, DAY)),
        &[],
        &[
            "Nov 29 16:15:23 host unit[123]: @@",
            "Nov 29 16:15:23.000000 host unit[123]: @@",
            "Nov 29 16:15:23 host program: @@",
            "<14>Nov 29 16:15:23 host unit[123]: @@",
        ],
    );
    gives(
        Some(utc(AT)),
        &[],
        &[
            "2026-11-29T16:15:23+0000 host unit[123]: @@",
            "2026-11-29T16:15:23+00:00 host python3.11[123]: @@",
            "1795968923.000000 host unit[123]: @@",
            "Sun 2026-11-29 16:15:23 UTC host unit[123]: @@",
            "<14>1 2026-11-29T16:15:23Z host program 123 - - @@",
            "<14>1 2026-11-29T16:15:23Z host program 123 ID [a@1 b=\"]\\\"\"][c] \u{feff}@@",
            r#"{"__REALTIME_TIMESTAMP":"1795968923000000","_PID":"123","PRIORITY":"6","MESSAGE":"@@"}"#,
        ],
    );
    let local_in_journal = with("Nov 29 16:15:20 host unit[123]: [2026-11-29 16:15:23 TP0] @@");
    assert_eq!(read(&local_in_journal).stamp, Some(local(AT)));
    // A message that is no plain text is an array of its bytes: ESC [ 3 1 m A ESC [ 0 m.
    let bytes = read(r#"{"MESSAGE":[27,91,51,49,109,65,27,91,48,109],"__REALTIME_TIMESTAMP":"1795968923000000"}"#);
    assert_eq!((&*bytes.message, bytes.stamp), ("A", Some(utc(AT))));
}

#[test]
fn records_of_shippers() {
    gives(
        Some(utc(AT)),
        &[],
        &[
            r#"{"message":"@@","@timestamp":"2026-11-29T16:15:23.000Z","log":{"level":"info"}}"#,
            r#"{"level":"info","ts":1795968923.0,"msg":"@@"}"#,
            r#"{"labels":{},"line":"@@","timestamp":"2026-11-29T16:15:23Z"}"#,
            r#"{"textPayload":"@@","timestamp":"2026-11-29T16:15:23Z","receiveTimestamp":"2026-11-29T16:15:29Z"}"#,
            r#"{"jsonPayload":{"message":"@@"},"timestamp":"2026-11-29T16:15:23Z"}"#,
            r#"{"timestamp":"2026-11-29T16:15:23Z","level":"INFO","fields":{"message":"@@"},"target":"a"}"#,
            r#"{"stream":"stderr","logtag":"F","log":"@@","time":1795968923000}"#,
            r#"{"MESSAGE":"{\"log\":\"@@\\n\",\"time\":\"2026-11-29T16:15:23Z\"}"}"#,
            r#"worker-1 | {"message":"@@","time":"2026-11-29T16:15:23Z"}"#,
        ],
    );
    gives(Some(local(AT)), &[], &[r#"{"timestamp":"2026-11-29 16:15:23","level":"INFO","message":"@@"}"#]);
    // Objects without a message are messages themselves, and so is what is no whole object.
    for text in [r#"{"event":"finished","a":1}"#, r#"{"message":"x","#, r#"{"message":5}"#, "{}", "{"] {
        assert_eq!(read(text).message, text);
    }
}

#[test]
fn launchers_and_loggers() {
    gives(
        Some(local(AT)),
        &[("tp", 1)],
        &[
            "(SchedulerActor pid=123, ip=10.0.0.1) [2026-11-29 16:15:23 TP1] @@",
            "[default0]:[2026-11-29 16:15:23 TP1] @@",
            "[rank0]: [2026-11-29 16:15:23 TP1] @@",
            "[1,0]<stderr>:[2026-11-29 16:15:23 TP1] @@",
            "0: [2026-11-29 16:15:23 TP1] @@",
            "[2026-11-29 16:15:23 TP1] scheduler.py:1234 @@",
            "[2026-11-29 16:15:23 TP1] [scheduler.py:1234] @@",
            "[2026-11-29 16:15:23 TP1] INFO scheduler.py:1234: @@",
            "[2026-11-29 16:15:23 TP1] INFO name.of.logger: @@",
            "100%|██████| 2/2 [00:00<00:00,  9.1it/s][2026-11-29 16:15:23 TP1] @@",
        ],
    );
    // Two processes on one terminal: a line that another one broke into ends there, with its last whole pair. What follows
    // could as well be the text of a request, and is not read.
    let glued = with("[2026-11-29 16:15:22 TP0] Decode batch. #running-req: 5, #tok[2026-11-29 16:15:23 TP1] @@");
    let expected = ("Decode batch. #running-req: 5", Some(local(AT - 1.0)));
    assert_eq!((&*read(&glued).message, read(&glued).stamp), expected);
    gives(None, &[], &["(EngineCore pid=12) @@", "[default12]: @@", "[x.py:12] @@", "x.py:12] @@"]);
}

#[test]
fn pastes_and_searches() {
    gives(
        Some(local(AT)),
        &[("tp", 0)],
        &[
            "> [2026-11-29 16:15:23 TP0] @@",
            "> > [2026-11-29 16:15:23 TP0] @@",
            "on.log:12:[2026-11-29 16:15:23 TP0] @@",
            "/var/log/a b/on.log:[2026-11-29 16:15:23 TP0] @@",
            "12:[2026-11-29 16:15:23 TP0] @@",
            "12-[2026-11-29 16:15:23 TP0] @@",
        ],
    );
    gives(Some(Stamp::Day(11, 29, DAY)), &[], &["messages:7:Nov 29 16:15:23 host unit[1]: @@"]);
}

#[test]
fn colours_line_ends_and_progress_bars() {
    gives(
        Some(local(AT)),
        &[("tp", 0)],
        &[
            "\u{1b}[32m[2026-11-29 16:15:23 TP0]\u{1b}[0m @@\u{1b}[0m",
            "[2026-11-29 16:15:23 TP0] \u{1b}[38;5;12m@@\u{1b}[K\r\n",
            "\u{1b}]0;title\u{7}[2026-11-29 16:15:23 TP0] @@",
            "\u{1b}]8;;http://x\u{1b}\\[2026-11-29 16:15:23 TP0] @@",
            "#033[32m[2026-11-29 16:15:23 TP0]#033[0m @@",
            "^[[32m[2026-11-29 16:15:23 TP0]^[[0m @@",
            "\u{1b}(B[2026-11-29 16:15:23 TP0] @@",
            r#"{"message":"\u001b[1m[2026-11-29 16:15:23 TP0]\u001b[0m @@\r\n"}"#,
            "10%|█\r20%|██\r[2026-11-29 16:15:23 TP0] @@",
            "\0\0\0[2026-11-29 16:15:23 TP0] @@",
            "[2026-11-29 16:15:23 TP0] @@\n",
        ],
    );
    // The sequence may stand within the message.
    let inner = format!(
        "[2026-11-29 16:15:23] {}",
        MESSAGE.replace("token usage: 0.76", "token usage: \u{1b}[31m0.76\u{1b}[0m")
    );
    assert_eq!(read(&inner).message, MESSAGE);
}

#[test]
fn layers_within_layers() {
    gives(
        Some(utc(AT)),
        &[("dp", 1), ("tp", 0)],
        &[
            r#"> pod-1  | 2026-11-29T16:15:23Z stderr F {"message":"\u001b[32m[2026-11-29 08:15:23 DP1 TP0]\u001b[0m @@\n"}"#,
            r#"Nov 29 16:15:29 host dockerd[1]: {"log":"(Actor pid=3) [2026-11-29 08:15:23 DP1 TP0] @@\n","time":"2026-11-29T16:15:23Z"}"#,
        ],
    );
}

/// A part of a line keeps only what stands before its last comma: the number behind may have lost digits.
#[test]
fn a_part_of_a_line_loses_its_last_number() {
    let parts = [
        "2026-11-29T16:15:23Z stderr P [2026-11-29 16:15:23] Decode batch. #token: 1556, token usage: 0.7".to_owned(),
        r#"{"stream":"stderr","logtag":"P","log":"Decode batch. #token: 1556, token usage: 0.7"}"#.to_owned(),
        r#"{"MESSAGE":"Decode batch. #token: 1556, token usage: 0.7","CONTAINER_PARTIAL_MESSAGE":"true"}"#.to_owned(),
        format!(r#"{{"log":"Decode batch. #token: 1556,{}token usage: 0.7","stream":"stderr"}}"#, " ".repeat(20_000)),
    ];
    for part in parts {
        let line = read(&part);
        assert_eq!((&*line.message, line.cut), ("Decode batch. #token: 1556", true));
    }
}

#[test]
fn bytes_that_are_no_line() {
    for raw in
        [&b""[..], b"\n", b"\r", b"\r\n", b"\0", b"[", b"{", b"(", b"<", b">", b"\x1b", b"\x1b[", b"\xff\xfe", b"[20"]
    {
        let line = line(raw, &TAGS);
        assert!(line.stamp.is_none() && line.ranks.is_empty() && line.message.len() <= 6, "{raw:?} {line:?}");
    }
    let odd = line(b"[2026-11-29 16:15:23] a\xff: 5", &TAGS);
    assert_eq!((&*odd.message, odd.stamp), ("a\u{fffd}: 5", Some(local(AT))));
    let long = vec![b'['; (1 << 20) + 1];
    assert!(line(&long, &TAGS).cut && line(&long, &TAGS).message.is_empty());
    assert!(!line(&long[1..], &TAGS).cut);
}

/// A first word of 256 bytes and more is none that is known, wherever in a letter its 256th byte lies.
#[test]
fn long_first_words_of_letters_of_several_bytes() {
    for before in 0..4 {
        let word = format!("{}{}", "x".repeat(before), "\u{fffd}é".repeat(100));
        assert_eq!(read(&word).message, word);
        assert_eq!(read(&format!("7 {word} a=1")).message, format!("7 {word} a=1"));
    }
}

/// Names and values, of which the first is the time.
#[test]
fn a_time_by_its_name() {
    let utc = Some(Stamp::Utc(Time(AT)));
    let cases = [
        (
            "time=2026-11-29T16:15:23.000Z level=INFO source=a.go:1 msg=\"x y\" k=1",
            "level=INFO source=a.go:1 msg=\"x y\" k=1",
        ),
        (
            "time=2026-11-29T17:15:23+01:00 level=DEBUG source=c.go:151 msg=\"slot\" id=0",
            "level=DEBUG source=c.go:151 msg=\"slot\" id=0",
        ),
        ("time=\"2026-11-29T16:15:23Z\" level=info msg=\"x\"", "level=info msg=\"x\""),
        ("ts=2026-11-29T16:15:23Z level=info msg=x", "level=info msg=x"),
        ("Nov 29 16:15:24 host ollama[7]: time=2026-11-29T16:15:23.000Z level=INFO msg=up", "level=INFO msg=up"),
        ("2026-11-29T16:15:24.5Z stderr F time=2026-11-29T16:15:23.000Z level=INFO msg=up", "level=INFO msg=up"),
        (
            "{\"log\":\"time=2026-11-29T16:15:23.000Z level=INFO msg=up\\n\",\"time\":\"2026-11-29T16:15:24.5Z\"}",
            "level=INFO msg=up",
        ),
    ];
    for (text, message) in cases {
        let read = read(text);
        assert_eq!(read.message, message, "{text}");
        // Records of shippers say when they took it, where the line itself does not count.
        if !text.starts_with(['2', '{']) {
            assert_eq!(read.stamp, utc, "{text}");
        }
    }
    // No time, or none that stands first: unchanged.
    for text in ["time=1.5s level=INFO msg=x", "level=INFO msg=\"time=2026-11-29T16:15:23Z\""] {
        let read = read(text);
        assert_eq!((read.message.as_ref(), read.stamp), (text, None));
    }
}

#[test]
fn a_rank_behind_a_day_is_no_host() {
    // The shape of `Nov 29 16:15:23 host program: `, which a logging set-up without source positions writes, too.
    let tags = [("Engine ", "dp")];
    let read = line(b"INFO 11-29 16:15:23 Engine 001: Avg prompt throughput: 1.0 tokens/s", &tags);
    assert_eq!((&*read.message, &read.ranks[..]), ("Avg prompt throughput: 1.0 tokens/s", &[("dp", 1)][..]));
    let syslog = line(b"Nov 29 16:15:23 gpu01 vllm: Engine 001: Avg", &tags);
    assert_eq!((&*syslog.message, &syslog.ranks[..]), ("Avg", &[("dp", 1)][..]));
}

/// As llama.cpp writes it: minutes, seconds, thousandths, millionths, and a letter for the level.
#[test]
fn times_since_a_start() {
    let since = |text: &str| read(text).stamp;
    // 61 minutes, 1 second, 928 thousandths and 598 millionths.
    let line = read("61.01.928.598 I slot      release: id  3");
    assert_eq!(&*line.message, "slot      release: id  3");
    assert!(matches!(line.stamp, Some(Stamp::Since(seconds)) if (seconds - 3_661.928_598).abs() < 1e-9), "{line:?}");
    assert_eq!(since("0.00.000.000 E x"), Some(Stamp::Since(0.0)));
    // A line of which nothing but its head is left.
    assert_eq!((since("0.00.000.000 W"), &*read("0.00.000.000 W").message), (Some(Stamp::Since(0.0)), ""));
    // What wrote it down says more.
    let record = r#"{"log":"0.01.928.598 I slot\n","stream":"stderr","time":"2026-11-29T16:15:23Z"}"#;
    assert_eq!(since(record), Some(Stamp::Utc(Time(AT))));
    // Of a program whose lines are passed on by another it is not the other's.
    assert_eq!(since("[41123] 0.01.928.598 I slot"), None);
    for other in [
        "0.01.928.598 slot",
        "0.01.928.598 Info",
        "0.01.928.598 X slot",
        "0.61.928.598 I slot",
        "0.1.928.598 I slot",
        "0.01.928.59 I slot",
        ".01.928.598 I slot",
        "10.0.0.1 I slot",
        "123456789.01.928.598 I slot",
        "v0.01.928.598 I slot",
    ] {
        assert_eq!(since(other), None, "{other}");
    }
}

/// A web framework's way to write when a request ended.
#[test]
fn requests_with_a_dash_in_their_time() {
    let line = read("[GIN] 2026/11/29 - 16:15:23 | 200 |  2.203114125s |       127.0.0.1 | POST     \"/api/chat\"");
    assert_eq!((line.stamp, &*line.message), (Some(Stamp::Local(Time(AT))), "POST     \"/api/chat\""));
    assert_eq!(read("2026/11/29 -16:15:23 up").stamp, None);
}
