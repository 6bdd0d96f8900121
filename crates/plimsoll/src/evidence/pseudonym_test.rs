//! Names and addresses: what is replaced, what stays, and that what was one place stays one.

use engines::Tables;
use sense::place::{Kept, Told};
use sense::process::{interface_addresses, listeners, local_addresses};

use super::kinds_test::{commands, ends, file, kept, page};
use super::{Pseudonyms, redact};

fn renamed(all: Vec<Kept>) -> Vec<Kept> {
    let mut pseudonyms = Pseudonyms::new(Some("gpu-17.lab\n"));
    redact(&Tables::builtin(), all, Some(&mut pseudonyms)).0
}

/// A body of JSON with `value`, and what becomes of it.
fn value(text: &str) -> String {
    let body = serde_json::json!({ "v": text }).to_string();
    let all = renamed(vec![page("/server_info", 200, body)]);
    let Ok(Told::Seen(seen)) = &all[0].answered else { panic!("{all:?}") };
    let body: serde_json::Value =
        serde_json::from_slice(&seen.outcome.as_ref().expect("an answer").body).expect("JSON");
    body["v"].as_str().expect("text").to_owned()
}

#[test]
fn texts() {
    for (before, after) in [
        // addresses
        ("10.1.2.3", "10.77.0.1"),
        (
            "http://10.1.2.3:30000/x and 10.1.2.4, again 10.1.2.3.",
            "http://10.77.0.1:30000/x and 10.77.0.2, again 10.77.0.1.",
        ),
        ("tcp://[2001:db8::5]:1 2001:db8::5", "tcp://[fd77::1]:1 fd77::1"),
        ("fe80::a00:27ff:fe4e:66a1%eth0", "fe80::1%eth0"),
        ("::ffff:10.1.2.3", "::ffff:10.77.0.1"),
        (
            "127.0.0.1 0.0.0.0 ::1 :: 169.254.1.2 224.0.0.1 255.255.255.255",
            "127.0.0.1 0.0.0.0 ::1 :: 169.254.1.2 224.0.0.1 255.255.255.255",
        ),
        (
            "0.5.11.1 1.2.3 v1.2.3.4 1.2.3.4.5 cuda_12.4.1.0 16:15:23 std::io a::b",
            "0.5.11.1 1.2.3 v1.2.3.4 1.2.3.4.5 cuda_12.4.1.0 16:15:23 std::io a::b",
        ),
        // hosts
        ("http://decode:30000/x, decode, decode batch", "http://host-2:30000/x, decode, decode batch"),
        ("http://worker-3.svc:1 worker-3.svc, worker-3.svc.x", "http://host-2:1 host-2, worker-3.svc.x"),
        ("gpu-17.lab GPU-17.LAB:80", "host-1 host-1:80"),
        ("http://localhost:1 http://a.localhost:2", "http://localhost:1 http://a.localhost:2"),
        ("s3://bucket/m file:///x", "s3://bucket/m file:///x"),
        ("node7:30000", "host-2:30000"),
        ("scheduler.py:12", "scheduler.py:12"),
        // users
        ("/home/ada/m /home/bob/x /home/ada", "/home/user-1/m /home/user-2/x /home/user-1"),
        ("/srv/ada/m", "/srv/ada/m"),
    ] {
        assert_eq!(value(before), after, "of {before}");
    }
}

