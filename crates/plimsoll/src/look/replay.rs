//! Looking at a capture: any command, offline, as of a moment of it.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use engines::Tables;
use model::Time;
use sense::Place;
use sense::capture::{Recording, Site as Recorded};
use sense::ssh::Destination;
use wire::capture::{Index, Limits, Unreadable};

use super::access::Keys;
use super::plan::Plan;
use super::{Eye, Opened, Site};
use crate::cli::LookArgs;
use crate::commands::capture::seconds;

/// Reads the file.
pub(crate) fn open(path: &Path) -> Result<Recording> {
    let bytes = sense::capture::file(path).map_err(|blind| anyhow!("cannot read {blind}"))?;
    read(bytes).with_context(|| path.display().to_string())
}

/// Sites of one look that are read.
const MOST_SITES: usize = 1000;
/// Seconds before the moment whose looks show what one look cannot.
const WINDOW_S: f64 = 60.0;
/// Seconds behind the last look that are still its own.
const BEYOND_S: f64 = 5.0;
/// Most looks of them that are replayed: each costs as much as the one that is shown.
const MOST_EARLIER: usize = 12;
/// First bytes of what zstd packed, as people pack long recordings by hand.
const ZSTD: &[u8] = b"\x28\xB5\x2F\xFD";
/// Most that such a file may unpack to, bytes.
const UNPACKED: u64 = 512 << 20;
/// Bytes of a file within which its first line tells what it is.
const FIRST: u64 = 1 << 20;

/// Reads a capture's bytes.
pub(crate) fn read(bytes: Vec<u8>) -> Result<Recording> {
    let plain = if bytes.starts_with(ZSTD) { unpacked(&bytes, UNPACKED)? } else { bytes };
    Ok(Recording::read(plain)?)
}

/// What zstd packed, up to `most` bytes. What is cut off in the middle is read as far as it goes.
fn unpacked(bytes: &[u8], most: u64) -> Result<Vec<u8>> {
    let unpacker = ruzstd::decoding::StreamingDecoder::new(bytes);
    let unpacker = unpacker.map_err(|error| anyhow!("it cannot be unpacked: {error}"))?;
    let mut text = Vec::new();
    if let Err(error) = unpacker.take(most).read_to_end(&mut text)
        && text.is_empty()
    {
        bail!("it cannot be unpacked: {error}");
    }
    Ok(text)
}

/// Whether a file that begins so is a capture, packed or plain, of any version.
pub(super) fn is_capture(beginning: &[u8]) -> bool {
    let first = Limits { lines: 1, unpacked: FIRST, ..Limits::default() };
    let is = |plain: &[u8]| !matches!(Index::read(plain, first), Err(Unreadable::Other(_)));
    if beginning.starts_with(ZSTD) { unpacked(beginning, FIRST).is_ok_and(|plain| is(&plain)) } else { is(beginning) }
}

/// The look at a moment: a time, or seconds from the beginning; without one the last look.
pub(crate) fn chosen(recording: &Recording, at: Option<&str>) -> Result<usize> {
    let takes = recording.takes();
    let Some(last) = takes.len().checked_sub(1) else { bail!("there is no whole look in it") };
    let Some(at) = at else { return Ok(last) };
    Ok(recording.take_at(moment(at, takes[0].to)?).unwrap_or(last))
}

/// The moment that `at` means in a recording whose first look was over at `first`: a look that begins at a moment is not
/// over then, and the one that covers it is meant.
fn moment(at: &str, first: Time) -> Result<Time> {
    if let Ok(stamp) = at.parse::<jiff::Timestamp>() {
        return Ok(Time(stamp.as_microsecond() as f64 / 1e6));
    }
    let from_first = seconds(at.trim_start_matches('+'));
    Ok(first.plus(
        from_first.with_context(|| {
            format!("--at {at}: neither a time (2026-11-29T12:00:00Z) nor seconds from the beginning")
        })?,
    ))
}

