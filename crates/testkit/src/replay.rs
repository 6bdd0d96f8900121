//! A fake server: recorded answers by path, on a free loopback port. It counts what it is asked, so that tests can hold
//! plimsoll to its manners.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// One recorded answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Content type.
    pub content_type: String,
    /// Body.
    pub body: Vec<u8>,
    /// How it is sent.
    pub manner: Manner,
}

/// The answer with a number.
type Numbered = fn(u32) -> Answer;

/// How an answer is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Manner {
    /// At once and whole.
    #[default]
    Prompt,
    /// After so long.
    After(Duration),
    /// Not at all; the connection stays open.
    Never,
    /// A byte at a time, with so much between two.
    Drip(Duration),
    /// Half of the body, and then the connection closes.
    Half,
}

/// A server that replays answers until it is dropped.
pub struct Replay {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    answers: Mutex<BTreeMap<String, Answer>>,
    numbered: Mutex<BTreeMap<String, Numbered>>,
    served: Mutex<Vec<SystemTime>>,
    asked: Mutex<Vec<String>>,
    headers: Mutex<Vec<String>>,
    open: AtomicUsize,
    most: AtomicUsize,
    down: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
}

impl Answer {
    /// A 200 with Prometheus text.
    pub fn page(body: impl Into<Vec<u8>>) -> Answer {
        Answer {
            status: 200,
            content_type: "text/plain; version=0.0.4; charset=utf-8".to_owned(),
            body: body.into(),
            manner: Manner::Prompt,
        }
    }

    /// A 200 with JSON.
    pub fn json(body: impl Into<Vec<u8>>) -> Answer {
        Answer { status: 200, content_type: "application/json".to_owned(), body: body.into(), manner: Manner::Prompt }
    }

    /// The same, sent otherwise.
    #[must_use]
    pub fn sent(mut self, manner: Manner) -> Answer {
        self.manner = manner;
        self
    }

    /// The same with another status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Answer {
        self.status = status;
        self
    }
}

impl Replay {
    /// Starts a server that answers 404 to everything that is not set.
    ///
    /// # Panics
    /// When no port can be had.
    pub fn start() -> Replay {
        Replay::start_on("127.0.0.1")
    }

    /// A router that lists these workers' addresses as decode workers, all healthy.
    ///
    /// # Panics
    /// When no port can be had.
    pub fn router<S: AsRef<str>>(workers: &[S]) -> Replay {
        let row = |url: &S| {
            let url = url.as_ref();
            format!(r#"{{"url":"{url}","worker_type":"decode","is_healthy":true,"labels":{{"version":"0.5.23"}}}}"#)
        };
        let rows: Vec<String> = workers.iter().map(row).collect();
        let list = format!(r#"{{"workers":[{}],"total":{}}}"#, rows.join(","), rows.len());
        Replay::start().with("/workers", Answer::json(list))
    }

    /// As [`Replay::start`], on another address of this host.
    ///
    /// # Panics
    /// When no port can be had.
    pub fn start_on(address: &str) -> Replay {
        Replay::start_at(address, 0)
    }

    /// The same on a port of one's choice.
    ///
    /// # Panics
    /// When it is taken.
    pub fn start_at(address: &str, port: u16) -> Replay {
        let listener = TcpListener::bind((address, port)).expect("a free port");
        let port = listener.local_addr().expect("a bound socket").port();
        let shared = Arc::new(Shared::default());
        listen(listener, &shared);
        Replay { port, shared }
    }

    /// As if its process were killed: nobody listens, and what was open is closed.
    ///
    /// # Panics
    /// When a thread of the server panicked.
    pub fn kill(&self) {
        self.shared.down.store(true, Ordering::SeqCst);
        // The thread that waits for the next connection gives up its socket.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        while TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
        for stream in self.shared.streams.lock().expect("no panic while locked").drain(..) {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }

    /// Back on the same port, after [`Replay::kill`].
    ///
    /// # Panics
    /// When somebody else has its port by now.
    pub fn revive(&self) {
        self.shared.down.store(false, Ordering::SeqCst);
        listen(TcpListener::bind(("127.0.0.1", self.port)).expect("its own port"), &self.shared);
    }

    /// Sets the answer to a path.
    #[must_use]
    pub fn with(self, path: &str, answer: Answer) -> Replay {
        self.set(path, answer);
        self
    }

    /// Changes the answer to a path while the server runs.
    ///
    /// # Panics
    /// When a thread of the server panicked.
    pub fn set(&self, path: &str, answer: Answer) {
        self.shared.answers.lock().expect("no panic while locked").insert(path.to_owned(), answer);
    }

    /// From now on each question for the path is answered with a number of its own: 1, 2, 3 …
    ///
    /// # Panics
    /// When a thread of the server panicked.
    #[must_use]
    pub fn with_numbers(self, path: &str, answer: Numbered) -> Replay {
        self.shared.numbered.lock().expect("no panic while locked").insert(path.to_owned(), answer);
        self
    }

    /// When each of the numbers was given out, 1 first.
    ///
    /// # Panics
    /// When a thread of the server panicked.
    pub fn served(&self) -> Vec<SystemTime> {
        self.shared.served.lock().expect("no panic while locked").clone()
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Every path that was asked, in order.
    ///
    /// # Panics
    /// When a thread of the server panicked.
    pub fn asked(&self) -> Vec<String> {
        self.shared.asked.lock().expect("no panic while locked").clone()
    }

    /// Every header line that was received, in order.
    ///
    /// # Panics
    /// When a thread of the server panicked.
    pub fn headers(&self) -> Vec<String> {
        self.shared.headers.lock().expect("no panic while locked").clone()
    }

    /// The most requests that were open at one time.
    pub fn most_at_once(&self) -> usize {
        self.shared.most.load(Ordering::SeqCst)
    }
}

/// Serves whoever comes, on a thread of its own, until the server is down.
fn listen(listener: TcpListener, shared: &Arc<Shared>) {
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if shared.down.load(Ordering::SeqCst) {
                return;
            }
            if let Ok(other) = stream.try_clone() {
                shared.streams.lock().expect("no panic while locked").push(other);
            }
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || serve(&stream, &shared));
        }
    });
}

