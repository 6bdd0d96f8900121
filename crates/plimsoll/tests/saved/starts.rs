//! Files that say how servers are started: units, scripts, compose files, manifests, dumps of arguments.

use serde_json::Value;

use super::{Folder, data, doctor, look, text_of};

/// Where each server's missing metrics flag goes.
fn places(value: &Value) -> Vec<String> {
    let gaps = value["gaps"].as_array().expect("gaps").iter().filter(|gap| gap["id"] == "kv-series");
    gaps.map(|gap| gap["fix"]["where"].as_str().expect("a place").to_owned()).collect()
}

fn server<'a>(value: &'a Value, end: &str) -> &'a Value {
    let mut found = value["servers"].as_array().expect("servers").iter();
    found
        .find(|server| server["url"].as_str().expect("a url").ends_with(end))
        .unwrap_or_else(|| panic!("{end}: {value}"))
}

/// `file:line` is where the command begins: lines counted in the files by hand.
#[test]
fn each_command_is_a_server_and_the_fix_says_where_it_goes() {
    for (name, expected) in [
        ("decode.service", vec!["ExecStart in F:7"]),
        ("three.sh", vec!["the command at F:4"]),
        ("docker.txt", vec!["the command that runs in container decode at F:1"]),
        ("compose.yaml", vec!["command of service prefill in F:5", "command of service decode in F:9"]),
        (
            "k8s.yaml",
            vec![
                "args of container sglang of Deployment/decode in F:20, behind the last one (the text says that it comes from chart/templates/decode.yaml)",
            ],
        ),
    ] {
        let file = data(name);
        let (code, value) = look(&[&file]);
        assert_eq!(code, 1, "{name}: how it is started is no figure");
        assert!(value["servers"].as_array().expect("servers").iter().all(|server| server["unreachable"].is_null()));
        let (code, value) = doctor(&[&file]);
        assert_eq!(code, 3, "{name}");
        let expected: Vec<String> = expected.iter().map(|place| place.replace('F', &file)).collect();
        assert_eq!(places(&value), expected, "{name}");
        let evidence = value["servers"].to_string();
        assert!(evidence.contains("only how it is started is known and nothing was asked"), "{name}");
        assert!(!value["notes"].to_string().contains("--prometheus"), "{name}: nothing that is asked helps");
    }
}

#[test]
fn a_script_of_three_servers_is_three() {
    let (_, value) = doctor(&[&data("three.sh")]);
    let role = |end: &str| server(&value, end)["role"].as_str().expect("a role").to_owned();
    assert_eq!([role(":4"), role(":5"), role(":6")], ["prefill", "decode", "router"]);
    let metrics = |end: &str| {
        let findings = server(&value, end)["findings"].as_array().expect("findings").clone();
        findings.into_iter().find(|finding| finding["id"] == "kv-series").expect("a finding")["state"].clone()
    };
    assert_eq!((metrics(":4"), metrics(":5")), ("off".into(), "not_asked".into()));
}

#[test]
fn an_image_with_arguments_alone_is_known_or_noted() {
    let file = data("compose.yaml");
    let (_, value) = doctor(&[&file]);
    assert_eq!(server(&value, ":9")["role"], "decode");
    let said = value.to_string();
    assert!(said.contains(
        "compose.yaml:9: arguments alone: which program the image registry.local/lmsysorg/sglang:latest starts"
    ));
    assert!(
        said.contains("compose.yaml:15: arguments alone, for whatever the image example/other runs: passed over"),
        "{said}"
    );
}

#[test]
fn a_dump_of_arguments_tells_facts_and_no_secret() {
    let folder = Folder::new();
    let line = text_of(&data("dump.log"));
    let bare = folder.put("bare.txt", line.split_once("server_args=").expect("a dump").1);
    let json = "server_args={'model_path': 'm', 'api_key': 'canary-x', 'port': 30002, 'disaggregation_mode': 'decode', 'enable_metrics': False}\n";
    for file in [data("dump.log"), bare, folder.put("braces.txt", json)] {
        let (code, value) = look(&[&file]);
        assert_eq!(
            (code, &value["servers"][0]["role"], &value["servers"][0]["model"]),
            (1, &"decode".into(), &"m".into()),
            "{file}"
        );
        let (code, value) = doctor(&[&file]);
        assert_eq!(code, 3);
        assert!(
            value["gaps"][0]["evidence"]
                .as_str()
                .expect("evidence")
                .contains(&format!("{file}:1 enable_metrics = off"))
        );
        assert!(places(&value)[0].contains("none of these files"), "{:?}", places(&value));
    }
}

/// Words that nothing sets may be any flag: nothing is concluded from a flag that is absent.
#[test]
fn variables_that_are_not_set_here_conclude_nothing() {
    let folder = Folder::new();
    let file =
        folder.put("open.sh", "python -m sglang.launch_server --model-path m --disaggregation-mode ${MODE} $MORE\n");
    let (code, value) = doctor(&[&file]);
    assert_eq!((code, &value["servers"][0]["role"]), (0, &"unknown".into()));
    assert!(value.to_string().contains("some of its words are variables"));
}

#[test]
fn crlf_bom_and_fences_change_nothing() {
    let folder = Folder::new();
    for name in ["decode.service", "compose.yaml", "k8s.yaml", "three.sh"] {
        let text = text_of(&data(name));
        let expected = places(&doctor(&[&data(name)]).1).len();
        let spoilt = [
            text.replace('\n', "\r\n"),
            format!("\u{feff}{text}"),
            format!("See:\n```yaml\n{text}```\nand that is it\n"),
        ];
        for (turn, text) in spoilt.iter().enumerate() {
            let file = folder.put(&format!("{turn}-{name}"), text);
            let (code, value) = doctor(&[&file]);
            assert_eq!((code, places(&value).len()), (3, expected), "{name} {turn}");
        }
    }
}

/// The tag of an engine's own image is its version, where it is one, until the server itself says which it is.
#[test]
fn an_image_tells_the_version() {
    let folder = Folder::new();
    for (image, version) in [
        ("lmsysorg/sglang:v0.5.9-cu126", Value::from("0.5.9")),
        ("registry.local:5000/lmsysorg/sglang:v0.5.9@sha256:00ff", Value::from("0.5.9")),
        ("lmsysorg/sglang:latest", Value::Null),
        ("lmsysorg/sglang", Value::Null),
        // Which of its versions that is today is not said.
        ("lmsysorg/sglang:v0.5", Value::Null),
        ("ours/serving:v7.1.0", Value::Null),
    ] {
        let run =
            format!("docker run --gpus all {image} python3 -m sglang.launch_server --model-path m --port 30000\n");
        let (_, value) = look(&[&folder.put("run.sh", run.into_bytes())]);
        assert_eq!(value["servers"][0]["version"], version, "{image}: {value}");
    }
}
