//! One folder in which Python looks: is the package in it, or does something in it lead to the package?

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::environment::{Spot, tidy};
use super::walk::{listing, names_in};
use super::{Kind, Wanted};
use crate::place::{Place, Taken};

/// Longest small file that is read: metadata, `.pth`, a version's file.
const SMALL: usize = 1 << 20;
/// Most `.pth` lines that are followed.
const LEADS: usize = 64;

/// A package that was found.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) folder: PathBuf,
    pub(super) kind: Kind,
    pub(super) version: Option<String>,
    pub(super) commit: Option<String>,
    pub(super) record: Option<PathBuf>,
}

/// What an installer noted of the package.
#[derive(Debug, Default)]
struct Noted {
    folder: Option<PathBuf>,
    version: Option<String>,
    commit: Option<String>,
    /// The folder that an editable installation was made from.
    editable: Option<PathBuf>,
}

/// The package in or behind the folder of `spot`.
pub(super) async fn find(place: &Place, root: &Path, spot: &Spot, wanted: &Wanted) -> Option<Hit> {
    let site = &spot.folder;
    let listed = listing(place, root, site).await?;
    let noted = noted(place, root, site, &listed.folders, wanted).await;
    let direct = site.join(&wanted.package);
    let here = listed.folders.iter().any(|name| *name == *wanted.package);
    if here && is_package(place, root, std::slice::from_ref(&direct), wanted).await.is_some() {
        let kind = match (&noted.folder, spot.own) {
            (Some(_), _) if noted.editable.is_none() => Kind::Release,
            (_, true) => Kind::Checkout,
            _ => Kind::Unknown,
        };
        let record = noted.folder.as_ref().map(|folder| folder.join("RECORD"));
        let version = match noted.version {
            Some(version) if kind == Kind::Release => Some(version),
            noted => own_version(place, root, &direct).await.or(noted),
        };
        return Some(Hit { folder: direct, kind, version, commit: noted.commit, record });
    }
    let mut leads = Vec::new();
    for file in &listed.files {
        if let Taken::With(text) = &file.taken {
            follow(place, root, site, &String::from_utf8_lossy(text), wanted, &mut leads).await;
        }
    }
    let egg = place.read_under(root, &site.join(format!("{}.egg-link", wanted.package)), SMALL).await;
    leads.extend(egg.ok().and_then(|content| Some(site.join(content.text().lines().next()?).join(&wanted.package))));
    if let Some(base) = &noted.editable {
        leads.extend(["", "python", "src"].map(|part| base.join(part).join(&wanted.package)));
    }
    leads.truncate(LEADS);
    let leads: Vec<PathBuf> = leads.iter().map(|lead| tidy(lead)).collect();
    let folder = is_package(place, root, &leads, wanted).await?;
    let from = noted.editable.or_else(|| folder.parent().map(Path::to_path_buf)).unwrap_or_default();
    let version = own_version(place, root, &folder).await.or(noted.version);
    Some(Hit { folder, kind: Kind::Editable { from }, version, commit: noted.commit, record: None })
}

/// The first of these folders that has the folders of interest: what was left behind of a package has not.
async fn is_package(place: &Place, root: &Path, folders: &[PathBuf], wanted: &Wanted) -> Option<PathBuf> {
    let listed = names_in(place, root, folders.to_vec()).await;
    let whole = |names: &Vec<std::ffi::OsString>| {
        wanted.folders.iter().all(|folder| {
            let first = Path::new(folder).iter().next();
            first.is_none_or(|first| first == OsStr::new(".") || names.iter().any(|name| name == first))
        })
    };
    let at = listed.iter().position(|names| !names.is_empty() && whole(names))?;
    folders.get(at).cloned()
}

/// Where the lines of a `.pth` lead.
async fn follow(place: &Place, root: &Path, site: &Path, text: &str, wanted: &Wanted, leads: &mut Vec<PathBuf>) {
    for line in text.lines().map(str::trim).take(LEADS) {
        if let Some(rest) = line.strip_prefix("import ") {
            let module = rest.split([';', ' ']).next().unwrap_or_default();
            let plain = module.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !plain || !module.starts_with("__editable__") {
                continue;
            }
            let finder = place.read_under(root, &site.join(format!("{module}.py")), SMALL).await;
            leads.extend(finder.ok().and_then(|content| mapping(&content.text(), &wanted.package)));
        } else if !line.is_empty() && !line.starts_with('#') && leads.len() < LEADS {
            leads.push(site.join(line).join(&wanted.package));
        }
    }
}

