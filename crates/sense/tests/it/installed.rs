//! Packages behind processes, in a `/proc` and an environment made of files.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use model::BlindKind;
use rustix::fs::{CWD, FileType, Mode};
use sense::installed::{Bounds, Installed, Kind, Stamps, Wanted, installed};
use tempfile::TempDir;

use crate::places::place;

/// A host with the process 10, which sees all of it.
struct Tree(TempDir);

const SITE: &str = "/opt/venv/lib/python3.11/site-packages";
const SOURCE: &str = "from prometheus_client import Gauge\nused = Gauge('eng:used', 'tokens')\n";
/// The SHA-256 sum of `SOURCE`, as `sha256sum`, `xxd -r -p` and `base64` make it, for URLs and without padding.
const SUM: &str = "juYxRJ9W-QKYSjntx8dXGBcbrr7uXYXDfVTBuhShpxs";

impl Tree {
    fn new(argv: &str) -> Tree {
        let tree = Tree(tempfile::tempdir().unwrap());
        tree.file("/proc/10/cmdline", argv);
        symlink(tree.0.path(), tree.at("/proc/10/root")).unwrap();
        symlink("/usr/bin/python3.11", tree.at("/proc/10/exe")).unwrap();
        symlink("/srv", tree.at("/proc/10/cwd")).unwrap();
        tree
    }

    /// One with the package released in a virtual environment.
    fn released() -> Tree {
        let tree = Tree::new("/opt/venv/bin/python\0-m\0eng.server\0");
        tree.package(SITE);
        tree.file(&format!("{SITE}/eng-1.2.3.dist-info/METADATA"), "Name: eng\nVersion: 1.2.3\n\nVersion: 9\n");
        let record = format!("eng/srv/metrics.py,sha256={SUM},{}\n", SOURCE.len());
        tree.file(&format!("{SITE}/eng-1.2.3.dist-info/RECORD"), &record);
        tree
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path.trim_start_matches('/'))
    }

    fn file(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The package below `folder`: one source that defines a metric, and others that are none of ours.
    fn package(&self, folder: &str) {
        for (name, text) in [
            ("srv/metrics.py", SOURCE),
            ("srv/plain.py", "x = 1\n"),
            ("srv/notes.txt", SOURCE),
            ("srv/__pycache__/metrics.py", SOURCE),
            ("srv/test/metrics.py", SOURCE),
            ("other/metrics.py", SOURCE),
        ] {
            self.file(&format!("{folder}/eng/{name}"), text);
        }
    }

    async fn look(&self) -> Result<Installed, model::Blind> {
        self.look_with(&mut Stamps::default(), Bounds::default()).await
    }

    async fn look_with(&self, stamps: &mut Stamps, bounds: Bounds) -> Result<Installed, model::Blind> {
        installed(&place(self.0.path()), 10, Path::new("/proc/10/root"), &wanted(), bounds, stamps).await
    }
}

/// Files in the folder of packages, with what they hold.
type Files<'a> = &'a [(&'a str, &'a str)];

fn wanted() -> Wanted {
    Wanted { package: "eng".into(), folders: vec!["srv".into()], needles: vec!["eng:".into(), "prometheus".into()] }
}

fn names(found: &Installed) -> Vec<&str> {
    found.files.iter().flat_map(|file| &file.metrics).map(|metric| metric.name.as_str()).collect()
}

#[tokio::test]
async fn a_release_in_a_virtual_environment() {
    let tree = Tree::released();
    let found = tree.look().await.unwrap();
    assert_eq!((found.package.as_str(), found.version.as_deref()), ("eng", Some("1.2.3")));
    assert_eq!((found.root.as_path(), &found.kind), (Path::new(SITE).join("eng").as_path(), &Kind::Release));
    assert_eq!((found.seen, found.notes.len(), found.patched.len()), (2, 0, 0), "{found:?}");
    assert_eq!((names(&found), found.files[0].path.as_path()), (vec!["eng:used"], Path::new("srv/metrics.py")));
    // A file that is not as it was released.
    tree.file(&format!("{SITE}/eng/srv/metrics.py"), SOURCE.replace("used'", "held'"));
    let found = tree.look().await.unwrap();
    assert_eq!((names(&found), &found.patched), (vec!["eng:held"], &vec![PathBuf::from("srv/metrics.py")]));
}

