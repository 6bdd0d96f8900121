//! A real disk that stops to answer when a test says so: a file system on a loop device, whose file lies on another such one,
//! which is frozen. What is written then stays in memory, and a sync waits in the kernel until the disk is thawed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::apart::rerun;

/// Where the disks are, for the test that runs on them.
const GIVEN: &str = "PLIMSOLL_HANGING_DISK";
/// A disk that was forgotten is thawed after so many seconds: who waits for it cannot be ended before.
const FORGOTTEN_S: u32 = 100;

/// Mounts the disks in a namespace of mounts that ends with it, and runs `$@` there.
const SCRIPT: &str = r#"
cd "$FOLDER" && mkdir below disk || exit 75
truncate -s 160M below.img && mkfs.ext4 -q below.img && mount -o loop below.img below || exit 75
truncate -s 96M below/disk.img && mkfs.ext4 -q below/disk.img && mount -o loop below/disk.img disk || exit 75
(exec </dev/null >/dev/null 2>&1; sleep "$FORGOTTEN"; fsfreeze -u below) &
forgotten=$!
"$@"
code=$?
fsfreeze -u below 2>/dev/null
kill $forgotten
umount disk below
exit $code
"#;

/// A disk that can be made to hang.
pub struct Disk {
    folder: PathBuf,
}

/// It hangs; dropped, it answers again.
pub struct Hanging<'a>(&'a Disk);

impl Disk {
    /// Runs the test `name` of this very program again, on such a disk. Skipped with a line where none can be had.
    ///
    /// # Panics
    /// When the test fails there.
    pub fn run(name: &str) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", SCRIPT, "sh"]).env("FOLDER", folder.path()).env(GIVEN, folder.path());
        rerun(command.env("FORGOTTEN", FORGOTTEN_S.to_string()), name);
    }

    /// The disk that [`Disk::run`] made for this test.
    ///
    /// # Panics
    /// When it runs on none: such tests are ignored but for that.
    pub fn given() -> Disk {
        Disk { folder: std::env::var_os(GIVEN).expect("a test that Disk::run runs").into() }
    }

    /// A folder on it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join("disk").join(name)
    }

    /// A folder beside it, which goes on to work.
    pub fn beside(&self) -> &Path {
        &self.folder
    }

    /// From now on no sync comes back.
    ///
    /// # Panics
    /// When it cannot be frozen.
    #[must_use]
    pub fn hang(&self) -> Hanging<'_> {
        assert!(self.freeze("-f"), "it cannot be frozen");
        Hanging(self)
    }

    fn freeze(&self, how: &str) -> bool {
        Command::new("fsfreeze").arg(how).arg(self.folder.join("below")).status().is_ok_and(|status| status.success())
    }
}

impl Drop for Hanging<'_> {
    fn drop(&mut self) {
        self.0.freeze("-u");
    }
}
