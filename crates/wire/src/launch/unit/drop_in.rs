//! A drop-in that adds flags to a unit's command.

use super::unit;
use crate::launch::{Launch, Word, shell};

/// The text of a drop-in that starts the command of `launch` with `flags` behind its last argument. The rest of the command
/// is repeated as it stands, so that the text holds whatever secrets the command holds: see [`Launch::holds_secret`]. An
/// error says why no such text can be made.
pub fn drop_in(launch: &Launch, flags: &[&str]) -> Result<String, &'static str> {
    let raw = launch.raw.as_deref().ok_or("it is no single command of a unit")?;
    let before = words(raw).ok_or("its command cannot be read again")?;
    let mut wanted: Vec<String> = before.iter().map(|word| word.text.clone()).collect();
    let raw = match shell::script_at(&before) {
        Some(index) if index + 1 < before.len() => return Err("its script has arguments of its own"),
        Some(index) => {
            wanted[index] = format!("{} {}", wanted[index], flags.join(" "));
            into_script(raw, &before[index], flags)?
        }
        None => {
            wanted.extend(flags.iter().map(|flag| (*flag).to_owned()));
            let literal = raw.trim_start_matches(['-', '@', '+', '!']).starts_with(':');
            let added: String = flags.iter().map(|flag| format!(" {}", quoted(flag, literal))).collect();
            format!("{raw}{added}")
        }
    };
    // What is written must be read as what was meant; systemd's rules have more corners than this page.
    let after = words(&raw).ok_or("the command with the flags could not be read again")?;
    if !after.iter().map(|word| word.text.as_str()).eq(wanted.iter().map(String::as_str)) {
        return Err("the flags cannot be added so that they arrive as they are");
    }
    let names: Vec<_> = flags.iter().filter(|flag| flag.starts_with('-')).map(|flag| flag.split('=').next()).collect();
    let names: Vec<_> = names.into_iter().flatten().map(model::text::printable).collect();
    let unit = launch.name.as_deref().map(model::text::printable);
    let of = unit.map_or_else(String::new, |unit| format!(" of {unit}"));
    Ok(format!(
        "# Adds {} to the command{of}, which is otherwise as it was.\n[Service]\nExecStart=\nExecStart={raw}\n",
        names.join(" ")
    ))
}

/// The words of the value of an `ExecStart=`, before any variable is put in.
fn words(raw: &str) -> Option<Vec<Word>> {
    let mut found = unit(&format!("[Service]\nEnvironmentFile=/\nExecStart={raw}\n")).found;
    if found.len() == 1 { found.pop().map(|launch| launch.words) } else { None }
}

/// `raw` with `flags` at the end of the script in its last word.
fn into_script(raw: &str, script: &Word, flags: &[&str]) -> Result<String, &'static str> {
    let plain = |flag: &&str| !flag.is_empty() && flag.chars().all(is_plain);
    if !flags.iter().all(plain) {
        return Err("it is a script, and the flags would have to be quoted twice");
    }
    let (commands, simple) = shell::commands(script);
    if !simple || commands.len() != 1 {
        return Err("it is a script of more than one simple command");
    }
    let quote = raw.chars().last().filter(|quote| matches!(quote, '"' | '\''));
    let quote = quote.ok_or("its script is not in quotes")?;
    let inside = &raw[..raw.len() - 1];
    Ok(format!("{inside} {}{quote}", flags.join(" ")))
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-./:=,@+".contains(letter)
}

/// `word` so that systemd reads it as it is; `literal`: it does not look for variables.
fn quoted(word: &str, literal: bool) -> String {
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let mut out = String::from("\"");
    for letter in word.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '%' => out.push_str("%%"),
            '$' if !literal => out.push_str("$$"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            letter if letter.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out + "\""
}
