//! What all answers together tell of each: whose processes are of interest, and what a file is for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use engines::Tables;
use engines::process::recognise;
use engines::table::Format;
use lint::monitors;
use sense::place::{Kept, Told};
use sense::process::{matches, split_argv};

/// What is known before anything is left out.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Processes that the tables or the monitors recognise, and their descendants.
    pub(super) family: BTreeSet<u32>,
    /// The words of their command lines.
    words: BTreeSet<String>,
    /// Where links lead.
    links: BTreeMap<String, String>,
    /// Files that systemd says units are made of.
    units: BTreeSet<String>,
    /// Files of variables that units name.
    variables: BTreeSet<String>,
    /// Lists of installed files with their sums.
    records: Vec<Vec<u8>>,
    /// Every file and folder that was asked about, but for lists of homes that failed.
    asked: BTreeSet<String>,
    /// Patterns of files of shared memory.
    slabs: Vec<String>,
    /// Folders of trees by which servers find each other, from their roots.
    trees: Vec<String>,
    /// Paths that monitors answer to show that they live.
    pub(super) alive: Vec<String>,
}

/// Whether a command line is a server's, a router's or a monitor's.
pub(super) fn is_of_interest(tables: &Tables, argv: &[String]) -> bool {
    recognise(tables, argv).is_some() || monitors().recognise(argv).is_some()
}

impl Known {
    /// What `kept` tells.
    pub(super) fn of(tables: &Tables, kept: &[Kept]) -> Known {
        let sources = tables.iter().flat_map(|table| &table.sources);
        let own: BTreeSet<String> = tables.allowed().into_iter().collect();
        let mut known = Known {
            slabs: sources.filter(|source| source.format == Format::Slab).map(|source| source.get.clone()).collect(),
            trees: tables
                .iter()
                .filter_map(|table| Some(engines::tree::folders(table, table.tree.as_ref()?)))
                .flatten()
                .map(str::to_owned)
                .collect(),
            alive: monitors()
                .iter()
                .filter_map(|monitor| monitor.alive.clone())
                .filter(|path| !own.contains(path))
                .collect(),
            ..Known::default()
        };
        let mut parents: Vec<(u32, u32)> = Vec::new();
        for Kept { key, answered, .. } in kept {
            let words: Vec<&str> = key.0.iter().map(String::as_str).collect();
            known.asks(&words, answered.is_ok());
            match (words.as_slice(), answered) {
                (["commands", ..], Ok(Told::Commands(commands))) => {
                    for line in &commands.found {
                        let argv = split_argv(&line.bytes);
                        if is_of_interest(tables, &argv) {
                            known.family.insert(line.pid);
                            // A script is one word, and holds several.
                            let inner = argv.iter().flat_map(|word| word.split([' ', '\t', '\n', '\'', '"', ';']));
                            known.words.extend(inner.map(str::to_owned));
                        }
                    }
                }
                (["kin"], Ok(Told::Kin(kin))) => parents.extend(kin.iter().map(|kin| (kin.ppid, kin.pid))),
                (["link", path], Ok(Told::Link(to))) => {
                    known.links.insert((*path).to_owned(), to.to_string_lossy().into_owned());
                }
                (["run", "systemctl", ..], Ok(Told::Ran(ran))) => known.shown(&String::from_utf8_lossy(&ran.stdout)),
                (["under", _, path], Ok(Told::Content(content))) if path.ends_with(".dist-info/RECORD") => {
                    known.records.push(content.bytes.clone());
                }
                _ => {}
            }
        }
        known.descend(parents);
        for Kept { key, answered, .. } in kept {
            if let ("read", Some(path), Ok(Told::Content(content))) = (key.0[0].as_str(), key.0.get(1), answered)
                && known.is_unit(path)
            {
                let files = wire::launch::unit(&content.text()).environment_files;
                known.variables.extend(files.into_iter().map(|(path, ..)| path));
            }
        }
        known
    }

    fn asks(&mut self, key: &[&str], answered: bool) {
        let paths: &[&str] = match key {
            ["list", path] if !answered && path.starts_with("/home/") => return,
            ["ends", "below", folder, path, ..] => {
                self.asked.insert(format!("{folder}/{path}"));
                return;
            }
            ["ends", "file", path, ..] | ["list" | "link" | "read", path] => &[path],
            _ => return,
        };
        self.asked.extend(paths.iter().map(|path| (*path).to_owned()));
    }

