//! Faults planted into captures: one number is changed, and what must be said about it is demanded.

use engines::Tables;
use model::{Answer, Observation, Server, Signal, State, View};

use super::file::{self, Capture, Given};
use super::reader::{self, Told};

/// A planted fault.
struct Seed {
    /// What is wrong.
    name: &'static str,
    /// The capture that it is planted in.
    base: &'static str,
    /// The changes.
    edits: &'static [Edit],
    /// What must be said.
    demands: &'static [Demand],
}

/// A change of one answer.
enum Edit {
    /// In the answer of a path, replace a text that stands there exactly once.
    Text(&'static str, &'static str, &'static str),
    /// In the answer of a path, cut every occurrence of a text from lines that hold another.
    Cut(&'static str, &'static str, &'static str),
    /// The path answers 404.
    Gone(&'static str),
}

/// What must be said.
enum Demand {
    /// A note of this id, which no capture has as it is.
    Note(&'static str),
    /// A reading of a rank's full pool, or of the rank itself, in this state with this value.
    Reading(Signal, State, Option<f64>),
    /// Somewhere, in a note or as an impossible reading, what was said.
    Shown(&'static str),
    /// So many ranks.
    Ranks(usize),
}

use Demand::{Note, Ranks, Reading, Shown};
use Edit::{Cut, Gone, Text};

const SEEDS: &[Seed] = &[
    Seed {
        name: "/v1/loads says 700 used on an idle server, /metrics 0",
        base: "sglang/0.5.23-on-idle",
        edits: &[
            Text("/v1/loads", "\"num_used_tokens\":0", "\"num_used_tokens\":700"),
            Text("/v1/loads", "\"token_usage\":0.0", "\"token_usage\":0.3418"),
        ],
        demands: &[Note("sets-disagree"), Reading(Signal::KV_USED, State::Reported, Some(0.0))],
    },
    Seed {
        name: "/v1/loads says another capacity",
        base: "sglang/0.5.23-on-idle",
        edits: &[Text("/v1/loads", "\"max_total_num_tokens\":2048", "\"max_total_num_tokens\":4096")],
        demands: &[Note("capacity-disagrees"), Reading(Signal::KV_CAPACITY, State::Reported, Some(2048.0))],
    },
    Seed {
        name: "/server_info says another capacity",
        base: "sglang/0.5.23-off-idle",
        edits: &[Text("/server_info", "\"max_total_num_tokens\":2048", "\"max_total_num_tokens\":4096")],
        demands: &[Note("capacity-disagrees")],
    },
    Seed {
        name: "available and evictable come to more than the capacity, and nothing else tells",
        base: "sglang/0.5.23-on-afterload",
        edits: &[Gone("/v1/loads"), Text("/metrics", KV_EVICTABLE, KV_EVICTABLE_1900)],
        demands: &[
            Reading(Signal::KV_EVICTABLE, State::Impossible, None),
            Reading(Signal::KV_AVAILABLE, State::Impossible, None),
            Reading(Signal::KV_CAPACITY, State::Reported, Some(2048.0)),
            Shown("1900"),
        ],
    },
    Seed {
        name: "available and evictable come to more than the capacity, and /v1/loads tells used",
        base: "sglang/0.5.23-on-afterload",
        edits: &[Text("/metrics", KV_EVICTABLE, KV_EVICTABLE_1900)],
        demands: &[Reading(Signal::KV_USED, State::Reported, Some(0.0)), Shown("1900")],
    },
    Seed {
        name: "used is not a number",
        base: "sglang/0.5.9-idle",
        edits: &[Text("/metrics", USED_059, USED_059_NAN)],
        demands: &[Shown("NaN")],
    },
    Seed {
        name: "used is not a number, and nothing else tells",
        base: "sglang/0.5.23-on-load",
        edits: &[Gone("/v1/loads"), Text("/metrics", KV_USED, KV_USED_NAN)],
        demands: &[Reading(Signal::KV_USED, State::Impossible, None), Shown("NaN")],
    },
    Seed {
        name: "a usage of -0.39",
        base: "sglang/0.5.23-off-idle",
        edits: &[Text("/v1/loads", "\"token_usage\":0.0", "\"token_usage\":-0.39")],
        demands: &[Shown("-0.39")],
    },
    Seed {
        name: "a usage of -0.39 with the tokens that belong to it",
        base: "sglang/0.5.23-off-idle",
        edits: &[
            Text("/v1/loads", "\"token_usage\":0.0", "\"token_usage\":-0.39"),
            Text("/v1/loads", "\"num_used_tokens\":0", "\"num_used_tokens\":-798"),
        ],
        demands: &[
            Reading(Signal::KV_USED, State::Impossible, None),
            Reading(Signal::KV_IN_USE, State::Impossible, None),
            Shown("-798"),
        ],
    },
    Seed {
        name: "more used than there is",
        base: "sglang/0.5.23-off-idle",
        edits: &[Text("/v1/loads", "\"num_used_tokens\":0", "\"num_used_tokens\":3165")],
        demands: &[
            Reading(Signal::KV_USED, State::Impossible, None),
            Reading(Signal::KV_IN_USE, State::Impossible, None),
            Shown("3165"),
        ],
    },
    Seed {
        name: "a series once per process, equal",
        base: "sglang/0.5.23-on-load",
        edits: &[Text("/metrics", KV_USED, KV_USED_TWICE)],
        demands: &[Note("pid-copies"), Ranks(1), Reading(Signal::KV_USED, State::Reported, Some(1364.0))],
    },
    Seed {
        name: "series once per process, unequal: ranks that nothing else tells apart",
        base: "sglang/0.5.2-load",
        edits: &[Text("/metrics", USED_052, USED_052_PIDS), Gone("/get_load")],
        demands: &[Note("ranks-by-pid"), Ranks(2)],
    },
    Seed {
        name: "a series twice with two values",
        base: "sglang/0.5.23-on-load",
        edits: &[Gone("/v1/loads"), Text("/metrics", KV_USED, KV_USED_DOUBLE)],
        demands: &[Reading(Signal::KV_USED, State::Impossible, None), Ranks(1), Shown("1365")],
    },
    Seed {
        name: "one family without rank labels",
        base: "sglang/0.5.23-on-load",
        edits: &[Cut("/metrics", "sglang:kv_available_tokens{", ",pp_rank=\"0\",tp_rank=\"0\"")],
        demands: &[Ranks(1), Reading(Signal::KV_AVAILABLE, State::Reported, Some(22.0))],
    },
    Seed {
        name: "one family of eight ranks without rank labels: no ninth rank, and no mixture",
        base: "sglang/0.5.19-dp8-attention",
        edits: &[Text("/metrics", "sglang:gen_throughput{dp_rank=\"3\",", "sglang:gen_throughput{")],
        demands: &[Ranks(8)],
    },
];

const KV_USED: &str = "sglang:kv_used_tokens{engine_type=\"unified\",model_name=\"model\",moe_ep_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"} 1364.0";
const KV_USED_NAN: &str = "sglang:kv_used_tokens{engine_type=\"unified\",model_name=\"model\",moe_ep_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"} NaN";
const KV_USED_TWICE: &str = "sglang:kv_used_tokens{engine_type=\"unified\",model_name=\"model\",moe_ep_rank=\"0\",pid=\"71\",pp_rank=\"0\",tp_rank=\"0\"} 1364.0\nsglang:kv_used_tokens{engine_type=\"unified\",model_name=\"model\",moe_ep_rank=\"0\",pid=\"72\",pp_rank=\"0\",tp_rank=\"0\"} 1364.0";
const KV_USED_DOUBLE: &str = "sglang:kv_used_tokens{engine_type=\"unified\",model_name=\"model\",moe_ep_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"} 1364.0\nsglang:kv_used_tokens{engine_type=\"unified\",model_name=\"model\",moe_ep_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"} 1365.0";
const KV_EVICTABLE: &str = "sglang:kv_evictable_tokens{engine_type=\"unified\",model_name=\"model\",moe_ep_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"} 1676.0";
const KV_EVICTABLE_1900: &str = "sglang:kv_evictable_tokens{engine_type=\"unified\",model_name=\"model\",moe_ep_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"} 1900.0";
const USED_059: &str = "sglang:num_used_tokens{engine_type=\"unified\",model_name=\"model\",moe_ep_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"} 0.0";
const USED_059_NAN: &str = "sglang:num_used_tokens{engine_type=\"unified\",model_name=\"model\",moe_ep_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"} NaN";
const USED_052: &str =
    "sglang:num_used_tokens{engine_type=\"unified\",model_name=\"model\",pp_rank=\"0\",tp_rank=\"0\"} 26214.0";
