//! An sshd within a deployment of systemd units, so that it can be looked at over ssh: its only network is a loopback, and
//! the way in is a program that runs there.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::systemd::Units;

/// The port on the deployment's own loopback.
const PORT: u16 = 2022;
/// Where its keys lie inside.
const FOLDER: &str = "/srv/door";

/// A running sshd; ended when dropped.
pub struct Door {
    child: Child,
    config: PathBuf,
    _folder: tempfile::TempDir,
}

impl Door {
    /// Starts one for root, who is called `units` by the configuration for ssh that comes with it.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn open(units: &Units) -> Door {
        let install = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/install-sshd.sh");
        assert!(Command::new(install).status().expect("a script").success(), "an sshd is there");
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").expect("a home")).join(".cache"));
        let lab = std::env::var_os("PLIMSOLL_LAB").map_or_else(|| cache.join("plimsoll/lab"), PathBuf::from);
        let inside = units.outside(FOLDER);
        std::fs::create_dir_all(&inside).expect("a folder inside");
        let folder = tempfile::tempdir().expect("a folder");
        for name in [inside.join("host"), folder.path().join("client")] {
            let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(name).status();
            assert!(made.expect("ssh-keygen").success());
        }
        std::fs::copy(folder.path().join("client.pub"), inside.join("client.pub")).expect("a key");
        let settings = format!(
            "Port {PORT}\nListenAddress 127.0.0.1\nHostKey {FOLDER}/host\nAuthorizedKeysFile {FOLDER}/client.pub\n\
             StrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\nPrintMotd no\n"
        );
        std::fs::write(inside.join("sshd_config"), settings).expect("its settings");
        std::fs::create_dir_all(units.outside("/run/sshd")).expect("a folder that it wants");
        let users = units.outside("/etc/passwd");
        let known = std::fs::read_to_string(&users).expect("users");
        if !known.lines().any(|line| line.starts_with("sshd:")) {
            std::fs::write(&users, known + "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n").expect("its user");
        }
        let sshd = lab.join("sshd/usr/sbin/sshd");
        let child = units
            .inside(sshd.to_str().expect("a path"))
            .args(["-D", "-e", "-f", &format!("{FOLDER}/sshd_config")])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("sshd starts");
        let config = folder.path().join("config");
        let text = format!(
            "Host units\n  HostName units\n  User root\n  IdentityFile {0}/client\n  IdentitiesOnly yes\n  \
             UserKnownHostsFile {0}/known\n  StrictHostKeyChecking accept-new\n  \
             ProxyCommand nsenter -t {1} -n busybox nc 127.0.0.1 {PORT}\n",
            folder.path().display(),
            units.told["systemd_pid"]
        );
        std::fs::write(&config, text).expect("a configuration");
        let door = Door { child, config, _folder: folder };
        let begun = Instant::now();
        while !door.opens() {
            assert!(begun.elapsed() < Duration::from_secs(20), "sshd answers");
            std::thread::sleep(Duration::from_millis(200));
        }
        door
    }

    /// The configuration for ssh.
    ///
    /// # Panics
    /// When its path is no text.
    pub fn config(&self) -> &str {
        self.config.to_str().expect("a path")
    }

    fn opens(&self) -> bool {
        let words = ["-F", self.config(), "-o", "BatchMode=yes", "units", "true"];
        Command::new("ssh").args(words).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