fn serve(stream: &TcpStream, shared: &Shared) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let open = shared.open.fetch_add(1, Ordering::SeqCst) + 1;
        shared.most.fetch_max(open, Ordering::SeqCst);
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        loop {
            let mut header = String::new();
            if reader.read_line(&mut header).unwrap_or(0) <= 2 {
                break;
            }
            shared.headers.lock().expect("no panic while locked").push(header.trim_end().to_owned());
        }
        shared.asked.lock().expect("no panic while locked").push(path.clone());
        let numbered = shared.numbered.lock().expect("no panic while locked").get(&path).copied();
        let numbered = numbered.map(|answer| {
            let mut served = shared.served.lock().expect("no panic while locked");
            served.push(SystemTime::now());
            answer(served.len() as u32)
        });
        let answer = numbered.or_else(|| shared.answers.lock().expect("no panic while locked").get(&path).cloned());
        let answer = answer.unwrap_or_else(|| Answer::json(r#"{"detail":"Not Found"}"#).status(404));
        let head = format!(
            "HTTP/1.1 {} X\r\ncontent-type: {}\r\ncontent-length: {}\r\n\r\n",
            answer.status,
            answer.content_type,
            answer.body.len()
        );
        // In one piece: two would wait for an acknowledgement in between.
        let whole = [head.as_bytes(), &answer.body].concat();
        let sent = send(stream, &whole, answer.manner, head.len());
        shared.open.fetch_sub(1, Ordering::SeqCst);
        if sent.is_err() {
            return;
        }
    }
}

/// Sends an answer in its manner; an error ends the connection.
fn send(mut stream: &TcpStream, whole: &[u8], manner: Manner, head: usize) -> std::io::Result<()> {
    match manner {
        Manner::Prompt => stream.write_all(whole),
        Manner::After(wait) => {
            std::thread::sleep(wait);
            stream.write_all(whole)
        }
        Manner::Never => loop {
            std::thread::sleep(Duration::from_millis(100));
            // Until the other end gives up.
            if stream.take_error()?.is_some() || is_closed(stream) {
                return Err(std::io::ErrorKind::BrokenPipe.into());
            }
        },
        Manner::Drip(wait) => {
            stream.write_all(&whole[..head])?;
            for byte in &whole[head..] {
                std::thread::sleep(wait);
                stream.write_all(std::slice::from_ref(byte))?;
            }
            Ok(())
        }
        Manner::Half => {
            stream.write_all(&whole[..head + (whole.len() - head) / 2])?;
            stream.shutdown(std::net::Shutdown::Both)?;
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    }
}

fn is_closed(stream: &TcpStream) -> bool {
    let mut one = [0];
    let _ = stream.set_nonblocking(true);
    let read = stream.peek(&mut one);
    let _ = stream.set_nonblocking(false);
    matches!(read, Ok(0)) || read.is_err_and(|error| error.kind() != std::io::ErrorKind::WouldBlock)
}
