//! `plimsoll explain`: for each number, which sources said what, which was taken and why.

use anyhow::Result;

use super::status::{has_figure, json};
use crate::cli::LookArgs;
use crate::report::Explanation;
use crate::{Said, look, serve, show};

/// Looks once and explains every number.
pub(crate) async fn run(args: &LookArgs) -> Result<Said> {
    if let Some(said) = serve::running("explain", args).await {
        return Ok(said);
    }
    let look = look::look(args).await?;
    let code = u8::from(!has_figure(&look.snapshot));
    let text = if args.json { json(&Explanation::of(&look))? } else { show::explain(&look) };
    Ok(Said { text, code })
}
