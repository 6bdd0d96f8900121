//! Any text as a unit, a script and a dump of arguments: nothing panics, every line is a line of the text, and a drop-in that
//! is made says what the unit said and the flag.

use wire::launch::{Launches, drop_in, dump, env_file, looks_like, shell, unit, unit_with};

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let lines = text.lines().count() as u32 + 1;
    let _ = looks_like(&text);
    for read in [unit(&text), shell(&text), unit_with(&text, &[("/f".to_owned(), env_file(&text))])] {
        placed(&read, lines);
        for launch in &read.found {
            let Ok(added) = drop_in(launch, &["--plimsoll", "x y"]).or_else(|_| drop_in(launch, &["--plimsoll"]))
            else {
                continue;
            };
            let again = unit(&added).found;
            assert_eq!(again.len(), 1, "{added}");
            assert!(again[0].words.iter().any(|word| word.text.contains("--plimsoll")), "{added}");
        }
    }
    if let Some(read) = dump(&text) {
        assert!(read.fields.len() >= 2 && text.get(read.range.clone()).is_some_and(|own| own.starts_with(read.name)));
        assert!(read.whole || !read.notes.is_empty());
    }
}

fn placed(read: &Launches, lines: u32) {
    for launch in &read.found {
        assert!((1..=lines).contains(&launch.line), "{launch:?}");
        for word in &launch.words {
            assert!((1..=lines).contains(&word.line), "{launch:?}");
            assert!((1..=lines).contains(&word.line_at(word.text.len())), "{launch:?}");
        }
        assert!(launch.environment.iter().all(|(_, _, line)| *line <= lines));
        let _ = (launch.holds_secret(), launch.line_of("--port"));
    }
}