/// What a capture holds, to be looked at.
pub(super) fn opened(args: &LookArgs, monitors: &[String], path: &Path, tables: &Arc<Tables>) -> Result<Opened> {
    let asks = [
        ("a target", !args.targets.is_empty()),
        ("--log", !args.log.is_empty()),
        ("--prometheus", !monitors.is_empty()),
        ("--targets-file", args.access.targets_file.is_some()),
        ("--ssh-config", args.ssh_config.is_some()),
    ];
    if let Some((what, _)) = asks.into_iter().find(|(_, given)| *given) {
        bail!("{what} does not go with --capture: what was looked at stands in the file");
    }
    let recording = open(path)?;
    let take = chosen(&recording, args.at.as_deref())?;
    let takes = recording.takes();
    let text = format!(
        "from the capture {}, look {} of {}, taken {}",
        model::text::visible(path.display().to_string()),
        take + 1,
        takes.len(),
        super::clock_of(takes[take].to)
    );
    let mut notes = recording.notes().to_vec();
    let many = recording.sites(take).count();
    if many > MOST_SITES {
        let text = format!("the look is at {many} sites: the first {MOST_SITES} were read");
        notes.push(model::Note::new("cut", text));
    }
    if let (Some(at), Some(first), Some(last)) = (&args.at, takes.first(), takes.last()) {
        let beyond = moment(at, first.to)?.since(last.to);
        if beyond > BEYOND_S {
            let text = format!("--at {at} is {} s behind the capture's end: this is its last look", beyond.round());
            notes.push(model::Note::new("beyond", text));
        }
    }
    let mut shown = as_of(&recording, take, tables);
    notes.append(&mut shown.notes);
    let earlier = window(&recording, take).into_iter().map(|before| as_of(&recording, before, tables)).collect();
    Ok(Opened { earlier, notes, origin: Some(text), ..shown })
}

/// The looks before `take` that are a window with it, oldest first; of many some, evenly.
fn window(recording: &Recording, take: usize) -> Vec<usize> {
    let takes = recording.takes();
    let within = |before: &usize| (0.0..=WINDOW_S).contains(&takes[take].to.since(takes[*before].to));
    let all: Vec<usize> = (0..take).filter(within).collect();
    let step = all.len().div_ceil(MOST_EARLIER).max(1);
    all.into_iter().step_by(step).collect()
}

/// One look of a recording, to be looked at.
fn as_of(recording: &Recording, take: usize, tables: &Arc<Tables>) -> Opened {
    let pages = tables.allowed();
    let (mut sites, mut monitors, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..recording.sites(take).count().min(MOST_SITES) {
        let Some((site, capture, unread)) = recording.site(take, index) else { continue };
        notes.extend(unread);
        // What is installed was read with the first look only.
        let place = match recording.site(0, index).filter(|(first, ..)| take > 0 && *first == site) {
            Some((_, first, _)) => Place::from(capture.behind(first)),
            None => Place::from(capture),
        };
        monitors.extend(site.monitors.iter().filter_map(|url| url.parse().ok()));
        // A way that is none is somebody's made-up one, and is not shown.
        let way =
            |via: &String| via.parse::<Destination>().map_or("ssh://unreadable".to_owned(), |way| way.to_string());
        let eye = Arc::new(Eye::from(Arc::clone(tables), place, site.via.as_ref().map(way)));
        let keys = Keys::bare(&site.listed, pages.clone());
        sites.push(Site { eye, plan: plan(&site), keys });
    }
    let here = sites.iter().find(|site| site.eye.via.is_none()).map(|site| Arc::clone(&site.eye));
    let nowhere = || Arc::new(Eye::from(Arc::clone(tables), Place::from(sense::capture::Capture::nothing()), None));
    Opened { sites, monitors, here: here.unwrap_or_else(nowhere), earlier: Vec::new(), notes, origin: None }
}

fn plan(site: &Recorded) -> Plan {
    let via = site.via.as_deref().and_then(|via| via.parse().ok());
    Plan { via, targets: site.targets.clone(), files: site.files, logs: site.logs.clone() }
}
