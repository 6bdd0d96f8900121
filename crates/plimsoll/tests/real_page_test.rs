//! The page in a real browser: on made-up documents, and on those of a running `serve` (crates/web/tests/page).

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};
use testkit::real::{wait_until, wanted};
use testkit::{Answer, Replay, Serve};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
const OFTEN: [&str; 2] = ["--every", "500ms"];

type Test = fn() -> Result<(), Failed>;

fn main() -> ExitCode {
    let tests: [(&str, Test); 3] = [
        ("a server that dies, and serve that does, under an open page", dies),
        ("what holds for any fleet, on a running serve", any_fleet),
        ("all that the page is to do, on made-up documents", made_up),
    ];
    let trials = tests.into_iter().map(|(name, test)| Trial::test(name, test).with_ignored_flag(!wanted())).collect();
    // How fast the page is drawn is a part of it: one browser at a time.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn above(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn script(name: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg("-B").arg(above("crates/web/tests/page").join(name));
    command
}

/// A server that answers as it was recorded: each of these pages with a file of that capture.
fn recorded(capture: &str, pages: &[(&str, &str)]) -> Replay {
    pages.iter().fold(Replay::start(), |server, (path, file)| {
        let path_of = above("engines").join(capture).join(file);
        let body = std::fs::read(&path_of).unwrap_or_else(|error| panic!("{}: {error}", path_of.display()));
        server.with(
            path,
            if Path::new(file).extension().is_some_and(|kind| kind == "json") {
                Answer::json(body)
            } else {
                Answer::page(body)
            },
        )
    })
}

/// Different engines, one of them with its metrics off, a router, and an address at which nothing is.
fn fleet() -> (Vec<Replay>, Vec<String>) {
    let sglang = [("/server_info", "server_info.json"), ("/v1/loads", "loads.json")];
    let on = [&sglang[..], &[("/metrics", "metrics.prom")]].concat();
    let servers = vec![
        recorded("sglang/captures/0.5.23-on-load", &on),
        recorded("sglang/captures/0.5.23-pd-decode-load", &sglang),
        recorded("vllm/captures/0.10.1-idle", &[("/metrics", "metrics.prom")]),
        Replay::router(&["http://127.0.0.1:9"]),
    ];
    let urls = servers.iter().map(Replay::url).collect();
    (servers, urls)
}

fn succeeded(command: &mut Command) -> Result<(), Failed> {
    let said = command.output().expect("python3 runs");
    let text = String::from_utf8_lossy(&said.stderr);
    if said.status.success() { Ok(()) } else { Err(format!("{}: {text}", said.status).into()) }
}

fn made_up() -> Result<(), Failed> {
    succeeded(&mut script("page_test.py"))
}

fn any_fleet() -> Result<(), Failed> {
    let folder = tempfile::tempdir().expect("a folder");
    let (_servers, urls) = fleet();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let serve = Serve::start(PROGRAM, folder.path(), &[&OFTEN[..], &urls].concat());
    succeeded(script("page_test.py").env("PLIMSOLL_PAGE", format!("http://127.0.0.1:{}", serve.port())))
}

fn dies() -> Result<(), Failed> {
    let folder = tempfile::tempdir().expect("a folder");
    let (servers, urls) = fleet();
    let arguments: Vec<&str> = OFTEN.into_iter().chain(urls.iter().take(3).map(String::as_str)).collect();
    let mut serve = Some(Serve::start(PROGRAM, folder.path(), &arguments));
    let port = serve.as_ref().map_or(0, Serve::port);
    let known = |serve: &Serve| serve.card(&urls[0]).is_some_and(|card| card["pools"][0]["in_use"][0].is_number());
    wait_until("its figure", || serve.as_ref().is_some_and(known));
    let mut browser = script("live.py")
        .args([&format!("http://127.0.0.1:{port}"), &urls[0]])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3 runs");
    let mut answers = browser.stdin.take().expect("its input");
    for wish in BufReader::new(browser.stdout.take().expect("its output")).lines() {
        match wish.expect("text").as_str() {
            "server down" => servers[0].kill(),
            "server up" => servers[0].revive(),
            // As if the machine had lost it: it says no goodbye.
            "serve down" => drop(serve.take()),
            "serve up" => serve = Some(Serve::begin_on(port, PROGRAM, folder.path(), &arguments)),
            other => panic!("what is {other:?}?"),
        }
        // It may have failed in the meantime, and says so itself.
        let _ = answers.write_all(b"done\n");
    }
    let said = browser.wait_with_output().expect("its end");
    let text = String::from_utf8_lossy(&said.stderr);
    if said.status.success() { Ok(()) } else { Err(format!("{}: {text}", said.status).into()) }
}