const USED_052_PIDS: &str = "sglang:num_used_tokens{engine_type=\"unified\",model_name=\"model\",pid=\"71\",pp_rank=\"0\",tp_rank=\"0\"} 26214.0\nsglang:num_used_tokens{engine_type=\"unified\",model_name=\"model\",pid=\"72\",pp_rank=\"0\",tp_rank=\"0\"} 1000.0";

/// Everything that was demanded and not said.
pub(crate) fn failures(tables: &Tables) -> Vec<String> {
    let untouched: Vec<(String, Told)> = file::all()
        .into_iter()
        .map(|capture| (capture.name.clone(), reader::read(tables, &capture, Given::Answers)))
        .collect();
    let mut failures = Vec::new();
    for seed in SEEDS {
        let base = file::named(seed.base);
        let observations = planted(&base, seed);
        let told = reader::tell(
            tables,
            &base.engine,
            observations.as_slice().into(),
            &model::Facts::new(),
            base.now(),
            Vec::new(),
        );
        for demand in seed.demands {
            failures.extend(unmet(demand, &told.server).map(|how| format!("{} ({}): {how}", seed.name, seed.base)));
            if let Note(id) = demand {
                failures.extend(already(&untouched, id));
            }
        }
    }
    failures.sort();
    failures.dedup();
    failures
}

