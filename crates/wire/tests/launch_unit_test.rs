//! Units as systemd.service(5) and systemd.syntax(7) define them.

use wire::launch::{Launch, drop_in, env_file, unit, unit_with};

const UNITS: &str = include_str!("launch/units.txt");

fn one(value: &str) -> Launch {
    let text = format!("[Service]\nEnvironment=A=1 'B=x y' \"C=\"\nExecStart={value}\n");
    let mut found = unit(&text).found;
    assert_eq!(found.len(), 1, "{text}");
    found.remove(0)
}

fn lines(launch: &Launch) -> Vec<(String, u32)> {
    launch.words.iter().map(|word| (word.text.clone(), word.line)).collect()
}

#[test]
fn three_services_as_systemctl_cat_prints_them() {
    let read = unit(UNITS);
    let names: Vec<_> = read.found.iter().map(|launch| launch.name.clone().expect("a name")).collect();
    assert_eq!(names, ["prefill.service", "decode.service", "router.service"]);
    // The drop-in reset what the unit says, so that its line and file count.
    let prefill = &read.found[0];
    assert_eq!(prefill.file_hint.as_deref(), Some("/etc/systemd/system/prefill.service.d/10-metrics.conf"));
    // The file of variables is not read, but MODEL is set in the unit itself.
    assert_eq!(
        prefill.argv(),
        ["/opt/venv/bin/python", "-m", "sglang.launch_server", "--model-path", "/models/big", "--port", "30001"]
    );
    assert_eq!(
        UNITS.lines().nth(prefill.line as usize - 1).expect("a line").split(' ').next(),
        Some("ExecStart=-/opt/venv/bin/python")
    );
    assert_eq!(read.environment_files, [("/etc/default/prefill".to_owned(), true, 10)]);
    let environment: Vec<_> =
        prefill.environment.iter().map(|(name, value, line)| (name.as_str(), value.as_str(), *line)).collect();
    let wanted = [
        ("CUDA_VISIBLE_DEVICES", "0,1,2,3", 8),
        ("MODEL", "/models/big", 8),
        ("NOTE", "a b", 9),
        ("EXTRA", "--log-level info", 9),
    ];
    assert_eq!(environment, wanted);
    // A backslash before a line's end is a blank, also in quotes; `%%` is a percent sign, other specifiers stay.
    let script = &read.found[1].words[2].text;
    assert_eq!(read.found[1].argv()[..2], ["/bin/bash", "-lc"]);
    assert!(script.contains("activate &&  exec python") && script.ends_with("--host %H --ratio 50%"), "{script:?}");
    let of = |flag: &str| read.found[1].line_of(flag).expect("a line") as usize - 1;
    assert!(UNITS.lines().nth(of("--port")).expect("a line").contains("--port 30010"));
    assert!(UNITS.lines().nth(of("python")).expect("a line").contains("exec python"));
    assert!(read.notes.is_empty(), "{:?}", read.notes);
}

#[test]
fn words_over_lines_with_comments_between() {
    let main: String = UNITS.lines().take(23).collect::<Vec<_>>().join("\n");
    let launch = unit(&main).found.remove(0);
    assert_eq!(launch.line, 12);
    let wanted = [
        ("/opt/venv/bin/python", 12),
        ("-m", 12),
        ("sglang.launch_server", 12),
        ("--model-path", 13),
        ("/models/big", 13),
        ("--port", 15),
        ("30000", 15),
        ("--served-model-name", 17),
        ("big one", 17),
        ("--log-level", 17),
        ("info", 17),
        ("--disaggregation-mode", 18),
        ("prefill", 18),
    ];
    assert_eq!(lines(&launch), wanted.map(|(word, line)| (word.to_owned(), line)));
}

