//! Names and help of what servers say, by one rule from the rows of `signals.toml`.

use model::{Kind, Signal, Unit};

/// The series of `signal` where its number counts `unit`: `plimsoll_`, the row's id with its parts joined by `_`, the unit
/// unless the id ends with it, and `_total` on counters. `req`, the group of what counts requests, says no more than the
/// unit does and is left out.
///
/// A pool that counts blocks has other series than one that counts tokens, since a sum of both means nothing.
pub fn series_name(signal: Signal, unit: Unit) -> String {
    let row = signal.row();
    let counter = row.kind == Kind::Counter;
    let id = row.id.strip_suffix("_total").filter(|_| counter).unwrap_or(row.id);
    let id = id.strip_prefix("req.").unwrap_or(id).replace('.', "_");
    let mut name = format!("plimsoll_{id}");
    if !name.ends_with(&format!("_{}", unit.name())) {
        name.push('_');
        name.push_str(unit.name());
    }
    if counter {
        name.push_str("_total");
    }
    name
}

/// The row's help, and what is counted where that is not what the row says.
pub(crate) fn help(signal: Signal, unit: Unit) -> String {
    let row = signal.row();
    if unit == row.unit {
        return row.help.to_owned();
    }
    let counted = match unit {
        Unit::Blocks => "blocks of the engine's own size",
        Unit::States => "states of a state-space model",
        other => other.name(),
    };
    format!("{} Here counted in {}.", row.help, counted.replace('_', " "))
}
