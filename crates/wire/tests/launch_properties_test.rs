//! What is written is read again, whatever the words are.

use std::process::Command;

use proptest::prelude::*;
use wire::launch::{drop_in, shell, unit};

/// A word in systemd's quotes, in one of several spellings.
fn spelled(word: &str, how: u8) -> String {
    let quote = if how.is_multiple_of(2) { '"' } else { '\'' };
    let mut out = String::from(quote);
    for letter in word.chars() {
        match letter {
            '\\' => out.push_str("\\\\"),
            '%' => out.push_str("%%"),
            '$' => out.push_str("$$"),
            '\n' => out.push_str("\\n"),
            letter if letter == quote => out.extend(['\\', letter]),
            letter if how.is_multiple_of(3) && letter.is_ascii() => {
                out.push_str(&format!("\\x{:02x}", u32::from(letter)));
            }
            letter => out.push(letter),
        }
    }
    out.push(quote);
    out
}

fn words() -> impl Strategy<Value = Vec<(String, u8)>> {
    prop::collection::vec(("[ -~\n\téß]{0,12}", any::<u8>()), 0..8)
}

proptest! {
    #[test]
    fn a_drop_in_gives_the_same_words_and_the_flags(words in words(), flags in prop::collection::vec("[ -~\n\té]{0,10}", 1..4)) {
        // `$$` and `%` are no letters of their own behind `\x`, where systemd looks for them after unescaping.
        prop_assume!(words.iter().all(|(word, how)| how % 3 != 0 || !word.contains(['$', '%'])));
        let mut text = String::from("[Service]\nExecStart=/bin/run");
        for (word, how) in &words {
            text.push_str(if how % 5 == 0 { " \\\n# a comment; \"\n  " } else { " " });
            text.push_str(&spelled(word, *how));
        }
        let launch = unit(&text).found.remove(0);
        let plain: Vec<String> = words.iter().map(|(word, _)| word.clone()).collect();
        prop_assert_eq!(&launch.argv()[1..], &plain[..]);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        // A word that ends in a shell's name and is followed by -c would be a script.
        let after = drop_in(&launch, &flags).expect("a drop-in");
        prop_assert!(after.starts_with("# "));
        let again = unit(&format!("{text}\n# /etc/systemd/system/a.service.d/b.conf\n{after}")).found;
        prop_assert_eq!(again.len(), 1);
        let wanted: Vec<String> = launch.argv().into_iter().chain(flags.iter().map(|flag| (*flag).to_owned())).collect();
        prop_assert_eq!(again[0].argv(), wanted);
    }

    #[test]
    fn shell_quotes_are_taken_off(words in prop::collection::vec("[ -~\n]{0,12}", 1..8)) {
        let text: String = words.iter().map(|word| format!(" '{}'", word.replace('\'', "'\\''"))).collect();
        let found = shell(&format!("run{text}\n")).found;
        prop_assert_eq!(&found[0].argv()[1..], &words[..]);
    }
}

/// systemd itself finds nothing wrong with a drop-in, where it is installed.
#[test]
fn systemd_accepts_a_drop_in() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let text = "[Unit]\nDescription=a\n[Service]\nExecStart=/bin/echo \\\n  # why\n  --a \"b c\"\n";
    let launch = &unit(text).found[0];
    let added = drop_in(launch, &["--x", "50% of \"$HOME\" ; \\"]).expect("a drop-in");
    std::fs::create_dir(folder.path().join("a.service.d")).expect("a folder");
    std::fs::write(folder.path().join("a.service"), text).expect("a file");
    std::fs::write(folder.path().join("a.service.d/x.conf"), added).expect("a file");
    let said = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .arg(folder.path().join("a.service"))
        .output()
        .expect("an answer");
    let said = String::from_utf8_lossy(&said.stderr).into_owned() + &String::from_utf8_lossy(&said.stdout);
    let of_ours: Vec<_> = said.lines().filter(|line| line.contains("a.service") || line.contains("x.conf")).collect();
    assert!(of_ours.is_empty(), "{said}");
}
