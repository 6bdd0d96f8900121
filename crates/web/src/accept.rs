//! Letting visitors in, as many as there is room for, and out again when it is time to stop.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::connection::attend;
use crate::listener::{Kind, Listener, Visitor};
use crate::options::Options;
use crate::places::{Denied, Place, Places, Who};
use crate::routes::router;
use crate::site::Site;
use crate::source::Source;

/// What is said where there is no room.
const FULL: &str =
    "all connections are taken: come again in some seconds, and close pages and programs that nobody needs";
/// What is said to who has his share.
const GREEDY: &str = "your address has as many connections as are left for all others: close some of them, or come again in some seconds";

/// Serves `source` on `listeners` until `shutdown` is done: streams end then, what was begun is answered, and what is still
/// open after [`crate::Limits::stop`] is cut. It returns when nothing is left.
pub async fn serve(
    listeners: Vec<Listener>,
    source: Arc<dyn Source>,
    options: Options,
    shutdown: impl Future<Output = ()> + Send,
) {
    let (stopper, stop) = watch::channel(false);
    let tls = options.tls.as_ref().map(crate::Tls::acceptor);
    let room = Room {
        remote: Places::new(options.limits.most_connections),
        local: Places::new(options.limits.most_local_connections),
        turned_away: Arc::new(Semaphore::new(options.limits.most_turned_away)),
    };
    let limit = options.limits.stop;
    let site = Arc::new(Site::new(source, options, stop));
    let router = router(Arc::clone(&site));
    let mut doors = JoinSet::new();
    for listener in listeners {
        doors.spawn(watch_door(listener, room.clone(), tls.clone(), Arc::clone(&site), router.clone()));
    }
    shutdown.await;
    stopper.send_replace(true);
    // Dropped, the set ends all that are left, and each of these its connections.
    let _ = timeout(limit, async { while doors.join_next().await.is_some() {} }).await;
    doors.shutdown().await;
}

/// How many may be in.
#[derive(Clone)]
struct Room {
    remote: Places,
    local: Places,
    turned_away: Arc<Semaphore>,
}

/// Where a visitor may go.
enum Found {
    Inside(Place),
    /// To be told why not.
    Outside(OwnedSemaphorePermit, &'static str),
    Nothing,
}

impl Room {
    /// Finds a place for who has come. With neither a place inside nor one to be sent away from, the rest waits in the system's
    /// queue; but nobody waits behind a visitor who has his share.
    async fn find(&self, places: &Places, who: Who) -> Found {
        loop {
            let outside = Arc::clone(&self.turned_away);
            match places.take(who) {
                Ok(place) => return Found::Inside(place),
                Err(Denied::Greedy) => {
                    return outside.try_acquire_owned().map_or(Found::Nothing, |place| Found::Outside(place, GREEDY));
                }
                Err(Denied::Full) => {}
            }
            tokio::select! {
                biased;
                Ok(place) = outside.acquire_owned() => return Found::Outside(place, FULL),
                () = places.any() => {}
            }
        }
    }
}

/// Lets visitors in by one listener until the site stops, then waits for them to leave.
async fn watch_door(listener: Listener, room: Room, tls: Option<TlsAcceptor>, site: Arc<Site>, router: Router) {
    let mut inside = JoinSet::new();
    let places = if matches!(listener.0, Kind::Unix(..)) { &room.local } else { &room.remote };
    loop {
        // What is done leaves nothing behind.
        while inside.try_join_next().is_some() {}
        let visitor = tokio::select! {
            () = site.stopped() => break,
            visitor = listener.accept() => visitor,
        };
        let visitor = match visitor {
            Ok(visitor) => visitor,
            Err(error) => {
                wait_out(&error).await;
                continue;
            }
        };
        let place = tokio::select! {
            biased;
            () = site.stopped() => break,
            place = room.find(places, visitor.who()) => place,
        };
        match place {
            Found::Inside(place) => {
                let attended = attend(visitor, tls.clone(), Arc::clone(&site), router.clone());
                inside.spawn(async move {
                    attended.await;
                    drop(place);
                });
            }
            Found::Outside(place, why) => {
                inside.spawn(turn_away(visitor, tls.is_some(), why, place));
            }
            Found::Nothing => drop(visitor),
        }
    }
    drop(listener);
    while inside.join_next().await.is_some() {}
}

/// Nobody to be let in is no reason to stop, and no reason to spin: where files have run out, some will be closed.
async fn wait_out(error: &io::Error) {
    if !matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
        sleep(Duration::from_millis(50)).await;
    }
}

/// Says that there is no room. A connection that is closed before its request was read loses what was said on it, so the
/// request is waited for, a moment.
async fn turn_away(visitor: Visitor, tls: bool, why: &str, _place: OwnedSemaphorePermit) {
    let told = async {
        match visitor {
            // Without a handshake nothing can be said.
            Visitor::Tcp(..) if tls => Ok(()),
            Visitor::Tcp(mut stream, _) => say(why, &mut stream).await,
            Visitor::Unix(mut stream) => say(why, &mut stream).await,
        }
    };
    let _ = timeout(Duration::from_secs(1), told).await;
}

/// Such an answer; its end is what matters.
fn refusal(why: &str) -> String {
    let body = format!("{{\"schema\":\"plimsoll.error/1\",\"error\":\"{why}\"}}");
    let length = body.len();
    format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nRetry-After: 2\r\n\
         Connection: close\r\n\r\n{body}"
    )
}

async fn say(why: &str, stream: &mut (impl AsyncReadExt + AsyncWriteExt + Unpin)) -> io::Result<()> {
    stream.write_all(refusal(why).as_bytes()).await?;
    stream.shutdown().await?;
    let mut head = [0; 2048];
    for _ in 0..32 {
        if stream.read(&mut head).await? == 0 {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_where_there_is_no_room_is_whole() {
        for why in [FULL, GREEDY] {
            let text = refusal(why);
            let (head, body) = text.split_once("\r\n\r\n").expect("head and body");
            assert!(head.contains(&format!("Content-Length: {}", body.len())), "{}", body.len());
            let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
            assert_eq!(body["error"], why);
        }
    }
}