/// Captures that have the note although nothing was planted.
fn already(untouched: &[(String, Told)], id: &str) -> Vec<String> {
    let has = |told: &Told| told.server.notes.iter().any(|note| note.id == id);
    untouched
        .iter()
        .filter(|(_, told)| has(told))
        .map(|(name, _)| format!("{name} has the note {id} as it is"))
        .collect()
}

fn planted(base: &Capture, seed: &Seed) -> Vec<Observation> {
    let mut observations = base.observations();
    for edit in seed.edits {
        let (Text(get, ..) | Cut(get, ..) | Gone(get)) = edit;
        let found = observations.iter_mut().find(|observation| observation.get == *get);
        let observation = found.unwrap_or_else(|| panic!("{}: {} has no answer of {get}", seed.name, seed.base));
        let Ok(answer) = &mut observation.outcome else { continue };
        match edit {
            Gone(_) => *answer = Answer { status: 404, ..Answer::default() },
            Text(_, from, to) => {
                let text = String::from_utf8_lossy(&answer.body).into_owned();
                assert_eq!(text.matches(from).count(), 1, "{}: {from} in {get} of {}", seed.name, seed.base);
                answer.body = text.replace(from, to).into_bytes();
            }
            Cut(_, line, what) => {
                let text = String::from_utf8_lossy(&answer.body).into_owned();
                let cut = |one: &str| if one.contains(line) { one.replace(what, "") } else { one.to_owned() };
                let edited = text.lines().map(cut).collect::<Vec<_>>().join("\n") + "\n";
                assert_ne!(text, edited, "{}: nothing to cut", seed.name);
                answer.body = edited.into_bytes();
            }
        }
    }
    observations
}

fn unmet(demand: &Demand, server: &Server) -> Option<String> {
    match demand {
        Note(id) => (!server.notes.iter().any(|note| note.id == *id))
            .then(|| format!("no note {id}; there are {:?}", server.notes)),
        Ranks(wanted) => (server.ranks.len() != *wanted).then(|| {
            let ids: Vec<_> = server.ranks.iter().map(|rank| rank.rank).collect();
            format!("{} ranks, not {wanted}: {ids:?}", server.ranks.len())
        }),
        Reading(signal, state, value) => {
            let rank = server.ranks.first()?;
            let reading = rank.readings.get(signal).or_else(|| rank.pools.first()?.get(*signal));
            let fits = reading.is_some_and(|reading| reading.state == *state && reading.value == *value);
            (!fits).then(|| format!("{} is not {state:?} {value:?}, but {reading:?}", signal.row().id))
        }
        Shown(what) => {
            let pools = server.ranks.iter().flat_map(|rank| &rank.pools).flat_map(|pool| pool.readings.values());
            let mut readings = server.ranks.iter().flat_map(|rank| rank.readings.values()).chain(pools);
            let says = |reason: &Option<String>| reason.as_ref().is_some_and(|reason| reason.contains(what));
            let shown = readings.any(|reading| reading.state == State::Impossible && says(&reading.reason))
                || server.notes.iter().any(|note| note.text.contains(what));
            (!shown).then(|| format!("{what} was said and is shown nowhere"))
        }
    }
}

/// A router's view that is far from the worker's own word must be said, and one that is near must not.
pub(crate) fn router_view_failures(tables: &Tables) -> Vec<String> {
    let worker = file::named("sglang/0.5.23-pd-decode-load");
    let router = file::named("smg/1.13.0-pd-load");
    let mut failures = Vec::new();
    for (used, share, noted) in [("445", "0.2173", false), ("1945", "0.9497", true)] {
        let mut observations = router.observations();
        for observation in &mut observations {
            let Ok(answer) = &mut observation.outcome else { continue };
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            answer.body = text
                .replace("\"num_used_tokens\":445", &format!("\"num_used_tokens\":{used}"))
                .replace("0.2173", share)
                .into_bytes();
        }
        let views: Vec<(String, View)> =
            engines::interpret(reader::table(tables, &router.engine), &observations, &[], &model::Facts::new())
                .views
                .into_iter()
                .filter(|view| view.worker.ends_with(":30002"))
                .map(|view| ("http://127.0.0.1:29000".to_owned(), view))
                .collect();
        assert!(!views.is_empty(), "the router says nothing about its decode worker");
        let now = if worker.now() < router.now() { router.now() } else { worker.now() };
        let heard = worker.observations();
        let heard = heard.as_slice().into();
        let told = reader::tell(tables, &worker.engine, heard, &model::Facts::new(), now, views);
        let has = told.server.notes.iter().any(|note| note.id == "router-view-differs");
        if has != noted {
            failures.push(format!("the router says {share} in use, the worker 0.2832: notes {:?}", told.server.notes));
        }
    }
    failures
}
