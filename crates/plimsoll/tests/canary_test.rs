//! Secrets are told by nothing: canaries lie wherever a real secret has lain, and every command is run over all of it. What
//! each run says is searched by `testkit` itself; here is what is planted, and that it was read.
#![allow(clippy::unnecessary_wraps)] // all tests have one type

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use testkit::canary::{CANARY, found, planted_in};
use testkit::real::free_port;
use testkit::standin::{self, Standin};
use testkit::{Answer, OWN, Output, Replay, plimsoll};

mod canaries {
    pub(crate) mod files;
}
use canaries::files::{ARGUMENTS, all, plant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// Every way to be told something.
const WAYS: [&[&str]; 6] =
    [&["status"], &["status", "--json"], &["doctor"], &["doctor", "--json"], &["explain"], &["explain", "--json"]];

fn main() -> ExitCode {
    standin::run(&[
        ("files, one by one and together", files),
        ("a drop-in is written with its secrets, for its owner", drop_in),
        ("processes: arguments, environment, configuration", processes),
        ("answers of servers and of routers", answers),
        ("addresses, targets files and credentials", access),
        ("what cannot be used", errors),
    ])
}

/// Runs every command with `arguments`, and keeps what they look at in a capture, which must tell nothing either.
fn tell(arguments: &[&str]) -> Vec<Output> {
    captured(arguments);
    WAYS.iter().map(|way| plimsoll(PROGRAM, &[way, arguments].concat())).collect()
}

fn captured(arguments: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.capture");
    let name = file.to_str().expect("a path");
    plimsoll(PROGRAM, &[&["capture", "-o", name], arguments].concat());
    let Ok(bytes) = std::fs::read(&file) else { return };
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text).expect("gzip of text");
    let leak = found(&text).map(|at| &text[text.floor_char_boundary(at.saturating_sub(300))..at]);
    assert_eq!(leak, None, "a capture of {arguments:?} tells a secret behind this");
    // What is told of it is searched by `plimsoll` itself.
    for words in
        [&["capture", "show", "--all", name][..], &["explain", "--capture", name], &["doctor", "--capture", name]]
    {
        plimsoll(PROGRAM, words);
    }
}

fn files() -> Result<(), Failed> {
    let home = tempfile::tempdir()?;
    let path = |name: &str| home.path().join(name).to_str().expect("a path").to_owned();
    let files = all();
    for (name, text, read) in &files {
        assert!(found(text).is_some() && !text.contains("<argv"), "{name} is planted");
        std::fs::write(path(name), text)?;
        if *read {
            assert!(tell(&[&path(name)]).iter().all(|output| output.code != 2), "{name} is read");
        } else {
            assert_eq!(plimsoll(PROGRAM, &["doctor", "--json", &path(name)]).code, 2, "{name} is refused");
        }
    }
    // What several files of one server say is joined, and compared.
    let read: Vec<String> = files.iter().filter(|(_, _, read)| *read).map(|(name, ..)| path(name)).collect();
    tell(&read.iter().map(String::as_str).collect::<Vec<_>>());
    for name in ["dict.log", "server_info.json"] {
        tell(&[&path(name), &path("decode.service"), &path("metrics.prom")]);
    }
    Ok(())
}

fn drop_in() -> Result<(), Failed> {
    let home = tempfile::tempdir()?;
    let path = |name: &str| home.path().join(name).to_str().expect("a path").to_owned();
    for (name, text, _) in all().iter().filter(|(name, ..)| name.ends_with(".service")) {
        std::fs::write(path(name), text)?;
    }
    for json in [&[][..], &["--json"]] {
        let out = tempfile::tempdir()?;
        let folder = out.path().to_str().expect("a path");
        let unit = path("decode.service");
        plimsoll(PROGRAM, &[&["doctor", "--write-dropin", folder, &unit], json].concat());
        let written = out.path().join("decode.service.d/90-plimsoll.conf");
        assert!(std::fs::read_to_string(&written)?.contains(CANARY), "it repeats the command");
        assert_eq!(std::fs::metadata(&written)?.permissions().mode() & 0o777, 0o600);
        // A second time it is in the way: the note of that tells nothing either.
        plimsoll(PROGRAM, &[&["doctor", "--write-dropin", folder, &unit], json].concat());
    }
    Ok(())
}

/// Words of a planted command line.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in plant(text).split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

fn processes() -> Result<(), Failed> {
    let home = tempfile::tempdir()?;
    standin::links(home.path(), &["python", "smg"]);
    std::fs::write(
        home.path().join("config.yaml"),
        plant("api-key: <config-key>\nmodel-path: s3://me:<config-url>@h/m\n"),
    )?;
    std::fs::write(home.path().join("bad.yaml"), plant("api-key: [<bad-config-key>\n  x: &a <bad-config>\n"))?;
    let secrets = plant("http://me:<worker-url>@127.0.0.1:1/?token=<worker-query>");
    let commands = [
        format!("python -m sglang.launch_server --port {{port}} {ARGUMENTS}"),
        "python -m sglang.launch_server --port {port} --config config.yaml --api-key <argv-key>".to_owned(),
        "python -m sglang.launch_server --port {port} --config bad.yaml --api-key <argv-key>".to_owned(),
        format!("smg launch --port {{port}} --worker-urls {secrets} --api-key <argv-router>"),
        "bash -c 'cd . && HF_TOKEN=<script> python -m sglang.launch_server --port {port} --api-key <script-key>; true'"
            .to_owned(),
        "bash -c 'sleep 300; python -m sglang.launch_server --port 1 --api-key <waiting-key>'".to_owned(),
    ];
    let start = |command: String| {
        let port = free_port().to_string();
        Standin::start(home.path(), &words(&command.replace("{port}", &port)), None, &port)
    };
    let standins: Vec<Standin> = commands.into_iter().map(start).collect();
    let begun = Instant::now();
    let all_seen = || {
        // Its servers by their pid, and in its notes what is not started yet.
        let text = plimsoll(PROGRAM, &["doctor", "--json"]).text;
        let told =
            |pid: &u32| [format!("\"pid\": {pid},"), format!("pid {pid} ")].iter().any(|told| text.contains(told));
        standins.iter().all(|one| one.pids().iter().any(told))
    };
    while !all_seen() {
        if begun.elapsed() > Duration::from_secs(20) {
            return Err("a stand-in is not found".into());
        }
    }
    for standin in &standins {
        let environment = std::fs::read(format!("/proc/{}/environ", standin.pids()[0]))?;
        assert!(found(&String::from_utf8_lossy(&environment)).is_some(), "its environment is planted");
    }
    tell(&[]);
    Ok(())
}

