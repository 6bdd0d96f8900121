//! By which clock a process writes times without a zone: its `TZ`, else its root's `/etc/localtime`, else UTC.

use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use model::Time;

use super::environment::ENVIRON;
use crate::place::Place;

/// Largest description of a zone that is read, bytes.
const ZONE: usize = 64 << 10;

/// Seconds by which local time is ahead of UTC for the process `pid` (or ours) at `now`; `None` where that cannot be told.
pub async fn zone_of(place: &Place, pid: Option<u32>, now: Time) -> Option<f64> {
    let pid = &pid.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
    let environ = place.read(format!("/proc/{pid}/environ"), ENVIRON).await.ok()?;
    let zone = match zone_name(&environ.bytes) {
        Some(name) => named(place, pid, &name).await?,
        None => match file(place, pid, "/etc/localtime").await {
            Some(bytes) => TimeZone::tzif("localtime", &bytes).ok()?,
            // A root without the file has no zone but this.
            None => TimeZone::UTC,
        },
    };
    let instant = jiff::Timestamp::from_second(now.0 as i64).ok()?;
    Some(f64::from(zone.to_offset(instant).seconds()))
}

/// The value of `TZ` in an environment; nothing else of it is kept.
pub fn zone_name(environ: &[u8]) -> Option<String> {
    let value = environ.split(|&byte| byte == 0).find_map(|pair| pair.strip_prefix(b"TZ="))?;
    String::from_utf8(value.to_vec()).ok()
}

/// The zone that a `TZ` means: a name in the database, or a rule such as `CET-1CEST`.
async fn named(place: &Place, pid: &str, name: &str) -> Option<TimeZone> {
    let name = name.strip_prefix(':').unwrap_or(name);
    if name.is_empty() {
        return Some(TimeZone::UTC);
    }
    let path = if name.starts_with('/') { PathBuf::from(name) } else { Path::new("/usr/share/zoneinfo").join(name) };
    match file(place, pid, &path).await {
        Some(bytes) => TimeZone::tzif(name, &bytes).ok(),
        None if name == "UTC" => Some(TimeZone::UTC),
        None => TimeZone::posix(name).ok(),
    }
}

async fn file(place: &Place, pid: &str, path: impl AsRef<Path>) -> Option<Vec<u8>> {
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    Some(place.read_under(&root, path.as_ref(), ZONE).await.ok()?.bytes)
}
