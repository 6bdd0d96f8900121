//! Listening to publishers: fake ones, which speak ZMTP as far as the test wants, and misbehave from there.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use model::{Blind, BlindKind, Time};
use sense::place::Place;
use sense::{AllowList, Client, Heard, Host, Keep, Limits, Process, Publisher};
use serde_json::{Value, json};

use crate::peer::Peer;

/// A process of which nothing is known.
pub(crate) fn process() -> Process {
    Process {
        pid: std::process::id(),
        ppid: 1,
        family: Vec::new(),
        argv: Vec::new(),
        exe: None,
        cwd: None,
        started_at: Time(0.0),
        since_boot: 0.0,
        uid: 0,
        unit: None,
        container: None,
        netns: None,
        netns_mark: None,
        same_netns_as_us: Some(true),
        listening: Vec::new(),
        listening_itself: Vec::new(),
        maybe_listening: Vec::new(),
        denied: Vec::new(),
    }
}

fn at(addresses: &[&str]) -> Process {
    Process { listening_itself: addresses.iter().map(|address| address.parse().unwrap()).collect(), ..process() }
}

const PATIENCE: Duration = Duration::from_millis(500);

/// What is heard of a fake publisher.
async fn heard(peer: &Peer, enough: Option<usize>) -> Result<Heard, Blind> {
    let address = SocketAddr::from(([127, 0, 0, 1], peer.port)).to_string();
    let publisher = Publisher::of(&at(&[&address]), peer.port).unwrap();
    let apart = vec!["/payload/id".to_owned(), "/payload/rank".to_owned()];
    let keep = Keep { has: "/payload/used".to_owned(), apart, enough };
    let host = Place::from(Host::new(Client::new(AllowList::default(), Limits::default())));
    let began = Instant::now();
    let heard = host.listen(&publisher, "kv", &keep, PATIENCE).await;
    assert!(began.elapsed() < 4 * PATIENCE, "{:?}", began.elapsed());
    heard
}

/// The greeting of a publisher, byte by byte as the specification has it.
fn greeting() -> Vec<u8> {
    let mut bytes = b"\xff\0\0\0\0\0\0\0\x01\x7f\x03\x01NULL".to_vec();
    bytes.resize(64, 0);
    bytes
}

