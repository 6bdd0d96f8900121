//! Where the Python of a process looks for packages, as far as it can be told from outside.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use model::{Blind, BlindKind};

use super::walk::names_in;
use crate::place::Place;

/// Longest list of mapped files that is read, bytes.
const MAPS: usize = 16 << 20;
/// Longest environment or command line that is read, bytes.
const WORDS: usize = 2 << 20;
/// Most folders that are looked into.
const MOST: usize = 64;

/// The only variables of another's environment that are kept.
pub const VARIABLES: [&str; 6] = ["VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "CONDA_PREFIX", "PATH", "HOME"];

/// A folder in which Python may look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    /// The folder, as the process sees it.
    pub(super) folder: PathBuf,
    /// Packages lie in it because somebody put their source there, not an installer.
    pub(super) own: bool,
}

/// Where the process looks, in Python's order as far as it is known; then where it may.
pub(super) async fn spots(place: &Place, pid: u32, root: &Path) -> Result<Vec<Spot>, Blind> {
    let file = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
    let mut texts = place.read_each(vec![file("cmdline"), file("environ")], WORDS).await.into_iter();
    let maps = place.lines_each(vec![file("maps")], &["/site-packages/", "/dist-packages/"], MAPS).await.remove(0);
    let mut links = place.link_each(vec![file("exe"), file("cwd")]).await.into_iter();
    let argv = texts.next().and_then(Result::ok).map(|content| content.bytes).unwrap_or_default();
    let environ = texts.next();
    let (exe, cwd) = (links.next().and_then(Result::ok), links.next().and_then(Result::ok));
    if let Err(blind) = &maps
        && blind.kind == BlindKind::Denied
        && exe.is_none()
    {
        return Err(Blind::new(
            BlindKind::Denied,
            format!("pid {pid} belongs to someone else: what it runs is hidden"),
        ));
    }
    let variables = variables(&environ.and_then(Result::ok).map(|content| content.bytes).unwrap_or_default());
    let get = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value));
    let cwd = cwd.unwrap_or_else(|| PathBuf::from("/"));
    let words: Vec<&OsStr> = argv.split(|byte| *byte == 0).take(8).map(OsStr::from_bytes).collect();

    let mut spots = Vec::new();
    let mut add = |folder: PathBuf, own: bool| {
        let spot = Spot { folder: tidy(&folder), own };
        if spots.len() < MOST && !spots.contains(&spot) {
            spots.push(spot);
        }
    };
    // `python -m` looks in its working folder before anywhere else.
    if words.iter().any(|word| *word == "-m") {
        add(cwd.clone(), true);
    }
    let paths = get("PYTHONPATH").map(PathBuf::into_os_string).unwrap_or_default();
    for folder in std::env::split_paths(&paths).filter(|folder| !folder.as_os_str().is_empty()) {
        add(cwd.join(folder), true);
    }
    let mut first = Vec::new();
    let path = get("PATH").map(PathBuf::into_os_string).unwrap_or_default();
    for word in words.iter().take(2) {
        first.extend(program(word, &cwd, &path));
    }
    let mut later: Vec<PathBuf> = Vec::new();
    later.extend(get("HOME").map(|home| home.join(".local")));
    later.extend(get("VIRTUAL_ENV"));
    later.extend(get("CONDA_PREFIX"));
    later.extend(get("PYTHONHOME"));
    later.extend(exe.as_deref().and_then(prefix));
    let (first, later) = tokio::join!(packages(place, root, first), packages(place, root, later));
    for folder in first {
        add(folder, false);
    }
    // What was loaded says for certain which folders are in use, but only of packages with native modules.
    for folder in mapped(&maps.map(|content| content.bytes).unwrap_or_default()) {
        add(folder, false);
    }
    for folder in later {
        add(folder, false);
    }
    // A checkout that lies around the working folder is what is left.
    add(cwd.join("python"), true);
    add(cwd, true);
    Ok(spots)
}

/// The variables that are kept, of a `/proc/PID/environ`.
fn variables(environ: &[u8]) -> Vec<(&'static str, OsString)> {
    let mut found = Vec::new();
    for entry in environ.split(|byte| *byte == 0) {
        let Some(at) = entry.iter().position(|byte| *byte == b'=') else { continue };
        if let Some(name) = VARIABLES.iter().find(|name| name.as_bytes() == &entry[..at]) {
            found.push((*name, OsStr::from_bytes(&entry[at + 1..]).to_owned()));
        }
    }
    found
}

/// The prefixes that a program's name may stand for: of the path itself, or of every folder of `PATH`.
fn program(word: &OsStr, cwd: &Path, path: &OsStr) -> Vec<PathBuf> {
    let program = Path::new(word);
    match program.components().count() {
        1 if !word.as_bytes().starts_with(b"-") => {
            let folders = std::env::split_paths(path).filter(|folder| folder.ends_with("bin"));
            folders.filter_map(|folder| prefix(&folder.join(program))).collect()
        }
        0 | 1 => Vec::new(),
        _ => prefix(&cwd.join(program)).into_iter().collect(),
    }
}

/// The prefix of a program in `PREFIX/bin`.
fn prefix(program: &Path) -> Option<PathBuf> {
    let bin = program.parent()?;
    (bin.ends_with("bin")).then(|| bin.parent().map(Path::to_path_buf)).flatten()
}

/// The package folders under these prefixes that are there, in the order of prefixes.
async fn packages(place: &Place, root: &Path, prefixes: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut libraries: Vec<PathBuf> = Vec::new();
    for prefix in prefixes.into_iter().take(MOST) {
        // Debian keeps what pip installs apart from its own.
        let local = prefix.join("local/lib");
        for library in [prefix.join("lib"), prefix.join("lib64"), local].map(|folder| tidy(&folder)) {
            if !libraries.contains(&library) {
                libraries.push(library);
            }
        }
    }
    let listed = names_in(place, root, libraries.clone()).await;
    let mut found = Vec::new();
    for (library, folders) in libraries.iter().zip(listed) {
        let mut versions: Vec<_> = folders.into_iter().filter(|name| name.as_bytes().starts_with(b"python")).collect();
        // The newest first; which one runs is what the loaded modules say.
        versions.sort_by_key(|name| std::cmp::Reverse(number(name)));
        for version in versions {
            found.push(library.join(&version).join("site-packages"));
            found.push(library.join(&version).join("dist-packages"));
        }
    }
    found
}

/// `3.11` of `python3.11` as numbers.
fn number(name: &OsStr) -> Vec<u32> {
    let text = name.to_string_lossy();
    text.trim_start_matches("python").split('.').filter_map(|part| part.parse().ok()).collect()
}

/// The package folders of which files are mapped, in the order of `/proc/PID/maps`.
fn mapped(maps: &[u8]) -> Vec<PathBuf> {
    let mut found: Vec<&[u8]> = Vec::new();
    for needle in [b"/site-packages/".as_slice(), b"/dist-packages/"] {
        for at in memchr::memmem::find_iter(maps, needle) {
            let end = at + needle.len() - 1;
            let line = maps[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |before| before + 1);
            let Some(start) = maps[line..at].iter().position(|byte| *byte == b'/').map(|offset| line + offset) else {
                continue;
            };
            if found.len() < MOST && !found.contains(&&maps[start..end]) {
                found.push(&maps[start..end]);
            }
        }
    }
    found.into_iter().map(|path| PathBuf::from(OsStr::from_bytes(path))).collect()
}

/// The path without `.` and `..`, by its text alone.
pub(super) fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            _ => {}
        }
    }
    out
}
