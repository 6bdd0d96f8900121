//! Pages that something else serves in the engines' place, each as a saved file and live, through the real binary: every
//! server on them is a server of its own, under its engine's own names (`wrapped/expected.toml`).

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::Value;
use testkit::{Answer, Output, Replay, plimsoll, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// How `expected.toml` calls a reading, where it is in the JSON, and by how much it may be off.
const READINGS: [(&str, &str, f64); 8] = [
    ("in_use", "/pools/0/in_use", 1e-9),
    // Twelve digits of a ratio are a millionth of a token.
    ("used", "/pools/0/used", 1e-6),
    ("capacity", "/pools/0/capacity", 0.0),
    ("evictable", "/pools/0/evictable", 0.0),
    ("available", "/pools/0/available", 0.0),
    ("running", "/running", 0.0),
    ("waiting", "/waiting", 0.0),
    ("preempted", "/retracted_total", 0.0),
];

#[derive(Deserialize)]
struct Expected {
    page: Vec<Page>,
}

#[derive(Deserialize)]
struct Page {
    file: String,
    wrapper: String,
    #[serde(default)]
    engine: String,
    servers: usize,
    #[serde(default)]
    gone: Option<String>,
    #[serde(default)]
    refused: Option<String>,
    server: Vec<Server>,
}

#[derive(Deserialize)]
struct Server {
    #[serde(default)]
    engine: Option<String>,
    #[serde(default)]
    label: String,
    #[serde(default)]
    value: String,
    #[serde(flatten)]
    readings: toml::Table,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrapped")
}

fn pages() -> Vec<Page> {
    let text = std::fs::read_to_string(folder().join("expected.toml")).expect("expected.toml");
    let expected: Expected = toml::from_str(&text).expect("expected.toml");
    let there = std::fs::read_dir(folder())
        .expect("a folder")
        .filter(|entry| entry.as_ref().expect("an entry").path().extension().is_some_and(|ending| ending == "prom"));
    assert_eq!(there.count(), expected.page.len(), "every page is expected to give something");
    expected.page
}

/// The tables that the program is given, if it is given any.
fn given() -> Option<String> {
    std::env::var("PLIMSOLL_ENGINES").ok()
}

/// Runs the program, with the tables that are given.
fn run(arguments: &[&str]) -> Output {
    let tables = given();
    let more = tables.iter().flat_map(|path| ["--engines", path]);
    plimsoll(PROGRAM, &arguments.iter().copied().chain(more).collect::<Vec<_>>())
}

/// What `status --json` says of one target; it must hold its schema.
fn status(target: &str) -> Value {
    let value = run(&["status", "--json", target]).json();
    assert_eq!(schema_faults(&value), Vec::<String>::new(), "{target}");
    value
}

impl Page {
    fn path(&self) -> String {
        folder().join(&self.file).to_str().expect("a path").to_owned()
    }

    /// Its bytes; times in it are moved to now, as a live page's are.
    fn live(&self) -> (String, bool) {
        let text = std::fs::read_to_string(self.path()).expect("a page");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_millis() as u64 - 500;
        let stamp = |line: &str| {
            let (front, stamp) = line.rsplit_once(' ').filter(|(_, stamp)| stamp.len() == 13)?;
            Some((front.to_owned(), stamp.parse::<u64>().ok()?))
        };
        // Between them as much time lies as did.
        let newest = text.lines().filter_map(stamp).map(|(_, stamp)| stamp).max();
        let line = |line: &str| match stamp(line).zip(newest) {
            Some(((front, stamp), newest)) => format!("{front} {}\n", now - (newest - stamp)),
            None => format!("{line}\n"),
        };
        (text.lines().map(line).collect(), newest.is_some())
    }

    fn engine_of<'a>(&'a self, server: &'a Server) -> &'a str {
        server.engine.as_deref().unwrap_or(&self.engine)
    }

    /// What is wrong with what was said of it.
    fn faults(&self, value: &Value, url_of: impl Fn(&Server) -> String) -> Vec<String> {
        let servers = value["servers"].as_array().expect("servers");
        let mut faults = Vec::new();
        if servers.len() != self.servers {
            let urls: Vec<&Value> = servers.iter().map(|server| &server["url"]).collect();
            faults.push(format!("{} servers: {urls:?}", servers.len()));
        }
        for wanted in &self.server {
            let url = url_of(wanted);
            let Some(server) = servers.iter().find(|server| server["url"] == url.as_str()) else {
                faults.push(format!("no server is called {url}"));
                continue;
            };
            if server["engine"] != self.engine_of(wanted) {
                faults.push(format!("{url}: engine {}", server["engine"]));
            }
            if server["ranks"].as_array().is_none_or(|ranks| ranks.len() > 1) {
                faults.push(format!("{url}: ranks {}", server["ranks"]));
            }
            for (name, pointer, off) in READINGS {
                let reading = server["ranks"][0].pointer(pointer);
                let said = reading.and_then(|reading| reading["value"].as_f64());
                let number = |value: &toml::Value| value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
                let wanted = wanted.readings.get(name).and_then(number);
                let fits = match (wanted, said) {
                    (Some(wanted), Some(said)) => (wanted - said).abs() <= off.max(off * wanted),
                    (wanted, said) => wanted == said,
                };
                if !fits {
                    faults.push(format!("{url}: {name} {said:?}, and not {wanted:?}: {reading:?}"));
                }
            }
            // What a wrapper leaves out is no fault of the server.
            if server["gaps"].to_string().contains("answers, but without") {
                faults.push(format!("{url}: gaps {}", server["gaps"]));
            }
            if !server["notes"].to_string().contains("read from a page of ") {
                faults.push(format!("{url}: no note says whose page it is: {}", server["notes"]));
            }
        }
        faults
    }
}

/// Runs `check` on every page, and fails with all faults at once.
fn every_page(check: impl Fn(&Page) -> Vec<String>) {
    let mut faults = Vec::new();
    for page in pages() {
        faults.extend(check(&page).into_iter().map(|fault| format!("{}: {fault}", page.file)));
    }
    assert!(faults.is_empty(), "{} faults:\n  {}", faults.len(), faults.join("\n  "));
}

#[test]
fn saved_pages_are_the_servers_on_them() {
    every_page(|page| {
        let path = page.path();
        if let Some(why) = &page.refused {
            let said = run(&["status", &path]);
            assert_eq!((said.code, said.text.as_str()), (2, ""), "{path}");
            return (!said.errors.contains(why)).then_some(said.errors).into_iter().collect();
        }
        let value = status(&path);
        let mut faults = page.faults(&value, |server| match server.label.as_str() {
            "" => path.clone(),
            label => format!("{path} ({label}={})", server.value),
        });
        faults.extend(misplaced(&path, &value));
        if let Some(gone) = &page.gone {
            let text = run(&["status", &path]).text.split_whitespace().collect::<Vec<_>>().join(" ");
            let said = format!("of {gone} only counters are left on the page");
            faults.extend((!text.contains(&said)).then_some(text));
        }
        faults
    });
}

/// A number that is said as it is stands on the line of the file that it names.
fn misplaced(path: &str, value: &Value) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a page");
    let lines: Vec<&str> = text.lines().collect();
    let servers = value["servers"].as_array().expect("servers");
    let readings = servers
        .iter()
        .flat_map(|server| READINGS.iter().filter_map(|(_, pointer, _)| server["ranks"][0].pointer(pointer)));
    let mut faults = Vec::new();
    for reading in readings.filter(|reading| reading["state"] == "reported") {
        let source = reading["source"].as_str().expect("a source");
        let place = source.strip_prefix(&format!("{path}:")).expect("a place in the file");
        let number: usize = place.split(' ').next().and_then(|number| number.parse().ok()).expect("a line");
        let (_, behind) = lines[number - 1].rsplit_once("} ").expect("a sample");
        let said: f64 = behind.split(' ').next().and_then(|value| value.parse().ok()).expect("a value");
        if Some(said) != reading["value"].as_f64() {
            faults.push(format!("{reading} does not stand on line {number}: {}", lines[number - 1]));
        }
    }
    faults
}

