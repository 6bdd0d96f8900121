//! Programs that misbehave, played by shell scripts under the names of the real ones.
#![allow(clippy::unwrap_used)] // tests: a panic is the report

use std::path::{Path, PathBuf};
use std::process::Command as Helper;
use std::time::{Duration, Instant};

use model::{Blind, BlindKind, Time};
use tempfile::TempDir;

use super::{Command, Ran, Runner};

/// A folder of programs.
struct Programs(TempDir);

impl Programs {
    fn new() -> Programs {
        Programs(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn with(self, program: &str, script: &str) -> Programs {
        let text = self.path("text");
        std::fs::write(&text, format!("#!/bin/sh\n{script}\n")).unwrap();
        // By another program: a file that we wrote stays busy while a child forked by another test holds it open.
        let copied = Helper::new("install").arg("-m755").arg(text).arg(self.path(program)).status().unwrap();
        assert!(copied.success());
        self
    }

    async fn run(&self, command: &Command) -> Result<Ran, Blind> {
        self.run_within(command, Duration::from_secs(20)).await
    }

    async fn run_within(&self, command: &Command, patience: Duration) -> Result<Ran, Blind> {
        Runner::with(vec![self.0.path().to_path_buf(), PathBuf::from("/usr/bin"), PathBuf::from("/bin")])
            .run(command, patience)
            .await
    }
}

fn journal(unit: &str) -> Command {
    Command::Journal { unit: unit.into(), user: None, since: None, until: None, newest: Some(10) }
}

/// Whether the process whose id the file holds is there, if only as a zombie.
async fn is_there(file: &Path) -> bool {
    let pid = std::fs::read_to_string(file).unwrap();
    let path = format!("/proc/{}", pid.trim());
    // one that we did not start is reaped by whoever inherits it, a little later
    for _ in 0..100 {
        if !Path::new(&path).exists() {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    true
}

#[tokio::test]
async fn output_and_code() {
    let programs = Programs::new().with("nvidia-smi", "echo \"$@\"; echo oops >&2");
    let ran = programs.run(&Command::GpuMemory).await.unwrap();
    let said = "--query-compute-apps=pid,gpu_uuid,used_gpu_memory --format=csv,noheader,nounits\n";
    assert_eq!(ran, Ran { stdout: said.into(), cut: false, stderr: "oops".into(), code: Some(0) });
    let programs = Programs::new().with("nvidia-smi", "echo no driver; exit 9");
    let blind = programs.run(&Command::GpuList).await.unwrap_err();
    assert_eq!((blind.kind, blind.text.as_str()), (BlindKind::Gone, "nvidia-smi ended with 9: no driver"));
    let blind =
        Programs::new().with("nvidia-smi", "echo 1, GPU-1; kill -9 $$").run(&Command::GpuList).await.unwrap_err();
    assert_eq!((blind.kind, blind.text.as_str()), (BlindKind::Gone, "nvidia-smi was ended by a signal"));
}

#[tokio::test]
async fn endless_output_is_cut() {
    let programs = Programs::new().with("nvidia-smi", "echo $$ >\"${0%/*}/pid\"; exec yes 0123456789");
    let ran = programs.run(&Command::GpuMemory).await.unwrap();
    assert_eq!((ran.stdout.len(), ran.cut, ran.code), (4 << 20, true, None));
    assert!(ran.stdout.starts_with(b"0123456789\n0123"));
    assert!(!is_there(&programs.path("pid")).await, "ended and reaped");
    // the cap itself is not too much
    let programs = Programs::new().with("nvidia-smi", &format!("head -c {} /dev/zero", 4 << 20));
    let ran = programs.run(&Command::GpuMemory).await.unwrap();
    assert_eq!((ran.stdout.len(), ran.cut, ran.code), (4 << 20, false, Some(0)));
}

/// The program is ended by its deadline, with what it started; no zombie stays.
#[tokio::test]
async fn a_program_that_hangs() {
    let script =
        "trap '' TERM INT HUP; echo $$ >\"${0%/*}/pid\"; echo part; sleep 600 & echo $! >\"${0%/*}/child\"; wait";
    let programs = Programs::new().with("systemctl", script);
    let start = Instant::now();
    let command = Command::UnitProperties { unit: "x.service".into(), user: None };
    let blind = programs.run_within(&command, Duration::from_secs(3)).await.unwrap_err();
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
    assert_eq!(blind.kind, BlindKind::Deadline);
    assert_eq!(blind.text, "systemctl did not answer within 3 s");
    assert!(!is_there(&programs.path("pid")).await && !is_there(&programs.path("child")).await);
    // one that ends but leaves a child with its output open hangs as well, and is ended as well
    let programs = Programs::new().with("systemctl", "sleep 600 & echo $! >\"${0%/*}/child\"; exit 0");
    let blind = programs.run_within(&command, Duration::from_secs(3)).await.unwrap_err();
    assert_eq!(blind.kind, BlindKind::Deadline);
    assert!(!is_there(&programs.path("child")).await);
}

/// A wait that is given up ends the program as well.
#[tokio::test]
async fn a_look_that_is_given_up() {
    let programs = Programs::new().with("systemctl", "echo $$ >\"${0%/*}/pid\"; exec sleep 600");
    let command = Command::UnitProperties { unit: "x.service".into(), user: None };
    let look = programs.run(&command);
    tokio::select! {
        _ = look => panic!("it sleeps"),
        () = async {
            while std::fs::read_to_string(programs.path("pid")).map_or(0, |pid| pid.len()) == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        } => {}
    }
    assert!(!is_there(&programs.path("pid")).await);
}

#[tokio::test]
async fn complaints_are_bounded_and_printable() {
    let script = "printf 'one\\033[31m\\r\\001 two\\nthree\\377\\n' >&2; yes complaint | head -c 300000 >&2; echo {}";
    let ran = Programs::new().with("journalctl", script).run(&journal("x.service")).await.unwrap();
    assert!(ran.stderr.len() <= 2 << 10 && ran.stderr.len() > 1 << 10, "{}", ran.stderr.len());
    assert!(ran.stderr.starts_with("one\\u{1b}[31m\\r\\u{1} two\nthree\u{fffd}\ncomplaint\n"), "{}", ran.stderr);
    assert!(ran.stderr.chars().all(|letter| letter == '\n' || !letter.is_control()));
}

/// Names that are no unit's are refused before anything is started.
#[tokio::test]
async fn names_of_units() {
    let programs = Programs::new().with("journalctl", "echo \"$@\"").with("systemctl", "echo \"$@\"");
    let long = "x".repeat(257);
    for name in ["", "-x", "--file=/etc/shadow", "a b", "$(x)", "../x", "/etc/x", "x*", "x?", "[x]", "x\n", "ü", &long]
    {
        let show = Command::UnitProperties { unit: name.into(), user: None };
        for command in [journal(name), show] {
            let blind = programs.run(&command).await.unwrap_err();
            assert_eq!(blind.kind, BlindKind::Denied, "{name}");
            assert!(blind.text.contains("is no name of a unit") && !blind.text.contains('\n'), "{blind}");
        }
    }
    for name in ["x.service", "a@b.service", "dev-disk-by\\x2dlabel.device", "session-3.scope", "a:b_c.service"] {
        let ran = programs.run(&journal(name)).await.unwrap();
        assert!(String::from_utf8(ran.stdout).unwrap().ends_with(&format!(" --unit={name}\n")));
    }
}

#[tokio::test]
async fn what_is_asked() {
    let programs = Programs::new().with("journalctl", "echo \"$@\"").with("systemctl", "echo \"$@\"");
    let said = async |command: Command| String::from_utf8(programs.run(&command).await.unwrap().stdout).unwrap();
    let command = Command::Journal {
        unit: "x.service".into(),
        user: Some(1000),
        since: Some(Time(1_700_000_000.25)),
        until: Some(Time(f64::NAN)),
        newest: Some(300),
    };
    let args = "--no-pager --all --output=json --output-fields=MESSAGE,_PID --reverse --lines=300 \
                --since=@1700000000.250000 _SYSTEMD_USER_UNIT=x.service _UID=1000\n";
    assert_eq!(said(command).await, args);
    // the oldest: nothing that would count from the newest back
    let command = Command::Journal {
        unit: "x.service".into(),
        user: None,
        since: Some(Time(1_700_000_000.0)),
        until: Some(Time(1_700_000_059.999_999)),
        newest: None,
    };
    let args = "--no-pager --all --output=json --output-fields=MESSAGE,_PID --since=@1700000000.000000 \
                --until=@1700000059.999999 --unit=x.service\n";
    assert_eq!(said(command).await, args);
    let args = said(Command::UnitProperties { unit: "x.service".into(), user: None }).await;
    assert!(args.starts_with("show --no-pager --property=Id,") && args.ends_with(" -- x.service\n"), "{args}");
    // secrets stand in a unit's environment: it is not asked for
    assert!(!args.contains("Environment,") && args.contains("EnvironmentFiles,"), "{args}");
    let own = rustix::process::geteuid().as_raw();
    let args = said(Command::UnitProperties { unit: "x.service".into(), user: Some(own) }).await;
    assert!(args.starts_with("--user show "), "{args}");
    let other = Command::UnitProperties { unit: "x.service".into(), user: Some(own + 1) };
    assert_eq!(programs.run(&other).await.unwrap_err().kind, BlindKind::Denied);
}

/// Nothing of our own environment reaches a program; it runs in a group of its own, in the root folder, without input.
#[tokio::test]
async fn environment() {
    // this test program has variables, whoever runs it; none of them may show
    assert!(std::env::vars_os().any(|(name, _)| name == "CARGO_MANIFEST_DIR"));
    let script = "env; echo group $(ps -o pgid= -p $$ 2>/dev/null || cut -d' ' -f5 /proc/$$/stat) is $$; \
                  echo in $(pwd); read x; echo input $?";
    let programs = Programs::new().with("systemctl", script);
    let own = rustix::process::geteuid().as_raw();
    for (user, more) in [(None, ""), (Some(own), "XDG_RUNTIME_DIR")] {
        let ran = programs.run(&Command::UnitProperties { unit: "x.service".into(), user }).await.unwrap();
        let said = String::from_utf8(ran.stdout).unwrap();
        let names: Vec<&str> = said.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
        // the shell adds PWD and the like by itself
        let unknown = |name: &&&str| !["PATH", "LC_ALL", "TZ", "PWD", "OLDPWD", "SHLVL", "_", more].contains(name);
        assert_eq!(names.iter().find(unknown), None, "{said}");
        assert!(
            said.contains("LC_ALL=C.UTF-8\n") && said.contains("\nin /\n") && said.contains("\ninput 1\n"),
            "{said}"
        );
        let line = said.lines().find(|line| line.starts_with("group ")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[1], words[3], "{line}");
    }
}

#[tokio::test]
async fn programs_that_are_not_there() {
    let programs = Programs::new();
    std::fs::write(programs.path("nvidia-smi"), "no program").unwrap();
    std::fs::create_dir(programs.path("systemctl")).unwrap();
    let runner = Runner::with(vec![programs.0.path().to_path_buf()]);
    for command in [Command::GpuList, Command::UnitProperties { unit: "x.service".into(), user: None }] {
        let blind = runner.run(&command, Duration::from_secs(2)).await.unwrap_err();
        assert_eq!(blind.kind, BlindKind::Gone);
        assert_eq!(blind.text, format!("there is no {} on this host", command.program()));
    }
}

/// A journal that is empty, not there, or not for us: with JSON it says nothing of that, so it is asked again in words.
/// The sentences are those of journalctl 252, as seen with an empty folder and as an ordinary user.
#[tokio::test]
async fn journals_without_messages() {
    let says = |words: &str| format!("case \"$*\" in *json*) exit 0;; *) echo '-- No entries --'; {words};; esac");
    let denied = "echo 'No journal files were opened due to insufficient permissions.' >&2; exit 1";
    let hint = "echo 'Hint: You are currently not seeing messages from other users and the system.' >&2";
    let none = "echo 'No journal files were found.' >&2";
    for (script, kind) in [
        (denied.to_string(), BlindKind::Denied),
        (says(hint), BlindKind::Denied),
        (says(none), BlindKind::Gone),
        ("echo 'Failed to add match' >&2; exit 1".to_string(), BlindKind::Gone),
    ] {
        let blind = Programs::new().with("journalctl", &script).run(&journal("x.service")).await.unwrap_err();
        assert_eq!(blind.kind, kind, "{script} {blind}");
        assert!(kind != BlindKind::Denied || blind.text.contains("group systemd-journal or adm"), "{blind}");
    }
    let ran = Programs::new().with("journalctl", &says("exit 0")).run(&journal("x.service")).await.unwrap();
    assert_eq!((ran.stdout.len(), ran.code), (0, Some(0)));
}

#[tokio::test]
async fn few_at_once() {
    // each counts those that run beside it
    let script = "d=\"${0%/*}/running\"; mkdir -p \"$d\"; touch \"$d/$$\"; sleep 0.2; ls \"$d\" | wc -l; rm \"$d/$$\"";
    let programs = Programs::new().with("nvidia-smi", script);
    let runner = Runner::with(vec![programs.0.path().to_path_buf(), "/usr/bin".into(), "/bin".into()]);
    let tasks: Vec<_> = (0..12)
        .map(|_| {
            let runner = runner.clone();
            tokio::spawn(async move { runner.run(&Command::GpuList, Duration::from_mins(1)).await })
        })
        .collect();
    let mut most = 0;
    for task in tasks {
        let ran = task.await.unwrap().unwrap();
        most = most.max(String::from_utf8(ran.stdout).unwrap().trim().parse().unwrap());
    }
    assert!((1..=4).contains(&most), "{most}");
}
