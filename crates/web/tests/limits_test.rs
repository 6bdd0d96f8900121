//! Visitors who take more than their share.

mod support;

use std::sync::atomic::Ordering;
use std::time::Duration;

use support::{
    FakeSource, LARGE, Site, answer_of, ask, connect, connect_from, get, patiently, read_answer, until_end, with,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use web::Limits;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const HEAD: &[u8] = b"GET /api/v1/overview HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// What docs/serve.md says is what is served.
#[test]
fn the_documentation_has_the_bounds() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/serve.md")).expect("the page");
    let most = Limits::default();
    for row in [
        format!("| connections | {}, and {} on the socket |", most.most_connections, most.most_local_connections),
        format!("| streams (each open page has one) | {} |", most.most_streams),
        format!("| questions to the history | {}, others wait up to {} s |", most.most_history, most.turn.as_secs()),
        format!("| answers that are on their way to slow readers | {} MiB |", most.most_held_bytes >> 20),
        format!("| {} KiB, within {} s |", most.head_bytes >> 10, most.head.as_secs()),
        format!("| a connection without a question | {} minute |", most.idle.as_secs() / 60),
        format!("| wrong tokens | {}, each", most.most_wrong_tokens),
        format!("gets {} connections and {} streams", most.most_connections / 2, most.most_streams / 2),
        format!("the handshake within {} s", most.head.as_secs()),
    ] {
        assert!(text.contains(&row), "docs/serve.md does not say: {row}");
    }
}

#[tokio::test]
async fn a_head_that_comes_drop_by_drop_ends() {
    let site = Site::start(with(Limits { head: ms(200), ..Limits::default() }));
    let mut silent = connect(site.address).await;
    let mut slow = connect(site.address).await;
    // A byte now and then buys no time.
    let drip = async {
        let (mut read, mut write) = slow.split();
        let pour = async {
            for byte in b"GET / HTTP/1.1\r\nX: ".iter().chain(std::iter::repeat(&b'x')) {
                if write.write_all(&[*byte]).await.is_err() {
                    break;
                }
                tokio::time::sleep(ms(20)).await;
            }
        };
        tokio::select! {
            () = pour => (),
            _ = until_end(&mut read) => (),
        }
    };
    patiently(drip).await;
    assert!(until_end(&mut silent).await.is_empty());
    assert_eq!(get(site.address, "/healthz").await.status, 200);
}

#[tokio::test]
async fn a_connection_may_idle_longer_than_a_head_may_take() {
    // Ten minutes: however busy the machine is, that is not over.
    let site = Site::start(with(Limits { head: ms(100), idle: ms(600_000), ..Limits::default() }));
    let mut stream = connect(site.address).await;
    for _ in 0..3 {
        assert_eq!(answer_of(&mut stream, HEAD).await.status, 200);
        tokio::time::sleep(ms(300)).await;
    }
}

#[tokio::test]
async fn a_connection_that_idles_ends() {
    let site = Site::start(with(Limits { head: ms(100), idle: ms(500), ..Limits::default() }));
    let mut stream = connect(site.address).await;
    assert_eq!(answer_of(&mut stream, HEAD).await.status, 200);
    assert!(until_end(&mut stream).await.is_empty());
    // And so does one that stops in the middle of its second head.
    let mut half = connect(site.address).await;
    assert_eq!(answer_of(&mut half, HEAD).await.status, 200);
    half.write_all(&HEAD[..20]).await.expect("half a head");
    assert!(until_end(&mut half).await.is_empty());
}

