//! Where the runtimes of containers keep what their containers print.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use model::{Blind, BlindKind};

use crate::place::{Ends, Place, Wanted};

/// Most names of one folder that are looked at.
const NAMES: usize = 16_384;
/// Most home folders that are looked at.
const HOMES: usize = 256;
/// Where a runtime keeps a folder for each container.
struct Runtime {
    /// The system's own.
    at: &'static str,
    /// Below a home folder, without root.
    below: &'static str,
    /// The log's path there, of the container's full id.
    log: fn(&str) -> PathBuf,
}

const DOCKER: Runtime = Runtime {
    at: "/var/lib/docker/containers",
    below: ".local/share/docker/containers",
    log: |full| Path::new(full).join(format!("{full}-json.log")),
};
const PODMAN: Runtime = Runtime {
    at: "/var/lib/containers/storage/overlay-containers",
    below: ".local/share/containers/storage/overlay-containers",
    log: |full| Path::new(full).join("userdata/ctr.log"),
};
/// Where Kubernetes names the log of each container by a link.
const KUBERNETES: &str = "/var/log/containers";

/// The logs of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContainerLogs {
    /// Regular files that are there now: how each is shown, and how it is read.
    pub files: Vec<(PathBuf, Wanted)>,
    /// What we had no right to look at: logs may be there.
    pub unseen: Vec<Blind>,
}

/// The logs of the container whose id begins with `id` (see [`super::Process::container`]). One that logs into the journal
/// has no file.
///
/// Below home folders anyone can make a file of that name: one there counts only if it belongs to root or to one of
/// `owners`, the users whose container it may be, and no link leads out of the home.
pub async fn container_logs(place: &Place, id: &str, owners: &[u32]) -> ContainerLogs {
    let mut out = ContainerLogs::default();
    if id.len() < 12 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return out;
    }
    let homes = homes(place).await;
    let mut files = Vec::new();
    for Runtime { at: system, below, log } in [DOCKER, PODMAN] {
        let folders = std::iter::once(PathBuf::from(system)).chain(homes.iter().map(|home| home.join(below))).collect();
        for (at, full) in ids(place, folders, id, &mut out).await {
            files.push(match at.checked_sub(1).and_then(|at| homes.get(at)) {
                None => whole(Path::new(system).join(log(&full))),
                Some(home) => {
                    let path = Path::new(below).join(log(&full));
                    (home.join(&path), Wanted::Below { folder: home.clone(), path })
                }
            });
        }
    }
    files.extend(links(place, id, &mut out).await.into_iter().map(whole));
    let looks = place.ends_each(files.iter().map(|(_, wanted)| wanted.clone()).collect(), 0, 0).await;
    let theirs = |wanted: &Wanted, ends: &Ends| {
        !matches!(wanted, Wanted::Below { .. }) || ends.owner == 0 || owners.contains(&ends.owner)
    };
    let mut known = Vec::new();
    for ((path, wanted), look) in files.into_iter().zip(looks) {
        match look {
            // Kubernetes' name for a file that docker's folder showed already
            Ok(ends) if known.contains(&ends.identity) => {}
            Ok(ends) if !theirs(&wanted, &ends) => {
                let text = format!("{} belongs to neither root nor the container's user", path.display());
                out.unseen.push(Blind::new(BlindKind::Denied, text));
            }
            Ok(ends) => {
                known.push(ends.identity);
                out.files.push((path, wanted));
            }
            Err(blind) => out.hidden(blind),
        }
    }
    out
}

fn whole(path: PathBuf) -> (PathBuf, Wanted) {
    (path.clone(), Wanted::File(path))
}

impl ContainerLogs {
    fn hidden(&mut self, blind: Blind) {
        if blind.kind != BlindKind::Gone {
            self.unseen.push(blind);
        }
    }
}

/// The home folders: of ordinary users and of root.
async fn homes(place: &Place) -> Vec<PathBuf> {
    let names = place.list("/home", HOMES).await.map(|listing| listing.names).unwrap_or_default();
    let homes = names.into_iter().map(|name| Path::new("/home").join(name));
    homes.chain(std::iter::once(PathBuf::from("/root"))).collect()
}

/// The full ids that begin with `id` in these folders, each with its folder's place among them.
async fn ids(place: &Place, folders: Vec<PathBuf>, id: &str, out: &mut ContainerLogs) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, listing) in place.list_each(folders, NAMES).await.into_iter().enumerate() {
        match listing {
            Ok(listing) => {
                let full = |name: &OsString| name.to_str().filter(|name| is_of(name, id)).map(String::from);
                found.extend(listing.names.iter().filter_map(full).map(|full| (at, full)));
            }
            // other people's home folders are closed, and mostly hold no containers
            Err(blind) if at == 0 => out.hidden(blind),
            Err(_) => {}
        }
    }
    found
}

/// Whether this is the full id of the container whose short one is `id`.
fn is_of(full: &str, id: &str) -> bool {
    full.len() == 64 && full.starts_with(id) && full.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Where Kubernetes' links for the container lead: `POD_NAMESPACE_CONTAINER-ID.log` to a numbered log below
/// `/var/log/pods`, or to a link to docker's.
async fn links(place: &Place, id: &str, out: &mut ContainerLogs) -> Vec<PathBuf> {
    let names = match place.list(KUBERNETES, NAMES).await {
        Ok(listing) => listing.names,
        Err(blind) => {
            out.hidden(blind);
            return Vec::new();
        }
    };
    let link_of = |name: &OsString| {
        let full = name.to_str()?.strip_suffix(".log")?.rsplit_once('-')?.1;
        is_of(full, id).then(|| Path::new(KUBERNETES).join(name))
    };
    let links: Vec<PathBuf> = names.iter().filter_map(link_of).collect();
    let targets = place.link_each(links.clone()).await;
    links
        .iter()
        .zip(targets)
        .map(|(link, to)| to.map_or_else(|_| link.clone(), |to| Path::new(KUBERNETES).join(to)))
        .collect()
}
