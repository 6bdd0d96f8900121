//! One process at a time, and no network below.

use std::io::{Read, Write};

use rustix::fs::{FlockOperation, flock, statfs};

use crate::disk::{Disk, File};
use crate::error::Error;

/// Held as long as it lives. The system lets go of it when the process ends, however it ends.
pub(crate) struct Lock(#[expect(dead_code, reason = "an open file is the lock")] File);

/// The lock's file.
const NAME: &str = "lock";

impl Lock {
    pub(crate) fn take(disk: &Disk) -> Result<Self, Error> {
        let path = disk.path(NAME);
        // Never removed: whoever waits for a removed file holds a lock that nobody else sees.
        let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open.map_err(Error::io("open", &path))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => (),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let mut text = String::new();
                let read = (&file).take(32).read_to_string(&mut text);
                let pid = read.ok().and_then(|_| text.trim().parse().ok());
                return Err(Error::Locked { path: disk.folder.clone(), pid });
            }
            Err(error) => return Err(Error::io("lock", &path)(error.into())),
        }
        // Only for the other's words: a full disk has no room for it, and the lock holds all the same.
        let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Self(file))
    }
}

/// Refuses file systems that other hosts or programs answer for.
pub(crate) fn check_file_system(disk: &Disk) -> Result<(), Error> {
    let about = statfs(&disk.folder).map_err(|error| Error::io("look at", &disk.folder)(error.into()))?;
    // The kinds are 32 bits wide, and some systems widen them with their sign.
    match network(about.f_type as u32) {
        Some(kind) => Err(Error::Network { path: disk.folder.clone(), kind }),
        None => Ok(()),
    }
}

/// The file system's name, where other hosts or programs answer for it (statfs(2) and the kernel's magic numbers).
fn network(kind: u32) -> Option<&'static str> {
    Some(match kind {
        0x6969 => "NFS",
        0xFF53_4D42 | 0xFE53_4D42 | 0x517B => "CIFS",
        0x6573_5546 => "FUSE",
        0x0102_1997 => "9p",
        0x00C3_6400 => "Ceph",
        0x5346_414F | 0x6B41_4653 => "AFS",
        0x7375_7245 => "Coda",
        0x0BD0_0BD0 => "Lustre",
        0x4750_4653 => "GPFS",
        0x0116_1970 => "GFS2",
        0x7461_636F => "OCFS2",
        0x1983_0326 => "BeeGFS",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_others_are_known() {
        // NFS_SUPER_MAGIC, SMB2_MAGIC_NUMBER and FUSE_SUPER_MAGIC of linux/magic.h; ext4 and tmpfs are local.
        assert_eq!(
            (network(0x6969), network(0xFE53_4D42), network(0x6573_5546)),
            (Some("NFS"), Some("CIFS"), Some("FUSE"))
        );
        assert_eq!((network(0xEF53), network(0x0102_1994)), (None, None));
    }
}
