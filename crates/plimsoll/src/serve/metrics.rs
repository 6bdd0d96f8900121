//! Our own `/metrics`: the fleet as it is shown, and how watching it goes.

use export::{Health, History, Target};
use model::{Server, Time};

use super::store::Shown;

/// The page.
pub(crate) fn page(shown: &Shown) -> String {
    let servers = &shown.snapshot.servers;
    let of = |server: &Server| server.url.clone();
    let signs = servers.iter().zip(&shown.signs);
    let targets = servers.iter().zip(&shown.health);
    let watch = &shown.watch;
    let own = Health {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: Some(Time(watch.since)),
        targets: targets.map(|(server, health)| target(&server.url, health)).collect(),
        signs: signs.flat_map(|(server, signs)| signs.iter().map(move |sign| (of(server), sign.id))).collect(),
        history: watch.history.dir.is_some().then_some(History {
            bytes: watch.history.bytes,
            limit_bytes: watch.history.limit_bytes,
            lost_looks: shown.lost,
            works: watch.history.state == "kept",
        }),
    };
    export::page(&shown.snapshot, &own)
}

fn target(url: &str, health: &crate::look::watch::Health) -> Target {
    let looked = health.tally.looks > 0;
    Target {
        url: url.to_owned(),
        up: health.up,
        age_s: health.age_s,
        took_s: looked.then_some(health.spent_s + health.waited_s),
        every_s: health.every_s,
        // What asking one costs that does not answer is not known.
        duty: (health.up && health.every_s > 0.0).then(|| health.spent_s / health.every_s),
        looks: health.tally.looks,
        failed: health.tally.failed,
        dropped: health.tally.dropped,
    }
}
