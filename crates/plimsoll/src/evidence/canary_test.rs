//! Canaries in every kind of place: none of them is in what may be sent.

use engines::Tables;
use model::{Blind, BlindKind};
use sense::place::{Commands, Kept, Told};
use testkit::canary::{CANARY, found};

use super::kinds_test::{commands, ends, file, inside, kept, page, ran, sifted};
use super::{Pseudonyms, redact};

#[allow(dead_code)] // only its files are used here
#[path = "../../tests/canaries/files.rs"]
mod files;
use files::{ARGUMENTS, all, plant};

/// What a capture would hold of these, as far as text goes.
fn told(kept: &[Kept]) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let one = |kept: &Kept| match &kept.answered {
        Ok(Told::Content(content)) => text(&content.bytes),
        Ok(Told::Ends(ends)) => text(&[&ends.head[..], &ends.tail].concat()),
        Ok(Told::Ran(ran)) => text(&ran.stdout) + &ran.stderr,
        Ok(Told::Commands(commands)) => {
            commands.found.iter().map(|line| text(&line.bytes)).chain(commands.hung.clone()).collect()
        }
        Ok(Told::Seen(seen)) => {
            seen.url.clone()
                + &seen.outcome.as_ref().map_or_else(|blind| blind.text.clone(), |answer| text(&answer.body))
        }
        Ok(Told::Sifted(folder)) => folder
            .files
            .iter()
            .map(|file| match &file.taken {
                sense::place::Taken::With(bytes) => text(bytes),
                _ => String::new(),
            })
            .collect(),
        other => format!("{other:?}"),
    };
    kept.iter().map(|kept| format!("{:?}\n{}\n", kept.key, one(kept))).collect()
}

fn text(name: &str) -> String {
    all().into_iter().find(|(other, ..)| *other == name).expect("a file").1
}

/// A command line as the kernel shows it.
fn words(command: &str) -> Vec<u8> {
    let mut words: Vec<String> = Vec::new();
    for (at, part) in plant(command).split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    (words.join("\0") + "\0").into_bytes()
}

fn planted() -> Vec<Kept> {
    let mut places = files_and_answers();
    places.extend(processes());
    places.extend(everywhere());
    places
}

