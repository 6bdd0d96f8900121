//! Any text as YAML: nothing panics, ends late or grows, and every line is a line of the text.

use wire::launch::{looks_like, yaml};

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    // YAML ends lines at a lone carriage return as well.
    let lines = (text.matches(['\n', '\r']).count() + 1) as u32;
    let _ = looks_like(&text);
    let read = yaml(&text);
    let mut size = 0;
    for launch in &read.found {
        assert!((1..=lines).contains(&launch.line), "{launch:?} of {lines}");
        for word in &launch.words {
            assert!((1..=lines).contains(&word.line), "{launch:?} of {lines}");
            size += word.text.len();
        }
        let _ = launch.line_of("--port");
    }
    assert!(size < 64 << 20);
}
