//! What a running `serve` answers and streams, held against its description (`schemas/plimsoll.openapi.json`), in which every
//! object is closed: a field that is not described is a fault, and so is one that is missing.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use testkit::real::wait_until;
use testkit::{Answer, Replay, Serve, api_faults, event_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

/// Frames of server-sent events, as a browser takes them apart.
struct Frames(BufReader<TcpStream>);

impl Frames {
    fn of(serve: &Serve) -> Frames {
        let mut stream = TcpStream::connect(("127.0.0.1", serve.port())).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("patience");
        stream.write_all(b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
        let mut frames = Frames(BufReader::new(stream));
        assert!(frames.line().contains(" 200 "));
        while !frames.line().is_empty() {}
        frames
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    /// The next frame: its kind, and what it carries. Each is a chunk of its own.
    fn next(&mut self) -> (String, Value) {
        loop {
            let size = usize::from_str_radix(&self.line(), 16).expect("a chunk's size");
            let mut chunk = vec![0; size + 2];
            self.0.read_exact(&mut chunk).expect("a chunk");
            let text = String::from_utf8(chunk).expect("text");
            let of = |field: &str| text.lines().find_map(|line| Some(line.strip_prefix(field)?.trim().to_owned()));
            if let (Some(kind), Some(data)) = (of("event:"), of("data:")) {
                return (kind, serde_json::from_str(&data).expect("JSON"));
            }
        }
    }
}

/// A server with figures, one without, a router whose worker is away, one that cannot be asked, and a store that says what is
/// stored in one figure.
fn fleet() -> [Replay; 5] {
    let engines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines");
    let read =
        |name: &str| std::fs::read(engines.join("sglang/captures/0.5.23-on-load").join(name)).expect("a capture");
    let page = std::fs::read(engines.join("mooncake/captures/0.3.11-load/metrics.prom")).expect("a capture");
    let on = Replay::start()
        .with("/server_info", Answer::json(read("server_info.json")))
        .with("/v1/loads", Answer::json(read("loads.json")))
        .with("/metrics", Answer::page(read("metrics.prom")));
    let off = Replay::start().with("/server_info", Answer::json(read("server_info.json")));
    let gone = Replay::start();
    gone.kill();
    let store = Replay::start().with("/metrics", Answer::page(page));
    [on, off, Replay::router(&["http://127.0.0.1:9"]), gone, store]
}

fn serve(folder: &Path, fleet: &[Replay; 5]) -> Serve {
    let urls = fleet.each_ref().map(Replay::url);
    Serve::start(PROGRAM, folder, &[&["--every", "300ms"][..], &urls.each_ref().map(String::as_str)].concat())
}

#[test]
fn every_frame_is_as_described() {
    let (folder, fleet) = (tempfile::tempdir().expect("a folder"), fleet());
    let serve = serve(folder.path(), &fleet);
    let mut frames = Frames::of(&serve);
    let mut seen = BTreeMap::<String, usize>::new();
    let enough = |seen: &BTreeMap<String, usize>| {
        let count = |kind: &str| seen.get(kind).copied().unwrap_or_default();
        count("overview") >= 1 && count("servers") >= 10 && count("happened") >= 2
    };
    while !enough(&seen) {
        let (kind, carried) = frames.next();
        assert_eq!(event_faults(&kind, &carried), Vec::<String>::new(), "{kind}: {carried}");
        *seen.entry(kind).or_default() += 1;
        // It goes and comes back, which are events, and another order.
        match seen.values().sum::<usize>() {
            3 => fleet[0].kill(),
            8 => fleet[0].revive(),
            _ => {}
        }
        assert!(seen.values().sum::<usize>() < 500, "{seen:?}");
    }
}

#[test]
fn every_document_is_as_described() {
    let (folder, fleet) = (tempfile::tempdir().expect("a folder"), fleet());
    let serve = serve(folder.path(), &fleet);
    wait_until("a history", || serve.get(&format!("/api/v1/history?server={}", fleet[0].url())).0 == 200);
    fleet[0].kill();
    wait_until("an event", || !serve.events("unreachable").is_empty());
    let stored = serve.card(&fleet[4].url()).expect("the store's card")["pools"][0]["stored"].clone();
    // 242 objects of 1 MiB are left, as its capture says.
    assert_eq!((stored[0].as_f64(), stored[1].as_str()), (Some(253_755_392.0), Some("reported")));
    for (path, name) in [
        ("overview", "Overview"),
        ("snapshot", "Snapshot"),
        ("history", "History"),
        ("events", "Events"),
        ("gaps", "Gaps"),
        ("snapshot?server=http://127.0.0.1:1", "Error"),
    ] {
        let (_, body) = serve.get(&format!("/api/v1/{path}"));
        let mut document: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(api_faults(name, &document), Vec::<String>::new(), "{path}");
        document["unheard_of"] = 1.into();
        assert_ne!(api_faults(name, &document), Vec::<String>::new(), "{path} is not closed");
    }
}
