//! A disk whose power may go at any step: of a file it keeps what was synced, of names what a sync of names made durable, and of
//! everything else as much or as little as it likes. Files are the real ones; this remembers what of them is on the disk.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::Dice;

/// What the folder is called where its own name is synced.
const PARENT: &str = "..";

thread_local! {
    static MODEL: RefCell<Model> = RefCell::default();
}

/// Names, and the file behind each.
type Names = BTreeMap<String, u64>;

#[derive(Default)]
struct Model {
    folder: PathBuf,
    files: u64,
    /// Names as every process sees them.
    now: Names,
    /// Names that are on the disk.
    kept: Names,
    /// What happened to names since, in this order.
    changes: Vec<Vec<(String, Option<u64>)>>,
    /// Bytes of files that are on the disk.
    synced: BTreeMap<u64, Vec<u8>>,
    /// Whether the folder's own name is.
    folder_kept: bool,
    renamed: String,
    /// Steps until the end.
    left: u64,
}

/// What a process is ended with.
struct Ended;

/// The hook for `Options::at`.
pub(crate) fn watch(step: &'static str, file: &str) -> std::io::Result<()> {
    let over = MODEL.with_borrow_mut(|model| {
        model.left = model.left.saturating_sub(1);
        model.take(step, file).map(|()| model.left == 0)
    })?;
    if over {
        // Like a process that is killed: nothing in a ledger writes when it is dropped.
        std::panic::resume_unwind(Box::new(Ended));
    }
    Ok(())
}

/// A disk with these files in the folder, all of them on it.
pub(crate) fn begin(folder: &Path) {
    let names = folder.read_dir().into_iter().flatten().map(|entry| entry.expect("an entry").file_name());
    let mut model =
        Model { folder: folder.to_owned(), folder_kept: folder.exists(), left: u64::MAX, ..Model::default() };
    for name in names.map(|name| name.into_string().expect("a name")) {
        model.synced.insert(model.files, std::fs::read(folder.join(&name)).expect("read"));
        model.now.insert(name, model.files);
        model.files += 1;
    }
    model.kept = model.now.clone();
    MODEL.set(model);
}

/// Does the work until so many steps are over.
pub(crate) fn until(steps: u64, work: impl FnOnce()) {
    MODEL.with_borrow_mut(|model| model.left = steps);
    let Err(why) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) else { panic!("it ended by itself") };
    if !why.is::<Ended>() {
        std::panic::resume_unwind(why);
    }
}

/// Turns the power off and on: `to` becomes what is on the disk then, the least that there can be, or what the dice say of all that
/// nobody waited for.
pub(crate) fn off(to: &Path, luck: Option<&mut Dice>) {
    MODEL.with_borrow(|model| model.left_on_disk(to, luck));
    begin(to);
}

impl Model {
    fn take(&mut self, step: &'static str, file: &str) -> std::io::Result<()> {
        match step {
            "after creating" if !self.now.contains_key(file) => {
                // A name that is there already has the same file, emptied.
                self.synced.insert(self.files, Vec::new());
                self.change(vec![(file.to_owned(), Some(self.files))]);
                self.files += 1;
            }
            "after syncing" => {
                let bytes = std::fs::read(self.folder.join(file))?;
                self.synced.insert(self.now[file], bytes);
            }
            "after syncing names" if file == PARENT => self.folder_kept = true,
            "after syncing names" => {
                self.kept.clone_from(&self.now);
                self.changes.clear();
            }
            "after removing" if self.now.contains_key(file) => self.change(vec![(file.to_owned(), None)]),
            "before renaming" => file.clone_into(&mut self.renamed),
            "after renaming" => {
                let from = std::mem::take(&mut self.renamed);
                let id = self.now[&from];
                self.change(vec![(from, None), (file.to_owned(), Some(id))]);
            }
            _ => (),
        }
        Ok(())
    }

    fn change(&mut self, change: Vec<(String, Option<u64>)>) {
        apply(&mut self.now, &change);
        self.changes.push(change);
    }

    fn left_on_disk(&self, to: &Path, mut luck: Option<&mut Dice>) {
        if !self.folder_kept && luck.as_mut().is_none_or(|dice| dice.below(2) == 0) {
            return;
        }
        std::fs::create_dir_all(to).expect("a folder");
        let mut names = self.kept.clone();
        if let Some(dice) = &mut luck {
            // A journal keeps the first of them; a file system without one keeps any.
            let first = dice.below(self.changes.len() as u64 + 1) as usize;
            let any = dice.below(3) == 0;
            for (index, change) in self.changes.iter().enumerate() {
                if if any { dice.below(2) == 0 } else { index < first } {
                    apply(&mut names, change);
                }
            }
        } else {
            // The least that there can be: all that was removed is gone, and nothing that was made or renamed is there.
            for change in self.changes.iter().filter(|change| change.iter().all(|(_, id)| id.is_none())) {
                apply(&mut names, change);
            }
        }
        for (name, id) in &names {
            let mut bytes = self.synced[id].clone();
            if let Some(dice) = &mut luck
                && let Some((same, _)) = self.now.iter().find(|(_, other)| *other == id)
            {
                bytes = partly(bytes, &std::fs::read(self.folder.join(same)).expect("read"), dice);
            }
            std::fs::write(to.join(name), bytes).expect("written");
        }
    }
}

fn apply(names: &mut Names, change: &[(String, Option<u64>)]) {
    for (name, id) in change {
        match id {
            Some(id) => names.insert(name.clone(), *id),
            None => names.remove(name),
        };
    }
}

/// What is on the disk of a file that was written on since its last sync.
fn partly(synced: Vec<u8>, now: &[u8], dice: &mut Dice) -> Vec<u8> {
    let same = synced.iter().zip(now).take_while(|(then, now)| then == now).count();
    let new = (now.len() - same) as u64;
    match dice.below(3) {
        0 => synced,
        1 => now.to_vec(),
        // A piece of it, and maybe room for more that was not filled.
        _ => {
            let piece = dice.below(new + 1) as usize;
            let room = dice.below(new - piece as u64 + 1) as usize;
            [&now[..same + piece], &vec![0; room * dice.below(2) as usize]].concat()
        }
    }
}
