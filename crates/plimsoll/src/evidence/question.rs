//! What an answer holds, told by its question. A question that is not listed here is one whose answer nobody keeps.

use std::path::Path;

use sense::place::Told;

use super::known::Known;

/// What an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Nothing but what is read: numbers, paths, names of processes of interest.
    Plain,
    /// Lines of which those that begin so are read.
    Lines(&'static [&'static str]),
    /// A table of sockets.
    Sockets,
    /// A routing trie.
    Routes,
    /// An environment.
    Environment,
    /// A command line.
    CommandLine,
    /// A unit or a drop-in.
    Unit,
    /// Variables of a unit.
    Variables,
    /// What `--config` names.
    Settings,
    /// A description of a time zone.
    Zone,
    /// A file of the installed package.
    Package,
    /// Names in a folder of which those are kept that were looked at further.
    Names,
    /// Names of drop-ins.
    DropIns,
    /// A log.
    Log,
    /// Shared memory.
    Slab,
    /// A file of the tree by which servers find each other.
    Leaf,
    /// Events.
    Events,
    /// A sifted folder.
    Sources,
    /// Command lines of all processes.
    Commands,
    /// Pipes of all processes.
    Pipes,
    /// Records of a journal, newest first or not.
    Journal(bool),
    /// A unit's properties.
    Properties,
    /// An answer over HTTP.
    Page,
}

/// What the answer to `key` holds; none where that is not known.
pub(super) fn of(key: &[&str], known: &Known) -> Option<Holds> {
    Some(match key {
        ["read", path] => return file(path, known),
        ["under", _, path] => inside(path, known),
        ["lines", path, ..] if is_proc(path, "maps") => Holds::Plain,
        ["lines", path, ..] if is_proc(path, "net/tcp") || is_proc(path, "net/tcp6") => Holds::Sockets,
        ["list", path] if known.is_in_tree(path) => Holds::Names,
        ["list", path] => return list(path),
        ["link", path] if known.leads_to_tree(path) => Holds::Plain,
        ["link", path] if path.starts_with("/proc/") || path.starts_with(CONTAINERS) => Holds::Plain,
        ["ends", "below", _, path, ..] if known.is_of_tree(path) => Holds::Leaf,
        ["ends", "file" | "below", ..] => Holds::Log,
        ["ends", "inside", _, path, ..] => return known.is_slab(path).then_some(Holds::Slab),
        ["ends", "descriptor", pid, fd, ..] => {
            if known.is_slab(known.descriptor(pid, fd)) {
                Holds::Slab
            } else {
                Holds::Log
            }
        }
        ["sift", ..] => Holds::Sources,
        ["commands", ..] => Holds::Commands,
        ["kin" | "enter"] | ["run", "nvidia-smi", ..] | ["resolve", _] => Holds::Plain,
        ["pipes"] => Holds::Pipes,
        ["run", "journalctl", .., which] => Holds::Journal(*which == "newest"),
        ["run", "systemctl", ..] => Holds::Properties,
        ["get", ..] => Holds::Page,
        ["listen", ..] => Holds::Events,
        _ => return None,
    })
}

/// Whether an answer is of the kind that such questions have.
pub(super) fn is_answered(kind: &str, told: &Told) -> bool {
    match told {
        Told::Content(_) => matches!(kind, "read" | "under" | "lines" | "enter"),
        Told::Listing(_) => kind == "list",
        Told::Link(_) => kind == "link",
        Told::Ends(_) => kind == "ends",
        Told::Sifted(_) => kind == "sift",
        Told::Commands(_) => kind == "commands",
        Told::Kin(_) => kind == "kin",
        Told::Pipes(_) => kind == "pipes",
        Told::Ran(_) => kind == "run",
        Told::Addresses(_) => kind == "resolve",
        Told::Seen(_) => kind == "get",
        Told::Heard(_) => kind == "listen",
    }
}

/// Where Kubernetes names the log of each container.
const CONTAINERS: &str = "/var/log/containers";
/// What is read of a process's `status`.
const STATUS: &[&str] =
    &["Name:", "State:", "Pid:", "PPid:", "Uid:", "VmRSS:", "Mems_allowed_list:", "Cpus_allowed_list:"];

/// Whether a path is `/proc/PID/name`.
fn is_proc(path: &str, name: &str) -> bool {
    proc(path).is_some_and(|(_, rest)| rest == name)
}

/// The process of a path below `/proc`, and what stands behind it.
fn proc(path: &str) -> Option<(&str, &str)> {
    let (pid, rest) = path.strip_prefix("/proc/")?.split_once('/')?;
    (pid == "self" || pid.bytes().all(|byte| byte.is_ascii_digit())).then_some((pid, rest))
}

fn file(path: &str, known: &Known) -> Option<Holds> {
    if let Some((_, rest)) = proc(path) {
        return Some(match rest {
            "status" => Holds::Lines(STATUS),
            "stat" | "cgroup" | "comm" | "net/if_inet6" => Holds::Plain,
            "net/tcp" | "net/tcp6" => Holds::Sockets,
            "net/fib_trie" => Holds::Routes,
            "environ" => Holds::Environment,
            "cmdline" => Holds::CommandLine,
            rest if rest.starts_with("fdinfo/") => Holds::Lines(&["pos:", "flags:"]),
            _ => return None,
        });
    }
    Some(match path {
        "/proc/stat" => Holds::Lines(&["btime"]),
        "/proc/sys/kernel/hostname" => Holds::Plain,
        path if path.starts_with("/sys/devices/system/node/") => Holds::Plain,
        path if known.is_unit(path) => Holds::Unit,
        path if known.is_variables(path) => Holds::Variables,
        _ => return None,
    })
}

fn inside(path: &str, known: &Known) -> Holds {
    if known.is_named(path) {
        Holds::Settings
    } else if path == "/etc/localtime" || path.starts_with("/usr/share/zoneinfo/") {
        Holds::Zone
    } else {
        // A zone's file may lie anywhere; others are told by their names.
        Holds::Package
    }
}

fn list(path: &str) -> Option<Holds> {
    let name = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    Some(match path {
        path if is_proc(path, "fd") => Holds::Plain,
        "/home" | CONTAINERS => Holds::Names,
        path if matches!(name, "containers" | "overlay-containers") && !path.starts_with("/proc") => Holds::Names,
        path if path.contains("/systemd/") && path.strip_suffix(".d").is_some() => Holds::DropIns,
        _ => return None,
    })
}
