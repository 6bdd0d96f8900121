//! What the system's `ssh` complains of, told as what it means and what helps.

use model::{Blind, BlindKind};

/// Words of `ssh`, what they mean, and what to do.
const KNOWN: [(&str, BlindKind, &str); 14] = [
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        BlindKind::Tls,
        "its host key is another one than ssh knows: if it was set up anew, remove the old key (ssh-keygen -R HOST); if not, somebody may stand between",
    ),
    (
        "Host key verification failed",
        BlindKind::Tls,
        "its host key is not known to ssh, and nothing is accepted unseen: log in once by hand (ssh HOST), or add it to known_hosts",
    ),
    ("No matching host key type", BlindKind::Tls, "it has no kind of host key that this ssh accepts"),
    (
        "Permission denied",
        BlindKind::Denied,
        "it does not let us in, and nobody is asked for a password: a key in ssh's agent, or an IdentityFile, is needed",
    ),
    ("Too many authentication failures", BlindKind::Denied, "it was offered too many keys: name one with IdentityFile"),
    ("Could not resolve hostname", BlindKind::Name, "its name does not resolve"),
    ("Connection refused", BlindKind::Refused, "nothing listens there for ssh (connection refused)"),
    ("Connection timed out", BlindKind::Deadline, "it did not take the connection in time"),
    ("Operation timed out", BlindKind::Deadline, "it did not take the connection in time"),
    ("timed out during banner exchange", BlindKind::Deadline, "it took the connection and then said nothing"),
    ("not responding", BlindKind::Deadline, "it does not answer any more"),
    ("No route to host", BlindKind::NoRoute, "there is no way to it"),
    ("Network is unreachable", BlindKind::NoRoute, "there is no way to its network"),
    ("Bad configuration option", BlindKind::Gone, "ssh does not understand its own configuration"),
];

/// Why a session ended. `begun`: the far shell had already answered.
pub(super) fn ended(host: &str, complaints: &str, begun: bool) -> Blind {
    let last = complaints.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let said = if last.is_empty() { String::new() } else { format!(" (it said: {})", shown(last)) };
    if let Some((_, kind, meaning)) = KNOWN.iter().find(|(words, ..)| complaints.contains(words)) {
        return Blind::new(*kind, format!("{host}: {meaning}{said}"));
    }
    if begun
        || complaints.contains("closed by")
        || complaints.contains("reset by")
        || complaints.contains("Broken pipe")
    {
        return Blind::new(BlindKind::Cut, format!("{host}: the connection ended in the middle{said}"));
    }
    let text = format!("{host}: it let us in and gave no shell (sh) that answers{said}");
    Blind::new(BlindKind::Denied, text)
}

/// A line of another program, safe to show.
fn shown(line: &str) -> String {
    crate::text::printable(line.as_bytes(), 200)
}
