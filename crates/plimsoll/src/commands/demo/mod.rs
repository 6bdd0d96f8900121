//! `plimsoll demo`: a recorded run of the reference deployment, served on loopback with its times moved to now, and
//! `status` and `doctor` run against it as a newcomer would. No network, no GPU, no Python.

mod recording;
mod serve;

use std::fmt::Write as _;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;

use self::recording::Recording;
use self::serve::Stage;
use super::{doctor, status};
use crate::cli::{DemoArgs, DoctorArgs, LookArgs};
use crate::{Said, show};

/// Addresses of the recording.
const ROUTER: &str = "http://127.0.0.1:29000";
const UNIFIED: &str = "http://127.0.0.1:30010";
/// Seconds into the recording: the decode server, metrics off, is nearly full.
const DECODE_FULL: f64 = 28.2;
/// Seconds into the recording: the unified server is full and throws requests out.
const UNIFIED_RETRACTS: f64 = 72.2;

const INTRODUCTION: &str = "A recorded run of a router, a prefill server, a decode server with its metrics off, and a unified \
     server (real programs on a CPU), served on loopback with its times moved to now.";
const FURTHER_ON: &str = "Three quarters of a minute further on in the recording the unified server is full:";

/// Serves the recording and runs the commands against it.
pub(crate) async fn run(args: &DemoArgs) -> Result<Said> {
    let recording = Rc::new(Recording::embedded()?);
    Box::pin(tokio::task::LocalSet::new().run_until(play(recording, args))).await
}

async fn play(recording: Rc<Recording>, args: &DemoArgs) -> Result<Said> {
    let begin = args.at.unwrap_or(DECODE_FULL).clamp(0.0, recording.length());
    let stage = serve::start(recording, begin).await?;
    // The router leads to its workers; the unified server stands alone.
    let addresses: Vec<String> = [ROUTER, UNIFIED].iter().filter_map(|recorded| stage.address(recorded)).collect();
    let urls = addresses.join(" ");
    let look = LookArgs { targets: addresses, ..LookArgs::default() };
    let width = show::columns();
    let mut text = show::hang("", 0, INTRODUCTION, width);
    write!(text, "\n$ plimsoll status {urls}\n")?;
    text += &status::run(&look).await?.text;
    write!(text, "\n$ plimsoll doctor {urls}\n")?;
    text += &doctor::run(&DoctorArgs { look: look.clone(), ..DoctorArgs::default() }).await?.text;
    if args.at.is_none() {
        stage.jump(UNIFIED_RETRACTS);
        text += "\n";
        text += &show::hang("", 0, FURTHER_ON, width);
        write!(text, "\n$ plimsoll status {urls}\n")?;
        text += &status::run(&look).await?.text;
    }
    if args.keep {
        keep(&stage, &text, &urls, begin).await?;
        return Ok(Said { text: String::new(), code: 0 });
    }
    text += "\n`plimsoll demo --keep` leaves it up, to look for yourself.\n";
    Ok(Said { text, code: 0 })
}

/// Prints the answers, then plays the recording round and round until interrupted.
async fn keep(stage: &Stage, text: &str, urls: &str, begin: f64) -> Result<()> {
    stage.jump(begin);
    crate::print(&format!(
        "{text}\nIt stays up until you press Ctrl-C, and plays round and round. In another terminal:\n\n  plimsoll status {urls}\n"
    ))?;
    let mut interrupt = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    let lap = Duration::from_secs_f64((stage.length() - begin).max(1.0));
    let mut laps = tokio::time::interval(lap);
    laps.tick().await;
    loop {
        tokio::select! {
            _ = interrupt.recv() => return Ok(()),
            _ = terminate.recv() => return Ok(()),
            _ = laps.tick() => stage.jump(0.0),
        }
    }
}