#[test]
fn a_live_page_is_the_servers_on_it() {
    every_page(|page| {
        let (body, stamped) = page.live();
        let replay = Replay::start().with("/metrics", Answer::page(body));
        let target = replay.url();
        let value = status(&target);
        if let Some(why) = &page.refused {
            let servers = value["servers"].as_array().expect("servers");
            let notes = servers[0]["notes"].to_string();
            let said = READINGS.iter().filter_map(|(_, pointer, _)| servers[0]["ranks"][0].pointer(pointer));
            let numbers = said.filter(|reading| !reading["value"].is_null()).count();
            assert_eq!((servers.len(), numbers), (1, 0), "{}", page.file);
            return (!notes.contains(why)).then_some(notes).into_iter().collect();
        }
        let mut faults = page.faults(&value, |server| match server.label.as_str() {
            "" => target.clone(),
            label => format!("{target}#{label}={}", server.value),
        });
        // A value may be older than the answer: that stands beside it, unless the page says its time.
        for server in value["servers"].as_array().expect("servers") {
            let in_use = &server["ranks"][0]["pools"][0]["in_use"];
            let lag = in_use["reason"].as_str().is_some_and(|reason| reason.contains("shows what it last saw for"));
            let lingers = ["ray", "telegraf", "otel"].contains(&page.wrapper.as_str());
            if in_use["state"] == "reported" && lag != (lingers && !stamped) {
                faults.push(format!("{}: the age of {in_use}", server["url"]));
            }
        }
        if let Some(gone) = &page.gone {
            let text = value.to_string();
            faults.extend((!text.contains(gone)).then_some(text));
        }
        let asked = replay.asked().iter().filter(|path| *path == "/metrics").count();
        faults.extend((asked != 1).then(|| format!("/metrics was asked {asked} times")));
        faults
    });
}