#[tokio::test]
async fn heads_have_a_size() {
    let site = Site::start(with(Limits::default()));
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: y\r\n".repeat(5000));
    let path = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(1 << 20));
    for request in [long, many, path] {
        let mut stream = connect(site.address).await;
        let _ = stream.write_all(request.as_bytes()).await;
        let said = String::from_utf8(until_end(&mut stream).await).expect("text");
        // The connection is cut while more is on its way, so the answer may be lost; one that says yes may not come.
        assert!(said.is_empty() || said.contains(" 431 ") || said.contains(" 414 "), "{said}");
    }
    let exact = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(20_000));
    assert_eq!(ask(site.address, exact).await.status, 431);
    let fits = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(15_000));
    assert_eq!(ask(site.address, fits).await.status, 200);
    for nonsense in
        ["\r\n\r\n\r\nxx\r\n\r\n", "GET\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"]
    {
        let mut stream = connect(site.address).await;
        let _ = stream.write_all(nonsense.as_bytes()).await;
        let said = String::from_utf8(until_end(&mut stream).await).expect("text");
        assert!(said.is_empty() || said.contains(" 400 "), "{said}");
    }
    assert_eq!(get(site.address, "/healthz").await.status, 200);
}

#[tokio::test]
async fn a_reader_that_takes_nothing_is_left() {
    let limits = Limits { stall: ms(300), most_connections: 1, ..Limits::default() };
    let site = Site::start_with(with(limits), FakeSource::of_bytes(64 << 20));
    let mut slow = connect(site.address).await;
    slow.write_all(HEAD).await.expect("a request");
    let answer = read_answer_head(&mut slow).await;
    assert!(answer.contains(" 200 "));
    // It holds the only place: as soon as another gets an answer, it was left.
    patiently(async {
        while ask(site.address, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.status != 200 {
            tokio::time::sleep(ms(50)).await;
        }
    })
    .await;
    assert!(until_end(&mut slow).await.len() < 64 << 20);
}

async fn read_answer_head(stream: &mut tokio::net::TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(patiently(stream.read_u8()).await.expect("a head"));
    }
    String::from_utf8(head).expect("text")
}

#[tokio::test]
async fn a_reader_that_is_only_slow_gets_everything() {
    let limits = Limits { stall: ms(1000), stall_bytes: 1 << 10, ..Limits::default() };
    let site = Site::start_with(with(limits), FakeSource::of_bytes(8 << 20));
    let mut slow = connect(site.address).await;
    slow.write_all(HEAD).await.expect("a request");
    let (mut part, mut bytes) = (vec![0; 256 << 10], 0);
    while bytes < 8 << 20 {
        bytes += patiently(slow.read(&mut part)).await.expect("more");
        tokio::time::sleep(ms(20)).await;
    }
}

