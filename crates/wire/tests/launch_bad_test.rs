//! Texts that are broken, hostile or huge: they cost what is wrong with them, and end fast.

use std::fmt::Write;

use wire::launch::{Launches, Looks, drop_in, dump, env_file, looks_like, shell, unit, yaml};

fn ids(read: &Launches) -> Vec<&str> {
    read.notes.iter().map(|note| note.id).collect()
}

#[test]
fn broken_units() {
    let text = "\u{feff}[Service]\r\nno setting\r\nExecStart=/x 'a\r\nExecStart=/y \\\r\n\t--b\t\\\r\n\r\nExecStart=/z\0 c\r\n[Bro\r\n";
    let read = unit(text);
    let argvs: Vec<_> = read.found.iter().map(|launch| launch.argv().join("|")).collect();
    assert_eq!(argvs, ["/y|--b", "/z\u{fffd}|c"]);
    assert_eq!(ids(&read), ["binary", "bad-line", "unclosed-quote", "bad-line"]);
    assert!(unit("[Service]\nExecStart=/x \\").found[0].argv() == ["/x"]);
    assert!(unit("ExecStart=/x\n[Unit]\nExecStart=/x\n[Service]\nExecStart=-\nExecStart=@/x\n").found.len() == 1);
    assert_eq!(env_file("A='b\nc").set[0].1, "b\nc");
}

#[test]
fn broken_scripts() {
    let read = shell("a --b\nc 'd\ne --f\n");
    assert_eq!(read.found.iter().map(|launch| launch.argv().join("|")).collect::<Vec<_>>(), ["a|--b", "c|d\ne --f\n"]);
    assert_eq!((ids(&read), read.notes[0].text.contains("line 2")), (vec!["unclosed-quote"], true));
    for text in [
        "a $(b",
        "a ${b",
        "a `b",
        "a <<",
        "a <<E\nx",
        "a >",
        "\\",
        "$",
        "A=(",
        "a ${",
        ")",
        "docker",
        "docker run -e",
        "torchrun -m",
        "\0",
    ] {
        shell(text);
    }
    assert_eq!(shell("A=1\nA=$A$A\n".to_owned().as_str()).found.len(), 0);
}

#[test]
fn broken_manifests() {
    for text in [
        "a: [",
        "\t- a",
        "a: b: c",
        "{",
        "- - - -",
        "kind: Pod\ncontainers: 3\n",
        "kind: Pod\ncontainers:\n- 3\n- [a]\n- {command: {a: b}}\n",
        "%YAML 9\n---\na: !!int x\n",
        "*a",
        "a: *b",
        "services: 3",
        "services: {a: 3, b: {command: [[x], {y: z}]}}",
        "? a\n? b\n",
        "&a [*a]",
        "\0\0",
        "---\n---\n...\n",
    ] {
        assert!(yaml(text).found.is_empty(), "{text}");
    }
    let tabs = yaml("kind: Pod\r\ncontainers:\r\n- name: a\r\n  command: [x,\t--y]\r\n-\tname: b\r\n  args: [--z]\r\n");
    assert_eq!(tabs.found[0].argv(), ["x", "--y"]);
    // A cycle: the list of containers holds itself.
    yaml("kind: Pod\ncontainers: &c\n- {command: [a, --b], more: {containers: *c}}\n");
    yaml("services:\n  a: &a\n    <<: *a\n    command: x\n");
}

#[test]
fn laughs_end_fast() {
    for (open, close) in [("[", "]"), ("{<<: [", "]}")] {
        let mut text = String::from("a0: &a0 [x, y]\n");
        for level in 1..40 {
            let before = format!("*a{}, ", level - 1).repeat(9);
            writeln!(text, "a{level}: &a{level} {open}{before}{close}").expect("a text");
        }
        text.push_str("kind: Pod\ncontainers: *a39\nservices: *a39\n");
        let read = yaml(&text);
        assert!(read.found.is_empty());
    }
    // Large things repeated often.
    let word = "x".repeat(100_000);
    let mut text = format!("w: &w {word}\nl: &l [{}]\nkind: Pod\ncontainers:\n", "*w, ".repeat(4000));
    text.push_str(&"- {command: *l}\n".repeat(20_000));
    let read = yaml(&text);
    assert!(read.found.iter().flat_map(|launch| &launch.words).map(|word| word.text.len()).sum::<usize>() < 32 << 20);
    assert!(ids(&read).contains(&"many-copies"), "{:?}", ids(&read));
    let mut text = format!("[Service]\nEnvironment=A={word}\n");
    text.push_str(&format!("ExecStart=/x {}\n", "${A} ".repeat(100)).repeat(900));
    let read = unit(&text);
    let size = |read: &Launches| -> usize {
        let words = read.found.iter().flat_map(|launch| &launch.words).map(|word| word.text.len()).sum::<usize>();
        words + read.found.iter().flat_map(|launch| &launch.environment).map(|(_, value, _)| value.len()).sum::<usize>()
    };
    assert!(size(&read) < 64 << 20 && ids(&read).contains(&"many-copies"));
    let text = format!("A={word}\n{}{}", "A=$A$A\n".repeat(40), "x --y $A\n".repeat(2000));
    assert!(size(&shell(&text)) < 64 << 20);
}

