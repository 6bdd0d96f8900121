//! Places that visitors take: so many at once, and of these nobody more than are left for the others.
//!
//! A visitor is an address, and a proxy's visitors share one: so there is no fixed number for an address. The first that comes
//! may have half of all places, and whoever comes then half of what is left: nobody can keep the others out, and a proxy
//! that is alone with its visitors gets as far as half.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Who visits; nobody in particular over the Unix socket.
pub(crate) type Who = Option<IpAddr>;

/// The address by which a visitor is known: of IPv6 the network, since its users have all addresses of that.
pub(crate) fn who(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (!0 << 64)).into(),
        four @ IpAddr::V4(_) => four,
    }
}

/// Places, and who has how many of them.
#[derive(Clone)]
pub(crate) struct Places(Arc<Inner>);

struct Inner {
    free: Arc<Semaphore>,
    held: Mutex<HashMap<IpAddr, usize>>,
}

/// A place that is taken as long as this lives.
pub(crate) struct Place {
    places: Places,
    who: Who,
    _permit: OwnedSemaphorePermit,
}

/// Why somebody gets no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denied {
    /// All are taken.
    Full,
    /// This visitor has as many as are left for the others.
    Greedy,
}

impl Places {
    pub(crate) fn new(most: usize) -> Self {
        Self(Arc::new(Inner { free: Arc::new(Semaphore::new(most)), held: Mutex::default() }))
    }

    /// A place, if there is one for this visitor.
    pub(crate) fn take(&self, who: Who) -> Result<Place, Denied> {
        let Ok(permit) = Arc::clone(&self.0.free).try_acquire_owned() else { return Err(Denied::Full) };
        // Counted under the lock, so that two at once are not both the last.
        let mut held = self.0.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(who) = who {
            let own = held.get(&who).copied().unwrap_or_default();
            if own > self.0.free.available_permits() {
                return Err(Denied::Greedy);
            }
            held.insert(who, own + 1);
        }
        Ok(Place { places: self.clone(), who, _permit: permit })
    }

    /// Returns once there may be a place again.
    pub(crate) async fn any(&self) {
        // It is given back at once: whoever comes by then takes it as everybody does.
        let _ = self.0.free.acquire().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(who) = self.who else { return };
        let mut held = self.places.0.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.get_mut(&who) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(held.remove(&who)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl std::fmt::Debug for Place {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "a place of {:?}", self.who)
        }
    }

    impl Places {
        fn take_by(&self, last: u8) -> Result<Place, Denied> {
            self.take(Some(IpAddr::from([10, 0, 0, last])))
        }
    }

    #[test]
    fn nobody_takes_more_than_is_left_for_the_others() {
        let places = Places::new(64);
        let taken = |last: u8| -> Vec<Place> { std::iter::from_fn(|| places.take_by(last).ok()).collect() };
        let first = taken(1);
        let second = taken(2);
        // Half of 64, and half of the other half.
        assert_eq!((first.len(), second.len()), (32, 16));
        assert_eq!(places.take_by(1).err(), Some(Denied::Greedy));
        let others: Vec<Vec<Place>> = (3..60).map(taken).collect();
        assert_eq!(others.iter().map(Vec::len).sum::<usize>(), 16);
        assert_eq!(places.take_by(60).err(), Some(Denied::Full));
        drop(first);
        assert!(places.take_by(60).is_ok());
        // What is given back is forgotten.
        drop((second, others));
        assert!(places.0.held.lock().expect("a lock").is_empty());
        assert_eq!(taken(1).len(), 32);
        // The socket's visitors are not told apart.
        assert_eq!(std::iter::from_fn(|| places.take(None).ok()).collect::<Vec<_>>().len(), 64);
    }

    #[test]
    fn the_last_place_is_anybodys() {
        let places = Places::new(1);
        let place = places.take_by(1).expect("a place");
        assert_eq!(places.take_by(1).err(), Some(Denied::Full));
        drop(place);
        assert!(places.take_by(1).is_ok());
    }

    #[test]
    fn a_network_of_ipv6_is_one_visitor() {
        let of = |text: &str| who(text.parse().expect("an address"));
        assert_eq!(of("2001:db8:0:1::1"), of("2001:db8:0:1:ffff::2"));
        assert_ne!(of("2001:db8:0:1::1"), of("2001:db8:0:2::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    }
}
