//! The token, which is never kept as such, and the cookie that stands for it.

use std::fmt;
use std::hint::black_box;

use sha2::{Digest, Sha256};

/// Shorter ones can be guessed over the network in the time that a server lives.
const LEAST_BYTES: usize = 16;
/// Longer ones do not fit in a head beside everything else that a browser sends.
const MOST_BYTES: usize = 1024;

/// What visitors must show. It holds only sums: the token itself can come out nowhere.
#[derive(Clone)]
pub struct Secret {
    token: [u8; 32],
    cookie: [u8; 32],
    /// The name and value that a browser is given to keep.
    crumb: (String, String),
}

/// Why a text is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// Nothing, or only white space.
    #[error("the token is empty")]
    Empty,
    /// It could be guessed.
    #[error("the token is too short: it needs {LEAST_BYTES} characters at least, such as `openssl rand -hex 24` makes")]
    Short,
    /// It does not fit in a header.
    #[error("the token is longer than {MOST_BYTES} characters")]
    Long,
    /// It cannot stand in a header.
    #[error(
        "the token has a character that cannot stand in a header: use letters, digits and signs of ASCII, without spaces"
    )]
    Character,
}

impl Secret {
    /// Takes a token as it stands in a file or a variable: white space around it, such as a last line end, is no part of it.
    pub fn new(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        match text.len() {
            0 => return Err(SecretError::Empty),
            size if size < LEAST_BYTES => return Err(SecretError::Short),
            size if size > MOST_BYTES => return Err(SecretError::Long),
            _ if !text.bytes().all(|byte| byte.is_ascii_graphic()) => return Err(SecretError::Character),
            _ => (),
        }
        let token = digest(&[text.as_bytes()]);
        let value = hex(&digest(&[b"plimsoll: a browser's cookie\n", &token]));
        // Cookies belong to a host, whatever the port: two servers on one host must not sign each other's visitors out.
        let name = format!("plimsoll-{}", &hex(&digest(&[b"plimsoll: a cookie's name\n", &token]))[..8]);
        Ok(Self { token, cookie: digest(&[value.as_bytes()]), crumb: (name, value) })
    }

    /// Whether this is the token; takes the same time for every wrong one of a length.
    pub(crate) fn is(&self, given: &[u8]) -> bool {
        same(&self.token, &digest(&[given]))
    }

    /// Whether a request with this `Cookie` header comes from a browser that showed the token before.
    pub(crate) fn signed_in(&self, header: &[u8]) -> bool {
        header.split(|byte| *byte == b';').any(|pair| {
            let value =
                pair.trim_ascii().strip_prefix(self.crumb.0.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
            value.is_some_and(|value| same(&self.cookie, &digest(&[value])))
        })
    }

    /// The `Set-Cookie` header of a browser that showed the token.
    pub(crate) fn set_cookie(&self, tls: bool) -> String {
        let (name, value) = &self.crumb;
        let secure = if tls { "; Secure" } else { "" };
        format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/{secure}")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut sum = Sha256::new();
    for part in parts {
        sum.update(part);
    }
    sum.finalize().into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Looks at every byte, wherever the first difference is.
fn same(a: &[u8; 32], b: &[u8; 32]) -> bool {
    let mut differs = 0;
    for (a, b) in a.iter().zip(b) {
        differs = black_box(differs | (a ^ b));
    }
    differs == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "correct-horse-battery";

    #[test]
    fn what_cannot_be_a_token_is_said() {
        assert_eq!(Secret::new(" \n").err(), Some(SecretError::Empty));
        assert_eq!(Secret::new("hunter2").err(), Some(SecretError::Short));
        assert_eq!(Secret::new(&"x".repeat(1025)).err(), Some(SecretError::Long));
        assert_eq!(Secret::new("correct horse battery").err(), Some(SecretError::Character));
        assert!(Secret::new(&format!("{TOKEN}\n")).expect("a token").is(TOKEN.as_bytes()));
    }

    #[test]
    fn only_the_whole_token_is_the_token() {
        let secret = Secret::new(TOKEN).expect("a token");
        for wrong in ["", "correct", "correct-horse-batter", "correct-horse-battery1", "CORRECT-HORSE-BATTERY"] {
            assert!(!secret.is(wrong.as_bytes()), "{wrong}");
        }
        assert!(!secret.is(b"\xff\xfe"));
    }

    #[test]
    fn the_cookie_is_not_the_token_and_opens_as_a_cookie_only() {
        let secret = Secret::new(TOKEN).expect("a token");
        let cookie = secret.set_cookie(true);
        assert!(!cookie.contains(TOKEN) && !format!("{secret:?}").contains(TOKEN));
        let pair = cookie.split(';').next().expect("a pair");
        assert!(secret.signed_in(format!("theme=dark; {pair}").as_bytes()));
        assert!(!secret.is(pair.split('=').nth(1).expect("a value").as_bytes()));
        assert!(!secret.signed_in(format!("{pair}0").as_bytes()));
        assert!(!secret.signed_in(format!("x{pair}").as_bytes()));
    }
}
