//! From the winning set to the seven numbers of a pool: what follows from the others is derived, what nothing says is
//! *not reported* with its reason.

use model::{DEVICE, Pool, PoolSet, Reading, Readings, Scope, Signal, State, Unit};

use crate::Moment;
use crate::choose::Choice;
use crate::ranks::vagueness;
use crate::sound;

/// The pool that stands for the fullest of several that a source does not tell apart.
const FULLEST: &str = "fullest";

/// The pool as it is shown; and where tokens and ratio of its set are of several pools that are not told apart, a second
/// one that stands for whichever of them is fullest. A `store` to which nobody gave memory yet has a capacity of 0 and says so.
pub(crate) fn pools(
    choice: &Choice,
    capacity_elsewhere: Option<Reading>,
    store: bool,
    moment: Moment,
    why: &dyn Fn(Signal, &str, &str) -> String,
) -> Vec<Pool> {
    let best = &choice.contenders[0].set;
    let bare = store && sound::is_nothing_of_nothing(&best.readings);
    let mut readings = match sound::above_the_whole(&best.readings).filter(|_| !bare) {
        Some(fault) => faulty(best, &fault),
        None => best.readings.clone(),
    };
    let closer = |own: &Reading| capacity_elsewhere.as_ref().is_some_and(|other| vagueness(other) < vagueness(own));
    let has_capacity =
        readings.get(&Signal::KV_CAPACITY).is_some_and(|reading| reading.value.is_some() && !closer(reading));
    if let (false, Some(mut capacity)) = (has_capacity, capacity_elsewhere) {
        // With no number beside it there is nothing that it would have to fit: it is what its own source says.
        if capacity.state == State::Derived && readings.values().all(|reading| reading.value.is_none()) {
            capacity.state = State::Reported;
            capacity.inputs.clear();
        }
        readings.insert(Signal::KV_CAPACITY, capacity);
    }
    let mut fullest = None;
    if let Some(why) = sound::of_several_pools(&readings) {
        let unit = unit_of(&readings);
        if let Some(ratio) = readings.insert(Signal::KV_IN_USE, Reading::not_reported(Unit::Ratio, why.clone())) {
            let alone = Readings::from([(Signal::KV_IN_USE, ratio)]);
            let missing = |_, _: &str, _: &str| why.clone();
            fullest = Some(finish(choice, FULLEST, alone, moment, &missing));
        }
        readings.insert(Signal::KV_USED, Reading::not_reported(unit, why));
    }
    // No part of the whole, but a share of used: of another set it is as good, with a source and an age of its own.
    let fresh = choice.contenders.iter().filter(|other| other.age_s <= moment.fresh_s);
    let mut aside = fresh.filter_map(|other| other.set.readings.get(&Signal::KV_PREALLOCATED));
    if let Some(aside) = aside.find(|aside| aside.value.is_some()) {
        readings.entry(Signal::KV_PREALLOCATED).or_insert_with(|| aside.clone());
    }
    derive(&mut readings);
    let mut pools = vec![finish(choice, &choice.pool, readings, moment, why)];
    pools.extend(fullest);
    pools
}

/// The pool called `name`: what is missing with its reason, ages, staleness.
fn finish(
    choice: &Choice,
    name: &str,
    mut readings: Readings,
    moment: Moment,
    why: &dyn Fn(Signal, &str, &str) -> String,
) -> Pool {
    let unit = unit_of(&readings);
    let known = readings.clone();
    for signal in Signal::all().filter(|signal| signal.row().scope == Scope::Pool && signal.row().always) {
        let unit = if signal.unit() == Unit::Ratio { Unit::Ratio } else { unit };
        let told = || not_taken(choice, signal).unwrap_or_else(|| why(signal, &choice.pool, &choice.tier));
        let reason = || needs(signal, &known).map_or_else(told, str::to_owned);
        readings.entry(signal).or_insert_with(|| Reading::not_reported(unit, reason()));
    }
    for reading in readings.values_mut() {
        settle(reading, moment);
    }
    let binds = choice.tier == DEVICE;
    Pool { pool: name.to_owned(), tier: choice.tier.clone(), binds, readings }
}

/// What a computed number lacks, when its other part is there.
fn needs(signal: Signal, readings: &Readings) -> Option<&'static str> {
    let has = |signal| readings.get(&signal).is_some_and(|reading: &Reading| reading.value.is_some());
    let stored_nothing =
        has(Signal::KV_STORED) && readings.get(&Signal::KV_CAPACITY).and_then(|all| all.value) == Some(0.0);
    match signal {
        Signal::KV_OCCUPIED if stored_nothing => Some("nothing of a capacity of 0 is neither empty nor full"),
        Signal::KV_OCCUPIED if has(Signal::KV_USED) => Some("needs evictable as well as used"),
        Signal::KV_HEADROOM | Signal::KV_IN_USE if has(Signal::KV_USED) => Some("needs the capacity as well as used"),
        Signal::KV_HEADROOM if has(Signal::KV_CAPACITY) => Some("needs used as well as the capacity"),
        _ => None,
    }
}

