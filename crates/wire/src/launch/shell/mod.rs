//! Scripts, and commands pasted from a terminal or a page.

mod container;
mod lex;
mod options;
mod prompt;
mod variables;

pub(super) use lex::Command;
pub(in crate::launch) use variables::is_name;

use super::{Launches, Word, limits};

/// Commands of the shell that start nothing.
const BUILTINS: &[&str] = &[
    "cd", "echo", "export", "set", "source", ".", "sleep", "for", "case", "return", "exit", "trap", "wait", "ulimit",
    "printf", "test", "[", "[[", "read", "local", "declare", "readonly", "shift", "unset", "true", "false", "mkdir",
];
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ash", "ksh"];

/// The commands of a script or of what was pasted from a terminal. Variables that the text sets are put in; others stay as
/// they are written.
pub fn shell(text: &str) -> Launches {
    let mut out = Launches::default();
    let text = limits::bounded(text, &mut out.notes);
    script(&prompt::without_prompts(&text), &mut out);
    out
}

/// The same, of a text that is a part of another and has no prompts.
pub(super) fn script(text: &Word, out: &mut Launches) {
    let lexed = lex::lex(text);
    if let Some(line) = lexed.unclosed {
        out.note("unclosed-quote", format!("line {line}: a quote is not closed"));
    }
    for (name, line) in lexed.defaults {
        out.note("default-taken", format!("line {line}: the default of {} is taken", model::text::printable(&name)));
    }
    let mut exported: Vec<(String, String, u32)> = Vec::new();
    for command in lexed.commands {
        let Some(first) = command.words.first() else { continue };
        if first.text == "export" {
            let set = command.words.iter().filter_map(|word| Some((word.text.split_once('=')?, word.line)));
            exported.extend(set.map(|((name, value), line)| (name.to_owned(), value.to_owned(), line)));
            exported.truncate(limits::WORDS);
        }
        if first.text.starts_with('-') {
            let line = first.line;
            out.note("stray-options", format!("line {line} begins with an option: the line before does not go on"));
        } else if !BUILTINS.contains(&first.text.as_str()) {
            let mut environment = out.copy(&exported);
            environment.extend(command.assignments);
            let launch = container::inside(command.words, environment, &mut out.environment_files);
            out.keep(launch);
        }
    }
}

/// The words of a text that is one command, as a shell splits them; operators in it only part words.
pub(super) fn split(text: &Word) -> Vec<Word> {
    let commands = lex::lex(text).commands.into_iter();
    commands
        .flat_map(|command| {
            let set = command.assignments.into_iter();
            set.map(|(name, value, line)| Word::new(format!("{name}={value}"), line)).chain(command.words)
        })
        .collect()
}

/// The simple commands of a script that is a word, and whether nothing else is in it.
pub(super) fn commands(script: &Word) -> (Vec<Command>, bool) {
    let lexed = lex::lex(script);
    (lexed.commands, lexed.simple && lexed.unclosed.is_none())
}

/// Which of `words` is the script that a shell among them runs.
pub(super) fn script_at(words: &[Word]) -> Option<usize> {
    let shell = words.iter().position(|word| SHELLS.contains(&base(&word.text)))?;
    let option = |word: &Word| word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('c');
    let flag = words[shell + 1..].iter().take_while(|word| word.text.starts_with(['-', '+'])).position(option)?;
    let script = shell + flag + 2;
    (script < words.len()).then_some(script)
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