#[test]
fn quotes_escapes_and_variables() {
    for (value, words) in [
        // Quotes may begin inside of a word, and escapes are the same in both kinds.
        (r#"/x a"b c"d 'e\x20f' "\u00e9\101\t""#, vec!["/x", "ab cd", "e f", "éA\t"]),
        (r"/x \d \\ \s", vec!["/x", r"\d", r"\", " "]),
        (r#"/x "" '"'"#, vec!["/x", "", "\""]),
        // $B of its own is split, ${B} is not; what is not set becomes nothing, or an empty word.
        (r"/x $B ${B} ${A}b $C ${C} $NO ${NO}", vec!["/x", "x", "y", "x y", "1b", "", ""]),
        (r"/x $$A $${A} a$A 1$", vec!["/x", "$A", "${A}", "a$A", "1$"]),
        (r":/x $A ${A} $$", vec!["/x", "$A", "${A}", "$$"]),
        (r"-@+/x name a", vec!["/x", "a"]),
        (r"!!/x %i %% %n%%", vec!["/x", "%i", "%", "%n%"]),
        (r"/x a \; b;c ';'", vec!["/x", "a", ";", "b;c", ";"]),
    ] {
        assert_eq!(one(value).argv(), words, "{value}");
    }
    let two = unit("[Service]\nType=oneshot\nExecStart=/a 1 ; /b 2\n").found;
    assert_eq!(two.iter().map(Launch::argv).collect::<Vec<_>>(), [["/a", "1"], ["/b", "2"]]);
    assert!(two.iter().all(|launch| launch.raw.is_none()));
}

#[test]
fn files_of_variables() {
    let text =
        "# c\n; c\nA=1 \nB = two words  \nC='x\ny'  'z'\nD=\"a\\\"b\\$c\\d\"\nE=a\\\nb\nbad line\nF=a'b\nG=\r\nH=#h\n";
    let read = env_file(text);
    let set: Vec<_> = read.set.iter().map(|(name, value, line)| (name.as_str(), value.as_str(), *line)).collect();
    let wanted = [
        ("A", "1", 3),
        ("B", "two words", 4),
        ("C", "x\nyz", 5),
        ("D", "a\"b$c\\d", 7),
        ("E", "ab", 8),
        ("F", "a'b", 11),
        ("G", "", 12),
        ("H", "#h", 13),
    ];
    assert_eq!(set, wanted);
    assert_eq!(read.notes.len(), 1);
    assert!(!format!("{read:?}").contains("two"));
    // The file wins over the unit; without it, what it may say stays open.
    let text = "[Service]\nEnvironment=A=0\nEnvironmentFile=/f\nExecStart=/x ${A} ${B} ${Z} $Z\n";
    let with = unit_with(text, &[("/f".to_owned(), read)]);
    assert_eq!(with.found[0].argv(), ["/x", "1", "two words", ""]);
    assert_eq!(with.notes.len(), 2);
    let without = unit(text);
    assert_eq!(without.found[0].argv(), ["/x", "0", "${B}", "${Z}", "$Z"]);
    assert_eq!(without.notes.iter().map(|note| note.id).collect::<Vec<_>>(), ["unknown-variable"; 3]);
}

#[test]
fn resets_and_pasted_units() {
    let text = "[Service]\nEnvironment=A=1\nEnvironment=\nEnvironment=B=2 C=3\nUnsetEnvironment=C\nEnvironmentFile=/a\n\
        EnvironmentFile=\nExecStart=/x\nExecStart=\nExecStart=/y\n";
    let read = unit(text);
    assert_eq!((read.found.len(), read.found[0].argv()), (1, vec!["/y".to_owned()]));
    assert_eq!(read.found[0].environment, [("B".to_owned(), "2".to_owned(), 4)]);
    assert!(read.environment_files.is_empty());
    let one = "[Unit]\nDescription=x\n[Service]\nExecStart=/x 1\n[Install]\nWantedBy=y\n";
    assert_eq!(unit(&format!("{one}\n{one}")).found.iter().map(|launch| launch.line).collect::<Vec<_>>(), [4, 11]);
    let alone = unit("# /run/systemd/system/a.service.d/b.conf\n[Service]\nExecStart=\nExecStart=/z\n");
    assert_eq!(alone.found[0].name.as_deref(), Some("a.service"));
}

#[test]
fn drop_ins_repeat_the_command_and_add() {
    let prefill = &unit(UNITS).found[0];
    let text = drop_in(prefill, &["--enable-metrics"]).expect("a drop-in");
    assert_eq!(
        text,
        "# Adds --enable-metrics to the command of prefill.service, which is otherwise as it was.\n[Service]\nExecStart=\n\
        ExecStart=-/opt/venv/bin/python -m sglang.launch_server --model-path ${MODEL} --port 30001 --enable-metrics\n"
    );
    // Behind the unit itself it gives the old words and the new one.
    let after = unit(&format!("{UNITS}\n# /etc/systemd/system/router.service.d/x.conf\n{text}"));
    assert_eq!(after.found.len(), 3);
    let main: String = UNITS.lines().take(23).collect::<Vec<_>>().join("\n");
    let launch = unit(&main).found.remove(0);
    let text = drop_in(&launch, &["--x", "50% of $HOME", ""]).expect("a drop-in");
    let again = unit(&format!("{main}\n{text}")).found.remove(0);
    let wanted: Vec<String> = launch.argv().into_iter().chain(["--x", "50% of $HOME", ""].map(str::to_owned)).collect();
    assert_eq!(again.argv(), wanted);
    assert!(text.contains("# the port of the prefill side"), "{text}");
}

#[test]
fn drop_ins_for_scripts_only_where_there_is_one_place() {
    let simple = one(r#"/bin/bash -lc "exec python -m m --port 1""#);
    let text = drop_in(&simple, &["--enable-metrics"]).expect("a drop-in");
    assert!(text.ends_with("ExecStart=/bin/bash -lc \"exec python -m m --port 1 --enable-metrics\"\n"), "{text}");
    for (value, why) in [
        ("/bin/bash -c 'cd /x && python -m m'", "more than one simple command"),
        ("/bin/bash -c 'python -m m | tee log'", "more than one simple command"),
        ("/bin/bash -c 'python -m m # why'", "more than one simple command"),
        ("/bin/bash -c 'python -m m' name", "arguments of its own"),
        (r"/bin/bash -c python\x20-m\x20m", "not in quotes"),
        ("/a ; /b", "no single command"),
        ("|/a b", "no single command"),
    ] {
        let launch = unit(&format!("[Service]\nExecStart={value}\n")).found.remove(0);
        let refused = drop_in(&launch, &["--x"]).expect_err(value);
        assert!(refused.contains(why), "{value}: {refused}");
    }
    assert!(drop_in(&simple, &["--x", "a b"]).is_err());
}
