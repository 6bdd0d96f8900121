//! What may be secret, in one place: the names whose values are, and taking such values, and what addresses carry, out of
//! a text before it is kept or shown. Whatever a peer, a file or a command line says goes through here ([`crate::text`]).

use std::borrow::Cow;
use std::ops::Range;

/// Endings of the parts of a name that tell of a secret.
const ENDINGS: &[&str] = &[
    "key",
    "keys",
    "token",
    "secret",
    "secrets",
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "credential",
    "credentials",
    "auth",
    "authorization",
    "cookie",
    "bearer",
];
/// What tokens of the usual services begin with, and letters that such a token has at least.
const TOKENS: &[&str] =
    &["sk-", "hf_", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "eyJ"];
const TOKEN: usize = 12;
/// What a header's value begins with, before the secret.
const SCHEMES: &[&str] = &["bearer", "basic", "digest", "negotiate"];
/// Words that are no secret, where one could stand.
const PLAIN: &[&str] = &["null", "none", "true", "false", "set", "on", "off", "token", "tokens", "authentication"];
/// What stands where a secret stood.
pub const BLOT: &str = "[secret]";
/// What ends an address in the middle of a text.
const ENDS: &[char] = &[' ', '\t', '\n', '\r', '"', '\'', ',', ';', '<', '>', '{', '}', '(', ')', '\\'];
/// What ends a value without quotes.
const BETWEEN: &[char] = &[' ', '\t', '\n', '\r', '"', '\''];
const BLANKS: &[char] = &[' ', '\t'];
const QUOTES: &[char] = &['\\', '"', '\''];
/// Letters of a number that is no secret: an address's port, and a count of tokens.
const PORT: usize = 5;
const COUNT: usize = 9;

/// Whether the value of a variable, flag or field with this name is likely secret: `HF_TOKEN`, `--api-key`, `api_key`.
pub fn looks_secret(name: &str) -> bool {
    name.split(|letter: char| !letter.is_ascii_alphanumeric())
        .any(|part| ENDINGS.iter().any(|ending| ends_with(part, ending)))
}

fn ends_with(part: &str, ending: &str) -> bool {
    part.len() >= ending.len() && part.as_bytes()[part.len() - ending.len()..].eq_ignore_ascii_case(ending.as_bytes())
}

/// Whether a word is a token by its own look, whatever stands before it.
fn is_token(word: &str) -> bool {
    word.len() >= TOKEN && TOKENS.iter().any(|start| word.starts_with(start))
}

/// Whether `value` of something with this name is likely secret: not where it says nothing, as a short number does.
pub fn is_secret(name: &str, value: &str) -> bool {
    let most = if ends_with(name, "token") { COUNT } else { PORT };
    looks_secret(name) && value != BLOT && !says_nothing(value, most)
}

/// `text` without tokens that are told by their own look, whatever stands before them: `sk-…`, `hf_…`.
pub fn without_tokens(text: &str) -> Cow<'_, str> {
    let letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(start) = text.as_bytes()[at..].iter().position(letter).map(|found| at + found) {
        let length = text.as_bytes()[start..].iter().take_while(|byte| letter(byte)).count();
        at = start + length;
        if is_token(&text[start..at]) {
            out.push_str(&text[kept..start]);
            out.push_str(BLOT);
            kept = at;
        }
    }
    if kept == 0 { Cow::Borrowed(text) } else { Cow::Owned(out + &text[kept..]) }
}

/// Whether words hold a value that is likely secret: behind a flag that says so, in an assignment, in an address, or in
/// a script among them.
pub fn holds_secret<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let mut behind = false;
    for word in words {
        for part in word.split([' ', '\t', '\n', '\'', '"']).filter(|part| !part.is_empty()) {
            if part.split(['=', ':', ',']).any(is_token) {
                return true;
            }
            let flag = part.starts_with('-');
            if behind && !flag || part.split_once('=').is_some_and(|(name, _)| looks_secret(name)) {
                return true;
            }
            behind = flag && looks_secret(part);
        }
        if without_secrets(word) != word {
            return true;
        }
    }
    false
}

/// `text` without what may be secret in it: addresses (`scheme://…`, `user:password@host`) are shown without userinfo,
/// query and fragment, and of `name=value`, `name: value` and `--name value`, in whatever quotes, the value goes where
/// [`looks_secret`] says so of the name; so does what follows `Bearer`. Short numbers, true, false and null stay.
pub fn without_secrets(text: &str) -> String {
    // Most of what comes here is a word or a path, many times at every look.
    if says_none(text.as_bytes()) { text.to_owned() } else { without_values(&without_userinfo(text)) }
}

/// Whether nothing in a text can name or carry a secret: there is no sign behind a name nor within an address, and neither a
/// flag nor `Bearer` that something follows.
fn says_none(text: &[u8]) -> bool {
    let sign = |byte: &u8| matches!(byte, b'=' | b':' | b'@');
    let gap = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\\' | b'"' | b'\'');
    let bearer = |letters: &[u8]| matches!(letters[0], b'b' | b'B') && letters.eq_ignore_ascii_case(b"bearer");
    !text.iter().any(sign) && (!text.iter().any(gap) || !text.contains(&b'-') && !text.windows(6).any(bearer))
}