/// Each kind of file and of answer.
fn files_and_answers() -> Vec<Kept> {
    vec![
        file(
            "/proc/100/environ",
            plant("PATH=/bin\0HF_TOKEN=<env-token>\0OTHER=<env-other>\0HOME=http://me:<env-url>@h\0"),
        ),
        file("/etc/systemd/system/x.service", text("decode.service")),
        file("/etc/systemd/system/x.service.d/10.conf", text("other.service")),
        file(
            "/etc/default/decode",
            plant("HF_TOKEN=<file-token>\nKEY=\"<file-quoted>\n<file-second>\"\nA=http://me:<file-url>@h\n"),
        ),
        ran(
            &["systemctl", "x.service", "system"],
            plant("ExecStart={ argv[]=/x --api-key <show-key> }\nFragmentPath=/x\n"),
        ),
        inside(
            "/srv/config.yaml",
            plant(
                "api-key: <config-key> # <config-remark>\nmodel-path: s3://me:<config-url>@h/m\npassword: |\n  <config-block>\nx: {token: '<config-flow>'}\n",
            ),
        ),
        inside("/p/x.dist-info/direct_url.json", plant("{\"url\":\"https://me:<package-url>@h/r\"}")),
        inside("/p/x.dist-info/METADATA", plant("Version: 1\nAuthor: <package-author>\n\n<package-text>\n")),
        inside("/p/x/__init__.py", plant("KEY = '<package-key>'\n__version__ = '1'\n")),
        sifted(".py", "a.py", plant("API_KEY = '<source-key>'\nURL = 'http://me:<source-url>@h'\n").as_bytes()),
        sifted(".pth", "a.pth", plant("import os; os.k = '<lead-code>'\n/srv/x\n").as_bytes()),
        kept(&["link", "/proc/100/fd/9"], Told::Link("/dev/shm/sglang_load_snapshot_x".into())),
        page("/metrics", 500, plant("the key <refused-text>")),
        page(
            "/metrics",
            200,
            plant(
                "# HELP a Of <help-text>.\n# <remark-text>\na{token=\"<label-secret>\",b=\"me:<label-url>@h:1\"} 1\nb{c=\"x\"} 1 # {t=\"<exemplar>\"} 1\nd <bad-value>\n<bad-name>=1\ne{last_prompt=\"<label-text>\"} 1\n",
            ),
        ),
        page("/server_info", 200, text("server_info.json")),
        page("/server_info", 200, text("cut.json")),
        page(
            "/v1/loads",
            200,
            plant(
                "{\"messages\":[{\"role\":\"user\",\"content\":\"<json-prompt>\"}],\"tools\":{\"a\":[\"<json-tool>\"]},\"auth\":{\"user\":\"<json-nested>\"},\"userPrompt\":\"<json-spelled>\",\"last_str\":\"<json-ending>\"}",
            ),
        ),
        page("/api/v2/status", 200, plant("{\"config\":{\"original\":\"x <monitor-config>\"}}")),
        page(
            "/api/v1/targets?state=active",
            200,
            plant(
                "{\"data\":{\"activeTargets\":[{\"scrapeUrl\":\"http://me:<scrape-url>@h/\",\"discoveredLabels\":{\"a\":\"<discovered>\"}}],\"droppedTargets\":[{\"x\":\"<dropped>\"}]}}",
            ),
        ),
        Kept {
            answered: Err(Blind::new(BlindKind::Gone, plant("http://me:<blind-url>@h refused, api_key=<blind-key>"))),
            ..page("/metrics", 200, "")
        },
        kept(
            &["commands", "y"],
            Told::Commands(Commands { hung: vec![plant("pid 7 hangs, --api-key <hung-key>")], ..Commands::default() }),
        ),
    ]
}

/// Command lines, among all and alone.
fn processes() -> Vec<Kept> {
    let lines = [
        (100, format!("python3 -m sglang.launch_server --port 30000 --config config.yaml {ARGUMENTS}")),
        (101, "curl -H <other-process>".to_owned()),
        (
            102,
            "smg launch --worker-urls http://me:<worker-url>@127.0.0.1:1/?token=<worker-query> --api-key <argv-router>"
                .to_owned(),
        ),
        (
            103,
            "bash -c 'cd . && HF_TOKEN=<script> python -m sglang.launch_server --port 1 --api-key <script-key>; true'"
                .to_owned(),
        ),
        (104, "env HF_TOKEN=<env-word> python3 -m sglang.launch_server --port 2".to_owned()),
    ];
    let mut one = commands(&[]);
    if let Ok(Told::Commands(commands)) = &mut one.answered {
        commands.found = lines
            .iter()
            .map(|(pid, command)| sense::place::CommandLine { pid: *pid, bytes: words(command), cut: false })
            .collect();
    }
    let own = lines.iter().map(|(pid, command)| file(&format!("/proc/{pid}/cmdline"), words(command)));
    own.chain([one]).collect()
}

