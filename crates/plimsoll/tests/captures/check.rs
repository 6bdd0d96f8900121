//! Expectations against what the program told, each failure with its evidence.

use std::collections::BTreeSet;

use engines::Tables;
use model::{DEVICE, FULL, Pool, Rank, RankId, Reading, Readings, Role, Scope};

use super::file::{Capture, Expect, FactRow, Given};
use super::reader::{self, Told};

/// Everything in which `told` differs from what the capture expects.
pub(crate) fn failures(capture: &Capture, given: Given, told: &Told) -> Vec<String> {
    let known = match given {
        Given::Argv => "with its command line",
        Given::Answers => "from its answers alone",
    };
    let fail = |what: &str, why: &str| format!("{} ({known}): {what}\n      evidence: {why}", capture.name);
    let counts = |only: Option<Given>| only.is_none_or(|only| only == given);
    let mut failures = Vec::new();
    for row in capture.file.fact.iter().filter(|row| counts(row.given)) {
        failures.extend(fact(row, told).map(|what| fail(&what, &row.why)));
    }
    for row in capture.file.expect.iter().filter(|row| counts(row.given)) {
        failures.extend(reading(row, told).map(|what| fail(&what, &row.why)));
    }
    for row in &capture.file.worker {
        let role = Role::from_name(&row.role);
        let listed = |worker: &&model::Worker| worker.url == row.url;
        match told.account.workers.iter().find(listed) {
            Some(worker)
                if worker.role == Some(role)
                    && worker.healthy == Some(row.healthy)
                    && worker.version == row.version => {}
            other => failures.push(fail(&format!("worker {}: {other:?}", row.url), &row.why)),
        }
    }
    for row in capture.file.worker.iter().filter(|row| row.verdict.is_some()) {
        let verdict = told.alone.iter().find(|(url, _)| *url == row.url).map(|(_, one)| &one.verdict);
        let fits = verdict.is_some_and(|verdict| {
            Some(verdict.level.name()) == row.verdict.as_deref() && verdict.reason.contains(&row.reason)
        });
        if !fits {
            failures.push(fail(&format!("worker {}, by its router's word: {verdict:?}", row.url), &row.why));
        }
    }
    if told.account.workers.len() != capture.file.worker.len() {
        failures.push(fail(&format!("{} workers listed", told.account.workers.len()), "the file names every worker"));
    }
    failures
}

/// Everything in which the router's copy of its workers' pages is not read as expected.
pub(crate) fn relay_failures(tables: &Tables, capture: &Capture) -> Vec<String> {
    let router = reader::table(tables, &capture.engine);
    let source = router.sources.iter().find_map(|source| Some((source.relay.as_ref()?, &source.get)));
    let mut failures = Vec::new();
    for row in &capture.file.relay {
        let pages = capture.observations();
        let page = source.and_then(|(label, get)| Some((label, pages.into_iter().find(|page| page.get == *get)?)));
        let Some((label, page)) = page else {
            failures.push(format!("{}: there is no such page", capture.name));
            continue;
        };
        let body = page.outcome.as_ref().map_or(&[][..], |answer| &answer.body);
        let taken = engines::saved::relayed(tables, body).get(&row.worker).map(|table| table.engine.name.clone());
        if taken.as_deref() != Some(row.engine.as_str()) {
            failures.push(format!("{}: passed on, {} is taken for {taken:?}", capture.name, row.worker));
        }
        let table = reader::table(tables, &row.engine);
        // What the router lists of the worker is known before, as in a live look.
        let mut known = model::Account::default();
        let listed = engines::interpret(router, &capture.observations(), &[], &model::Facts::new());
        for worker in listed.workers.iter().filter(|worker| worker.url == row.worker) {
            known.learn("role", worker.role.map_or("unknown", Role::name), "router", 0);
            if let Some(version) = &worker.version {
                known.learn("version", version, "router", 0);
            }
        }
        let told = engines::interpret_relayed(table, &page, label, &row.worker, &known.facts);
        let set = told.sets.iter().find(|set| set.pool == FULL && set.tier == DEVICE);
        let value = told.values.iter().find(|value| value.signal == row.signal).map(|value| &value.reading);
        let said = value.or_else(|| set?.readings.get(&row.signal));
        let fits = said
            .is_some_and(|said| state(said) == "reported" && said.value.is_some_and(|value| near(value, row.value)));
        if !fits {
            let (name, id, wanted, why) = (&capture.name, row.signal.row().id, row.value, &row.why);
            failures.push(format!("{name}: passed on, {id} is {said:?}, not {wanted}\n      evidence: {why}"));
        }
    }
    failures
}

