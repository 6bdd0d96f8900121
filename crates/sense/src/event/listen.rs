//! One subscription: connect, greet, hear what comes, hang up. Nothing is sent but the greeting and the topic.

use std::time::{Duration, Instant};

use model::{Blind, BlindKind};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use wire::zmtp::{GREETING, Item, Limits, Reader, ready, subscribe};

use super::{Heard, Keep, Publisher};
use crate::aside::aside;

/// Bytes that are taken in at once.
const PIECE: usize = 16 << 10;
/// Bytes that are taken in at all.
const MOST: usize = 4 << 20;
/// Kinds of events that are kept.
const KINDS: usize = 256;

/// What `publisher` sends of `topic` within `patience`, from the connection on. Nothing heard is an answer; a peer that does
/// not speak the protocol is none.
pub(crate) async fn listen(
    publisher: &Publisher,
    topic: &str,
    keep: &Keep,
    patience: Duration,
) -> Result<Heard, Blind> {
    let began = Instant::now();
    let mut hearing = Hearing { topic, keep, greeted: false, heard: Heard::default() };
    let ended = timeout(patience, hearing.go(publisher, patience)).await;
    let Hearing { greeted, mut heard, .. } = hearing;
    heard.took = began.elapsed().as_secs_f64();
    match ended {
        Ok(Ok(())) => Ok(heard),
        // What came before it broke off was said all the same.
        Ok(Err(_)) if !heard.events.is_empty() => Ok(heard),
        Ok(Err(blind)) => Err(blind),
        Err(_) if greeted => Ok(heard),
        Err(_) => {
            let text = format!("{} did not greet within {:.1} s", publisher.url(), heard.took);
            Err(Blind::new(BlindKind::Deadline, text))
        }
    }
}

struct Hearing<'a> {
    topic: &'a str,
    keep: &'a Keep,
    greeted: bool,
    heard: Heard,
}

impl Hearing<'_> {
    /// Goes on until enough was heard.
    async fn go(&mut self, publisher: &Publisher, patience: Duration) -> Result<(), Blind> {
        let url = publisher.url();
        let broken = |error: std::io::Error| Blind::new(BlindKind::Cut, format!("{url} broke off: {error}"));
        let mut stream = connect(publisher, patience).await?;
        stream.write_all(&GREETING).await.map_err(broken)?;
        let mut reader = Reader::new(Limits::default());
        let mut piece = vec![0; PIECE];
        let mut taken = 0;
        loop {
            let count = stream.read(&mut piece).await.map_err(broken)?;
            if count == 0 {
                return Err(Blind::new(BlindKind::Cut, format!("{url} hung up")));
            }
            reader.push(&piece[..count]);
            loop {
                let item = reader.item();
                match item.map_err(|bad| Blind::new(BlindKind::NotHttp, format!("{url}: {bad}")))? {
                    Some(Item::Greeting) => {
                        self.greeted = true;
                        stream.write_all(&[ready(), subscribe(self.topic)].concat()).await.map_err(broken)?;
                    }
                    Some(Item::Message(frames)) => {
                        self.message(&frames);
                        if self.keep.enough.is_some_and(|enough| self.heard.events.len() >= enough) {
                            return Ok(());
                        }
                    }
                    Some(Item::Command(_)) => {}
                    None => break,
                }
            }
            taken += count;
            if taken >= MOST {
                self.heard.cut = true;
                return Ok(());
            }
        }
    }

    fn message(&mut self, frames: &[Vec<u8>]) {
        // A subscription is to all topics that begin so.
        if frames.first().is_none_or(|topic| topic != self.topic.as_bytes()) {
            return;
        }
        let event = wire::event::decode(frames).ok();
        let event = event.filter(|event| event.pointer(&self.keep.has).is_some_and(|field| !field.is_null()));
        let Some(event) = event else {
            self.heard.passed += 1;
            return;
        };
        let kind = |event: &Value| -> Vec<Value> {
            self.keep.apart.iter().map(|field| event.pointer(field).cloned().unwrap_or_default()).collect()
        };
        let own = kind(&event);
        let known = &mut self.heard.events;
        match known.iter().position(|known| kind(known) == own) {
            Some(at) => known[at] = event,
            None if known.len() < KINDS => known.push(event),
            None => self.heard.cut = true,
        }
    }
}

async fn connect(publisher: &Publisher, patience: Duration) -> Result<TcpStream, Blind> {
    let address = publisher.address;
    let unconnected = |error: std::io::Error| {
        let text = format!("no connection to {}: {error}", publisher.url());
        Blind::new(BlindKind::Refused, text)
    };
    let Some(namespace) = publisher.namespace else {
        return TcpStream::connect(address).await.map_err(unconnected);
    };
    let host = address.ip().to_string();
    let connected = aside(move || namespace.connect(&host, address.port(), patience)).await.map_err(unconnected)?;
    TcpStream::from_std(connected?.0).map_err(unconnected)
}
