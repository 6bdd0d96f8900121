//! A name server that a test has in its hand, and a network in which the system asks no other.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, UdpSocket};
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::apart::rerun;

/// That a test runs in such a network.
const GIVEN: &str = "PLIMSOLL_OWN_NAMES";

/// A network of loopback alone, where the system asks 127.0.0.1 for names, once and for a long time.
const SCRIPT: &str = r#"
ip link set lo up || exit 75
printf 'nameserver 127.0.0.1\noptions timeout:20 attempts:2\n' >"$FOLDER/resolv.conf"
printf 'hosts: files dns\n' >"$FOLDER/nsswitch.conf"
mount --bind "$FOLDER/resolv.conf" /etc/resolv.conf && mount --bind "$FOLDER/nsswitch.conf" /etc/nsswitch.conf || exit 75
exec "$@"
"#;

/// What is said of a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Says {
    /// Its address.
    Address(Ipv4Addr),
    /// There is no such name.
    Nothing,
    /// The server cannot say it now.
    Trouble,
    /// Nothing is answered.
    Silence,
}

/// The name server. Names that were not set do not exist.
#[derive(Clone, Default)]
pub struct Names(Arc<Mutex<Book>>);

#[derive(Default)]
struct Book {
    names: BTreeMap<String, Says>,
    asked: BTreeMap<String, usize>,
}

impl Names {
    /// Runs the test `name` of this very program again, in a network with names of its own. Skipped with a line where none can
    /// be had.
    ///
    /// # Panics
    /// When the test fails there.
    pub fn run(name: &str) {
        let folder = tempfile::tempdir().expect("a folder");
        rerun(
            Command::new("unshare")
                .args(["-mn", "sh", "-c", SCRIPT, "sh"])
                .env("FOLDER", folder.path())
                .env(GIVEN, "1"),
            name,
        );
    }

    /// Starts it in the network that [`Names::run`] made.
    ///
    /// # Panics
    /// When there is none: such tests are ignored but for that.
    pub fn start() -> Names {
        assert!(std::env::var_os(GIVEN).is_some(), "a test that Names::run runs");
        let names = Names::default();
        let socket = UdpSocket::bind("127.0.0.1:53").expect("the port for names");
        let own = names.clone();
        std::thread::spawn(move || {
            let mut question = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut question) {
                if let Some(answer) = own.answer(&question[..length]) {
                    let _ = socket.send_to(&answer, from);
                }
            }
        });
        names
    }

    /// Says this of a name from now on.
    ///
    /// # Panics
    /// When its thread panicked.
    pub fn say(&self, name: &str, says: Says) {
        self.0.lock().expect("no panic while locked").names.insert(name.to_owned(), says);
    }

    /// How often it was asked for IPv4 addresses of a name.
    ///
    /// # Panics
    /// When its thread panicked.
    pub fn asked(&self, name: &str) -> usize {
        self.0.lock().expect("no panic while locked").asked.get(name).copied().unwrap_or_default()
    }

    /// The answer to a question (RFC 1035, section 4): of type A with the address, of any other type without.
    fn answer(&self, question: &[u8]) -> Option<Vec<u8>> {
        let (mut at, mut labels) = (12, Vec::new());
        loop {
            let length = usize::from(*question.get(at)?);
            at += 1 + length;
            if length == 0 {
                break;
            }
            labels.push(String::from_utf8_lossy(question.get(at - length..at)?).to_lowercase());
        }
        let name = labels.join(".");
        let wants_address = question.get(at..at + 2)? == [0, 1];
        let says = {
            let mut book = self.0.lock().ok()?;
            *book.asked.entry(name.clone()).or_default() += usize::from(wants_address);
            book.names.get(&name).copied().unwrap_or(Says::Nothing)
        };
        let (code, address) = match says {
            Says::Address(address) => (0, Some(address).filter(|_| wants_address)),
            Says::Nothing => (3, None),
            Says::Trouble => (2, None),
            Says::Silence => return None,
        };
        let mut answer = question[..2].to_vec();
        // A response, recursion wanted and had; one question, no or one answer.
        answer.extend([0x81, 0x80 | code, 0, 1, 0, u8::from(address.is_some()), 0, 0, 0, 0]);
        answer.extend(&question[12..at + 4]);
        if let Some(address) = address {
            // The name of the question, type A, class IN, for 0 s, 4 bytes.
            answer.extend([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
            answer.extend(address.octets());
        }
        Some(answer)
    }
}
