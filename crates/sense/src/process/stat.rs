//! `/proc/PID/stat`, `/proc/PID/status` and `/proc/stat`.

/// Ticks a second in which the kernel reports to programs; the same on every architecture that Linux runs today.
const TICKS: f64 = 100.0;

/// What is needed of `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stat {
    /// The parent's id.
    pub ppid: u32,
    /// Seconds from boot to the start of the process.
    pub started: f64,
}

/// Reads `/proc/PID/stat`. The name in it may hold anything, spaces and brackets too, so fields count from its end.
pub fn stat_of(text: &str) -> Option<Stat> {
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    // after the name: state, ppid, …, and starttime 18 further on
    let ppid = fields.nth(1)?.parse().ok()?;
    let ticks: f64 = fields.nth(17)?.parse().ok()?;
    Some(Stat { ppid, started: ticks / TICKS })
}

/// The real user id in `/proc/PID/status`.
pub fn uid_of(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// When the host booted, in seconds since 1970, from `/proc/stat`.
pub fn boot_time(stat: &str) -> Option<f64> {
    stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}
