//! The installed source behind each server of this host, for the report that says which series its build will have.

use engines::{Build, offered_by_source};
use model::{BlindKind, Note};
use sense::Stamps;
use sense::installed::{Bounds, Installed, Wanted, installed, roots_of};

use super::candidate::Looked;
use super::{Eye, kept};
use crate::report::Source;

/// Reads the source behind every server whose process is known here, once for each file.
pub(super) async fn read(eye: &Eye, looked: &mut [Looked]) {
    let keeps = eye.place.keeps_stamps();
    let mut stamps = if keeps { kept::read() } else { Stamps::default() };
    let before = stamps.len();
    let pids: Vec<u32> = looked.iter().filter_map(|one| one.candidate.place.pid).collect();
    let roots = roots_of(&eye.place, &pids).await;
    for one in looked.iter_mut() {
        let Some(pid) = one.candidate.place.pid else { continue };
        let engine = one.account.engine.as_deref().or(one.candidate.engine.as_deref());
        let Some(table) = engine.and_then(|name| eye.tables.get(name)) else { continue };
        let Some(package) = &table.engine.package else { continue };
        let wanted = Wanted {
            package: package.name.clone(),
            folders: package.folders.clone(),
            needles: package.needles.clone(),
        };
        let Some(root) = pids.iter().position(|known| *known == pid).and_then(|at| roots.get(at)) else { continue };
        let found = match installed(&eye.place, pid, root, &wanted, Bounds::default(), &mut stamps).await {
            Ok(found) => found,
            Err(blind) => {
                // No package at all is the rule for stand-ins and builds of one file; what is hidden is worth a word.
                if blind.kind != BlindKind::Gone {
                    let text = format!("its installed source was not read: {blind}");
                    one.account.notes.push(Note::new("source-unread", text));
                }
                continue;
            }
        };
        if let Some(version) = &found.version {
            one.account.learn("version", version, "its installed package", 0);
        }
        one.account.notes.extend(found.notes.iter().cloned());
        let files = found.files.iter().map(|file| (file.path.display().to_string(), &file.metrics[..]));
        let offered = offered_by_source(table, &one.account, files);
        let whole = found.notes.is_empty() && !found.files.is_empty();
        let said = said(&found);
        one.source = Some(Source::of(&found, &offered));
        one.candidate.place.build = Some(Build { said, whole, offered });
    }
    if keeps && stamps.len() != before {
        kept::keep(&stamps);
    }
}

fn said(found: &Installed) -> String {
    let version = found.version.as_deref().map_or(String::new(), |version| format!(" {version}"));
    let patched = if found.patched.is_empty() { "" } else { ", patched" };
    format!("the installed source ({}{version}, {}{patched})", found.package, found.kind.name())
}
