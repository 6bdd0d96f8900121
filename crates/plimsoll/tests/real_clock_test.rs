//! `plimsoll serve` while the clock of its host is set back and forth, by libfaketime: what it says of age stays true.

use std::path::Path;
use std::process::Command;

use testkit::real::{wait_until, wanted};
use testkit::{Answer, Replay, Serve};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// Where Debian puts it.
const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

fn page() -> Answer {
    let labels = r#"{engine_type="unified",model_name="m",pp_rank="0",tp_rank="0"}"#;
    Answer::page(format!("sglang:max_total_num_tokens{labels} 1000\nsglang:kv_used_tokens{labels} 250\n"))
}

/// A program that runs `plimsoll` with a clock that is off by what the file says.
fn with_a_clock(folder: &Path, off: &Path) -> String {
    let script = folder.join("plimsoll-with-a-clock");
    let text = format!(
        "#!/bin/sh\nexport LD_PRELOAD={LIBRARY} FAKETIME_TIMESTAMP_FILE={} FAKETIME_NO_CACHE=1 \
         FAKETIME_DONT_FAKE_MONOTONIC=1\nexec {PROGRAM} \"$@\"\n",
        off.display()
    );
    std::fs::write(&script, text).expect("a script");
    assert!(Command::new("chmod").arg("+x").arg(&script).status().expect("chmod runs").success());
    script.to_str().expect("a path").to_owned()
}

#[test]
fn ages_stay_true_while_the_clock_is_set() {
    if !wanted() || !Path::new(LIBRARY).exists() {
        // The test command says that it left it out.
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let off = folder.path().join("off");
    std::fs::write(&off, "+0").expect("a file");
    let server = Replay::start().with("/metrics", page());
    let program = with_a_clock(folder.path(), &off);
    let serve = Serve::start(&program, folder.path(), &["--every", "300ms", &server.url()]);
    let looks = || serve.json("/api/v1/overview")["watch"]["looks"].as_u64().expect("looks");
    let steps = || serve.json("/api/v1/events?kind=clock&window=7d")["events"].as_array().expect("events").len();
    wait_until("looks", || looks() >= 3);
    for (number, step) in ["-1h", "+2h", "+0"].into_iter().enumerate() {
        let before = looks();
        std::fs::write(&off, step).expect("a file");
        wait_until("it to be seen", || steps() > number);
        wait_until("looks to go on", || looks() >= before + 5);
        let card = serve.card(&server.url()).expect("its card");
        // Whatever the clock says, the newest answer is some hundred milliseconds old.
        let age = card["age_s"].as_f64().expect("an age");
        assert!((0.0..5.0).contains(&age), "{age} s old after {step}: {card}");
        assert_eq!(card["pools"][0]["in_use"][1], "derived", "{card}");
        assert_eq!(card["pools"][0]["in_use"][0], 0.25);
    }
}
