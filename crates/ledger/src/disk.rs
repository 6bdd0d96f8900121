//! The ledger's own directory. Nothing else in this crate touches files.

use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

pub(crate) use std::fs::File;

use crate::error::Error;

/// Told of a step on the disk, before and after it: which, and the file's name. An error is the step's.
pub(crate) type At = fn(&'static str, &str) -> io::Result<()>;

/// The directory, and the steps that tests watch.
pub(crate) struct Disk {
    pub(crate) folder: PathBuf,
    folder_file: File,
    at: At,
}

impl Disk {
    /// Makes the directory where it is missing, and waits until its name is on the disk.
    pub(crate) fn open(folder: &Path, at: At) -> Result<Self, Error> {
        let made = folder.ancestors().take_while(|path| !path.exists()).count();
        std::fs::create_dir_all(folder).map_err(Error::io("make", folder))?;
        let folder_file = File::open(folder).map_err(Error::io("open", folder))?;
        let disk = Self { folder: folder.to_owned(), folder_file, at };
        // One that is there may have been made a moment ago by somebody who did not wait.
        disk.sync_own_name(made.max(1)).map_err(Error::io("sync the name of", folder))?;
        Ok(disk)
    }

    fn sync_own_name(&self, levels: usize) -> io::Result<()> {
        (self.at)("before syncing names", "..")?;
        for parent in self.folder.ancestors().skip(1).take(levels) {
            let here = if parent == Path::new("") { Path::new(".") } else { parent };
            match File::open(here) {
                // Who may not list it cannot sync it either.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => (),
                opened => opened?.sync_all()?,
            }
        }
        (self.at)("after syncing names", "..")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Names and sizes of the files there, sorted.
    pub(crate) fn list(&self) -> Result<Vec<(String, u64)>, Error> {
        let read = || -> io::Result<Vec<(String, u64)>> {
            let mut files = Vec::new();
            for entry in std::fs::read_dir(&self.folder)? {
                let entry = entry?;
                if let (Ok(name), Ok(about)) = (entry.file_name().into_string(), entry.metadata()) {
                    files.push((name, about.len()));
                }
            }
            files.sort();
            Ok(files)
        };
        read().map_err(Error::io("list", &self.folder))
    }

    /// A new file, for reading and writing.
    pub(crate) fn create(&self, name: &str) -> Result<File, Error> {
        let made = (self.at)("before creating", name).and_then(|()| {
            let made = File::options().read(true).write(true).create(true).truncate(true).open(self.path(name));
            (self.at)("after creating", name).and(made)
        });
        made.map_err(Error::io("create", &self.path(name)))
    }

    pub(crate) fn file(&self, name: &str) -> Result<File, Error> {
        File::options().read(true).write(true).open(self.path(name)).map_err(Error::io("open", &self.path(name)))
    }

    pub(crate) fn contents(&self, name: &str) -> Result<Vec<u8>, Error> {
        std::fs::read(self.path(name)).map_err(Error::io("read", &self.path(name)))
    }

    /// Writes all bytes at `at`, where the file ends. Where that fails, what was written of them is cut off again.
    pub(crate) fn write(&self, file: &File, name: &str, at: u64, bytes: &[u8]) -> Result<(), Error> {
        // A write in two halves, so that a test can stop between them.
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let mut written = (self.at)("before writing", name);
        written = written.and_then(|()| file.write_all_at(first, at));
        written = written.and_then(|()| (self.at)("while writing", name));
        written = written.and_then(|()| file.write_all_at(second, at + first.len() as u64));
        written = written.and_then(|()| (self.at)("after writing", name));
        written.map_err(|error| {
            // Where this fails too, the next write begins at the same place.
            let _ = file.set_len(at);
            Error::io("write", &self.path(name))(error)
        })
    }

    pub(crate) fn cut(&self, file: &File, name: &str, at: u64) -> Result<(), Error> {
        file.set_len(at).map_err(Error::io("cut", &self.path(name)))
    }

    /// Waits until the file's bytes are on the disk.
    pub(crate) fn sync(&self, file: &File, name: &str) -> Result<(), Error> {
        let mut synced = (self.at)("before syncing", name);
        synced = synced.and_then(|()| file.sync_data());
        synced = synced.and_then(|()| (self.at)("after syncing", name));
        synced.map_err(Error::io("sync", &self.path(name)))
    }

    /// Waits until new and removed names are on the disk.
    pub(crate) fn sync_names(&self) -> Result<(), Error> {
        let mut synced = (self.at)("before syncing names", "");
        synced = synced.and_then(|()| self.folder_file.sync_all());
        synced = synced.and_then(|()| (self.at)("after syncing names", ""));
        synced.map_err(Error::io("sync", &self.folder))
    }

    pub(crate) fn remove(&self, name: &str) -> Result<(), Error> {
        let removed = (self.at)("before removing", name).and_then(|()| {
            match std::fs::remove_file(self.path(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => (),
            }
            (self.at)("after removing", name)
        });
        removed.map_err(Error::io("remove", &self.path(name)))
    }

    /// Gives a file another name. Tests are told the old one before, and the new one after.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        let mut renamed = (self.at)("before renaming", from);
        renamed = renamed.and_then(|()| std::fs::rename(self.path(from), self.path(to)));
        renamed = renamed.and_then(|()| (self.at)("after renaming", to));
        renamed.map_err(Error::io("rename", &self.path(from)))
    }
}

/// Reads exactly so many bytes at `at`.
pub(crate) fn read_at(file: &File, at: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes)
}

/// Reads up to so many bytes at `at`, fewer only where the file ends.
pub(crate) fn read_up_to(file: &File, at: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match file.read_at(&mut bytes[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncing_asks_the_system() {
        // fsync(2): EINVAL where the file is special and cannot be synced. Only who asks is told so.
        let null = || File::open("/dev/null").expect("a file that cannot be synced");
        let disk = Disk { folder: PathBuf::new(), folder_file: null(), at: |_, _| Ok(()) };
        let refused = |synced: Result<(), Error>| match synced {
            Err(Error::Io { doing: "sync", source, .. }) => source.kind() == io::ErrorKind::InvalidInput,
            _ => false,
        };
        assert!(refused(disk.sync(&null(), "null")));
        assert!(refused(disk.sync_names()));
    }
}
