//! The page's files: one line each.

/// One file of the page.
pub(crate) struct File {
    /// Below `/assets/`, and below `crates/web/assets/`.
    pub(crate) name: &'static str,
    /// Its content type.
    pub(crate) kind: &'static str,
    /// What is in it.
    pub(crate) bytes: &'static [u8],
}

macro_rules! files {
    ($($name:literal: $kind:expr,)*) => {
        &[$(File { name: $name, kind: $kind, bytes: include_bytes!(concat!("../../assets/", $name)) }),*]
    };
}

const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const JS: &str = "text/javascript; charset=utf-8";

/// All of them; nothing else is served.
pub(crate) const FILES: &[File] = files! {
    "index.html": crate::answer::HTML,
    "app.css": CSS,
    "bar.js": JS,
    "chart.js": JS,
    "dom.js": JS,
    "fleet.js": JS,
    "gaps.js": JS,
    "history.js": JS,
    "keys.js": JS,
    "main.js": JS,
    "panel.js": JS,
    "series.js": JS,
    "sign_in.js": JS,
    "store.js": JS,
    "verdict.js": JS,
    "words.js": JS,
    "favicon.svg": SVG,
};