/// The kernel's tables read as tables of the other addresses.
#[test]
fn tables_of_the_kernel() {
    let tcp = "  sl  local_address rem_address   st\n   0: 0302010A:7530 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 55 1\n   1: 0100007F:7531 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 56 1\n";
    let tcp6 = "  sl  local_address remote_address st\n   0: 0000000000000000FFFF00000302010A:7532 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 57 1\n";
    let trie = "  |-- 10.1.2.3\n     /32 host LOCAL\n  |-- 127.0.0.1\n     /32 host LOCAL\n";
    let interfaces = "20010db8000000000000000000000005 02 40 00 80     eth0\n00000000000000000000000000000001 01 80 10 80       lo\n";
    let all = renamed(vec![
        file("/proc/self/net/tcp", tcp),
        file("/proc/self/net/tcp6", tcp6),
        file("/proc/self/net/fib_trie", trie),
        file("/proc/self/net/if_inet6", interfaces),
        kept(
            &["resolve", "worker"],
            Told::Addresses(vec!["10.1.2.3".parse().expect("an address"), "2001:db8::5".parse().expect("an address")]),
        ),
    ]);
    let text = |kept: &Kept| match &kept.answered {
        Ok(Told::Content(content)) => content.text(),
        other => panic!("{other:?}"),
    };
    let shown =
        |kept: &Kept| listeners(&text(kept)).iter().map(|listener| listener.address.to_string()).collect::<Vec<_>>();
    assert_eq!(shown(&all[0]), ["10.77.0.1:30000", "127.0.0.1:30001"]);
    assert_eq!(shown(&all[1]), ["10.77.0.1:30002"]);
    assert_eq!(local_addresses(&text(&all[2])).iter().map(ToString::to_string).collect::<Vec<_>>(), ["10.77.0.1"]);
    assert_eq!(interface_addresses(&text(&all[3])).iter().map(ToString::to_string).collect::<Vec<_>>(), ["fd77::1"]);
    assert_eq!(all[4].key.0, ["resolve", "host-2"]);
    let Ok(Told::Addresses(addresses)) = &all[4].answered else { panic!("{all:?}") };
    assert_eq!(addresses.iter().map(ToString::to_string).collect::<Vec<_>>(), ["10.77.0.1", "fd77::1"]);
}

/// A router names its workers as they are asked, and as their command lines say.
#[test]
fn places_stay_one() {
    let worker = "http://10.1.2.3:30000";
    let mut asked = page("/metrics", 200, format!("a{{worker=\"{worker}\",host=\"gpu-18:1\"}} 1\n"));
    asked.key.0[2] = format!("{worker}/metrics");
    let line =
        "[2026-11-29 16:15:23] max_total_num_tokens=6516, chunked_prefill_size=2048, context_len=1, dist=10.1.2.3";
    let all = renamed(vec![
        page("/workers", 200, format!("{{\"workers\":[{{\"url\":\"{worker}\"}}]}}")),
        asked,
        commands(&[
            (1, &format!("smg launch --worker-urls {worker} http://gpu-18:1 --host 10.1.2.3")),
            (2, "python3 -m sglang.launch_server --host 10.1.2.3 --model-path /home/ada/m"),
        ]),
        ends(&["file", "/home/ada/log"], format!("Nov 29 16:15:23 gpu-18 python3[7]: {line}\n"), "", 0),
        kept(&["list", "/home"], Told::Listing(sense::place::Listing { names: vec!["ada".into()], cut: false })),
    ]);
    let told = format!("{all:?}");
    assert!(!told.contains("10.1.2.3") && !told.contains("gpu-18") && !told.contains("ada"), "{told}");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let body = |kept: &Kept| match &kept.answered {
        Ok(Told::Seen(seen)) => text(&seen.outcome.as_ref().expect("an answer").body),
        other => panic!("{other:?}"),
    };
    assert_eq!(body(&all[0]), "{\"workers\":[{\"url\":\"http://10.77.0.1:30000\"}]}");
    assert_eq!(body(&all[1]), "a{worker=\"http://10.77.0.1:30000\",host=\"host-2:1\"} 1\n");
    assert_eq!(all[1].key.0[2], "http://10.77.0.1:30000/metrics");
    let Ok(Told::Commands(commands)) = &all[2].answered else { panic!("{told}") };
    assert_eq!(
        text(&commands.found[0].bytes),
        "smg\0launch\0--worker-urls\0http://10.77.0.1:30000\0http://host-2:1\0--host\x0010.77.0.1"
    );
    assert_eq!(all[3].key.0[2], "/home/user-1/log");
    let Ok(Told::Ends(ends)) = &all[3].answered else { panic!("{told}") };
    assert!(text(&ends.head).starts_with("Nov 29 16:15:23 host-2 python3[7]: "), "{}", text(&ends.head));
    let Ok(Told::Listing(listing)) = &all[4].answered else { panic!("{told}") };
    assert_eq!(listing.names, ["user-1"]);
}
