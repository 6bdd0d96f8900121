//! `packaging/plimsoll.rules.yml`, tried on pages of ours: what Prometheus scrapes minute by minute, and which alerts fire when.
//! The minutes are those of `for:` in the file, counted from the fifth, in which each trouble begins.
#![allow(dead_code)] // each test uses a part

use std::collections::BTreeMap;

use export::{Health, page};
use model::{Level, Role, Server};

use crate::support::{decode, health, snapshot};

pub(crate) const RULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/plimsoll.rules.yml");
/// Labels that the scrape gives.
const SCRAPED: &str = r#"job="plimsoll",instance="gpu-a:7546""#;
/// Minutes of each trial, and the one in which its trouble begins.
const MINUTES: usize = 21;
const BEGINS: usize = 5;

/// One trial: a page for each minute, none where the scrape failed, and what fires at which minute.
pub(crate) struct Trial {
    pages: Vec<Option<String>>,
    firing: Vec<(usize, &'static [&'static str])>,
}

/// Calm until the trouble begins.
fn trial(trouble: impl Fn(&mut Server, &mut Health), firing: &[(usize, &'static [&'static str])]) -> Trial {
    let pages = (0..MINUTES).map(|minute| {
        let (mut server, mut own) = (decode(), health());
        server.verdict.level = Level::Calm;
        own.signs.clear();
        if minute >= BEGINS {
            trouble(&mut server, &mut own);
        }
        Some(page(&snapshot(vec![server]), &own))
    });
    Trial { pages: pages.collect(), firing: firing.to_vec() }
}

fn at_level(level: Level, firing: &[(usize, &'static [&'static str])]) -> Trial {
    trial(|server, _| server.verdict.level = level, firing)
}

/// A watch that stands still: each scrape of it fails.
fn standing_still() -> Trial {
    let mut told = trial(|_, _| {}, &[(5, &[]), (6, &["PlimsollDown"]), (20, &["PlimsollDown"])]);
    told.pages[BEGINS..].fill(None);
    told
}

/// Requests were thrown out each other minute.
fn in_and_out() -> Trial {
    let mut told = at_level(Level::Thrashing, &[(14, &[]), (15, &["KvCacheStrained"]), (20, &["KvCacheStrained"])]);
    let strained = at_level(Level::Strained, &[]);
    for minute in (BEGINS..MINUTES).step_by(2) {
        told.pages[minute].clone_from(&strained.pages[minute]);
    }
    told
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(|_, _| {}, &[(20, &[])]),
        standing_still(),
        Trial { pages: Vec::new(), firing: vec![(0, &[]), (1, &["PlimsollDown"])] },
        at_level(Level::Tight, &[(20, &[])]),
        at_level(Level::Stuck, &[(4, &[]), (5, &["KvCacheStuck"]), (20, &["KvCacheStuck"])]),
        at_level(
            Level::Thrashing,
            &[
                (5, &[]),
                (6, &["KvCacheThrashing"]),
                (14, &["KvCacheThrashing"]),
                (15, &["KvCacheStrained", "KvCacheThrashing"]),
            ],
        ),
        at_level(Level::Strained, &[(14, &[]), (15, &["KvCacheStrained"])]),
        in_and_out(),
        at_level(Level::Unknown, &[(9, &[]), (10, &["KvCacheUnknown"])]),
        // A router has no cache of its own.
        trial(|server, _| (server.role, server.verdict.level) = (Role::Router, Level::Unknown), &[(20, &[])]),
        // Unknown and late it is as well; the one thing that is wrong is told once.
        trial(
            |server, own| {
                server.unreachable = Some("refused".to_owned());
                server.verdict.level = Level::Unknown;
                (own.targets[0].up, own.targets[0].age_s) = (false, Some(600.0));
            },
            &[(5, &[]), (6, &["KvServerUnreachable"]), (20, &["KvServerUnreachable"])],
        ),
        // It is asked every 5 s.
        trial(|_, own| own.targets[0].age_s = Some(15.5), &[(9, &[]), (10, &["PlimsollLate"])]),
        trial(|_, own| own.targets[0].age_s = Some(14.5), &[(20, &[])]),
        trial(
            |_, own| own.history.as_mut().expect("a history").works = false,
            &[(9, &[]), (10, &["PlimsollHistoryFails"])],
        ),
        trial(|_, own| own.history = None, &[(20, &[])]),
        trial(
            |server, own| own.signs = vec![(server.url.clone(), "queue-never-drains")],
            &[(14, &[]), (15, &["KvCacheSign"])],
        ),
    ]
}

/// The trials as promtool wants them.
pub(crate) fn tests() -> String {
    let mut text = format!("rule_files: [{RULES:?}]\nevaluation_interval: 1m\ntests:\n");
    for trial in trials() {
        text += "  - interval: 1m\n    input_series:\n      - {series: other, values: '1'}\n";
        for (series, values) in series(&trial.pages) {
            text += &format!("      - series: {series:?}\n        values: '{}'\n", values.join(" "));
        }
        text += "    promql_expr_test:\n";
        for (minute, alerts) in trial.firing {
            text += "      - expr: count by (alertname) (ALERTS{alertstate=\"firing\"})\n";
            text += &format!("        eval_time: {minute}m\n        exp_samples:");
            text += if alerts.is_empty() { " []\n" } else { "\n" };
            for alert in alerts {
                text += &format!("          - {{labels: '{{alertname=\"{alert}\"}}', value: 1}}\n");
            }
        }
    }
    text
}

/// Series and their values, a minute each: a scrape that fails ends all of them.
fn series(pages: &[Option<String>]) -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::<String, Vec<String>>::new();
    for (minute, page) in pages.iter().enumerate() {
        let up = format!("up{{{SCRAPED}}} {}", u8::from(page.is_some()));
        let lines = page.iter().flat_map(|page| page.lines()).filter(|line| !line.starts_with('#'));
        for line in lines.chain([up.as_str()]) {
            let (name, value) = line.rsplit_once(' ').expect("a sample");
            let scraped = match name.strip_suffix('}') {
                Some(_) if name.starts_with("up{") => name.to_owned(),
                Some(labels) => format!("{labels},{SCRAPED}}}"),
                None => format!("{name}{{{SCRAPED}}}"),
            };
            let values = all.entry(scraped).or_insert_with(|| vec!["_".to_owned(); minute]);
            values.push(value.to_owned());
        }
        for values in all.values_mut().filter(|values| values.len() == minute) {
            values.push(if values.last().is_some_and(|last| ["_", "stale"].contains(&last.as_str())) {
                "_".to_owned()
            } else {
                "stale".to_owned()
            });
        }
    }
    all
}
