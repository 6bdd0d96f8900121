//! What stands around a line: the prefixes of the engine's logging set-up by version, and the shells of what carries logs.

use engines::table::version::Version;
use model::{RankId, Time};

use super::SAID;

/// What the logging set-up writes before a message.
pub(crate) struct Prefix {
    pub(crate) text: String,
    pub(crate) rank: RankId,
    /// What it says of the time, and whether it says the day.
    pub(crate) time: Option<(Time, bool)>,
    /// It says its zone: then no shipper knows better.
    pub(crate) zoned: bool,
}

/// What carries the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shell {
    Bare,
    Colours,
    Docker,
    Kubernetes,
    JournalJson,
    JournalShort,
    Compose,
    Kubectl,
}

/// A log with a line, and what is to come out.
pub(crate) struct Around {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) rank: RankId,
    /// None where nothing says it.
    pub(crate) time: Option<Time>,
    /// Seconds by which lines that go on with a message may be later: the shipper dates them, too.
    pub(crate) later: f64,
}

/// A second and a half after the engine said so, the shipper took it.
const TAKEN: Time = Time(SAID.0 + 1.5);

/// A prefix and the ranks that it says: dp, pp, tp.
type Written = (&'static str, u32, u32, u32);

/// First version, first without, and the prefixes with (dp, pp, tp). TP is always there up to 0.4.6.post1, later each only
/// where its size is above one; PP before TP from 0.5.5.post1; milliseconds by a variable from 0.5.6.
const ERAS: [(&str, &str, &[Written]); 8] = [
    ("0.1.3", "0.2.14", &[("", 0, 0, 0)]),
    ("0.2.14", "0.3.3.post1", &[("[16:15:23 TP0] ", 0, 0, 0), ("[16:15:23 TP3] ", 0, 0, 3)]),
    ("0.3.3.post1", "0.3.4", &[("[16:15:23 DP1 TP3] ", 1, 0, 3)]),
    ("0.3.4", "0.4.6.post2", &[("[2026-11-29 16:15:23 TP0] ", 0, 0, 0), ("[2026-11-29 16:15:23 DP1 TP3] ", 1, 0, 3)]),
    ("0.4.6.post2", "0.4.10", &[("[2026-11-29 16:15:23] ", 0, 0, 0), ("[2026-11-29 16:15:23 DP1 TP3 PP2] ", 1, 2, 3)]),
    (
        "0.4.10",
        "0.5.5.post1",
        &[("[2026-11-29 16:15:23] ", 0, 0, 0), ("[2026-11-29 16:15:23 DP1 TP3 EP3 PP2] ", 1, 2, 3)],
    ),
    (
        "0.5.5.post1",
        "0.5.9",
        &[("[2026-11-29 16:15:23] ", 0, 0, 0), ("[2026-11-29 16:15:23 DP1 PP2 TP3 EP3] ", 1, 2, 3)],
    ),
    (
        "0.5.6",
        "9",
        &[
            ("[2026-11-29 16:15:23] ", 0, 0, 0),
            ("[2026-11-29 16:15:23.250 DP1] ", 1, 0, 0),
            ("[2026-11-29 16:15:23 DP1 PP2 ATTN_CP1 MOE_DP1 TP3 EP3] ", 1, 2, 3),
        ],
    ),
];

/// The prefixes that versions from `since` to before `until` write. `tp`: the text says its rank itself.
pub(crate) fn prefixes(since: &Version, until: Option<&Version>, tp: Option<u32>) -> Vec<Prefix> {
    let version = |text: &str| Version::parse(text).expect("a version");
    let eras = ERAS
        .iter()
        .filter(|(first, end, _)| *since < version(end) && until.is_none_or(|until| version(first) < *until));
    let prefix = |&(text, dp, pp, said): &Written| {
        let rank = RankId { dp: Some(dp), pp: Some(pp), tp: Some(tp.unwrap_or(said)) };
        let milliseconds = if text.contains(".250") { 0.25 } else { 0.0 };
        let time = (!text.is_empty()).then(|| (SAID.plus(milliseconds), text.contains("2026")));
        Prefix { text: text.to_owned(), rank, time, zoned: false }
    };
    eras.flat_map(|(_, _, prefixes)| prefixes.iter().map(prefix)).collect()
}

/// `text` behind `prefix`, in `shell`. Of several lines the first alone has it, unless they are messages of their own.
pub(crate) fn line(text: &str, prefix: &Prefix, shell: Shell, heads: bool) -> Around {
    let text = if heads { text.replace('\n', &format!("\n{}", prefix.text)) } else { text.to_owned() };
    shelled(&format!("{}{text}", prefix.text), prefix, shell, "")
}

/// `text` as the message of an error, behind a traceback.
pub(crate) fn raised(text: &str, prefix: &Prefix, shell: Shell) -> Around {
    let frames =
        "  File \"/opt/venv/lib/python3.12/site-packages/engine/run.py\", line 12, in step\n    self.check()\n";
    let text = format!(
        "{}Scheduler hit an exception: Traceback (most recent call last):\n{}{text}",
        prefix.text,
        frames.repeat(4)
    );
    shelled(&text, prefix, shell, ", raised")
}

fn shelled(text: &str, prefix: &Prefix, shell: Shell, how: &str) -> Around {
    // Two minutes before, another line: what came in the last minute is all there.
    let earlier = format!("{}up", prefix.text.replace("16:15:23", "16:13:20"));
    let mut bytes = shell.put(&earlier, "2026-11-29T16:13:20.000000000Z", "Nov 29 16:13:20", 1_795_968_800_000_000);
    for line in text.lines() {
        bytes += &shell.put(line, "2026-11-29T16:15:24.500000000Z", "Nov 29 16:15:24", 1_795_968_924_500_000);
    }
    let time = match (shell, prefix.time) {
        (_, Some((said, _))) if prefix.zoned => Some(said),
        (Shell::Docker | Shell::Kubernetes | Shell::JournalJson, _) => Some(TAKEN),
        // The journal's short form has no year, the line itself more.
        (Shell::JournalShort, Some((said, true))) => Some(said),
        (Shell::JournalShort, _) => Some(SAID.plus(1.0)),
        (_, said) => said.map(|(said, _)| said),
    };
    let name = format!("{:?} {:?}{how}", prefix.text, shell);
    let later = match (shell, prefix.time) {
        (Shell::JournalShort, Some((said, true))) => SAID.plus(1.0).since(said),
        _ => 0.0,
    };
    Around { name, bytes: bytes.into_bytes(), rank: prefix.rank, time, later }
}

impl Shell {
    pub(crate) const ALL: [Shell; 8] = [
        Shell::Bare,
        Shell::Colours,
        Shell::Docker,
        Shell::Kubernetes,
        Shell::JournalJson,
        Shell::JournalShort,
        Shell::Compose,
        Shell::Kubectl,
    ];

    fn put(self, line: &str, zoned: &str, short: &str, micros: u64) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match self {
            Shell::Bare => format!("{line}\n"),
            Shell::Colours => format!("\u{1b}[32m{line}\u{1b}[0m\n"),
            Shell::Docker => {
                format!("{{\"log\":{},\"stream\":\"stderr\",\"time\":\"{zoned}\"}}\n", quoted(&format!("{line}\n")))
            }
            Shell::Kubernetes => format!("{zoned} stderr F {line}\n"),
            Shell::JournalJson => format!(
                "{{\"_PID\":\"7\",\"__REALTIME_TIMESTAMP\":\"{micros}\",\"PRIORITY\":\"6\",\"MESSAGE\":{}}}\n",
                quoted(line)
            ),
            Shell::JournalShort => format!("{short} host python3[7]: {line}\n"),
            Shell::Compose => format!("server-1  | {line}\n"),
            Shell::Kubectl => format!("[pod/server-0/engine] {line}\n"),
        }
    }
}