#[allow(clippy::unnecessary_wraps, reason = "as the other tests")]
fn answers() -> Result<(), Failed> {
    let text = |name: &str| all().into_iter().find(|(other, ..)| *other == name).expect("a file").1;
    let server = Replay::start()
        .with("/server_info", Answer::json(text("server_info.json")))
        .with("/metrics", Answer::page(text("metrics.prom")));
    let refusing = |status| {
        let said = plant(r#"{"error":"the key <refused-key> is not Bearer <refused-bearer>"}"#);
        let answer = || Answer::json(said.clone()).status(status);
        Replay::start().with("/metrics", answer()).with("/server_info", answer()).with("/v1/loads", answer())
    };
    let junk = Replay::start()
        .with("/metrics", Answer::page(plant("password <junk>\nx{token=\"<junk-label>\" 1\n")))
        .with("/server_info", Answer::json(plant(r#"{"api_key":"<junk-key>","version":"token=<junk-version>"}"#)));
    let workers = [
        "http://me:<worker-url>@127.0.0.1:1/?token=<worker-query>",
        "me:<worker-bare>@[oh",
        "grpc://<worker-user>@h:1#<part>",
    ];
    let router = Replay::router(&workers.map(plant));
    for server in [&server, &refusing(401), &refusing(500), &junk, &router] {
        tell(&[&server.url()]);
    }
    assert!(!server.asked().is_empty());
    Ok(())
}

fn access() -> Result<(), Failed> {
    let home = tempfile::tempdir()?;
    let path = |name: &str| home.path().join(name).to_str().expect("a path").to_owned();
    let server = Replay::start().with("/metrics", Answer::page("sglang:kv_used_tokens 1\n"));
    let with_user = server.url().replace("://", &format!("://me:{}@", planted_in("user")));
    let with_query = format!("{with_user}/?token={}", planted_in("query"));
    let dead = plant("http://me:<dead-user>@127.0.0.1:1/?token=<dead-query>");
    for target in [&with_user, &with_query, &dead] {
        tell(&[target]);
        plimsoll(PROGRAM, &["doctor", "--prometheus", target, &server.url()]);
    }
    let all = server.headers().join("\n");
    assert!(found(&all).is_some(), "the server was told the password");
    std::fs::write(path("token"), planted_in("file"))?;
    std::fs::write(path("cut"), format!("{}\nX: 1", planted_in("file-of-two-lines")))?;
    let rows =
        format!("[[target]]\nurl = {with_user:?}\n[[target]]\nurl = {:?}\nbearer_file = \"token\"\n", server.url());
    std::fs::write(path("targets.toml"), rows)?;
    for options in [
        ["--targets-file", &path("targets.toml")],
        ["--bearer-file", &path("token")],
        ["--bearer-file", &path("cut")],
        ["--bearer-env", OWN],
    ] {
        tell(&[&options[..], &[&server.url()]].concat());
        tell(&[&options[..], &["http://127.0.0.1:1"]].concat());
    }
    tell(&["--user", &planted_in("user-option"), "--password-file", &path("token"), &server.url()]);
    tell(&["--user", &planted_in("user-option"), "--password-file", &path("cut"), &server.url()]);
    tell(&["--ca", &path("token"), "https://127.0.0.1:1"]);
    tell(&["--cert", &path("token"), "--key", &path("token"), "https://127.0.0.1:1"]);
    Ok(())
}

fn errors() -> Result<(), Failed> {
    let home = tempfile::tempdir()?;
    let path = |name: &str| home.path().join(name).to_str().expect("a path").to_owned();
    for text in ["<toml>", "[[target]]\nurl = \"http://me:<toml-url>@h:x\"\n", "url = '<toml-value>"] {
        std::fs::write(path("bad.toml"), plant(text))?;
        for output in tell(&["--targets-file", &path("bad.toml")]) {
            assert_eq!(output.code, 2, "{output:?}");
        }
    }
    for target in [
        "http://me:<bad-port>@h:x",
        "ftp://me:<bad-scheme>@h",
        "me:<bare>@h:1",
        "http://<user>@",
        "http://h:1/\u{1}?k=<control>",
    ] {
        tell(&[&plant(target)]);
        tell(&["--bearer-file", &path("absent"), &plant(target)]);
    }
    // A slip of the hand: a secret where a file's or a variable's name belongs, or an option that there is not.
    for options in [["--bearer-token", "<given>"], ["--api-key", "<given>"]] {
        tell(&[options[0], &plant(options[1]), "h:1"]);
        tell(&[&format!("{}={}", options[0], plant(options[1])), "h:1"]);
    }
    Ok(())
}