#[tokio::test]
async fn one_connection_too_many_is_told_so() {
    let site = Site::start(with(Limits { most_connections: 2, ..Limits::default() }));
    let (mut one, mut two) = (connect(site.address).await, connect_from(2, site.address).await);
    assert_eq!(answer_of(&mut one, HEAD).await.status, 200);
    assert_eq!(answer_of(&mut two, HEAD).await.status, 200);
    for _ in 0..5 {
        let answer = get(site.address, "/api/v1/overview").await;
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("2")));
        assert_eq!(answer.json()["schema"], "plimsoll.error/1");
        assert!(answer.text().contains("all connections are taken: come again"), "{}", answer.text());
    }
    drop(one);
    patiently(async {
        while get(site.address, "/api/v1/overview").await.status != 200 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(answer_of(&mut two, HEAD).await.status, 200);
}

#[tokio::test]
async fn the_disk_is_asked_by_few_at_once() {
    let limits = Limits { turn: ms(200), answer: ms(2000), ..Limits::default() };
    let site = Site::start(with(limits));
    site.source.stick(true);
    let address = site.address;
    let waiting: Vec<_> = (0..20).map(|_| tokio::spawn(async move { get(address, "/api/v1/history").await })).collect();
    let mut statuses = Vec::new();
    for answer in waiting {
        let answer = patiently(answer).await.expect("an answer");
        assert_eq!(answer.header("retry-after"), Some("2"));
        statuses.push(answer.status);
    }
    // Four were given up after the time of an answer, the others never had a turn. Nobody waits for ever.
    assert_eq!(statuses, [503; 20]);
    assert_eq!(site.source.most_at_disk.load(Ordering::SeqCst), 4);
    // What does not need the disk goes on, and the disk once it answers again.
    assert_eq!(get(address, "/api/v1/overview").await.status, 200);
    site.source.stick(false);
    assert_eq!(get(address, "/api/v1/history").await.status, 200);
}

#[tokio::test]
async fn streams_are_few() {
    let site = Site::start(with(Limits { most_streams: 2, ..Limits::default() }));
    let stream = b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let (mut one, mut two) = (connect(site.address).await, connect_from(2, site.address).await);
    assert_eq!(answer_of(&mut one, stream).await.status, 200);
    assert_eq!(answer_of(&mut two, stream).await.status, 200);
    let answer = ask(site.address, stream).await;
    assert_eq!(answer.status, 503);
    assert!(answer.text().contains("all 2 streams are taken") && answer.text().contains("/api/v1/overview"));
    drop(one);
    patiently(async {
        while ask(site.address, stream).await.status != 200 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// One tab after the other, and never the last places of all: a page of somebody else still gets its stream.
#[tokio::test]
async fn one_visitor_takes_not_all_streams_and_not_all_connections() {
    let site = Site::start(with(Limits { most_streams: 8, most_connections: 16, ..Limits::default() }));
    let stream = b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut tabs = Vec::new();
    for _ in 0..4 {
        tabs.push(connect(site.address).await);
        assert_eq!(answer_of(tabs.last_mut().expect("a tab"), stream).await.status, 200);
    }
    let mut fifth = connect(site.address).await;
    let answer = answer_of(&mut fifth, stream).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("2")));
    assert!(answer.text().contains("close other tabs"), "{}", answer.text());
    let mut other = connect_from(2, site.address).await;
    assert_eq!(answer_of(&mut other, stream).await.status, 200);
    // Of sixteen connections one visitor holds eight at most, and as many only while so many are left: 8 of his, 1, and 7 free.
    let mut idle = vec![fifth];
    let refused = loop {
        let mut another = connect(site.address).await;
        let answer = answer_of(&mut another, HEAD).await;
        if answer.status != 200 {
            break answer;
        }
        idle.push(another);
    };
    assert_eq!((refused.status, tabs.len() + idle.len()), (503, 8));
    assert!(refused.text().contains("your address") && refused.text().contains("close some"), "{}", refused.text());
    let mut third = connect_from(3, site.address).await;
    assert_eq!(answer_of(&mut third, HEAD).await.status, 200);
}

#[tokio::test]
async fn requests_that_are_sent_together_are_answered_in_turn() {
    let site = Site::start(with(Limits::default()));
    let mut stream = connect(site.address).await;
    let (mut read, mut write) = stream.split();
    let requests = HEAD.repeat(200);
    let send = async { write.write_all(&requests).await.expect("all") };
    let receive = async {
        for _ in 0..200 {
            assert_eq!(read_answer(&mut read, false).await.status, 200);
        }
    };
    patiently(async { tokio::join!(send, receive) }).await;
}

#[tokio::test]
async fn large_answers_that_nobody_takes_have_a_bound() {
    let site = Site::start(with(Limits { most_held_bytes: 2 * LARGE, ..Limits::default() }));
    let question = b"GET /api/v1/history?signal=large HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut readers = Vec::new();
    for _ in 0..2 {
        let mut slow = connect(site.address).await;
        slow.write_all(question).await.expect("a request");
        assert!(read_answer_head(&mut slow).await.contains(" 200 "));
        readers.push(slow);
    }
    let answer = ask(site.address, question).await;
    assert_eq!(answer.status, 503);
    assert!(answer.text().contains("too large together"));
    // Whoever leaves gives the room back; what everybody shares was answered all along.
    assert_eq!(get(site.address, "/api/v1/overview").await.status, 200);
    readers.pop();
    patiently(async {
        while ask(site.address, question).await.status != 200 {
            tokio::time::sleep(ms(20)).await;
        }
    })
    .await;
}