#[test]
fn deep_and_endless() {
    let many = 8_000;
    let texts = [
        "[",
        "{",
        "- ",
        "? ",
        "a: ",
        "(",
        "${",
        "$(",
        "`",
        "'",
        "\"",
        "<<a ",
        "\\",
        "{a: ",
        "[*a, &a ",
        "f(a=",
        "f(a='",
        "F(a=\"",
        "args: {'a': <",
        "a=(",
        "<!",
        "%%",
        "$A",
        "${A",
        "$(A",
        "\n",
        "\\\n",
        "#\n",
        "---\n",
        ">",
        "\t",
        "[Service]\nExecStart=\n",
        "é",
        "|\n ",
        "&a ",
        "- &a b\n- *a\n",
        "x --y\n",
        "$ a \\\n",
    ];
    for text in texts {
        let text = text.repeat(many / text.len());
        for text in [
            &text,
            &format!("[Service]\nEnvironmentFile=/a\nExecStart=/x {text}"),
            &format!(
                "kind: Pod\ncontainers:\n- env: [{{name: A, value: b}}]\n  command: [x, --y, '{text}']\n- args:\n  - |\n    {text}"
            ),
        ] {
            unit(text);
            shell(text);
            yaml(text);
            looks_like(text);
            dump(text);
            env_file(text);
        }
    }
}

#[test]
fn what_is_too_long_is_not_read() {
    let word = "x".repeat(10 << 20);
    for text in [
        &word,
        &format!("[Service]\nExecStart=/x {word}\nExecStart=/y\n"),
        &format!("kind: Pod\ncontainers:\n- command: [{word}]\n"),
    ] {
        for read in [unit(text), shell(text), yaml(text)] {
            assert!(read.found.iter().all(|launch| launch.argv().iter().all(|word| word.len() < 200)));
            assert_eq!(ids(&read)[0], "text-cut");
        }
        assert!(matches!(looks_like(text), Looks::No | Looks::Unit | Looks::Kubernetes));
    }
    let word = "x".repeat(200 << 10);
    assert_eq!(ids(&unit(&format!("[Service]\nExecStart=/x {word}\n"))), ["long-word"]);
    assert_eq!(ids(&shell(&format!("a {word}\nb c\n"))), ["long-word"]);
    assert_eq!(ids(&shell(&"a b\n".repeat(5000))), ["many-commands"]);
    assert_eq!(shell(&"a b\n".repeat(5000)).found.len(), 4096);
    assert_eq!(ids(&shell(&"a ".repeat(5000))), ["long-command"]);
}

/// Secrets are kept for callers, and shown by no `Debug` and no note.
#[test]
fn secrets_are_not_shown() {
    let canary = "c4n4ry";
    let units = format!(
        "[Service]\nEnvironment=HF_TOKEN={canary} '{canary}\nEnvironment={canary}\n{canary}\nExecStart=/x --api-key {canary} ${{{canary}x}}\nExecStart=/x '{canary}"
    );
    let script = format!("export A={canary}\nB={canary} x --api-key {canary} '{canary}");
    let manifest = format!(
        "kind: Pod\ncontainers:\n- env: [{{name: A, value: {canary}}}]\n  args: [--key, {canary}, [{canary}]]\n  {canary}\n\t{canary}: {canary}: "
    );
    for read in [unit(&units), shell(&script), yaml(&manifest)] {
        assert!(!read.notes.is_empty());
        let shown = format!("{read:?}").replace("c4n4ryx", "");
        assert!(!shown.contains(canary), "{shown}");
    }
    let printed =
        format!("ServerArgs(a='{canary}', api_key='{canary}', key_ids=[1], admin_password=77, c=['{canary}'])");
    let read = dump(&printed).expect("a dump");
    let shown = format!("{read:?}");
    assert!(!shown.contains(canary) && !shown.contains("77"), "{shown}");
    assert_eq!(read.fields[1].1.text(), canary);
    assert!(drop_in(&unit("[Service]\nExecStart=/x y\n").found[0], &[]).is_ok());
}
