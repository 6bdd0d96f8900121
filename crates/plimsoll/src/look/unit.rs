//! The unit file behind a server: which file and line start it, and whether it was changed since.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engines::Whereabouts;
use engines::process::{from_arguments, recognise};
use engines::table::Table;
use model::{Facts, Note};
use sense::command::PATIENCE;
use sense::{Command, Place};
use wire::launch::{self, Launch};

use super::Eye;

/// Where systemd looks for its own units, what counts first in front.
const FOLDERS: [&str; 8] = [
    "/etc/systemd/system.control",
    "/run/systemd/system.control",
    "/run/systemd/transient",
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];
/// Bytes of a unit file, and drop-ins of one unit.
const FILE: usize = 1 << 20;
const MOST_DROP_INS: usize = 64;

/// Adds to `place` the file and line of the command that starts the server, and notes what differs from what runs.
pub(super) async fn add(eye: &Eye, table: &Table, place: &mut Whereabouts, running: &Facts, notes: &mut Vec<Note>) {
    // A container's command is nobody's unit here.
    let (Some(unit), None) = (place.unit.clone(), &place.container) else { return };
    if !unit.ends_with(".service") || unit.starts_with("user@") {
        return;
    }
    let mut files = if place.unit_user.is_none() { files_of(&eye.place, &unit).await } else { Vec::new() };
    if files.is_empty() {
        files = files_by_name(&eye.place, &unit, place.unit_user).await;
    }
    let Some(found) = effective(&eye.place, &files).await else {
        let text = format!("the files of {unit} could not be read from here: where its command stands is not known");
        notes.push(Note::new("unit-unread", text));
        return;
    };
    let ours =
        |launch: &Launch| recognise(&eye.tables, &launch.argv()).filter(|known| known.engine == table.engine.name);
    let Some((mut launch, recognised)) = found.into_iter().find_map(|launch| Some((launch.clone(), ours(&launch)?)))
    else {
        return;
    };
    launch.name = Some(unit.clone());
    let file = format!("{}:{}", launch.file_hint.as_deref().unwrap_or(&unit), launch.line);
    // Words that only systemd makes whole, and flags in a file, are not compared.
    let plain = |words: &Vec<String>| !words.iter().any(|word| word.contains(['$', '%']));
    if let Some(arguments) = recognised.arguments.filter(plain).filter(|_| !running.contains_key("config_file")) {
        notes.extend(changed(table, &from_arguments(table, &arguments, &file), running, &unit));
    }
    place.file = Some(file);
    place.launch = Some(launch);
}

/// Flags that the unit's file has now and the running server has not, or the other way round: a restart changes them.
fn changed(table: &Table, written: &Facts, running: &Facts, unit: &str) -> Option<Note> {
    let differ = table.knobs.iter().filter(|knob| !knob.flags.is_empty()).filter_map(|knob| {
        let (now, then) = (written.get(&knob.fact)?, running.get(&knob.fact)?);
        let spelled = &knob.flags[0];
        (now.value != then.value)
            .then(|| format!("{spelled} is {} in the file and {} in what runs", now.value, then.value))
    });
    let differ: Vec<String> = differ.collect();
    let text = format!("{unit} was changed after this server started: {}; a restart makes it so", differ.join(", "));
    (!differ.is_empty()).then(|| Note::new("unit-changed", text))
}

/// The unit's file and its drop-ins in the order in which systemd reads them.
async fn files_of(place: &Place, unit: &str) -> Vec<PathBuf> {
    let mut names = vec![unit.to_owned()];
    if let Some((stem, _)) = unit.split_once('@') {
        names.push(format!("{stem}@.service"));
    }
    let candidates: Vec<PathBuf> =
        names.iter().flat_map(|name| FOLDERS.iter().map(move |folder| Path::new(folder).join(name))).collect();
    let read = place.read_each(candidates.clone(), FILE).await;
    let fragment =
        candidates.into_iter().zip(read).find(|(_, read)| read.as_ref().is_ok_and(|file| !file.bytes.is_empty()));
    let mut files: Vec<PathBuf> = fragment.into_iter().map(|(path, _)| path).collect();

    // Of drop-ins with one name the folder that counts first has it; all together are read by name.
    let mut drop_ins: BTreeMap<String, PathBuf> = BTreeMap::new();
    names.push("service".to_owned());
    let folders: Vec<PathBuf> = names
        .iter()
        .flat_map(|name| FOLDERS.iter().map(move |folder| Path::new(folder).join(format!("{name}.d"))))
        .collect();
    for (folder, listing) in folders.iter().zip(place.list_each(folders.clone(), MOST_DROP_INS).await) {
        let names = listing.map(|listing| listing.names).unwrap_or_default();
        // systemd knows the ending in small letters only.
        let is_drop_in = |name: &String| name.strip_suffix(".conf").is_some_and(|stem| !stem.is_empty());
        for name in names.into_iter().filter_map(|name| name.into_string().ok()).filter(is_drop_in) {
            drop_ins.entry(name.clone()).or_insert_with(|| folder.join(name));
        }
    }
    files.extend(drop_ins.into_values());
    files
}

/// The same as systemd itself tells it: of a user's own units, and where units lie elsewhere.
async fn files_by_name(place: &Place, unit: &str, user: Option<u32>) -> Vec<PathBuf> {
    let show = Command::UnitProperties { unit: unit.to_owned(), user };
    let Ok(told) = place.run(&show, PATIENCE).await else { return Vec::new() };
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let values =
        |name: &str| told.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default();
    let paths = values("FragmentPath").split_whitespace().chain(values("DropInPaths").split_whitespace());
    paths.filter(|path| path.starts_with('/')).take(MOST_DROP_INS).map(PathBuf::from).collect()
}

/// The commands that the files come to, each with its file and the line in it.
async fn effective(place: &Place, files: &[PathBuf]) -> Option<Vec<Launch>> {
    let mut joined = String::new();
    let mut begins: BTreeMap<String, u32> = BTreeMap::new();
    for (path, read) in files.iter().zip(place.read_each(files.to_vec(), FILE).await) {
        let path = path.display().to_string();
        let text = read.ok()?.text();
        joined += &format!("# {path}\n");
        begins.insert(path, joined.lines().count() as u32);
        joined += text.trim_end_matches('\\');
        joined.push('\n');
    }
    if files.is_empty() {
        return None;
    }
    let first = launch::unit(&joined);
    let mut variables = Vec::new();
    for (path, ..) in &first.environment_files {
        // One that cannot be read leaves its variables as they are written.
        if let Ok(file) = place.read(path, FILE).await {
            variables.push((path.clone(), launch::env_file(&file.text())));
        }
    }
    let mut found = launch::unit_with(&joined, &variables).found;
    for launch in &mut found {
        let before = launch.file_hint.as_ref().and_then(|file| begins.get(file)).copied().unwrap_or(0);
        launch.line = launch.line.saturating_sub(before).max(1);
    }
    Some(found)
}