/// What is said of a page as a file and live: the headline's level, and all notes.
fn said_of(name: &str, page: &str) -> [(String, String); 2] {
    let folder = std::env::temp_dir().join(format!("plimsoll-wrapped-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, page).expect("a page");
    let replay = Replay::start().with("/metrics", Answer::page(page.to_owned()));
    let told = |target: &str| {
        let value = status(target);
        (run(&["status", target]).text.lines().next().unwrap_or_default().to_owned(), value.to_string())
    };
    [told(path.to_str().expect("a path")), told(&replay.url())]
}

/// Two engines behind one name, or one address: only the first is read, and nothing calm is said of both.
#[test]
fn a_second_engine_on_a_servers_page_is_not_lost_silently() {
    let lines = |front: &str, labels: &str| {
        format!(
            "{front}vllm:kv_cache_usage_perc{{{labels}}} 0.10\n{front}vllm:num_requests_running{{{labels}}} 3\n\
             {front}vllm:num_requests_waiting{{{labels}}} 0\n{front}sglang:token_usage{{{labels}}} 0.99\n"
        )
    };
    for (name, page) in
        [("front.prom", lines("llm_", "model_name=\"m\"")), ("address.prom", lines("", "instance=\"10.0.0.5:8000\""))]
    {
        for (headline, all) in said_of(name, &page) {
            assert!(!headline.contains("CALM"), "{name}: {headline}");
            assert!(all.contains("series of SGLang stand in it, too, and were not read"), "{name}: {all}");
            assert!(all.contains("read from a page of "), "{name}: {all}");
        }
    }
}

/// 0.09 is what is left of 0.0987, or of 0.99 cut to 0.9: no number.
#[test]
fn a_number_that_was_cut_is_none_on_wrapped_pages_either() {
    let page = "vllm:num_requests_running{instance=\"10.0.0.5:8000\"} 200\n\
                vllm:kv_cache_usage_perc{instance=\"10.0.0.5:8000\"} 0.09";
    let [(headline, all), _] = said_of("cut.prom", page);
    assert!(headline.contains("UNKNOWN") && all.contains("may have been cut"), "{headline}: {all}");
}