/// The same package by every way in which Python is sent to it.
#[tokio::test]
async fn ways_to_a_package() {
    let editable = |from: &str| Kind::Editable { from: from.into() };
    let pth = "__editable__.eng-1.0.pth";
    let finder = "import sys\nMAPPING: dict[str, str] = {'eng_kernel': '/x', 'eng': '/srv/eng/python/eng'}\n";
    let ways: [(&str, Files<'_>, Kind); 5] = [
        ("a path", &[(pth, "/srv/eng/python\n")], editable("/srv/eng/python")),
        (
            "a finder",
            &[
                (pth, "import __editable___eng_1_0_finder; __editable___eng_1_0_finder.install()"),
                ("__editable___eng_1_0_finder.py", finder),
            ],
            editable("/srv/eng/python"),
        ),
        ("a link", &[("eng.egg-link", "/srv/eng/python\n.")], editable("/srv/eng/python")),
        (
            "another's paths",
            &[("all.pth", "# eng\n/nowhere\n../../../../../srv/eng/python\n")],
            editable("/srv/eng/python"),
        ),
        (
            "a note",
            &[(
                "eng-1.0.dist-info/direct_url.json",
                r#"{"url":"file:///srv/%65ng","dir_info":{"editable":true},"vcs_info":{"commit_id":"0123456789abcdef/"}}"#,
            )],
            editable("/srv/eng"),
        ),
    ];
    for (way, files, kind) in ways {
        let tree = Tree::new("python\0-m\0eng.server\0");
        tree.file("/proc/10/environ", "SECRET=x\0VIRTUAL_ENV=/opt/venv\0");
        tree.package("/srv/eng/python");
        tree.file("/srv/eng/python/eng/version.py", "__version__ = '1.1.dev2'\n");
        tree.file(&format!("{SITE}/eng-1.0.dist-info/METADATA"), "Version: 1.0\n");
        for (name, text) in files {
            tree.file(&format!("{SITE}/{name}"), text);
        }
        let found = tree.look().await.unwrap_or_else(|blind| panic!("{way}: {blind}"));
        assert_eq!((found.root.as_path(), &found.kind), (Path::new("/srv/eng/python/eng"), &kind), "{way}");
        assert_eq!((found.version.as_deref(), names(&found)), (Some("1.1.dev2"), vec!["eng:used"]), "{way}");
        assert_eq!(found.commit.as_deref(), (way == "a note").then_some("0123456789ab"));
    }
}

/// Where Python looks first, wins.
#[tokio::test]
async fn order_of_places() {
    let home = "/home/me/.local/lib/python3.11/site-packages";
    let places: [(&str, &str, &str, &str); 7] = [
        ("/srv", "python\0-m\0eng.server\0", "", ""),
        ("/srv/path", "python\0/x/run.py\0", "PYTHONPATH=:path:/other", ""),
        (SITE, "/opt/venv/bin/python\0x\0", "", ""),
        (SITE, "python\0x\0", "PATH=/usr/games:/opt/venv/bin", ""),
        (
            SITE,
            "eng::server\0",
            "",
            "7f00-7f01 r-xp 00000000 08:01 1  /opt/venv/lib/python3.11/site-packages/t/lib.so\n",
        ),
        (home, "python\0x\0", "HOME=/home/me", ""),
        ("/usr/lib/python3.11/dist-packages", "python\0x\0", "", ""),
    ];
    // The last of them first, so that each new one must win over all that are there.
    let tree = Tree::new("");
    for (folder, argv, environ, maps) in places.iter().rev() {
        tree.package(folder);
        tree.file("/proc/10/cmdline", argv);
        tree.file("/proc/10/environ", format!("{environ}\0"));
        tree.file("/proc/10/maps", maps);
        let found = tree.look().await.unwrap_or_else(|blind| panic!("{folder}: {blind}"));
        assert_eq!(found.root, Path::new(folder).join("eng"));
        let kind = if folder.starts_with("/srv") { Kind::Checkout } else { Kind::Unknown };
        assert_eq!(found.kind, kind, "{folder}");
    }
    // What was left behind when the package was removed is none.
    let tree = Tree::new("/opt/venv/bin/python\0x\0");
    tree.file(&format!("{SITE}/eng/__pycache__/x.pyc"), "");
    let blind = tree.look().await.unwrap_err();
    assert_eq!(blind.kind, BlindKind::Gone);
    assert!(blind.text.starts_with("no package eng where"), "{blind}");
}

/// Links in circles, links that lead out, pipes and sockets named like sources.
#[tokio::test]
async fn tricks() {
    let tree = Tree::released();
    let folder = format!("{SITE}/eng/srv");
    symlink(".", tree.at(&format!("{folder}/circle"))).unwrap();
    symlink("../../eng", tree.at(&format!("{folder}/up"))).unwrap();
    symlink(tree.at("/outside"), tree.at(&format!("{folder}/out"))).unwrap();
    symlink(tree.at("/outside.py"), tree.at(&format!("{folder}/out.py"))).unwrap();
    symlink("loop.py", tree.at(&format!("{folder}/loop.py"))).unwrap();
    // A host's own file, by the name that it has there: a process in a container must not lead us to it.
    symlink("/proc/self/environ", tree.at(&format!("{folder}/environ.py"))).unwrap();
    symlink(format!("{SITE}/shared.py"), tree.at(&format!("{folder}/shared.py"))).unwrap();
    tree.file(&format!("{SITE}/shared.py"), SOURCE.replace("used'", "linked'"));
    let pipe = tree.at(&format!("{folder}/pipe.py"));
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(tree.at(&format!("{folder}/sock.py"))).unwrap();
    tree.file(&format!("{folder}/binary.py"), [b"prometheus\0\xFF".as_slice(), &[0; 100]].concat());
    let found = tree.look().await.unwrap();
    // `up` leads to the package's folder by another way, and so to `other`, which is none of the folders asked for.
    assert_eq!(names(&found).iter().filter(|name| **name == "eng:linked").count(), 1, "{found:?}");
    assert_eq!(names(&found).iter().filter(|name| **name == "eng:used").count(), 2);
    let note = found.notes.iter().find(|note| note.id == "source-odd").unwrap();
    assert!(note.text.starts_with("5 entries"), "{note:?}");
}

#[tokio::test]
async fn bounds_are_kept_and_told() {
    let tree = Tree::released();
    let folder = tree.at(&format!("{SITE}/eng/srv/many"));
    std::fs::create_dir_all(&folder).unwrap();
    for number in 0..3000 {
        std::fs::write(folder.join(format!("f{number}.py")), SOURCE).unwrap();
    }
    let bounds = Bounds { entries: 1000, ..Bounds::default() };
    let found = tree.look_with(&mut Stamps::default(), bounds).await.unwrap();
    assert!(found.seen <= 1000 && found.files.len() > 500, "{}", found.seen);
    assert_eq!(found.notes[0].id, "source-cut");
    let bounds = Bounds { bytes: 100 * SOURCE.len(), ..Bounds::default() };
    let found = tree.look_with(&mut Stamps::default(), bounds).await.unwrap();
    assert!(found.files.len() <= 100, "{}", found.files.len());
    assert_eq!(found.notes[0].id, "source-cut");
    tree.file(&format!("{SITE}/eng/srv/a/b/c/deep.py"), SOURCE);
    std::fs::remove_dir_all(&folder).unwrap();
    let bounds = Bounds { levels: 3, ..Bounds::default() };
    let found = tree.look_with(&mut Stamps::default(), bounds).await.unwrap();
    assert_eq!((names(&found).len(), found.notes[0].id), (1, "source-deep"));
    assert_eq!(names(&tree.look().await.unwrap()).len(), 2);
    let long = format!("# prometheus {}\n{SOURCE}", "x".repeat(5 << 20));
    tree.file(&format!("{SITE}/eng/srv/metrics.py"), long);
    let found = tree.look().await.unwrap();
    assert_eq!((names(&found).len(), found.notes[0].id), (1, "source-odd"), "a source longer than 4 MiB");
}

/// A file is read again only when it changed, in this run and the next.
#[tokio::test]
async fn stamps_save_reading() {
    let tree = Tree::released();
    let mut stamps = Stamps::default();
    let first = tree.look_with(&mut stamps, Bounds::default()).await.unwrap();
    assert_eq!(stamps.len(), 2);
    let nothing = Bounds { bytes: 0, ..Bounds::default() };
    // With no byte left to read, what is known is still told.
    assert_eq!(tree.look_with(&mut stamps, nothing).await.unwrap(), first);
    let mut kept = Stamps::deserialise(&stamps.serialise());
    assert_eq!(tree.look_with(&mut kept, nothing).await.unwrap(), first);
    let file = tree.at(&format!("{SITE}/eng/srv/metrics.py"));
    let modified = std::fs::metadata(&file).unwrap().modified().unwrap();
    std::fs::write(&file, SOURCE.replace("used'", "held'")).unwrap();
    std::fs::File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
    // As long as it was, and its time set back: still seen to be another.
    let found = tree.look_with(&mut kept, Bounds::default()).await.unwrap();
    assert_eq!(names(&found), ["eng:held"]);
    let mut other = kept.clone();
    let all = Wanted { needles: vec!["x = 1".into()], ..wanted() };
    let found = installed(&place(tree.0.path()), 10, Path::new("/proc/10/root"), &all, Bounds::default(), &mut other)
        .await
        .unwrap();
    assert_eq!((found.files.len(), found.seen), (0, 2), "what was looked for is another thing");
    for broken in [&b""[..], b"plimsoll-stamps/0\n", &kept.serialise()[..40], &[0xFF; 99]] {
        assert!(Stamps::deserialise(broken).is_empty());
    }
}

/// Root sees everything, so root runs this test again as nobody.
#[tokio::test]
async fn what_rights_hide() {
    if rustix::process::geteuid().is_root() {
        crate::proc_real::again_as_nobody("installed::what_rights_hide");
        return;
    }
    let blind = installed(
        &place(Path::new("/")),
        1,
        Path::new("/proc/1/root"),
        &wanted(),
        Bounds::default(),
        &mut Stamps::default(),
    )
    .await
    .unwrap_err();
    assert_eq!(blind.kind, BlindKind::Denied, "{blind}");
}

/// A look that is recorded keeps what the scanner found, never the source; its capture gives the same package.
#[tokio::test]
async fn a_recorded_look_holds_no_source() {
    let tree = Tree::released();
    tree.file(&format!("{SITE}/more.pth"), "/srv/more # prometheus\n");
    tree.file(&format!("{SITE}/eng/srv/odd.py"), "prometheus = Gauge(NAME)\n'''");
    let plain = tree.look().await.unwrap();
    let recorder = sense::Recorder::default();
    let place = place(tree.0.path()).recorded(recorder.clone());
    let look = async |place: &sense::Place| {
        installed(place, 10, Path::new("/proc/10/root"), &wanted(), Bounds::default(), &mut Stamps::default())
            .await
            .unwrap()
    };
    assert_eq!(look(&place).await, plain, "recording changes nothing");
    let kept = recorder.take();
    let file = crate::capture::written(&kept);
    let text = crate::capture::unpacked(&file);
    assert!(text.contains("eng:used") && text.contains("/srv/more # prometheus"), "{text}");
    assert!(!text.contains("prometheus_client") && !text.contains("'tokens'"), "{text}");
    drop(tree);
    let (_, capture, notes) = crate::capture::read(file).site(0, 0).unwrap();
    assert_eq!((look(&sense::Place::from(capture)).await, notes), (plain, vec![]));
}
