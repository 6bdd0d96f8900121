//! `journalctl`.

use model::{Blind, BlindKind, Time};

use super::{Ran, first_line};

/// With `--all`: else a message above 4 KiB, such as a dump of arguments, comes as `null`.
///
/// JSON, though the plain form prints three times as fast (5000 messages: 60 ms and 20 ms): only JSON tells messages of
/// several lines, and bytes that are no text, as they are.
///
/// `--lines` counts from the newest back, whatever else is asked (`+N`, from the oldest on, came with systemd 255): the
/// oldest are had by asking for all and ending the program when it has printed enough.
pub(super) fn args(
    unit: &str,
    user: Option<u32>,
    since: Option<Time>,
    until: Option<Time>,
    newest: Option<u32>,
) -> Vec<String> {
    let mut args: Vec<String> =
        ["--no-pager", "--all", "--output=json", "--output-fields=MESSAGE,_PID"].map(String::from).into();
    if let Some(lines) = newest {
        args.extend(["--reverse".to_owned(), format!("--lines={lines}")]);
    }
    for (name, time) in [("since", since), ("until", until)] {
        // a time that is no number, or lies before 1970, bounds nothing
        if let Some(Time(time)) = time
            && time.is_finite()
            && time >= 0.0
        {
            args.push(format!("--{name}=@{time:.6}"));
        }
    }
    args.extend(whose(unit, user));
    args
}

/// Asks for remarks: with JSON, `journalctl` keeps quiet about a journal that is not there and about messages that we may
/// not see.
pub(super) fn remarks(unit: &str, user: Option<u32>) -> Vec<String> {
    let mut args: Vec<String> = ["--no-pager", "--output=short", "--lines=1"].map(String::from).into();
    args.extend(whose(unit, user));
    args
}

fn whose(unit: &str, user: Option<u32>) -> Vec<String> {
    match user {
        // `--user-unit` would mean a unit of whoever asks
        Some(uid) => vec![format!("_SYSTEMD_USER_UNIT={unit}"), format!("_UID={uid}")],
        None => vec![format!("--unit={unit}")],
    }
}

/// What an answer means, where an empty one comes with the remarks of a second one.
pub(super) fn judge(unit: &str, ran: Ran) -> Result<Ran, Blind> {
    if !ran.stdout.is_empty() {
        return Ok(ran);
    }
    if ["insufficient permissions", "not seeing messages"].iter().any(|words| ran.stderr.contains(words)) {
        let text = format!(
            "the journal of {unit} may not be read: run this as root, or as a user in the group systemd-journal or adm"
        );
        return Err(Blind::new(BlindKind::Denied, text));
    }
    if ran.stderr.contains("No journal files were found") {
        return Err(Blind::new(BlindKind::Gone, "no journal is kept on this host (journalctl found no files)"));
    }
    if ran.code.is_some_and(|code| code != 0) {
        return Err(Blind::new(BlindKind::Gone, format!("journalctl: {}", first_line(&ran))));
    }
    Ok(ran)
}
