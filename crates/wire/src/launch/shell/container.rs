//! The command inside of `docker run …`, `srun …`, `mpirun …`: programs that start another one somewhere else.

use super::base;
use super::options::{CONTAINER, Given, IMAGE, MPI, NONE, SLURM, SUDO, TORCH, options};
use crate::launch::{Form, Launch, Word};

type Variables = Vec<(String, String, u32)>;
type Files = Vec<(String, bool, u32)>;

/// Programs inside programs, at most.
const DEPTH: usize = 8;

/// What `words` start in the end.
pub(super) fn inside(words: Vec<Word>, environment: Variables, files: &mut Files) -> Launch {
    let line = words.first().map_or(0, |word| word.line);
    let mut launch = Launch::new(Form::Shell, line);
    launch.words = words;
    launch.environment = environment;
    for _ in 0..DEPTH {
        let Some(rest) = peel(&mut launch, files) else { break };
        launch.words = rest;
    }
    launch
}

/// The words inside of the outermost program of `launch`, if it is one that is known.
fn peel(launch: &mut Launch, files: &mut Files) -> Option<Vec<Word>> {
    let start = known(&launch.words)?;
    let words = launch.words[start..].to_vec();
    let verb = words.get(1).map(|word| word.text.as_str()).unwrap_or_default();
    match base(&words[0].text) {
        "docker" | "podman" | "nerdctl" => container(launch, &words, files),
        "singularity" | "apptainer" if matches!(verb, "exec" | "run") => {
            let (given, length) = options(&words[2..], &IMAGE);
            variables(launch, &given, &["env"], files);
            let rest = &words[2 + length..];
            launch.form = Form::Container;
            launch.image = Some(rest.first()?.text.clone());
            launch.entrypoint = verb == "exec";
            Some(rest[1..].to_vec())
        }
        "kubectl" | "oc" if matches!(verb, "exec" | "run") => {
            let dashes = words.iter().position(|word| word.text == "--")?;
            let (_, length) = options(&words[2..], &NONE);
            launch.form = Form::Container;
            launch.name = words.get(2 + length).filter(|_| 2 + length < dashes).map(|word| word.text.clone());
            launch.entrypoint = verb == "exec";
            Some(words[dashes + 1..].to_vec())
        }
        "srun" => {
            let (given, length) = options(&words[1..], &SLURM);
            if let Some(image) = given.iter().find(|given| given.name == "container-image") {
                launch.form = Form::Container;
                launch.image.clone_from(&image.value);
                launch.entrypoint = true;
            }
            Some(words[1 + length..].to_vec())
        }
        "mpirun" | "mpiexec" | "orterun" | "prterun" => {
            let (given, length) = options(&words[1..], &MPI);
            variables(launch, &given, &["x", "env", "genv"], files);
            Some(words[1 + length..].to_vec())
        }
        "torchrun" => python(&words[1..]),
        "accelerate" if verb == "launch" => python(&words[2..]),
        _ => None,
    }
}

/// Where among the first words, behind `sudo`, `nohup` and their like, a program stands that [`peel`] may know.
fn known(words: &[Word]) -> Option<usize> {
    let mut at = 0;
    loop {
        match base(&words.get(at)?.text) {
            "nohup" | "exec" | "time" | "command" | "setsid" => at += 1,
            "sudo" => at += 1 + options(&words[at + 1..], &SUDO).1,
            "env" => {
                at += 1;
                while words.get(at).is_some_and(|word| word.text.contains('=')) {
                    at += 1;
                }
            }
            _ => return Some(at),
        }
    }
}

fn container(launch: &mut Launch, words: &[Word], files: &mut Files) -> Option<Vec<Word>> {
    let (_, mut at) = options(&words[1..], &CONTAINER);
    at += 1;
    if words.get(at)?.text == "container" {
        at += 1;
    }
    let verb = words.get(at)?.text.as_str();
    let runs = matches!(verb, "run" | "create");
    if !runs && verb != "exec" {
        return None;
    }
    let (given, length) = options(&words[at + 1..], &CONTAINER);
    let rest = &words[at + 1 + length..];
    let operand = rest.first()?.text.clone();
    launch.form = Form::Container;
    // What is set for the program that asks for the container is not set inside of it.
    launch.environment.clear();
    variables(launch, &given, &["e", "env"], files);
    let mut inner = rest[1..].to_vec();
    if !runs {
        launch.name = Some(operand);
        launch.entrypoint = true;
        return Some(inner);
    }
    let value = |name: &str| {
        given
            .iter()
            .rev()
            .find(|given| given.name == name)
            .and_then(|given| given.value.as_ref().map(|value| (value, given.line)))
    };
    launch.name = value("name").map(|(name, _)| name.clone());
    launch.image = Some(operand);
    if let Some((entrypoint, line)) = value("entrypoint") {
        launch.entrypoint = true;
        if !entrypoint.is_empty() {
            inner.insert(0, Word::new(entrypoint.clone(), line));
        }
    }
    Some(inner)
}

/// Keeps the variables that options set.
fn variables(launch: &mut Launch, given: &[Given], names: &[&str], files: &mut Files) {
    for option in given {
        let Some(value) = &option.value else { continue };
        if option.name == "env-file" {
            files.push((value.clone(), false, option.line));
        } else if names.contains(&option.name.as_str())
            && let Some((name, value)) = value.split_once('=')
        {
            launch.environment.push((name.to_owned(), value.to_owned(), option.line));
        }
    }
}

/// What a program that starts Python several times starts, as one starts it once.
fn python(words: &[Word]) -> Option<Vec<Word>> {
    let (given, length) = options(words, &TORCH);
    let rest = words.get(length..).filter(|rest| !rest.is_empty())?;
    let line = rest[0].line;
    let has = |names: [&str; 2]| given.iter().any(|given| names.contains(&given.name.as_str()));
    let mut out = Vec::new();
    if !has(["no-python", "no_python"]) {
        out.push(Word::new("python", line));
        if has(["m", "module"]) {
            out.push(Word::new("-m", line));
        }
    }
    out.extend_from_slice(rest);
    Some(out)
}
