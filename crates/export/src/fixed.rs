//! What plimsoll says of servers and of itself: families that are no signals.

use model::Kind;

/// What is told of a family with a fixed name.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Its labels; those that describe a server are left out where they are not known.
    pub(crate) labels: &'static [&'static str],
    pub(crate) help: &'static str,
}

const SERVER: &[&str] = &["server"];
const POOL: &[&str] = &["server", "rank", "pool", "tier"];

macro_rules! families {
    ($($id:ident, $name:literal, $kind:ident, $labels:expr, $help:literal;)*) => {
        /// A family with a fixed name, by its place in [`ALL`].
        #[derive(Clone, Copy)]
        pub(crate) enum Fixed { $($id),* }

        /// All of them.
        pub(crate) static ALL: &[Row] = &[$(
            Row { name: concat!("plimsoll_", $name), kind: Kind::$kind, labels: $labels, help: $help }
        ),*];
    };
}

impl Fixed {
    pub(crate) fn row(self) -> &'static Row {
        &ALL[self as usize]
    }
}

families! {
    Up, "up", Gauge, SERVER, "1 if the server answered the newest look, 0 if it could not be asked. None where only a router tells of it.";
    ServerInfo, "server_info", Gauge, &["server", "host", "role", "engine", "version", "model", "unit"],
        "Always 1: what is known of the server, to be joined by its address.";
    ToldByRouter, "told_by_router", Gauge, SERVER, "1 if the server's numbers are what its router passed on, since it does not say them itself.";
    Readings, "readings", Gauge, &["server", "state"],
        "Readings of the server by state: those that are stale, not_reported, unreachable or impossible have no series of their own.";
    KvBinds, "kv_binds", Gauge, POOL, "1 if requests cannot run without room in the pool, 0 if it is a cache below.";
    KvInUseAge, "kv_in_use_age_seconds", Gauge, POOL, "Age of what the pool last said of how much is in use, also where that is too old to be shown.";
    KvInUsePrecision, "kv_in_use_precision_ratio", Gauge, POOL, "In use is right within this much up or down, where its source rounds.";
    ServerInUse, "server_in_use_ratio", Gauge, SERVER, "In use of the fullest pool that binds, of the fullest rank that says it: never a mean or a sum.";
    ServerRunning, "server_running_requests", Gauge, SERVER, "Requests in the running batches of all ranks, copies counted once; only where every rank says it.";
    ServerWaiting, "server_waiting_requests", Gauge, SERVER, "Requests that wait on all ranks, copies counted once; only where every rank says it.";
    Verdict, "verdict", Gauge, &["server", "level"], "1 for the level that the server is at, 0 for the others; unknown is none of the scale.";
    Sign, "sign", Gauge, &["server", "sign"], "1 for each known trouble that the server's numbers show.";
    Gaps, "gaps", Gauge, SERVER, "What an operator would want to see and this server does not tell, as doctor counts it.";
    HostGaps, "host_gaps", Gauge, &[], "What hosts, and not single servers, do not tell, as doctor counts it.";
    FleetInUseMax, "fleet_in_use_max_ratio", Gauge, &[], "In use of the fullest pool that binds, of all servers.";
    FleetInUseWeighted, "fleet_in_use_weighted_ratio", Gauge, &[], "Used over capacity of all full pools that count tokens and say both: the mean weighted by capacity.";
    ScrapeAge, "scrape_age_seconds", Gauge, SERVER, "Seconds since the newest answer.";
    ScrapeDuration, "scrape_duration_seconds", Gauge, SERVER, "Seconds that the answers of the newest look took; none where nothing answered, however long that was waited for.";
    ScrapeInterval, "scrape_interval_seconds", Gauge, SERVER, "Seconds between two looks, as they are planned now: longer where answers take long.";
    ScrapeDuty, "scrape_duty_ratio", Gauge, SERVER, "The share of its time that the target spends on answering plimsoll; none where nothing answered.";
    Looks, "looks_total", Counter, SERVER, "Looks at the target since the watch began.";
    LooksFailed, "looks_failed_total", Counter, SERVER, "Looks that brought no answer.";
    LooksDropped, "looks_dropped_total", Counter, SERVER, "Looks that were due and not made, since an earlier one was still on its way.";
    HistoryBytes, "history_bytes", Gauge, &[], "Bytes of the history on disk.";
    HistoryLimit, "history_limit_bytes", Gauge, &[], "Bytes that the history may take.";
    HistoryLost, "history_lost_looks_total", Counter, &[], "Looks that could not be kept in the history.";
    HistoryUp, "history_up", Gauge, &[], "1 if the newest look was kept in the history, 0 if it could not be.";
    SnapshotTime, "snapshot_timestamp_seconds", Gauge, &[], "When the numbers of this page were put together, in seconds since 1970.";
    StartTime, "start_timestamp_seconds", Gauge, &[], "When the watch began, in seconds since 1970.";
    PassedOver, "duplicates", Gauge, &[], "Servers, ranks, pools and targets left out of this page, since another has the same labels.";
    BuildInfo, "build_info", Gauge, &["version", "schema"], "Always 1: plimsoll's version, and the version of this page's schema.";
}