fn fact(row: &FactRow, told: &Told) -> Option<String> {
    let server = &told.server;
    let text = |value: Option<&str>| toml::Value::String(value.unwrap_or("–").to_owned());
    let list = |values: BTreeSet<String>| toml::Value::Array(values.into_iter().map(toml::Value::String).collect());
    let ratio = |reading: &Reading| reading.value.map_or_else(|| text(None), toml::Value::Float);
    let said = match row.name.as_str() {
        "engine" => text(server.engine.as_deref()),
        "version" => text(server.version.as_deref()),
        "role" => text(Some(server.role.name())),
        "model" => text(server.model.as_deref()),
        "verdict" => text(Some(server.verdict.level.name())),
        "reason" => {
            let part = row.value.as_str().unwrap_or_default();
            let reason = &server.verdict.reason;
            return (!reason.contains(part)).then(|| format!("the verdict's reason lacks {part:?}: {reason}"));
        }
        "ranks" => toml::Value::Integer(i64::try_from(server.ranks.len()).unwrap_or(i64::MAX)),
        "pools" => list(server.ranks.iter().flat_map(|rank| rank.pools.iter().map(pool_name)).collect()),
        "notes" => list(server.notes.iter().map(|note| note.id.to_owned()).collect()),
        "fleet.in_use_max" => ratio(&told.fleet.in_use_max),
        "fleet.in_use_weighted" => ratio(&told.fleet.in_use_weighted),
        other => text(told.account.fact(other)),
    };
    let same = match (said.as_float(), row.value.as_float()) {
        (Some(said), Some(wanted)) => near(said, wanted),
        _ => said == row.value,
    };
    let beside = if row.name == "notes" { format!(" ({:?})", server.notes) } else { String::new() };
    (!same).then(|| format!("{} is {said}, not {}{beside}", row.name, row.value))
}

fn pool_name(pool: &Pool) -> String {
    if pool.tier == DEVICE { pool.pool.clone() } else { format!("{}/{}", pool.pool, pool.tier) }
}

fn reading(row: &Expect, told: &Told) -> Option<String> {
    let signal = row.signal;
    let pooled = row.worker.is_none() && signal.row().scope == Scope::Pool;
    let pool = row.pool.as_deref().unwrap_or(FULL);
    let tier = row.tier.as_deref().unwrap_or(DEVICE);
    let place = match &row.worker {
        Some(worker) => format!("view of {worker}"),
        None if pooled => format!("{:?}, pool {pool} on {tier}", row.rank),
        None => format!("{:?}", row.rank),
    };
    let what = format!("{} of {place}", signal.row().id);
    let readings = match holder(row, told, pooled, pool, tier) {
        Some(readings) => readings,
        None if row.state == "absent" => return None,
        None => return Some(format!("{what}: there is no such place")),
    };
    match readings.get(&signal) {
        None if row.state == "absent" => None,
        None => Some(format!("{what}: no reading, not even one that says why")),
        Some(reading) => differs(row, reading).map(|how| format!("{what}: {how}\n      said: {reading:?}")),
    }
}

fn holder<'a>(row: &Expect, told: &'a Told, pooled: bool, pool: &str, tier: &str) -> Option<&'a Readings> {
    if let Some(worker) = &row.worker {
        let dp = row.rank.dp;
        let view = told
            .server
            .router_view
            .iter()
            .find(|view| view.worker == *worker && view.dp.is_none_or(|said| said == dp))?;
        return Some(&view.readings);
    }
    let id =
        RankId { dp: Some(row.rank.dp), tp: Some(row.rank.tp).filter(|_| !row.rank.any_tp), pp: Some(row.rank.pp) };
    let rank: &Rank = told.server.ranks.iter().find(|rank| rank.rank == id)?;
    if !pooled {
        return Some(&rank.readings);
    }
    rank.pools.iter().find(|known| known.pool == pool && known.tier == tier).map(|known| &known.readings)
}

fn differs(row: &Expect, reading: &Reading) -> Option<String> {
    let state = state(reading);
    if state != row.state {
        return Some(format!("{state}, not {}", row.state));
    }
    let same = |said: Option<f64>, wanted: Option<f64>| match (said, wanted) {
        (Some(said), Some(wanted)) => near(said, wanted),
        (said, wanted) => said == wanted,
    };
    if !same(reading.value, row.value) {
        return Some(format!("{:?}, not {:?}", reading.value, row.value));
    }
    if row.precision.is_some() && !same(reading.precision, row.precision) {
        return Some(format!("right within {:?}, not {:?}", reading.precision, row.precision));
    }
    if let Some(age) = row.age
        && reading.age_s.is_none_or(|said| (said - age).abs() > 0.01)
    {
        return Some(format!("{:?} s old, not {age}", reading.age_s));
    }
    if row.unit.as_ref().is_some_and(|unit| reading.unit.name() != unit) {
        return Some(format!("counted in {}, not in {:?}", reading.unit.name(), row.unit));
    }
    let part = row.said.as_deref().unwrap_or_default();
    if !reading.source.as_deref().unwrap_or_default().contains(part) {
        return Some(format!("told by {:?}, not by {part}", reading.source));
    }
    None
}

/// A state as JSON spells it.
pub(crate) fn state(reading: &Reading) -> String {
    serde_json::to_value(reading.state).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Equal within 10⁻⁹ of the larger.
pub(crate) fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1.0e-9 * one.abs().max(other.abs()).max(1.0e-12)
}
