//! What a file looks like that is of no known kind.

use wire::exposition::{Kind, looks_like};

/// First bytes of what is compressed, or in another encoding, and what it is.
const MARKS: [(&[u8], &str); 7] = [
    (b"\x1F\x8B", "gzip: unpack it first (gzip -dc FILE | plimsoll status -)"),
    (b"\x28\xB5\x2F\xFD", "zstd: unpack it first (zstd -dc FILE | plimsoll status -)"),
    (b"\xFD7zXZ\0", "xz: unpack it first (xz -dc FILE | plimsoll status -)"),
    (b"BZh", "bzip2: unpack it first (bzip2 -dc FILE | plimsoll status -)"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"\xFF\xFE", "text in UTF-16: save it as UTF-8"),
    (b"\xFE\xFF", "text in UTF-16: save it as UTF-8"),
];

/// What bytes are that are no text, if they are none that is read here.
pub(super) fn no_text(bytes: &[u8]) -> Option<&'static str> {
    MARKS.iter().find(|(mark, _)| bytes.starts_with(mark)).map(|(_, what)| *what)
}

/// What a text looks like.
pub(super) fn of(bytes: &[u8]) -> String {
    let what = match looks_like(bytes) {
        Kind::Html => "HTML (a proxy or a login page?)",
        Kind::Empty => "an empty file",
        Kind::Json => return json(bytes),
        Kind::Exposition => "Prometheus text of another program",
        Kind::Binary => "bytes that are no text",
        Kind::Text if is_toml(bytes) => "TOML: settings of some program, or what somebody wrote about these files",
        Kind::Text => "text of another kind",
    };
    what.to_owned()
}

/// Settings have names; a text without any, such as remarks alone, is as good as any other.
fn is_toml(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    text.parse::<toml::Table>().is_ok_and(|table| !table.is_empty())
}

fn json(bytes: &[u8]) -> String {
    let root = serde_json::from_slice::<serde_json::Value>(bytes.trim_ascii());
    let own = |root: &serde_json::Value| {
        let schema = root.get("schema")?.as_str()?;
        schema.starts_with("plimsoll.").then(|| model::text::printable(schema))
    };
    match root {
        Ok(root) => match own(&root) {
            Some(schema) => format!("what plimsoll itself said ({schema}): give the files that this was made from"),
            None => refusal(&root).unwrap_or_else(|| "JSON of another program".to_owned()),
        },
        Err(_) => "JSON that is cut or broken, or of another program".to_owned(),
    }
}

/// Letters of a refusal's text that are shown.
const MOST_LETTERS: usize = 200;

/// What the answer of a server says that refused: many tell there which flag they want.
fn refusal(root: &serde_json::Value) -> Option<String> {
    let said = ["/error/message", "/error", "/message", "/detail"];
    let text = said.into_iter().find_map(|at| root.pointer(at)?.as_str())?;
    let text: String = model::text::printable(&model::without_tokens(text)).chars().take(MOST_LETTERS).collect();
    Some(format!("a refusal: {text:?}"))
}