/// The folder that a finder's `MAPPING` gives for `package`.
fn mapping(finder: &str, package: &str) -> Option<PathBuf> {
    let (_, behind) = finder.split_once("MAPPING")?;
    let literal = behind.split_once('{')?.1.split_once('}')?.0;
    let mut texts = Vec::new();
    let mut rest = literal;
    while let Some(at) = rest.find(['"', '\'']) {
        let mark = rest[at..].chars().next()?;
        let (text, behind) = rest[at + 1..].split_once(mark)?;
        texts.push(text);
        rest = behind;
    }
    let pair = texts.chunks_exact(2).find(|pair| pair[0] == package)?;
    Some(PathBuf::from(pair[1].replace("\\\\", "\\")))
}

/// Reads what an installer noted in `NAME-VERSION.dist-info`.
async fn noted(place: &Place, root: &Path, site: &Path, folders: &[std::ffi::OsString], wanted: &Wanted) -> Noted {
    let own = plain(wanted.package.as_bytes());
    let is_its = |name: &&std::ffi::OsString| {
        let name = name.as_bytes();
        let stem = name.strip_suffix(b".dist-info").or_else(|| name.strip_suffix(b".egg-info"));
        stem.is_some_and(|stem| plain(stem.split(|byte| *byte == b'-').next().unwrap_or_default()) == own)
    };
    let Some(folder) = folders.iter().find(is_its).map(|name| site.join(name)) else { return Noted::default() };
    let files = ["METADATA", "PKG-INFO", "direct_url.json"].map(|name| folder.join(name));
    let mut read = place.read_each_under(root, files.to_vec(), SMALL).await.into_iter().map(Result::ok);
    let metadata = read.next().flatten().or(read.next().flatten());
    let version = metadata.and_then(|content| {
        let text = content.text();
        let line = text.lines().take_while(|line| !line.is_empty()).find_map(|line| line.strip_prefix("Version:"))?;
        Some(line.trim().chars().filter(|letter| !letter.is_control()).take(64).collect())
    });
    let mut out = Noted { folder: Some(folder), version, ..Noted::default() };
    let origin = read.next_back().flatten().and_then(|content| serde_json::from_slice::<Value>(&content.bytes).ok());
    if let Some(origin) = origin {
        // The address may hold credentials, so that only the commit is kept, and the folder of an editable one.
        let commit = origin["vcs_info"]["commit_id"].as_str().unwrap_or_default();
        let digits: String = commit.chars().take_while(char::is_ascii_hexdigit).take(12).collect();
        out.commit = Some(digits).filter(|digits| !digits.is_empty());
        if origin["dir_info"]["editable"] == true {
            out.editable = origin["url"].as_str().and_then(|url| url.strip_prefix("file://")).map(unescaped);
        }
    }
    out
}

/// A name as installers compare them: `-`, `_` and `.` are one.
fn plain(name: &[u8]) -> Vec<u8> {
    name.iter().map(|byte| if b"-._".contains(byte) { b'_' } else { byte.to_ascii_lowercase() }).collect()
}

/// The path of a file's URL.
fn unescaped(url: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = url.as_bytes();
    while let [first, behind @ ..] = rest {
        let code = behind.get(..2).filter(|_| *first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    PathBuf::from(OsStr::from_bytes(&bytes))
}

/// The version that the package's own files say: `__version__ = "…"`.
async fn own_version(place: &Place, root: &Path, folder: &Path) -> Option<String> {
    let files = ["_version.py", "version.py", "__init__.py"].map(|name| folder.join(name));
    let read = place.read_each_under(root, files.to_vec(), SMALL).await;
    read.into_iter().filter_map(Result::ok).find_map(|content| {
        let text = content.text();
        text.lines().find_map(|line| {
            let rest = line.strip_prefix("__version__").or_else(|| line.strip_prefix("version"))?;
            let rest = rest.trim_start().strip_prefix('=')?.trim_start();
            let rest = rest.split_once('=').map_or(rest, |(_, behind)| behind.trim_start());
            let mark = rest.chars().next().filter(|mark| ['"', '\''].contains(mark))?;
            let (version, _) = rest[1..].split_once(mark)?;
            let sound = version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-_!".contains(&byte));
            (sound && version.len() <= 64 && !version.is_empty()).then(|| version.to_owned())
        })
    })
}
