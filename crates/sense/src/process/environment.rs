//! A few variables of a process's environment, asked for by name.

use std::collections::BTreeMap;

use model::Blind;

use crate::place::Place;

/// Most of an environment that is read, bytes.
pub(super) const ENVIRON: usize = 2 << 20;

/// Those of the variables called `names` that are set for process `pid`; nothing else of its environment is kept.
///
/// # Errors
/// When our rights do not reach it, or it has gone.
pub async fn variables_of(place: &Place, pid: u32, names: &[&str]) -> Result<BTreeMap<String, String>, Blind> {
    let content = place.read(format!("/proc/{pid}/environ"), ENVIRON).await?;
    Ok(variables(&content.bytes, names))
}

/// The variables called `names` in an environment.
pub fn variables(environ: &[u8], names: &[&str]) -> BTreeMap<String, String> {
    let pairs = environ.split(|&byte| byte == 0).filter_map(|pair| {
        let (name, value) = std::str::from_utf8(pair).ok()?.split_once('=')?;
        names.contains(&name).then(|| (name.to_owned(), value.to_owned()))
    });
    pairs.collect()
}
