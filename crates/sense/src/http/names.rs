//! Names and their addresses. The system's own look-up cannot be called off: however long it takes, who asks waits only until a
//! deadline of their own, and the same name is not looked up again meanwhile.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::{Blind, BlindKind};
use tokio::sync::watch;

use crate::aside::start;

/// Look-ups at once, of all names.
const MOST: usize = 128;
/// Look-ups at once of one name …
const MOST_OF_ONE: usize = 4;
/// … of which each that takes so long is thought to be lost, and another is begun.
const LOST: Duration = Duration::from_secs(30);

/// What a look-up found.
type Found = Result<Vec<IpAddr>, Blind>;

/// The look-ups that are on their way. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Names(Arc<Mutex<BTreeMap<String, Flight>>>);

/// Those of one name.
#[derive(Debug)]
struct Flight {
    threads: usize,
    newest: Instant,
    told: watch::Receiver<Option<Found>>,
}

impl Names {
    /// The addresses of a name. Bounded by the caller's deadline; the thread behind it ends by itself.
    pub(super) async fn find(&self, host: &str) -> Found {
        let mut told = self.flight(host, |host| (host, 0).to_socket_addrs().map(Iterator::collect))?;
        let found = told.wait_for(Option::is_some).await.ok().and_then(|found| (*found).clone());
        found.unwrap_or_else(|| Err(nameless(host, &"the look-up ended without a result")))
    }

    /// Joins the look-up that is on its way, or begins one.
    fn flight(
        &self,
        host: &str,
        look_up: impl FnOnce(&str) -> io::Result<Vec<std::net::SocketAddr>> + Send + 'static,
    ) -> Result<watch::Receiver<Option<Found>>, Blind> {
        let mut flights = self.lock();
        let all: usize = flights.values().map(|flight| flight.threads).sum();
        let own = flights.get(host).map_or(0, |flight| flight.threads);
        if let Some(flight) = flights.get(host)
            && (flight.newest.elapsed() < LOST || own >= MOST_OF_ONE || all >= MOST)
        {
            return Ok(flight.told.clone());
        }
        if all >= MOST {
            return Err(nameless(host, &format!("{all} other names are still waited for")));
        }
        let (tell, told) = watch::channel(None);
        let (names, name) = (self.clone(), host.to_owned());
        start(move || {
            let found = look_up(&name).map(addresses).map_err(|error| nameless(&name, &error));
            names.landed(&name);
            // Nobody waits any more after a deadline.
            let _ = tell.send(Some(found));
        })
        .map_err(|error| nameless(host, &error))?;
        flights.insert(host.to_owned(), Flight { threads: own + 1, newest: Instant::now(), told: told.clone() });
        Ok(told)
    }

    fn landed(&self, host: &str) {
        let mut flights = self.lock();
        let Some(flight) = flights.get_mut(host) else { return };
        flight.threads -= 1;
        if flight.threads == 0 {
            flights.remove(host);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Flight>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn addresses(found: Vec<std::net::SocketAddr>) -> Vec<IpAddr> {
    let mut addresses: Vec<IpAddr> = found.into_iter().map(|address| address.ip()).collect();
    addresses.dedup();
    addresses
}

pub(super) fn nameless(host: &str, why: &dyn std::fmt::Display) -> Blind {
    Blind::new(BlindKind::Name, format!("the name {host} does not resolve: {why}"))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    fn threads(names: &Names) -> usize {
        names.lock().values().map(|flight| flight.threads).sum()
    }

    /// A look-up that goes on until it is let go.
    fn held(names: &Names, host: &str) -> (Sender<()>, Result<watch::Receiver<Option<Found>>, Blind>) {
        let (let_go, wait) = channel::<()>();
        let found = names.flight(host, move |_| {
            let _ = wait.recv();
            Ok(vec![([10, 0, 0, 1], 0).into(), ([10, 0, 0, 1], 1).into()])
        });
        (let_go, found)
    }

    #[tokio::test]
    async fn who_asks_meanwhile_is_given_the_same_answer() {
        let names = Names::default();
        let (let_go, first) = held(&names, "a.test");
        let second = names.flight("a.test", |_| panic!("it is looked up twice"));
        assert_eq!(threads(&names), 1);
        let_go.send(()).expect("it waits");
        for told in [first, second] {
            let mut told = told.expect("a look-up");
            let found = told.wait_for(Option::is_some).await.expect("an answer").clone();
            assert_eq!(found, Some(Ok(vec![IpAddr::from([10, 0, 0, 1])])));
        }
        assert_eq!(threads(&names), 0);
    }

    #[test]
    fn look_ups_that_never_end_are_few() {
        let names = Names::default();
        let mut held_back = Vec::new();
        // As if each had been lost.
        for _ in 0..20 {
            held_back.push(held(&names, "a.test"));
            if let Some(flight) = names.lock().get_mut("a.test") {
                flight.newest = flight.newest.checked_sub(LOST).expect("a time");
            }
        }
        assert_eq!(threads(&names), MOST_OF_ONE);
        for number in 0..2 * MOST {
            held_back.push(held(&names, &format!("{number}.test")));
        }
        assert_eq!(threads(&names), MOST);
        let refused = held_back.iter().filter_map(|(_, told)| told.as_ref().err()).count();
        assert_eq!(refused, MOST + MOST_OF_ONE);
    }
}
