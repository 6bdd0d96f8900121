//! `/proc/PID/cgroup`: which systemd unit and which container a process belongs to.

use std::fmt;

/// A systemd unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Its name: `x.service`, or a `.scope` for what was started by hand (`session-3.scope`).
    pub name: String,
    /// The user whose own systemd runs it (`systemctl --user`); `None` for the system's.
    pub user: Option<u32>,
}

impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)
    }
}

/// The innermost unit of the process; never the scope that stands for a container.
pub fn unit_of(cgroup: &str) -> Option<Unit> {
    let path = systemd_path(cgroup)?;
    let mut user = None;
    let mut name = None;
    for segment in path.split('/') {
        if let Some(id) = segment.strip_prefix("user@").and_then(|rest| rest.strip_suffix(".service")) {
            user = id.parse().ok();
        }
        // below a container, names are those of its own systemd, which nobody asks from outside
        if container_in(segment).is_some() {
            break;
        }
        if is_unit(segment) {
            name = Some(segment);
        }
    }
    let name = name?.to_string();
    // the user's manager itself is a unit of the system
    let user = user.filter(|id| name != format!("user@{id}.service"));
    Some(Unit { name, user })
}

/// The first 12 digits of the innermost container's id.
pub fn container_of(cgroup: &str) -> Option<String> {
    let mut paths = cgroup.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    paths.find_map(|path| path.split('/').filter_map(container_in).next_back())
}

/// The path that systemd keeps: its own hierarchy on version 1 and hybrid hosts, the only one on version 2.
fn systemd_path(cgroup: &str) -> Option<&str> {
    let find = |controllers: &str| {
        cgroup.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            (parts.next() == Some(controllers)).then(|| parts.next()).flatten()
        })
    };
    // On a hybrid host the first may be mounted and kept by nobody: then everything is in its root.
    find("name=systemd").filter(|path| *path != "/").or_else(|| find(""))
}

fn is_unit(segment: &str) -> bool {
    [".service", ".scope"].iter().any(|ending| segment.len() > ending.len() && segment.ends_with(ending))
}

/// Docker, containerd, CRI-O, podman and Kubernetes all name the folder by 64 hex digits, with various things around.
fn container_in(segment: &str) -> Option<String> {
    segment
        .split(|letter: char| !letter.is_ascii_hexdigit())
        .find(|run| run.len() == 64)
        .map(|id| id[..12].to_ascii_lowercase())
}
