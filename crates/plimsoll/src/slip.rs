//! Files that somebody writes for us, in TOML, and that may hold secrets where none belongs: what is wrong in them is told with
//! its place, and never with a value.

use std::path::Path;

use anyhow::{Result, anyhow};
use serde::de::DeserializeOwned;

/// What `text`, the file at `path`, says; or what is wrong with it, and in which line.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T> {
    toml::from_str(text).map_err(|error| anyhow!(told(path, text, &error)))
}

/// A sentence that visitors see and that may be kept, without what is a secret by its own look. (By names nothing is taken out: of
/// `cannot read page.key: no such file` the reason would be.)
pub(crate) fn shown(text: &str) -> String {
    model::without_tokens(&model::without_userinfo(text)).into_owned()
}

/// The error with its place. Of a line nothing is shown but a field's name, and of what the parser says nothing that it quotes:
/// what stands where a path belongs may be the secret itself.
fn told(path: &Path, text: &str, error: &toml::de::Error) -> String {
    let path = path.display();
    let is_toml = toml::de::DeTable::parse(text).is_ok();
    let message = error.message().trim_end();
    // Only of names: those that are there, and those that could be.
    let of_names = is_toml && (message.starts_with("unknown field `") || message.starts_with("missing field `"));
    let message = if of_names || !is_toml {
        // What is no TOML is told in words of the parser's own.
        message.to_owned()
    } else {
        // Behind it stands what our own types want, before it what was there instead.
        let wanted = message.rsplit_once(", expected ").filter(|_| message.starts_with("invalid type: "));
        wanted.map_or("not what is expected here".to_owned(), |(_, wanted)| format!("expected {wanted} here"))
    };
    let Some(start) = error.span().map(|span| span.start) else { return format!("in {path}: {message}") };
    let before = text.get(..start).unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or_default();
    let is_name = |name: &&str| {
        let name = name.trim();
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    // Where it is no TOML, what stands before a sign may be anything.
    let name = line.split_once('=').map(|(name, _)| name.trim_end()).filter(is_name).filter(|_| is_toml);
    let name = name.unwrap_or_default();
    let column = before.len() - before.rfind('\n').map_or(0, |end| end + 1);
    let caret = " ".repeat(column.min(name.len()));
    format!("in {path}, line {number}: {message}\n  {name}…\n  {caret}^")
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use serde::Deserialize;

    use super::{read, shown};

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    #[allow(dead_code)] // only whether it can be read counts
    struct Written {
        targets: Vec<String>,
        bearer_file: Option<PathBuf>,
        port: u16,
        off: bool,
        table: Option<Table>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Table {
        cert: PathBuf,
    }

    #[test]
    fn what_is_wrong_is_told_by_place_and_name() {
        for (text, line, words) in [
            ("off = true\nbearer = \"x\"\n", 2, &["bearer…", "unknown field `bearer`", "`bearer_file`"][..]),
            ("targets = \"x\"\n", 1, &["targets…", "expected a sequence"]),
            ("\n\n[table]\nkey = \"x\"\n", 4, &["unknown field `key`", "`cert`"]),
            ("\n[table]\n", 2, &["missing field `cert`"]),
            ("off = yes\n", 1, &["string values must be quoted"]),
        ] {
            let said = format!("{:#}", read::<Written>(Path::new("a.toml"), text).expect_err("a slip"));
            assert!(said.starts_with(&format!("in a.toml, line {line}: ")) && said.ends_with('^'), "{said}");
            assert!(words.iter().all(|word| said.contains(word)), "{said}");
        }
    }

    #[test]
    fn no_value_is_told() {
        for text in [
            "bearer = \"canary-4711\"\n",
            "token = 'canary-4711'\n",
            "bearer_file = [\"canary-4711\"]\n",
            "bearer_file = canary-4711\n",
            "targets = \"http://ops:canary-4711@h\"\n",
            "targets = \"x, expected canary-4711\" # y\noff = 1\n",
            "targets = [\n\"http://ops:canary-4711@h?a=b\", { url = 1 } ]\n",
            "off = \"canary-4711\"\n",
            "port = 47114711\n",
            "port = \"\"\"\ncanary-4711 = 1\"\"\"\n",
            "table = { cert = \"x\", key = \"canary-4711\" }\n",
            "table = { cert = 1, \"canary\" = \"canary-4711\" }\n",
            "canary-4711",
            "canary-4711==",
            "canary-4711 = ",
            "[canary-4711",
            "off = true canary-4711",
            "targets = [\"canary-4711",
            "bearer_file = \"canary-4711\"\nbearer_file = \"canary-4711\"\n",
        ] {
            let said = format!("{:#}", read::<Written>(Path::new("a.toml"), text).expect_err("a slip"));
            assert!(!said.contains("4711"), "{text}: {said}");
        }
    }

    #[test]
    fn what_is_a_secret_by_its_look_is_not_shown() {
        let said = "cannot read /etc/page.key: no http://me:canary-4711@h/?key=canary-4711 nor hf_canary-4711-x";
        assert_eq!(shown(said), "cannot read /etc/page.key: no http://h/ nor [secret]");
    }
}