/// What the pool's numbers count.
fn unit_of(readings: &Readings) -> Unit {
    readings.values().map(|reading| reading.unit).find(|unit| *unit != Unit::Ratio).unwrap_or(Unit::Tokens)
}

/// Another set says the signal, but numbers of two sets are not mixed: which, and why it was not taken.
fn not_taken(choice: &Choice, signal: Signal) -> Option<String> {
    let says = |set: &PoolSet| set.readings.get(&signal).is_some_and(|reading| reading.value.is_some());
    let other = choice.contenders[1..].iter().find(|other| says(&other.set))?;
    let lost = other.lost.as_deref().unwrap_or("another set was taken");
    Some(format!("{} says it, but its numbers were not taken: {lost}", other.set.source))
}

/// Gives a reading its age at `now`, and calls it stale when it is too old.
pub(crate) fn settle(reading: &mut Reading, moment: Moment) {
    let Some(at) = reading.at else { return };
    let age = moment.now.since(at).max(0.0);
    reading.age_s = Some((age * 1000.0).round() / 1000.0);
    let believed = matches!(reading.state, State::Reported | State::Derived | State::Inferred);
    if believed && age > moment.fresh_s && reading.value.is_some() {
        reading.state = State::Stale;
        reading.reason.get_or_insert_with(|| format!("said {age:.0} s ago"));
    }
}

/// The numbers of a set that cannot be true together, each with what was said.
fn faulty(set: &PoolSet, fault: &str) -> Readings {
    let nothing_yet = set.readings.get(&Signal::KV_CAPACITY).and_then(|capacity| capacity.value) == Some(0.0);
    let judge = |reading: &Reading| match (nothing_yet, reading.value) {
        (true, _) => Reading::not_reported(reading.unit, fault.to_owned()),
        (false, Some(said)) => {
            let source = reading.source.clone().unwrap_or_default();
            Reading::impossible(reading.unit, format!("said {said}, but {fault}"), source, set.at)
        }
        (false, None) => reading.clone(),
    };
    let kept = |signal: Signal| signal == Signal::KV_CAPACITY && !nothing_yet;
    let judged = |(signal, reading): (&Signal, &Reading)| {
        (*signal, if kept(*signal) { reading.clone() } else { judge(reading) })
    };
    set.readings.iter().map(judged).collect()
}

/// A pool of which only what it holds is said: the rest is available.
fn stored(readings: &mut Readings, capacity: &Reading) {
    let Some(stored) = known(readings, Signal::KV_STORED).filter(|stored| value(stored) <= value(capacity)) else {
        return;
    };
    let inputs = ["capacity", "stored"];
    let left = Reading::derived(value(capacity) - value(&stored), capacity.unit, &[capacity, &stored], &inputs);
    let off = sum_of(stored.precision, capacity.precision);
    readings.entry(Signal::KV_AVAILABLE).or_insert(left.within(off));
    let share =
        Reading::derived(value(&stored) / value(capacity), Unit::Ratio, &[&stored, capacity], &["stored", "capacity"]);
    readings.entry(Signal::KV_OCCUPIED).or_insert(share.within(off.map(|off| off / value(capacity))));
}

/// What a pool holds over the share of it that this is.
fn capacity_of_stored(readings: &mut Readings) {
    let (Some(stored), Some(share)) = (known(readings, Signal::KV_STORED), known(readings, Signal::KV_OCCUPIED)) else {
        return;
    };
    if readings.contains_key(&Signal::KV_CAPACITY) || value(&share) <= 0.0 {
        return;
    }
    let whole = (value(&stored) / value(&share)).round();
    let off = share.precision.map(|off| (off / value(&share) * whole).ceil());
    let whole = Reading::derived(whole, stored.unit, &[&stored, &share], &["stored", "occupied"]).within(off);
    readings.insert(Signal::KV_CAPACITY, whole);
}