/// Every file that people save, in every place where text is read.
fn everywhere() -> Vec<Kept> {
    let mut places = Vec::new();
    for (name, text, _) in all() {
        // A page, a log or whatever else is found where a log was looked for, or given with `--log`.
        places.push(ends(&["file", &format!("/srv/{name}")], text.clone(), "", 0));
        places.push(ends(&["descriptor", "100", "1"], &text[..text.len() / 2], &text[text.len() / 2..], 5));
        places.push(ends(&["descriptor", "100", "9"], text.clone(), "", 0));
        places.push(page("/metrics", 200, text.clone()));
        places.push(page("/server_info", 200, text.clone()));
        places.push(inside("/srv/config.yaml", text.clone()));
        places.push(file("/etc/systemd/system/y.service", text.clone()));
        let record = |line: &str| {
            format!("{{\"MESSAGE\":{},\"__REALTIME_TIMESTAMP\":\"1795968924500000\"}}\n", serde_json::Value::from(line))
        };
        places
            .push(ran(&["journalctl", "x.service", "system", "newest"], text.lines().map(record).collect::<String>()));
        // What nobody should be able to ask for.
        places.push(file(&format!("/srv/{name}"), text.clone()));
        places.push(kept(&["other", name], Told::Content(sense::Content { bytes: text.into_bytes(), cut: false })));
    }
    places
}

#[test]
fn no_canary_is_told() {
    let before = planted();
    let whole = told(&before);
    assert!(whole.matches(CANARY).count() > 400, "{} canaries lie about", whole.matches(CANARY).count());
    for anonymise in [false, true] {
        let mut pseudonyms = Pseudonyms::new(Some("gpu-1"));
        let (after, _) = redact(&Tables::builtin(), before.clone(), anonymise.then_some(&mut pseudonyms));
        for kept in &after {
            let text = told(std::slice::from_ref(kept));
            if let Some(at) = found(&text) {
                let start = text.floor_char_boundary(at.saturating_sub(200));
                let end = text.floor_char_boundary((at + 60).min(text.len()));
                panic!("{:?} tells a secret: {}", kept.key, &text[start..end]);
            }
        }
        assert!(after.len() > 60, "{} answers are kept", after.len());
    }
}

/// What is safe stays as it is: blotting once is enough.
#[test]
fn what_is_safe_stays() {
    let tables = Tables::builtin();
    let (once, _) = redact(&tables, planted(), None);
    let (twice, _) = redact(&tables, once.clone(), None);
    for (once, twice) in once.iter().zip(&twice) {
        assert_eq!(told(std::slice::from_ref(twice)), told(std::slice::from_ref(once)));
    }
    assert_eq!(once.len(), twice.len());
}

/// `kept` with its text cut behind so many hundredths of it, as caps cut it.
fn cut(mut kept: Kept, hundredths: usize) -> Kept {
    let shorten = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() * hundredths / 100);
    match &mut kept.answered {
        Ok(Told::Content(content)) => {
            shorten(&mut content.bytes);
            content.cut = true;
        }
        Ok(Told::Ends(ends)) => {
            // What lies between the two ends was not read.
            let many = ends.tail.len() * hundredths / 100;
            ends.tail.drain(..many);
            shorten(&mut ends.head);
            ends.tail_from = ends.head.len() as u64 + 1000;
        }
        Ok(Told::Ran(ran)) => {
            shorten(&mut ran.stdout);
            ran.cut = true;
        }
        Ok(Told::Commands(commands)) => commands.found.iter_mut().for_each(|line| {
            shorten(&mut line.bytes);
            line.cut = true;
        }),
        Ok(Told::Seen(seen)) => {
            if let Ok(answer) = &mut seen.outcome {
                shorten(&mut answer.body);
            }
        }
        _ => {}
    }
    kept
}

#[test]
fn no_canary_is_told_of_what_was_cut() {
    let tables = Tables::builtin();
    for hundredths in [3, 11, 19, 28, 37, 45, 52, 61, 70, 78, 86, 91, 97] {
        let all = planted().into_iter().map(|kept| cut(kept, hundredths)).collect();
        for kept in redact(&tables, all, None).0 {
            let text = told(std::slice::from_ref(&kept));
            if let Some(at) = found(&text) {
                let start = text.floor_char_boundary(at.saturating_sub(300));
                panic!("{:?} tells a secret at {hundredths}: {}", kept.key, &text[start..(at + 40).min(text.len())]);
            }
        }
    }
}
