//! Where `doctor --write-dropin` writes, and where it never does: by a saved unit file.
#![allow(clippy::unwrap_used)] // tests: a panic is the report

use std::os::unix::fs::symlink;
use std::path::Path;

use testkit::{Output, plimsoll};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

/// A unit whose server hides its series.
const UNIT: &str = "# /etc/systemd/system/decode.service\n[Service]\n\
                    ExecStart=/usr/bin/python3 -m sglang.launch_server --model-path m --port 30002 --disaggregation-mode decode\n";

fn doctor(folder: &Path, units: &[&Path]) -> Output {
    let units = units.iter().map(|unit| unit.to_str().unwrap());
    let arguments: Vec<&str> =
        ["doctor", "--json", "--write-dropin", folder.to_str().unwrap()].into_iter().chain(units).collect();
    plimsoll(PROGRAM, &arguments)
}

#[test]
fn written_once_and_the_report_is_whole() {
    let home = tempfile::tempdir().unwrap();
    let unit = home.path().join("decode.service");
    std::fs::write(&unit, UNIT).unwrap();
    let other = home.path().join("other/decode.service");
    std::fs::create_dir(home.path().join("other")).unwrap();
    std::fs::write(&other, UNIT.replace("30002", "30003")).unwrap();
    let out = home.path().join("out");
    std::fs::create_dir(&out).unwrap();
    // Two servers of one unit's name: one drop-in, a note for the other, and all of the report.
    let value = doctor(&out, &[&unit, &other]).json();
    assert_eq!(value["servers"].as_array().unwrap().len(), 2, "{value:#}");
    let written = std::fs::read_to_string(out.join("decode.service.d/90-plimsoll.conf")).unwrap();
    assert!(written.contains("--enable-metrics"), "{written}");
    assert!(value["notes"].to_string().contains("not replaced"), "{value:#}");
    // Again: nothing is replaced.
    let value = doctor(&out, &[&unit]).json();
    assert!(value["notes"].to_string().contains("not replaced"), "{value:#}");
    assert_eq!(std::fs::read_to_string(out.join("decode.service.d/90-plimsoll.conf")).unwrap(), written);
    // A link in the place of the unit's folder is not followed.
    let linked = home.path().join("linked");
    std::fs::create_dir_all(&linked).unwrap();
    std::fs::create_dir(home.path().join("elsewhere")).unwrap();
    symlink(home.path().join("elsewhere"), linked.join("decode.service.d")).unwrap();
    let value = doctor(&linked, &[&unit]).json();
    assert!(value["notes"].to_string().contains("was not written"), "{value:#}");
    assert_eq!(std::fs::read_dir(home.path().join("elsewhere")).unwrap().count(), 0);
}

#[test]
fn never_where_systemd_reads() {
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str| home.path().join(path);
    let unit = at("decode.service");
    std::fs::write(&unit, UNIT).unwrap();
    for folder in ["x/.config/systemd/user", "x/systemd/user/deeper", "x/systemd/system.control", "x/share/systemd"] {
        std::fs::create_dir_all(at(folder)).unwrap();
    }
    symlink(at("x/.config/systemd/user"), at("link")).unwrap();
    std::fs::create_dir(at("kept")).unwrap();
    std::fs::create_dir(at("y")).unwrap();
    symlink(at("kept"), at("y/systemd")).unwrap();
    std::fs::create_dir(at("kept/user")).unwrap();
    for (folder, why) in [
        ("x/.config/systemd/user", "systemd reads"),
        ("x/systemd/user/deeper", "systemd reads"),
        ("x/systemd/system.control", "systemd reads"),
        ("x/share/systemd", "systemd reads"),
        ("link", "systemd reads"),
        ("y/systemd/user", "systemd reads"),
        ("nx/../x/.config/systemd/user", "without"),
        ("x/../kept", "without"),
        ("nx", "must be there"),
        ("decode.service", "no folder"),
    ] {
        let output = doctor(&at(folder), &[&unit]);
        assert_eq!(output.code, 2, "{folder}: {}", output.errors);
        assert!(output.errors.contains(why), "{folder}: {}", output.errors);
    }
    for folder in ["/etc/xdg/systemd/user", "/etc/systemd/system", "/run/systemd/system", "/run/user/0/systemd"] {
        let output = doctor(Path::new(folder), &[&unit]);
        assert_eq!(output.code, 2, "{folder}: {}", output.errors);
    }
    // Nothing was made on the way.
    assert!(!at("nx").exists());
    for folder in ["x/.config/systemd/user", "x/systemd/user/deeper", "x/share/systemd", "kept/user"] {
        assert_eq!(std::fs::read_dir(at(folder)).unwrap().count(), 0, "{folder}");
    }
}
