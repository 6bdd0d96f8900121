//! Options of programs that run another program: which take a value, so that the other program is found behind them.

use crate::launch::Word;

/// How the options of a program are told from its operands.
pub(super) enum Rule {
    /// All but these take a value; single letters may be joined (`-dit`).
    AllBut { long: &'static [&'static str], short: &'static str },
    /// Only these take values, and how many.
    Only(&'static [(&'static str, usize)]),
}

/// Container programs: `run`, `create`, `exec`.
pub(super) const CONTAINER: Rule = Rule::AllBut {
    long: &[
        "detach",
        "interactive",
        "tty",
        "rm",
        "init",
        "privileged",
        "read-only",
        "publish-all",
        "no-healthcheck",
        "oom-kill-disable",
        "sig-proxy",
        "disable-content-trust",
        "quiet",
        "help",
        "no-hosts",
        "replace",
        "rootfs",
        "tls-verify",
        "env-host",
        "http-proxy",
        "no-hostname",
        "latest",
        "insecure-registry",
        "no-trunc",
        "debug",
        "tls",
        "tlsverify",
        "rmi",
        "read-only-tmpfs",
    ],
    short: "ditPqhD",
};
/// Container programs of clusters, which run in the caller's own process.
pub(super) const IMAGE: Rule = Rule::AllBut {
    long: &[
        "nv",
        "rocm",
        "nvccli",
        "contain",
        "containall",
        "cleanenv",
        "writable",
        "writable-tmpfs",
        "no-home",
        "userns",
        "fakeroot",
        "pid",
        "ipc",
        "net",
        "uts",
        "no-privs",
        "keep-privs",
        "compat",
        "no-init",
        "disable-cache",
        "no-umask",
        "no-eval",
        "allow-setuid",
        "quiet",
        "silent",
        "verbose",
        "debug",
        "unsquash",
        "sharens",
    ],
    short: "cCeufpiwdqsv",
};
/// Slurm's way to start tasks.
pub(super) const SLURM: Rule = Rule::AllBut {
    long: &[
        "exclusive",
        "overlap",
        "overcommit",
        "label",
        "unbuffered",
        "pty",
        "kill-on-bad-exit",
        "no-kill",
        "verbose",
        "quiet",
        "exact",
        "spread-job",
        "oversubscribe",
        "contiguous",
        "test-only",
        "hold",
        "immediate",
        "mpi-combine",
        "container-mount-home",
        "no-container-mount-home",
        "container-writable",
        "container-readonly",
        "container-remap-root",
        "no-container-remap-root",
        "container-entrypoint",
        "no-container-entrypoint",
        "whole",
        "use-min-nodes",
        "reboot",
        "preserve-env",
        "disable-status",
        "no-allocate",
        "interactive",
    ],
    short: "luvqEOQXZskbHI",
};
/// MPI's ways to start processes.
pub(super) const MPI: Rule = Rule::Only(&[
    ("n", 1),
    ("np", 1),
    ("N", 1),
    ("c", 1),
    ("H", 1),
    ("host", 1),
    ("hosts", 1),
    ("hostfile", 1),
    ("f", 1),
    ("machinefile", 1),
    ("x", 1),
    ("bind-to", 1),
    ("map-by", 1),
    ("rank-by", 1),
    ("ppn", 1),
    ("npernode", 1),
    ("wdir", 1),
    ("wd", 1),
    ("prefix", 1),
    ("path", 1),
    ("timeout", 1),
    ("iface", 1),
    ("mca", 2),
    ("gmca", 2),
    ("env", 2),
    ("genv", 2),
    ("genvlist", 1),
    ("output-filename", 1),
    ("report-uri", 1),
    ("launch-agent", 1),
    ("cpu-set", 1),
    ("cpus-per-proc", 1),
    ("cpus-per-rank", 1),
    ("app", 1),
    ("rf", 1),
    ("rankfile", 1),
    ("hostlist", 1),
    ("net", 1),
    ("cpu-bind", 1),
]);
/// PyTorch's ways to start processes.
pub(super) const TORCH: Rule = Rule::AllBut {
    long: &[
        "standalone",
        "module",
        "no-python",
        "no_python",
        "run-path",
        "run_path",
        "use-env",
        "use_env",
        "multi-gpu",
        "multi_gpu",
        "cpu",
        "debug",
        "no-local-ranks-filter",
    ],
    short: "m",
};
/// `sudo`.
pub(super) const SUDO: Rule = Rule::Only(&[
    ("u", 1),
    ("g", 1),
    ("C", 1),
    ("D", 1),
    ("h", 1),
    ("p", 1),
    ("r", 1),
    ("t", 1),
    ("T", 1),
    ("U", 1),
    ("user", 1),
    ("group", 1),
    ("chdir", 1),
]);
/// `kubectl` and its like, whose command stands behind `--`.
pub(super) const NONE: Rule = Rule::Only(&[]);

/// An option as it was given: its name without dashes, its value if it has one, its line.
pub(super) struct Given {
    pub(super) name: String,
    pub(super) value: Option<String>,
    pub(super) line: u32,
}

/// The options at the beginning of `words`, and how many words they are.
pub(super) fn options(words: &[Word], rule: &Rule) -> (Vec<Given>, usize) {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        if text == "--" {
            return (found, at + 1);
        }
        let Some(name) = text.strip_prefix('-').filter(|name| !name.is_empty()) else { break };
        at += 1;
        let mut give = |name: &str, value: Option<String>| {
            found.push(Given { name: name.to_owned(), value, line: word.line });
        };
        let long = name.strip_prefix('-');
        if let Some((name, value)) = long.and_then(|long| long.split_once('=')) {
            give(name, Some(value.to_owned()));
            continue;
        }
        let mut next = |count: usize| {
            let values = words.get(at..(at + count).min(words.len())).unwrap_or_default();
            at += values.len();
            let values: Vec<_> = values.iter().map(|word| word.text.as_str()).collect();
            (count > 0).then(|| values.join("="))
        };
        match (rule, long) {
            (Rule::Only(valued), _) => {
                let name = long.unwrap_or(name);
                let count = valued.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count);
                give(name, next(count));
            }
            (Rule::AllBut { long: bare, .. }, Some(name)) => give(name, next(usize::from(!bare.contains(&name)))),
            (Rule::AllBut { short, .. }, None) => {
                for (index, letter) in name.char_indices() {
                    let rest = &name[index + letter.len_utf8()..];
                    if short.contains(letter) {
                        give(letter.encode_utf8(&mut [0; 4]), None);
                    } else if rest.is_empty() {
                        give(letter.encode_utf8(&mut [0; 4]), next(1));
                    } else {
                        give(letter.encode_utf8(&mut [0; 4]), Some(rest.strip_prefix('=').unwrap_or(rest).to_owned()));
                        break;
                    }
                }
            }
        }
    }
    (found, at)
}
