//! `plimsoll demo`: a recorded deployment on loopback.

use anyhow::Result;

use crate::Said;
use crate::cli::DemoArgs;

pub(crate) async fn run(_args: &DemoArgs) -> Result<Said> {
    anyhow::bail!("no recording yet")
}
