//! Compose files and Kubernetes manifests.

use wire::launch::{Form, Launch, Looks, looks_like, yaml};

const COMPOSE: &str = include_str!("launch/compose.yaml");
const RENDERED: &str = include_str!("launch/rendered.yaml");

/// Every word stands on the line that it is said to.
fn placed(text: &str, launch: &Launch) {
    let file: Vec<&str> = text.lines().collect();
    for word in launch.words.iter().filter(|word| !word.text.contains(char::is_whitespace)) {
        let line = file[word.line as usize - 1];
        assert!(line.contains(&word.text) || line.contains('$'), "{} is not on line {}", word.text, word.line);
    }
}

#[test]
fn a_compose_file() {
    let read = yaml(COMPOSE);
    let [prefill, decode, router] = &read.found[..] else { panic!("{:?}", read.found) };
    read.found.iter().for_each(|launch| placed(COMPOSE, launch));
    assert_eq!(
        prefill.argv(),
        ["python3", "-m", "sglang.launch_server", "--model-path", "/models/a b", "--port", "30000", "--price", "5$"]
    );
    assert_eq!((prefill.form, prefill.line, prefill.line_of("--port")), (Form::Compose, 12, Some(14)));
    assert_eq!(
        (prefill.name.as_deref(), prefill.image.as_deref()),
        (Some("prefill-0"), Some("registry.example/server:1"))
    );
    // Compose takes what it does not know from where it runs.
    assert_eq!(prefill.environment[0], ("HF_TOKEN".to_owned(), "${HF_TOKEN}".to_owned(), 5));
    assert_eq!(decode.argv(), ["python3", "-m", "sglang.launch_server", "--port", "30001", "--enable-metrics"]);
    assert!(decode.entrypoint && !prefill.entrypoint);
    assert_eq!((decode.name.as_deref(), decode.line, decode.line_of("--port")), (Some("decode"), 25, Some(28)));
    let level = decode.environment.iter().rfind(|(name, _, _)| name == "LEVEL").expect("LEVEL");
    assert_eq!((level.1.as_str(), level.2), ("3", 20));
    assert_eq!(read.environment_files, [("decode.env".to_owned(), false, 22), ("more.env".to_owned(), true, 23)]);
    assert_eq!(router.argv(), ["bash", "-c", "smg launch --port 1"]);
    assert_eq!(router.line_of("--port"), Some(37));
    assert_eq!(router.environment, [("A".to_owned(), "b=c".to_owned(), 34)]);
    assert_eq!(read.notes.iter().map(|note| note.id).collect::<Vec<_>>(), ["default-taken"]);
}

#[test]
fn manifests_as_helm_renders_them() {
    let read = yaml(RENDERED);
    let names: Vec<_> = read.found.iter().filter_map(|launch| launch.name.as_deref()).collect();
    assert_eq!(names, ["scripts/start.sh", "decode/wait", "decode/leader", "decode/worker", "lone/only"]);
    let [script, _, leader, worker, only] = &read.found[..] else { panic!("{names:?}") };
    read.found.iter().for_each(|launch| placed(RENDERED, launch));
    assert_eq!((script.form, script.line, script.line_of("--port")), (Form::Shell, 10, Some(11)));
    assert_eq!(script.file_hint.as_deref(), Some("serving/templates/script.yaml"));
    assert_eq!(leader.file_hint.as_deref(), Some("serving/templates/decode.yaml"));
    assert_eq!((leader.form, leader.line), (Form::Kubernetes, 38));
    let text = &leader.words[2].text;
    assert!(text.contains("--port 30000 \\\n") && text.contains("$(LWS_GROUP_SIZE) --x $(PORT)"), "{text}");
    // The comment, the empty line and the command before it are lines of the file as well.
    assert_eq!(
        (leader.line_of("python"), leader.line_of("--port"), leader.line_of("--nnodes")),
        (Some(43), Some(44), Some(45))
    );
    assert_eq!(leader.environment, [("PORT".to_owned(), "30000".to_owned(), 34)]);
    assert_eq!((worker.argv(), worker.entrypoint), (vec!["--model".to_owned(), "m".to_owned()], false));
    assert_eq!((only.argv().join(" "), only.line), ("smg launch --port 8".to_owned(), 63));
    assert_eq!(only.file_hint, None);
    assert_eq!(read.notes.iter().map(|note| note.id).collect::<Vec<_>>(), ["config-map"]);
}

#[test]
fn quoted_and_folded_texts_keep_their_lines() {
    let text = "kind: Pod\ncontainers:\n- command:\n  - bash\n  - -c\n  - \"a \\\"x\\\" \\\n    --b\\n --c\n\n    --d \\u0065\"\n  \
        - 'it''s\n    --e'\n  - >-\n    --f\n\n    --g\n";
    let launch = &yaml(text).found[0];
    assert_eq!(launch.argv()[2..], ["a \"x\" --b\n --c\n--d e", "it's --e", "--f\n--g"]);
    let at = |word: usize, part: &str| {
        let word = &launch.words[word];
        word.line_at(word.text.find(part).expect("a part"))
    };
    assert_eq!((at(2, "a "), at(2, "--b"), at(2, "--c"), at(2, "--d")), (6, 7, 7, 9));
    assert_eq!((at(3, "it"), at(3, "--e"), at(4, "--f"), at(4, "--g")), (10, 11, 13, 15));
}

#[test]
fn one_bad_document_costs_that_document() {
    let pod = |name: &str| {
        format!(
            "---\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers:\n  - name: c\n    command: [x, --y]\n"
        )
    };
    let text = format!(
        "{}---\nkind: Pod\nspec:\n  containers:\n  - name: whole\n    args: [--a]\n  - name: cut\n    args: [--b]\n    \"\n{}",
        pod("a"),
        pod("b")
    );
    let read = yaml(&text);
    let names: Vec<_> = read.found.iter().filter_map(|launch| launch.name.as_deref()).collect();
    assert_eq!(names, ["a/c", "whole", "b/c"]);
    assert_eq!(read.notes.iter().map(|note| note.id).collect::<Vec<_>>(), ["bad-yaml", "cut"]);
    let template = yaml("kind: Pod\nspec:\n  containers:\n  - args: {{ .Values.args | toYaml }}\n");
    assert!(
        template.found.is_empty() && template.notes.iter().any(|note| note.id == "template"),
        "{:?}",
        template.notes
    );
}

#[test]
fn kinds_are_told_by_content() {
    for (text, looks) in [
        (COMPOSE, Looks::Compose),
        (RENDERED, Looks::Kubernetes),
        (include_str!("launch/units.txt"), Looks::Unit),
        ("#!/usr/bin/env bash\npython x\n", Looks::Shell),
        ("# start it\npython -m x --port 1 \\\n  --y\n", Looks::Shell),
        ("$ docker run i\n", Looks::Shell),
        ("user@host:~$ x launch --port 1\nready\n", Looks::Shell),
        ("[10:00] server_args=ServerArgs(model_path='a', port=1)", Looks::Dump),
        ("# HELP a b\n# TYPE a gauge\na{b=\"c\"} 1\n", Looks::No),
        ("{\"a\": \"--b\", \"kind\": 1}", Looks::No),
        ("[2026-01-01 10:00:00] Decode batch. #running-req: 1, --x\n", Looks::No),
        ("Hello, please use the flag --enable-metrics\nThank you\n", Looks::No),
        ("port: 1\nmodel: x\n", Looks::No),
        ("", Looks::No),
    ] {
        assert_eq!(looks_like(text), looks, "{text}");
    }
}