/// A fake publisher: greets, hears the subscription out, and does the rest.
fn fake(rest: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Peer {
    Peer::on("127.0.0.1:0", move |_, mut stream, _| {
        stream.write_all(&greeting()).unwrap();
        // Greeting, READY of a subscriber, and the wish: nothing else is ever sent.
        let mut asked = vec![0; 64 + 27 + 5];
        stream.read_exact(&mut asked).unwrap();
        assert_eq!(asked[64..], *b"\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03SUB\0\x03\x01kv");
        stream.write_all(b"\x04\x06\x05READY").unwrap();
        rest(&mut stream);
        // Until the listener hangs up.
        let _ = stream.read(&mut [0]);
    })
}

/// A message in four frames.
fn message(topic: &str, payload: &[u8]) -> Vec<u8> {
    let map = [&b"\x82\xa2at\x05\xa7payload\xc4"[..], &[payload.len() as u8], payload].concat();
    let body = [&[1, 0, 0, 0, map.len() as u8][..], &map].concat();
    let frames: [&[u8]; 4] = [topic.as_bytes(), &[0; 8], &[0; 8], &body];
    let last = frames.len() - 1;
    let frame = |(at, frame): (usize, &&[u8])| [&[u8::from(at < last), frame.len() as u8][..], frame].concat();
    frames.iter().enumerate().flat_map(frame).collect()
}

/// `{id, rank, used}`, the last one nil where it is not known.
fn payload(id: u8, rank: u8, used: Option<u8>) -> Vec<u8> {
    [&b"\x83\xa2id"[..], &[id], b"\xa4rank", &[rank], b"\xa4used", &[used.unwrap_or(0xc0)]].concat()
}

fn event(id: u8, rank: u8, used: u8) -> Value {
    json!({ "at": 5, "payload": { "id": id, "rank": rank, "used": used } })
}

#[tokio::test]
async fn the_newest_of_each_kind_and_no_longer_than_needed() {
    let fake = fake(|stream| {
        for (rank, used) in [(0, Some(1)), (0, Some(2)), (0, None), (1, Some(7)), (1, Some(8))] {
            stream.write_all(&message("kv", &payload(9, rank, used))).unwrap();
        }
    });
    let heard = heard(&fake, Some(2)).await.unwrap();
    assert!(heard.took < PATIENCE.as_secs_f64(), "it ends with the last kind");
    assert_eq!(heard.events, [event(9, 0, 2), event(9, 1, 7)]);
    assert_eq!((heard.passed, heard.cut), (1, false));
}

#[tokio::test]
async fn silence_is_an_answer_and_no_greeting_is_none() {
    let quiet = heard(&fake(|_| {}), Some(1)).await.unwrap();
    assert_eq!((quiet.events.len(), quiet.passed), (0, 0));
    assert!(quiet.took >= 0.5, "{quiet:?}");
    let mute_fake =
        Peer::on("127.0.0.1:0", |_, mut stream, _| drop(stream.read(&mut [0; 100]).map(|_| stream.read(&mut [0]))));
    let blind = heard(&mute_fake, Some(1)).await.unwrap_err();
    assert_eq!(blind.kind, BlindKind::Deadline, "{blind}");
    let gone_fake = Peer::on("127.0.0.1:0", |_, stream, _| drop(stream));
    assert_eq!(heard(&gone_fake, Some(1)).await.unwrap_err().kind, BlindKind::Cut);
}

#[tokio::test]
async fn a_slow_drip_costs_the_window_and_no_more() {
    let drip_fake = fake(|stream| {
        for byte in message("kv", &payload(9, 0, Some(3))) {
            if stream.write_all(&[byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    assert_eq!(heard(&drip_fake, Some(1)).await.unwrap().events, Vec::<Value>::new());
}

#[tokio::test]
async fn giants_are_refused_and_floods_are_cut() {
    let giant_fake = fake(|stream| drop(stream.write_all(b"\x02\x00\x00\x01\x00\x00\x00\x00\x00x")));
    let blind = heard(&giant_fake, Some(1)).await.unwrap_err();
    assert_eq!(blind.kind, BlindKind::NotHttp, "{blind}");
    assert!(blind.text.contains("1099511627776 bytes"), "{blind}");
    let flood_fake = fake(|stream| {
        let other = message("kv", &payload(9, 0, None)).repeat(1000);
        while stream.write_all(&other).is_ok() {}
    });
    let heard = heard(&flood_fake, Some(1)).await.unwrap();
    assert!(heard.events.is_empty() && heard.passed > 0, "{heard:?}");
}

#[tokio::test]
async fn what_was_said_before_it_broke_off_counts() {
    let broken_fake = fake(|stream| {
        stream.write_all(&message("kv", &payload(9, 0, Some(3)))).unwrap();
        stream.write_all(b"\x08\0").unwrap();
    });
    assert_eq!(heard(&broken_fake, None).await.unwrap().events, [event(9, 0, 3)]);
}

#[tokio::test]
async fn other_topics_and_other_programs_are_not_heard() {
    let other_fake = fake(|stream| {
        stream.write_all(&message("kvx", &payload(9, 0, Some(3)))).unwrap();
        stream.write_all(b"\x00\x02kv").unwrap();
    });
    let heard_of = heard(&other_fake, Some(1)).await.unwrap();
    assert_eq!((heard_of.events.len(), heard_of.passed), (0, 1));
    let web = Peer::on("127.0.0.1:0", |_, mut stream, _| drop(stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")));
    assert_eq!(heard(&web, Some(1)).await.unwrap_err().kind, BlindKind::NotHttp);
}

#[test]
fn only_where_the_process_itself_listens() {
    let url = |process: &Process, port| Publisher::of(process, port).map(|publisher| publisher.url());
    let process = at(&["0.0.0.0:5", "[::]:6", "10.1.2.3:7", "[::]:5"]);
    assert_eq!(url(&process, 5).as_deref(), Some("tcp://127.0.0.1:5"));
    assert_eq!(url(&process, 6).as_deref(), Some("tcp://[::1]:6"));
    assert_eq!(url(&process, 7).as_deref(), Some("tcp://10.1.2.3:7"));
    assert_eq!(url(&process, 8), None);
    // What its children hold, and what cannot be seen.
    assert_eq!(url(&Process { listening: process.listening_itself.clone(), ..self::process() }, 5), None);
    assert_eq!(url(&Process { same_netns_as_us: None, ..process }, 5), None);
}
