//! systemd units and their drop-ins, alone or joined as `systemctl cat` prints them.

mod drop_in;
mod env_file;
mod lines;
mod variables;
mod words;

pub use drop_in::drop_in;
pub use env_file::{Assignments, env_file};

use lines::Line;
use variables::Known;

use super::{Form, Launch, Launches, Word, limits};

/// What systemd takes for blank.
const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// The commands of the units in `text`. Variables from environment files stay as written: see [`unit_with`].
pub fn unit(text: &str) -> Launches {
    unit_with(text, &[])
}

/// The same, with the environment files that could be read, by the path that the unit gives. What they set wins over
/// `Environment=`, as in systemd; its line is 0.
pub fn unit_with(text: &str, files: &[(String, Assignments)]) -> Launches {
    let mut out = Launches::default();
    let text = limits::bounded(text, &mut out.notes);
    let mut unit = Unit::default();
    let mut section = "";
    for line in lines::lines(&text) {
        match line {
            Line::File(path) => {
                section = "";
                let name = path.rsplit('/').next().unwrap_or(path);
                // A drop-in belongs to the unit before it, or says itself which one it is for.
                let folder = path.rsplit('/').nth(1).and_then(|folder| folder.strip_suffix(".d"));
                if name.rsplit('.').next() != Some("conf") {
                    std::mem::take(&mut unit).finish(files, &mut out);
                    unit.name = Some(name.to_owned());
                } else if unit.name.is_none() && unit.commands.is_empty() {
                    unit.name = folder.filter(|folder| folder.contains('.')).map(str::to_owned);
                }
                unit.hint = Some(path.to_owned());
            }
            Line::Section(name) => {
                // A second unit pasted behind the first, without the comment that would name it.
                if name == "Unit" && unit.hint.is_none() && !unit.commands.is_empty() {
                    std::mem::take(&mut unit).finish(files, &mut out);
                }
                section = name;
            }
            Line::Setting { key, value, raw, line } if section == "Service" => {
                unit.set(&key, &value, &raw, line, &mut out);
            }
            Line::Setting { .. } => {}
            Line::Bad(line) => out.note("bad-line", format!("line {line} is no setting")),
        }
    }
    unit.finish(files, &mut out);
    out
}

#[derive(Default)]
struct Unit {
    name: Option<String>,
    hint: Option<String>,
    environment: Vec<(String, String, u32)>,
    unset: Vec<String>,
    files: Vec<(String, bool, u32)>,
    /// Each with whether variables are put in.
    commands: Vec<(Launch, bool)>,
}

impl Unit {
    fn set(&mut self, key: &str, value: &Word, raw: &str, line: u32, out: &mut Launches) {
        let empty = value.text.is_empty();
        match key {
            "ExecStart" if empty => self.commands.clear(),
            "ExecStart" => self.command(value, raw, line, out),
            "Environment" if empty => self.environment.clear(),
            "Environment" => {
                for word in each(value, line, out) {
                    match word.text.split_once('=') {
                        Some((name, value)) if env_file::is_name(name) && self.environment.len() < limits::WORDS => {
                            self.environment.push((name.to_owned(), value.to_owned(), word.line));
                        }
                        _ => out.note("no-assignment", format!("line {}: a word that sets no variable", word.line)),
                    }
                }
            }
            "UnsetEnvironment" => self.unset.extend(each(value, line, out).into_iter().map(|word| word.text)),
            "EnvironmentFile" if empty => self.files.clear(),
            "EnvironmentFile" => {
                let optional = value.text.starts_with('-');
                let path = words::single_percent(value).text;
                let path = path.strip_prefix('-').unwrap_or(&path);
                if self.files.len() < limits::WORDS {
                    self.files.push((path.to_owned(), optional, line));
                }
            }
            _ => {}
        }
    }

    fn command(&mut self, value: &Word, raw: &str, line: u32, out: &mut Launches) {
        let Ok(commands) = words::commands(value) else {
            out.note("unclosed-quote", format!("line {line}: a quote is not closed, systemd ignores the setting"));
            return;
        };
        let alone = commands.len() == 1 && commands.iter().all(|exec| !exec.shell);
        for exec in commands {
            if self.commands.len() > limits::LAUNCHES {
                break;
            }
            let mut launch = Launch::new(Form::Unit, line);
            launch.words = exec.words;
            launch.file_hint.clone_from(&self.hint);
            launch.raw = alone.then(|| raw.to_owned());
            self.commands.push((launch, exec.expands));
        }
    }

    fn finish(self, files: &[(String, Assignments)], out: &mut Launches) {
        let mut environment = self.environment;
        let mut more = false;
        for (path, _, _) in &self.files {
            match files.iter().find(|(known, _)| known == path) {
                Some((_, read)) => {
                    environment.extend(read.set.iter().map(|(name, value, _)| (name.clone(), value.clone(), 0)));
                }
                None => more = true,
            }
        }
        environment.retain(|(name, value, _)| {
            !self.unset.iter().any(|gone| gone == name || gone.split_once('=') == Some((name, value)))
        });
        out.environment_files.extend(self.files);
        let alone = self.commands.len() == 1;
        for (mut launch, expands) in self.commands {
            let mut missing = Vec::new();
            if expands && out.spend(0) {
                launch.words = variables::expand(&launch.words, &Known { set: &environment, more }, &mut missing);
                out.spend(launch.words.iter().map(|word| word.text.len()).sum());
            }
            for (name, line) in missing {
                let name = model::text::printable(&name);
                out.note("unknown-variable", format!("line {line}: what {name} holds is not said here"));
            }
            launch.name.clone_from(&self.name);
            launch.environment = out.copy(&environment);
            launch.raw = launch.raw.filter(|_| alone);
            out.keep(launch);
        }
    }
}

fn each(value: &Word, line: u32, out: &mut Launches) -> Vec<Word> {
    let (mut found, mut at) = (Vec::new(), 0);
    loop {
        match words::next(value, &mut at) {
            Ok(Some(word)) if found.len() < limits::WORDS => found.push(words::single_percent(&word)),
            Ok(_) => return found,
            Err(words::Unclosed) => {
                out.note("unclosed-quote", format!("line {line}: a quote is not closed"));
                return found;
            }
        }
    }
}