    /// The files that `systemctl show` names.
    fn shown(&mut self, text: &str) {
        for line in text.lines() {
            if let Some((_, paths)) =
                line.split_once('=').filter(|(name, _)| matches!(*name, "FragmentPath" | "DropInPaths"))
            {
                self.units.extend(paths.split_whitespace().map(str::to_owned));
            }
        }
    }

    fn descend(&mut self, parents: Vec<(u32, u32)>) {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (parent, child) in parents {
            children.entry(parent).or_default().push(child);
        }
        let mut open: Vec<u32> = self.family.iter().copied().collect();
        while let Some(pid) = open.pop() {
            let own = children.remove(&pid).unwrap_or_default();
            open.extend(own.iter().filter(|child| self.family.insert(**child)));
        }
    }

    /// Whether a path is a unit's, or a drop-in's.
    pub(super) fn is_unit(&self, path: &str) -> bool {
        const FOLDERS: [&str; 5] =
            ["/etc/systemd/", "/run/systemd/", "/usr/lib/systemd/", "/lib/systemd/", "/usr/local/lib/systemd/"];
        let ending = [".service", ".conf"].iter().any(|ending| path.ends_with(ending));
        self.units.contains(path) || ending && FOLDERS.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether a unit says that its variables are in this file.
    pub(super) fn is_variables(&self, path: &str) -> bool {
        self.variables.contains(path)
    }

    /// Whether a command line names this file, by its whole path or from where its process works.
    pub(super) fn is_named(&self, path: &str) -> bool {
        let ends = |word: &str| {
            !word.is_empty() && !word.ends_with('/') && Path::new(path).ends_with(word.trim_start_matches("./"))
        };
        self.words.iter().any(|word| ends(word) || word.split_once('=').is_some_and(|(_, value)| ends(value)))
    }

    /// What a process has open, or a path as it stands, is a file of shared memory that the tables name.
    pub(super) fn is_slab(&self, path: &str) -> bool {
        let path = path.strip_suffix(" (deleted)").unwrap_or(path);
        self.slabs.iter().any(|pattern| matches(pattern, Path::new(path)))
    }

    /// Whether a folder is one of a tree by which servers find each other.
    pub(super) fn is_in_tree(&self, folder: &str) -> bool {
        self.trees.iter().any(|tree| folder.strip_suffix(tree).is_some_and(|root| root.ends_with('/')))
    }

    /// Whether a path, from the root of a tree, is one of its files.
    pub(super) fn is_of_tree(&self, path: &str) -> bool {
        path.rsplit_once('/').is_some_and(|(folder, _)| self.trees.iter().any(|tree| tree == folder))
    }

    /// Whether a path may be a folder of a tree, or one above that.
    pub(super) fn leads_to_tree(&self, path: &str) -> bool {
        let mut above = self.trees.iter().flat_map(|tree| Path::new(tree).ancestors());
        above.any(|part| !part.as_os_str().is_empty() && Path::new(path).ends_with(part))
    }

    /// Where the descriptor of a process leads.
    pub(super) fn descriptor(&self, pid: &str, fd: &str) -> &str {
        self.links.get(&format!("/proc/{pid}/fd/{fd}")).map_or("", String::as_str)
    }

    /// Whether anything in `folder` that is called `name` was asked about further.
    pub(super) fn goes_on(&self, folder: &str, name: &str) -> bool {
        let path = format!("{}/{name}", folder.trim_end_matches('/'));
        let below = format!("{path}/");
        self.asked.range(path.clone()..).next().is_some_and(|next| *next == path || next.starts_with(&below))
            || self.asked.range(below.clone()..).next().is_some_and(|next| next.starts_with(&below))
    }

    /// Whether a file is as it was released.
    pub(super) fn is_released(&self, bytes: &[u8]) -> bool {
        let sum = sense::installed::sum_of(bytes);
        self.records.iter().any(|record| memchr::memmem::find(record, &sum).is_some())
    }
}
