//! `plimsoll status`: how full is it now.

use anyhow::Result;
use model::{Signal, Snapshot};

use crate::cli::LookArgs;
use crate::report::Status;
use crate::{Said, look, serve, show};

/// Looks once and answers. Exit code 0 with a figure, also a stale one, from at least one target; 1 without any.
pub(crate) async fn run(args: &LookArgs) -> Result<Said> {
    if let Some(said) = serve::running("status", args).await {
        return Ok(said);
    }
    let look = look::look(args).await?;
    let code = u8::from(!has_figure(&look.snapshot));
    let text = if args.json { json(&Status::of(&look))? } else { show::status(&look) };
    Ok(Said { text, code })
}

/// A report as one line-broken JSON text.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// Whether anything says how full any pool is.
pub(crate) fn has_figure(snapshot: &Snapshot) -> bool {
    let pools = snapshot.servers.iter().flat_map(|server| &server.ranks).flat_map(|rank| &rank.pools);
    let mut figures = pools.flat_map(|pool| {
        let told = [Signal::KV_USED, Signal::KV_IN_USE, Signal::KV_STORED, Signal::KV_OCCUPIED];
        told.map(|signal| pool.get(signal).and_then(|reading| reading.value))
    });
    figures.any(|figure| figure.is_some())
}
