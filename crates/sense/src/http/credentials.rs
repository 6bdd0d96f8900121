//! Credentials of a target.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::HeaderValue;
use model::{Blind, BlindKind, Note};

use crate::secret::{Secret, SecretSource};

/// What stands where a secret stood.
const SHOWN: &str = "[secret]";

/// What a target wants to know before it answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Credentials {
    /// Nothing.
    #[default]
    None,
    /// `Authorization: Bearer …`.
    Bearer(SecretSource),
    /// `Authorization: Basic …`.
    Basic {
        /// The user; as secret as the password, since tokens are put there too.
        user: Secret,
        /// The password; `None` is an empty one.
        password: Option<SecretSource>,
    },
}

/// A loaded header, and every spelling of the secret that must not appear in a text.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) header: Option<HeaderValue>,
    spellings: Vec<String>,
}

impl Credentials {
    /// What the operator should know about where the secrets lie.
    pub fn notes(&self) -> Vec<Note> {
        match self {
            Credentials::Bearer(source) | Credentials::Basic { password: Some(source), .. } => {
                source.note().into_iter().collect()
            }
            Credentials::None | Credentials::Basic { password: None, .. } => Vec::new(),
        }
    }

    /// Whether the secret is there and can be sent.
    pub fn check(&self) -> Result<(), Blind> {
        self.load().map(drop)
    }

    /// The value of the header that is sent, for a program that sends it in our place; none where there is none.
    pub(crate) fn header(&self) -> Result<Option<String>, Blind> {
        let loaded = self.load()?;
        Ok(loaded.header.and_then(|value| value.to_str().map(str::to_owned).ok()))
    }

    pub(super) fn load(&self) -> Result<Loaded, Blind> {
        let (text, spellings) = match self {
            Credentials::None => return Ok(Loaded::default()),
            Credentials::Bearer(source) => {
                let token = source.load()?.reveal().to_string();
                (format!("Bearer {token}"), vec![token])
            }
            Credentials::Basic { user, password } => {
                let password = password.as_ref().map(SecretSource::load).transpose()?;
                let password = password.as_ref().map_or("", Secret::reveal);
                let pair = format!("{}:{password}", user.reveal());
                let encoded = STANDARD.encode(&pair);
                (format!("Basic {encoded}"), vec![encoded, pair, password.to_string(), user.reveal().to_string()])
            }
        };
        let mut header = HeaderValue::from_str(&text).map_err(|_| {
            Blind::new(BlindKind::Denied, "the secret holds a character that no HTTP header can carry, e.g. a line end")
        })?;
        header.set_sensitive(true);
        Ok(Loaded { header: Some(header), spellings })
    }
}

impl Loaded {
    /// `text` without the secret: a peer may send back what it was sent, in other letters, and we may have cut it off.
    pub(super) fn scrub(&self, text: String) -> String {
        self.spellings.iter().fold(text, |text, spelling| blot(text, spelling))
    }
}

/// Blots `secret` out of `text`, also where only its beginning stands there, and whatever the case of its letters.
fn blot(mut text: String, secret: &str) -> String {
    // shorter ones would blot out ordinary words, and guard nothing
    const SHORTEST: usize = 4;
    const BEGINNING: usize = 8;
    let secret = secret.to_ascii_lowercase();
    if secret.len() < SHORTEST {
        return text;
    }
    let beginning = &secret.as_bytes()[..secret.len().min(BEGINNING)];
    let mut from = 0;
    loop {
        let lower = text.to_ascii_lowercase();
        let found = lower.as_bytes()[from..].windows(beginning.len()).position(|part| part == beginning);
        let Some(start) = found.map(|at| from + at) else { return text };
        let same = lower.bytes().skip(start).zip(secret.bytes()).take_while(|(a, b)| a == b).count();
        let start = text.floor_char_boundary(start);
        text.replace_range(start..text.ceil_char_boundary(start + same), SHOWN);
        from = start + SHOWN.len();
    }
}
