//! Which rank a sample belongs to. A label that one family lacks does not make a second rank; samples that differ only
//! in the process id are copies when they are equal, and ranks of their own when they are not.

use std::collections::BTreeMap;

use model::{Account, RankId};

/// Resolves one of `dp`, `tp`, `pp`: a number said is that rank; nothing said is rank 0 of a size of 1, and unknown of
/// a larger size. Where the size is not known it is taken as 1: servers of a larger size say so.
pub(super) fn index(kind: &str, said: Option<u32>, account: &Account) -> Option<u32> {
    said.or_else(|| {
        let size = account.fact(&format!("{kind}_size")).and_then(|size| size.parse::<u32>().ok()).unwrap_or(1);
        (size <= 1).then_some(0)
    })
}

/// The rank for what was said of each kind.
pub(super) fn rank(said: &BTreeMap<&str, u32>, account: &Account) -> RankId {
    let of = |kind: &str| index(kind, said.get(kind).copied(), account);
    RankId { dp: of("dp"), tp: of("tp"), pp: of("pp") }
}