/// Adds what follows: used from a ratio, the missing third part, headroom, in use, occupied.
fn derive(readings: &mut Readings) {
    capacity_of_stored(readings);
    let capacity = known(readings, Signal::KV_CAPACITY);
    if let (Some(capacity), Some(ratio), None) =
        (&capacity, known(readings, Signal::KV_IN_USE), readings.get(&Signal::KV_USED))
    {
        let whole = capacity.value.unwrap_or_default();
        let tokens = (ratio.value.unwrap_or_default() * whole).round();
        let precision = ratio.precision.map(|precision| (precision * whole).round());
        let used =
            Reading::derived(tokens, capacity.unit, &[&ratio, capacity], &["in_use", "capacity"]).within(precision);
        readings.insert(Signal::KV_USED, used);
    }
    let used = known(readings, Signal::KV_USED);
    if let (Some(used), Some(stored), None) =
        (&used, known(readings, Signal::KV_STORED), readings.get(&Signal::KV_EVICTABLE))
        && value(&stored) >= value(used)
        && stored.unit == used.unit
    {
        let kept = Reading::derived(value(&stored) - value(used), used.unit, &[&stored, used], &["stored", "used"]);
        readings.insert(Signal::KV_EVICTABLE, kept.within(sum_of(stored.precision, used.precision)));
    }
    let evictable = known(readings, Signal::KV_EVICTABLE);
    let available = known(readings, Signal::KV_AVAILABLE);

    if capacity.is_none()
        && let (Some(used), Some(evictable), Some(available)) = (&used, &evictable, &available)
    {
        let sum = value(used) + value(evictable) + value(available);
        let inputs = ["used", "evictable", "available"];
        let capacity = Reading::derived(sum, used.unit, &[used, evictable, available], &inputs).within(Some(0.0));
        readings.insert(Signal::KV_CAPACITY, capacity);
    }
    let Some(capacity) = known(readings, Signal::KV_CAPACITY).filter(|capacity| value(capacity) > 0.0) else { return };
    stored(readings, &capacity);
    let Some(used) = used.or_else(|| left_over(readings, &capacity)) else { return };
    // A full pool may be a page over; what is far over was found impossible before.
    let rest = (value(&capacity) - value(&used)).max(0.0);
    let precision = sum_of(used.precision, capacity.precision);
    let two = |value: f64, unit| Reading::derived(value, unit, &[&used, &capacity], &["used", "capacity"]);
    readings.insert(Signal::KV_HEADROOM, two(rest, capacity.unit).within(precision));
    let share = precision.map(|precision| precision / value(&capacity));
    // A ratio that used was made from stays as it was said, also beside a capacity that is less well known; one that cannot
    // be stays as well, with its reason.
    let vague = capacity.precision.is_some_and(|precision| precision > 0.0);
    let kept = |ratio: &Reading| match ratio.state {
        State::Impossible => true,
        _ => ratio.value.is_some() && (vague || used.state != State::Reported),
    };
    if !readings.get(&Signal::KV_IN_USE).is_some_and(kept) {
        readings.insert(Signal::KV_IN_USE, two(value(&used) / value(&capacity), Unit::Ratio).within(share));
    }
    match (evictable, available) {
        (Some(evictable), None) if value(&evictable) <= rest => {
            let inputs = ["capacity", "used", "evictable"];
            let left = rest - value(&evictable);
            let left =
                Reading::derived(left, capacity.unit, &[&capacity, &used, &evictable], &inputs).within(precision);
            readings.entry(Signal::KV_AVAILABLE).or_insert(left);
            occupied(readings, &capacity, &used, &evictable);
        }
        (None, Some(available)) if value(&available) <= rest => {
            let inputs = ["capacity", "used", "available"];
            let left = rest - value(&available);
            let left =
                Reading::derived(left, capacity.unit, &[&capacity, &used, &available], &inputs).within(precision);
            occupied(readings, &capacity, &used, &left);
            readings.entry(Signal::KV_EVICTABLE).or_insert(left);
        }
        (Some(evictable), Some(_)) => occupied(readings, &capacity, &used, &evictable),
        _ => {}
    }
}

/// Used, where everything else of the capacity is told and used is not: one that is told and cannot be stays so.
fn left_over(readings: &mut Readings, capacity: &Reading) -> Option<Reading> {
    if readings.contains_key(&Signal::KV_USED) {
        return None;
    }
    let (evictable, available) = (known(readings, Signal::KV_EVICTABLE)?, known(readings, Signal::KV_AVAILABLE)?);
    let left = value(capacity) - value(&evictable) - value(&available);
    let inputs = ["capacity", "evictable", "available"];
    let used = Reading::derived(left, capacity.unit, &[capacity, &evictable, &available], &inputs);
    let used = (left >= 0.0).then(|| used.within(capacity.precision))?;
    readings.insert(Signal::KV_USED, used.clone());
    Some(used)
}

/// What is uncertain about a sum or a difference of two numbers.
fn sum_of(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

fn occupied(readings: &mut Readings, capacity: &Reading, used: &Reading, evictable: &Reading) {
    let share = (value(used) + value(evictable)) / value(capacity);
    let inputs = ["used", "evictable", "capacity"];
    let off = sum_of(used.precision, capacity.precision);
    let precision = off.map(|precision| precision / value(capacity));
    let reading = Reading::derived(share, Unit::Ratio, &[used, evictable, capacity], &inputs).within(precision);
    readings.insert(Signal::KV_OCCUPIED, reading);
}

fn known(readings: &Readings, signal: Signal) -> Option<Reading> {
    readings.get(&signal).filter(|reading| reading.value.is_some()).cloned()
}

fn value(reading: &Reading) -> f64 {
    reading.value.unwrap_or_default()
}
