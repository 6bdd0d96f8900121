//! Command lines inside command lines: shells, `env`, `numactl` and their like, down to what really runs.

/// Wrappers that run what follows them, with the options of theirs that take a value of their own.
const WRAPPERS: &[(&str, &[&str])] = &[
    ("env", &["-u", "-C", "-S", "--unset", "--chdir"]),
    (
        "numactl",
        &["-N", "-m", "-C", "-i", "-p", "--cpunodebind", "--membind", "--physcpubind", "--interleave", "--preferred"],
    ),
    ("taskset", &["-p"]),
    ("nice", &["-n"]),
    ("ionice", &["-c", "-n", "-p"]),
    ("chrt", &[]),
    ("nohup", &[]),
    ("setsid", &[]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("time", &["-f", "-o"]),
    ("timeout", &["-s", "-k", "--signal", "--kill-after"]),
    ("sudo", &["-u", "-g", "-C", "-D", "-h", "-p", "-r", "-t", "-T", "-U"]),
    ("su-exec", &[]),
    ("gosu", &[]),
    ("tini", &["-p"]),
    ("docker-init", &[]),
    ("dumb-init", &["-r"]),
    ("catatonit", &[]),
    ("runuser", &["-u"]),
    ("unshare", &[]),
    ("prlimit", &[]),
    ("uv", &["--python", "-p", "--directory", "--project", "--with", "--env-file"]),
    ("uvx", &["--python", "-p", "--from", "--with"]),
    ("poetry", &[]),
    ("pipenv", &[]),
    ("conda", &["-n", "-p", "--name", "--prefix", "--cwd"]),
    ("mamba", &["-n", "-p", "--name", "--prefix", "--cwd"]),
    ("micromamba", &["-n", "-p", "--name", "--prefix", "--cwd"]),
    ("nsys", &["-o", "-t", "--output", "--trace"]),
    ("py-spy", &["-o", "-r", "-d"]),
    ("strace", &["-e", "-o", "-p"]),
    ("catchsegv", &[]),
    ("tee", &[]),
];
/// Words that wrappers put between themselves and the command.
const VERBS: &[&str] = &["run", "exec", "profile", "record", "--"];
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ash", "ksh", "busybox"];
/// Wrappers inside wrappers, at most.
const DEPTH: usize = 8;

/// The last part of a path.
pub(super) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Every command that `argv` runs, innermost last, each with how many wrappers stood around it. The first is `argv`
/// itself.
pub(super) fn commands(argv: &[String]) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    unwrap(argv, 0, &mut found);
    found
}

fn unwrap(argv: &[String], depth: usize, found: &mut Vec<(usize, Vec<String>)>) {
    let argv = without_assignments(argv);
    let Some(command) = argv.first() else { return };
    found.push((depth, argv.to_vec()));
    if depth == DEPTH {
        return;
    }
    let name = base(command).trim_start_matches('-');
    if SHELLS.contains(&name) {
        if let Some(script) = shell_script(&argv[1..]) {
            for part in split_script(script) {
                unwrap(&part, depth + 1, found);
            }
        }
        return;
    }
    if let Some((_, valued)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
        let rest = after_options(
            &argv[1..],
            valued,
            name == "timeout" || name == "chrt" || name == "taskset" || name == "gosu" || name == "su-exec",
        );
        unwrap(rest, depth + 1, found);
    }
}

fn without_assignments(argv: &[String]) -> &[String] {
    let is_assignment = |word: &String| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    let start =
        argv.iter().position(|word| !is_assignment(word) && word != "exec" && word != "command").unwrap_or(argv.len());
    &argv[start..]
}

/// Skips a wrapper's own options; `operand`: it also takes one word of its own (a duration, a mask, a user).
fn after_options<'a>(argv: &'a [String], valued: &[&str], operand: bool) -> &'a [String] {
    let mut index = 0;
    let mut operand = operand;
    while let Some(word) = argv.get(index) {
        if valued.contains(&word.as_str()) {
            index += 2;
        } else if word.starts_with('-') || VERBS.contains(&word.as_str()) {
            index += 1;
        } else if operand {
            operand = false;
            index += 1;
        } else {
            break;
        }
    }
    argv.get(index..).unwrap_or_default()
}

/// The words of the first command in a shell text.
pub fn split(text: &str) -> Vec<String> {
    split_script(text).into_iter().next().unwrap_or_default()
}

/// The text behind `-c`, `-lc`, `-ec`, …
fn shell_script(arguments: &[String]) -> Option<&str> {
    let flag =
        arguments.iter().position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))?;
    arguments.get(flag + 1).map(String::as_str)
}

/// Splits a shell text into simple commands: quotes are honoured, nothing is expanded.
fn split_script(script: &str) -> Vec<Vec<String>> {
    let mut parts = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = script.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some('"') | None, '\\') => {
                // A backslash before a line end joins the lines.
                if let Some(escaped) = letters.next().filter(|escaped| *escaped != '\n') {
                    word.get_or_insert_default().push(escaped);
                }
            }
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, ' ' | '\t') => end_word(&mut parts, &mut word),
            (None, ';' | '&' | '|' | '\n' | '(' | ')' | '{' | '}') => {
                end_word(&mut parts, &mut word);
                parts.push(Vec::new());
            }
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    end_word(&mut parts, &mut word);
    parts.retain(|part| !part.is_empty());
    parts
}

fn end_word(parts: &mut [Vec<String>], word: &mut Option<String>) {
    if let (Some(word), Some(part)) = (word.take(), parts.last_mut()) {
        part.push(word);
    }
}
