//! The ledger's own directory. Nothing else in this crate touches files.

use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

pub(crate) use std::fs::File;

use crate::error::Error;

/// The directory, and the steps that tests stop at.
pub(crate) struct Disk {
    pub(crate) folder: PathBuf,
    folder_file: File,
    pub(crate) at: fn(&'static str),
}

impl Disk {
    /// Makes the directory where it is missing.
    pub(crate) fn open(folder: &Path, at: fn(&'static str)) -> Result<Self, Error> {
        std::fs::create_dir_all(folder).map_err(Error::io("make", folder))?;
        let folder_file = File::open(folder).map_err(Error::io("open", folder))?;
        Ok(Self { folder: folder.to_owned(), folder_file, at })
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
        (self.at)("before creating");
        let made = File::options().read(true).write(true).create(true).truncate(true).open(self.path(name));
        (self.at)("after creating");
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
        (self.at)("before writing");
        // A write in two halves, so that a test can stop between them.
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let mut written = file.write_all_at(first, at);
        (self.at)("while writing");
        written = written.and_then(|()| file.write_all_at(second, at + first.len() as u64));
        (self.at)("after writing");
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
        (self.at)("before syncing");
        let synced = file.sync_data();
        (self.at)("after syncing");
        synced.map_err(Error::io("sync", &self.path(name)))
    }

    /// Waits until new and removed names are on the disk.
    pub(crate) fn sync_names(&self) -> Result<(), Error> {
        (self.at)("before syncing names");
        let synced = self.folder_file.sync_all();
        (self.at)("after syncing names");
        synced.map_err(Error::io("sync", &self.folder))
    }

    pub(crate) fn remove(&self, name: &str) -> Result<(), Error> {
        (self.at)("before removing");
        let removed = std::fs::remove_file(self.path(name));
        (self.at)("after removing");
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", &self.path(name))(error)),
            _ => Ok(()),
        }
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        (self.at)("before renaming");
        let renamed = std::fs::rename(self.path(from), self.path(to));
        (self.at)("after renaming");
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
