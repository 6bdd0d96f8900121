//! Drop-ins for systemd units that add the missing flags: shown by `doctor`, and written where the operator says; never
//! where systemd would read them.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, ensure};
use serde::Serialize;
use wire::launch::{self, Launch};

/// Where systemd, the system's or a user's, looks for units, on every host.
const SYSTEMD: [&str; 8] = [
    "/etc/systemd",
    "/etc/xdg/systemd",
    "/run/systemd",
    "/usr/lib/systemd",
    "/lib/systemd",
    "/usr/local/lib/systemd",
    "/usr/local/share/systemd",
    "/usr/share/systemd",
];
/// Folders, by the variables that name them, of which systemd reads `systemd/user`.
const NAMED: [&str; 5] = ["XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_RUNTIME_DIR"];
/// What a folder of units is called below a folder `systemd`, from its beginning on.
const KINDS: [&str; 4] = ["system", "user", "transient", "generator"];

/// A drop-in for one unit.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct DropIn {
    /// The unit.
    pub(crate) unit: String,
    /// Where it belongs.
    pub(crate) path: String,
    /// Its text; null where the command holds what looks like a secret (`--write-dropin` writes it all the same) or no
    /// text can be made.
    pub(crate) text: Option<String>,
    /// Why there is no text.
    pub(crate) reason: Option<String>,
    /// The text, secrets and all.
    #[serde(skip)]
    whole: Option<String>,
}

impl DropIn {
    /// The drop-in that adds `flags`, each as a shell would read it, to the unit's command.
    pub(crate) fn of(launch: &Launch, flags: &[&str]) -> Option<DropIn> {
        let unit = launch.name.clone().filter(|_| launch.form == launch::Form::Unit && launch.raw.is_some())?;
        let words: Vec<String> = flags.iter().flat_map(|flag| engines::process::split(flag)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let path = format!("/etc/systemd/system/{unit}.d/{NAME}");
        let (whole, mut reason) = match launch::drop_in(launch, &words) {
            Ok(text) => (Some(text), None),
            Err(why) => (None, Some(format!("no drop-in can be made: {why}"))),
        };
        let shown = whole.clone().filter(|_| !launch.holds_secret());
        if shown.is_none() && whole.is_some() {
            reason =
                Some("the command holds a secret, which the drop-in repeats: --write-dropin DIR writes it".to_owned());
        }
        Some(DropIn { unit, path, text: shown, reason, whole })
    }

    /// Writes it below a folder that [`folder`] let pass, readable by its owner alone; the path that was written, none
    /// where there is no text. What is there already is not replaced.
    pub(crate) fn write(&self, folder: &Path) -> Result<Option<PathBuf>> {
        let Some(text) = &self.whole else { return Ok(None) };
        ensure!(Path::new(&self.unit).file_name() == Some(self.unit.as_ref()), "{} is no name of a unit", self.unit);
        let own = folder.join(format!("{}.d", self.unit));
        // One folder and no more, itself and no link to one.
        if let Err(error) = std::fs::create_dir(&own)
            && !own.symlink_metadata().is_ok_and(|there| there.is_dir())
        {
            return Err(error).with_context(|| format!("cannot make {}", own.display()));
        }
        let path = own.join(NAME);
        let mut options = std::fs::OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .with_context(|| format!("cannot write {} (what is there is not replaced)", path.display()))?;
        file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Some(path))
    }
}

/// The file's name: late among a unit's drop-ins.
const NAME: &str = "90-plimsoll.conf";

/// The folder that drop-ins are to be written below, links resolved: one that is there, and that systemd does not read.
pub(crate) fn folder(named: &Path) -> Result<PathBuf> {
    let refused = |why: &str| crate::wrong_usage(anyhow!("--write-dropin {}: {why}", named.display()));
    // What `..` leads to may change while it is looked at.
    if named.components().any(|part| part == Component::ParentDir) {
        return Err(refused("a folder without `..` is needed"));
    }
    let real = named.canonicalize().map_err(|error| refused(&format!("{error}; the folder must be there")))?;
    if !real.is_dir() {
        return Err(refused("that is no folder"));
    }
    let whole = std::path::absolute(named).unwrap_or_else(|_| named.to_owned());
    if [&whole, &real].into_iter().any(|path| is_the_systems(path)) {
        return Err(refused(
            "systemd reads units there: plimsoll changes nothing there; write it elsewhere and copy it",
        ));
    }
    Ok(real)
}

/// Whether systemd reads units in `path` or above it.
fn is_the_systems(path: &Path) -> bool {
    let parts: Vec<&OsStr> = path.components().map(Component::as_os_str).collect();
    let kind = |part: &OsStr| KINDS.iter().any(|kind| part.as_encoded_bytes().starts_with(kind.as_bytes()));
    let named = parts.windows(2).any(|pair| {
        let users = [".config", "share"].iter().any(|name| pair[0] == *name) && pair[1] == "systemd";
        users || pair[0] == "systemd" && kind(pair[1])
    });
    let runtime = parts.len() > 4 && parts[1..3] == ["run", "user"] && parts[4] == "systemd";
    let variables = NAMED.iter().filter_map(std::env::var_os);
    let above: Vec<PathBuf> = variables.flat_map(|value| std::env::split_paths(&value).collect::<Vec<_>>()).collect();
    let homes = above.into_iter().filter(|folder| folder.is_absolute()).map(|folder| folder.join("systemd"));
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".config/systemd"));
    let roots = SYSTEMD.iter().map(PathBuf::from).chain(homes).chain(home);
    // A folder of units may itself be a link, to where someone keeps them.
    let mut each = roots.flat_map(|root| [root.join("system"), root.join("user"), root]);
    named
        || runtime
        || each.any(|root| path.starts_with(&root) || root.canonicalize().is_ok_and(|real| path.starts_with(real)))
}
