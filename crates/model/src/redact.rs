//! Taking out of a text what may be secret in it, before it is kept or shown.

/// What ends an address in the middle of a text.
const ENDS: &[char] = &[' ', '\t', '\n', '\r', '"', '\'', ',', ';', '<', '>', '{', '}', '(', ')', '\\'];

/// `text` with every address in it (`scheme://…`) shown without userinfo, query and fragment.
pub fn without_secrets(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((front, behind)) = rest.split_once("://") {
        out.push_str(front);
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
    out + rest
}
