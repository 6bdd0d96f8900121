//! Shared-memory slabs as the JSON that rows read.

use serde_json::{Value, json};
use wire::slab::{self, Slot};

use crate::table::Source;

/// `{"version": …, "ranks": [{"rank": 0, …}]}`; ranks that were never published, or that are being written, are not in
/// it. The error says what was wrong with the whole.
pub(super) fn root(source: &Source, bytes: &[u8]) -> Result<Value, String> {
    let magic: [u8; 4] = source.magic.as_bytes().try_into().map_err(|_| "its table gives no magic".to_owned())?;
    let slab = slab::decode(bytes, &magic).map_err(|fault| fault.to_string())?;
    if !source.layouts.contains(&slab.version) {
        return Err(format!("its layout is version {}, which is not known here", slab.version));
    }
    let mut ranks = Vec::new();
    let mut torn = 0;
    let all = slab.ranks.len();
    for (index, slot) in slab.ranks.into_iter().enumerate() {
        match slot {
            Slot::Value(Value::Object(mut fields)) => {
                fields.insert("rank".to_owned(), json!(index));
                ranks.push(Value::Object(fields));
            }
            Slot::Empty => {}
            Slot::Value(_) | Slot::Torn(_) => torn += 1,
        }
    }
    if ranks.is_empty() && all > 0 {
        return Err(match torn {
            0 => "nothing was published in it yet".to_owned(),
            torn => format!("{torn} of {all} ranks were half-written"),
        });
    }
    Ok(json!({ "version": slab.version, "ranks": ranks }))
}

/// Whether a slab is worth another look in a moment: some rank is being written.
pub fn is_being_written(bytes: &[u8]) -> bool {
    let Some(magic) = bytes.first_chunk::<4>() else { return false };
    slab::decode(bytes, magic).is_ok_and(|slab| slab.ranks.iter().any(|slot| !matches!(slot, Slot::Value(_))))
}