/// `text` where addresses (`scheme://…`, `user:password@host`) are without userinfo, query and fragment, and nothing else is
/// changed.
pub fn without_userinfo(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((front, behind)) = rest.split_once("://") {
        without_bare_userinfo(front, &mut out);
        out.push_str("://");
        let (address, after) = behind.split_at(behind.find(ENDS).unwrap_or(behind.len()));
        // A secret may hold any letter, so that what comes before the last @ goes as a whole.
        let query = address.find(['?', '#']);
        let host = match address.rfind('@') {
            Some(at) if query.is_some_and(|query| query < at) => "…",
            Some(at) => &address[at + 1..],
            None => address,
        };
        out.push_str(host.split(['?', '#']).next().unwrap_or_default());
        rest = after;
    }
    without_bare_userinfo(rest, &mut out);
    out
}

/// `user:password@host` without a scheme. An image (`name:tag@sha256:…`) is none, nor is a server's rank
/// (`host:port@3`).
fn without_bare_userinfo(text: &str, out: &mut String) {
    for word in text.split_inclusive(ENDS) {
        let shown = match word.rsplit_once('@') {
            Some((user, host)) if user.contains(':') && !host.starts_with("sha256:") && !is_rank(user, host) => host,
            _ => word,
        };
        out.push_str(shown);
    }
}

fn is_rank(server: &str, rank: &str) -> bool {
    let number = |text: &str| text.parse::<u16>().is_ok();
    number(rank.trim_end_matches(ENDS)) && server.rsplit(':').next().is_some_and(number)
}

fn without_values(text: &str) -> String {
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some((start, end)) = next_name(text, at) {
        at = end;
        let Some(value) = value_of(text, &text[start..end], end) else { continue };
        out.push_str(&text[kept..value.start]);
        out.push_str(BLOT);
        (kept, at) = (value.end, value.end);
    }
    out + &text[kept..]
}

/// The next run of letters, digits, dashes, underscores and dots.
fn next_name(text: &str, from: usize) -> Option<(usize, usize)> {
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let start = from + text[from..].find(is_name)?;
    let end = text[start..].find(|letter| !is_name(letter)).map_or(text.len(), |length| start + length);
    Some((start, end))
}

/// Where the secret value of `name` stands, which ends at `end`; none where it is no secret or there is no value.
fn value_of(text: &str, name: &str, end: usize) -> Option<Range<usize>> {
    if !looks_secret(name) {
        return None;
    }
    let behind = skip(text, skip(text, end, QUOTES), BLANKS);
    let value = match text[behind..].strip_prefix(['=', ':']) {
        Some(rest) if behind == end && is_port(rest) => return None,
        Some(_) => skip(text, behind + 1, BLANKS),
        // `--api-key value`, `Bearer value`
        None if behind > end && (name.starts_with('-') || name.eq_ignore_ascii_case("bearer")) => {
            Some(behind).filter(|behind| !text[*behind..].starts_with('-'))?
        }
        None => return None,
    };
    let start = skip(text, value, QUOTES);
    let stop = match &text[value..start] {
        "" => start + word(&text[start..]),
        opening => start + inside(&text[start..], opening),
    };
    let said = text[start..stop].trim_end_matches([',', ';', ')', '}', ']', '\\']);
    let most = if ends_with(name, "token") { COUNT } else { PORT };
    (!says_nothing(said, most)).then(|| start..start + said.len())
}

/// Whether what follows a host's name and a colon is a port, and the name so a host's.
fn is_port(rest: &str) -> bool {
    let digits = rest.bytes().take(PORT + 1).take_while(u8::is_ascii_digit).count();
    (1..=PORT).contains(&digits) && rest[digits..].chars().next().is_none_or(|next| next == '/' || ENDS.contains(&next))
}

fn skip(text: &str, at: usize, letters: &[char]) -> usize {
    text.len() - text[at..].trim_start_matches(letters).len()
}

/// The length of a value without quotes; of a header's value the scheme comes first.
fn word(text: &str) -> usize {
    let until_blank = |at: usize| text[at..].find(BETWEEN).map_or(text.len(), |length| at + length);
    let first = until_blank(0);
    let scheme = SCHEMES.iter().any(|scheme| text[..first].eq_ignore_ascii_case(scheme));
    if scheme { until_blank(skip(text, first, BLANKS)) } else { first }
}

/// The length of a value in quotes. Where quotes are escaped they end at the next one; else an escaped one is within.
fn inside(text: &str, opening: &str) -> usize {
    if opening.contains('\\') {
        return text.find(QUOTES).unwrap_or(text.len());
    }
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        if !escaped && opening.ends_with(letter) {
            return at;
        }
        escaped = letter == '\\' && !escaped;
    }
    text.len()
}

/// Whether a value can be no secret: nothing, a number of at most so many letters, a word that only says that there is one.
fn says_nothing(value: &str, most: usize) -> bool {
    let number = value.len() <= most && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    number || value == BLOT.trim_end_matches(']') || PLAIN.iter().any(|word| value.eq_ignore_ascii_case(word))
}
