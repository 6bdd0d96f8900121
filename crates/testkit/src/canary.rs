//! Canaries: made-up secrets that tests plant wherever a real one may lie. They begin alike, so that each of them is found
//! in whatever was said, and every run of the program is searched for them.

use std::io::Write as _;
use std::process::{Command, Output};

/// How a canary begins, as text and as base64 has it. `./test` searches what the whole run said for the same lines.
const SPELLINGS: &str = include_str!("canaries.txt");

/// A secret that anything may know and nothing may tell.
pub const CANARY: &str = "canary-4711";

/// The folder in which what each run said is kept for `./test`.
const SAID: &str = "PLIMSOLL_SAID";

/// The canary that is planted in `place`; letters, digits and dashes, so that nothing spells it otherwise.
pub fn planted_in(place: &str) -> String {
    format!("{CANARY}-{place}")
}

/// Where the first canary begins in `text`, in whatever case its letters are.
pub fn found(text: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    SPELLINGS.lines().filter_map(|spelling| lower.find(&spelling.to_ascii_lowercase())).min()
}

/// Runs a command and checks what it says: for runs that are not [`crate::plimsoll`]'s.
///
/// # Panics
/// When it does not start, or tells a canary.
pub fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("a program does not start: {error}"));
    let program = command.get_program().to_string_lossy().into_owned();
    check(&program, "standard output", &String::from_utf8_lossy(&output.stdout));
    check(&program, "standard error", &String::from_utf8_lossy(&output.stderr));
    output
}

/// Fails where `text`, which `program` wrote to `stream`, tells a canary. The panic shows what stands before it, not the
/// canary.
///
/// # Panics
/// When there is one.
pub(crate) fn check(program: &str, stream: &str, text: &str) {
    keep(text);
    judge(program, stream, text);
}

/// Keeps what was said for `./test`, which searches all of it once more.
fn keep(text: &str) {
    if let Some(folder) = std::env::var_os(SAID) {
        let file = std::path::Path::new(&folder).join("runs");
        let file = std::fs::OpenOptions::new().create(true).append(true).open(file);
        file.and_then(|mut file| file.write_all(text.as_bytes())).expect("what is said can be kept");
    }
}

fn judge(program: &str, stream: &str, text: &str) {
    if let Some(at) = found(text) {
        let line = text[..at].matches('\n').count() + 1;
        let start = text.floor_char_boundary(at.saturating_sub(200));
        panic!("{program} tells a secret on line {line} of its {stream}, behind: {}", &text[start..at]);
    }
}

#[cfg(test)]
mod tests {
    use super::{CANARY, SPELLINGS, found, judge, planted_in};

    #[test]
    fn every_spelling_is_found() {
        assert_eq!(SPELLINGS.lines().next(), Some(CANARY));
        // `printf 'me:canary-4711-x' | base64`, with one and two more letters in front.
        for text in [
            planted_in("argv").as_str(),
            "CANARY-4711",
            "bWU6Y2FuYXJ5LTQ3MTEteA==",
            "eG1lOmNhbmFyeS00NzExLXg=",
            "eHhtZTpjYW5hcnktNDcxMS14",
        ] {
            assert!(found(text).is_some(), "{text}");
        }
        assert_eq!(found("a canary, and --kv-canary-real-data"), None);
    }

    #[test]
    fn a_leak_is_told_without_its_secret() {
        let leak = format!("one\n\"key\": \"{}\"", planted_in("key"));
        let told = std::panic::catch_unwind(|| judge("p", "standard output", &leak)).expect_err("it tells one");
        let told = told.downcast_ref::<String>().expect("text");
        assert!(told.contains("line 2") && told.ends_with("\"key\": \"") && found(told).is_none(), "{told}");
    }
}
