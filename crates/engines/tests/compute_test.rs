//! What tables may make of a number: scale it, divide it, gather it. The engine is made up; each expected value is worked
//! out beside the page.

#[path = "support/made.rs"]
mod made;

use made::*;
use model::{Account, Answer, Facts, Log, LogClock, Signal, State, Stretch};

const CONFIG: &str = "made:config{engine=\"0\",block_size=\"16\",blocks=\"128\",host=\"None\"} 1\n";

#[test]
fn a_number_in_a_label_is_scaled_by_its_neighbours() {
    let rows = r#"{ name = "config", label = "blocks", less = 1, times = ["block_size"], signal = "kv.capacity", pool = "full" }"#;
    let capacity = of(&page(rows, CONFIG), Signal::KV_CAPACITY).expect("a reading");
    // (128 − 1) × 16
    assert_eq!((capacity.value, capacity.state), (Some(2032.0), State::Derived));
    assert_eq!(capacity.inputs, ["blocks 128", "less 1", "times block_size 16"]);
    assert!(capacity.source.expect("a source").ends_with("made:config blocks"));
}

#[test]
fn a_factor_that_is_not_known_makes_no_value() {
    let rows = r#"{ name = "used", times = ["block_size"], signal = "kv.used", pool = "full" }"#;
    assert_eq!(of(&page(rows, "made:used{engine=\"0\"} 5\n"), Signal::KV_USED), None);
    // A fact that another series tells is one: 5 × 16.
    assert_eq!(value(&page(rows, &format!("{CONFIG}made:used{{engine=\"0\"}} 5\n")), Signal::KV_USED), Some(80.0));
    // `None` in a label is no number.
    let rows = r#"{ name = "config", label = "host", signal = "kv.capacity", pool = "full", tier = "host" }"#;
    assert_eq!(of(&page(rows, CONFIG), Signal::KV_CAPACITY), None);
}

#[test]
fn two_counters_make_a_ratio_of_each_rank() {
    let rows = r#"{ name = "hits_total", over = "asked_total", signal = "cache.hit_rate" }"#;
    let body = "made:hits_total{engine=\"0\"} 30\nmade:asked_total{engine=\"0\"} 40\n\
                made:hits_total{engine=\"1\"} 0\nmade:asked_total{engine=\"1\"} 0\n";
    let account = page(rows, body);
    assert_eq!(account.values.len(), 1, "of nothing asked there is no rate: {:?}", account.values);
    assert_eq!((account.values[0].rank.dp, account.values[0].reading.value), (Some(0), Some(0.75)));
    assert_eq!(account.values[0].reading.inputs, ["hits_total 30", "over asked_total 40"]);
}

#[test]
fn a_block_that_is_never_free_is_not_used() {
    let rows = r#"{ name = "usage", floor = "blocks", signal = "kv.in_use", pool = "full" }"#;
    // With 128 blocks one of which is never free: 1/128 is nothing, 65/128 are 64 of 127.
    let at = |value: f64| format!("made:usage{{engine=\"0\",blocks=\"128\"}} {value}\n");
    assert_eq!(value(&page(rows, &at(1.0 / 128.0)), Signal::KV_IN_USE), Some(0.0));
    let half = value(&page(rows, &at(65.0 / 128.0)), Signal::KV_IN_USE).expect("a value");
    assert!((half - 64.0 / 127.0).abs() < 1e-12, "{half}");
    // Less than the one block cannot be.
    assert_eq!(of(&page(rows, &at(0.0)), Signal::KV_IN_USE).map(|reading| reading.state), Some(State::Impossible));
}

#[test]
fn an_idle_floor_tells_the_capacity() {
    let rows = r#"
        { name = "usage", reciprocal = true, unit = "blocks", signal = "kv.capacity", pool = "full" },
        { name = "running", signal = "req.running" }"#;
    let at = |usage: f64, running: u8| {
        page(rows, &format!("made:usage{{engine=\"0\"}} {usage}\nmade:running{{engine=\"0\"}} {running}\n"))
    };
    let idle = of(&at(1.0 / 7823.0, 0), Signal::KV_CAPACITY).expect("a reading");
    assert_eq!((idle.value, idle.state, idle.unit.name()), (Some(7823.0), State::Inferred, "blocks"));
    // While something runs, and where the inverse is not whole, it tells nothing.
    assert_eq!(of(&at(1.0 / 7823.0, 1), Signal::KV_CAPACITY), None);
    assert_eq!(of(&at(0.3, 0), Signal::KV_CAPACITY), None);
    assert_eq!(of(&at(0.0, 0), Signal::KV_CAPACITY), None);
}

#[test]
fn only_samples_with_the_labels_count_and_percentages_are_shares() {
    let rows = r#"
        { name = "usage", with = { medium = "cpu" }, percent = true, round = 0.0005, signal = "kv.occupied", pool = "full", tier = "host" },
        { name = "usage", with = { medium = "gpu" }, percent = true, round = 0.0005, grain = "blocks", signal = "kv.in_use", pool = "full" }"#;
    let body = "made:usage{medium=\"cpu\"} 95.3\nmade:usage{medium=\"gpu\",blocks=\"200\"} 12.5\n";
    let account = page(rows, body);
    let occupied = of(&account, Signal::KV_OCCUPIED).expect("a reading");
    assert!((occupied.value.expect("a value") - 0.953).abs() < 1e-12);
    assert_eq!(occupied.precision, Some(0.0005));
    let in_use = of(&account, Signal::KV_IN_USE).expect("a reading");
    assert_eq!((in_use.value, in_use.precision, in_use.state), (Some(0.125), Some(1.0 / 200.0), State::Reported));
}

#[test]
fn the_first_row_that_can_tell_a_number_tells_it() {
    let rows = r#"
        { name = "exact", times = ["nobody_knows"], signal = "kv.used", pool = "full" },
        { name = "exact", dead = ["role=unified"], signal = "kv.used", pool = "full" },
        { name = "rough", signal = "kv.used", pool = "full" }"#;
    assert_eq!(value(&page(rows, "made:exact 0\nmade:rough 7\n"), Signal::KV_USED), Some(7.0));
    assert_eq!(value(&page(rows, "made:exact 6\nmade:rough 7\n"), Signal::KV_USED), Some(6.0));
}

#[test]
fn a_page_without_series_is_switched_off() {
    let account = page(r#"{ name = "usage", signal = "kv.in_use", pool = "full" }"#, "process_cpu_seconds_total 3\n");
    assert_eq!(account.fact("metrics"), Some("off"));
    let on = page(r#"{ name = "usage", signal = "kv.in_use", pool = "full" }"#, "made:usage 0.5\n");
    assert_eq!(on.fact("metrics"), Some("on"));
}

const SLOTS: &str = r#"
[[source]]
id = "slots"
get = "/slots"
format = "json"
each = "[*]"
gather = true
read = [
  { name = "held", where = "busy", fold = "sum", signal = "kv.used", pool = "full" },
  { name = "held", unless = "busy", fold = "sum", omitted = 0, signal = "kv.evictable", pool = "full" },
  { name = "room", fold = "max", signal = "kv.capacity", pool = "full" },
  { name = "busy", where = "busy", fold = "count", signal = "req.running" },
]
"#;

#[test]
fn elements_are_gathered() {
    let tables = tables(SLOTS);
    let slots = r#"[{"busy":true,"held":100,"room":512},{"busy":false,"held":40,"room":512},
        {"busy":true,"held":60,"room":512},{"busy":false,"room":512}]"#;
    let account = told(&tables, &[answer("/slots", slots)], &[]);
    // 100 + 60 busy; 40 idle, and the slot that never held anything lacks the field.
    assert_eq!(value(&account, Signal::KV_USED), Some(160.0));
    assert_eq!(value(&account, Signal::KV_EVICTABLE), Some(40.0));
    assert_eq!(value(&account, Signal::KV_CAPACITY), Some(512.0));
    assert_eq!(value(&account, Signal::REQ_RUNNING), Some(2.0));
    assert_eq!(account.sets.len(), 1);
}

#[test]
fn a_busy_element_that_does_not_say_makes_no_sum_of_the_others() {
    let tables = tables(SLOTS);
    let slots = r#"[{"busy":true,"held":100,"room":512},{"busy":true,"room":512}]"#;
    let account = told(&tables, &[answer("/slots", slots)], &[]);
    assert_eq!(value(&account, Signal::KV_USED), None);
    // Nor does one that does not say whether it is busy.
    let account = told(&tables, &[answer("/slots", r#"[{"held":100,"room":512}]"#)], &[]);
    assert_eq!((value(&account, Signal::KV_USED), value(&account, Signal::KV_CAPACITY)), (None, Some(512.0)));
    // An empty list tells nothing at all: no slot is not an empty cache.
    let account = told(&tables, &[answer("/slots", "[]")], &[]);
    assert!(account.sets.is_empty() && account.values.is_empty());
    // All idle: nothing is used, and that is said.
    let account = told(&tables, &[answer("/slots", r#"[{"busy":false,"held":7,"room":512}]"#)], &[]);
    assert_eq!((value(&account, Signal::KV_USED), value(&account, Signal::KV_EVICTABLE)), (Some(0.0), Some(7.0)));
}

#[test]
fn a_lines_number_becomes_a_fact_and_scales_another() {
    let tables = tables(
        r#"
[[line]]
id = "start"
starts = ["cache of "]
lasting = true
facts = { "block size" = "block_size" }
read = [{ name = "blocks", times = ["block size"], signal = "kv.capacity", pool = "full" }]
[[line]]
id = "step"
starts = ["step: "]
read = [{ name = "usage", percent = true, round = 0.0005, signal = "kv.in_use", pool = "full" }]
"#,
    );
    let bytes = b"2026-11-29 16:15:20 cache of this, blocks: 1,024, block size: 16\n2026-11-29 16:15:23 step: usage: 95.3%, x: 1\n";
    let stretch = Stretch { bytes: bytes.to_vec(), first_line: Some(1), from_start: true, name: None };
    let log = Log {
        name: "log".to_owned(),
        at: AT,
        took: 0.0,
        since: None,
        clock: LogClock::Offset(0.0),
        written: None,
        outcome: Ok(vec![stretch]),
    };
    let account = told(&tables, &[], &[log]);
    assert_eq!(account.fact("block_size"), Some("16"));
    assert_eq!(value(&account, Signal::KV_CAPACITY), Some(16384.0));
    let in_use = of(&account, Signal::KV_IN_USE).expect("a reading");
    assert!((in_use.value.expect("a value") - 0.953).abs() < 1e-12 && in_use.precision == Some(0.0005));
}

#[test]
fn an_answer_is_recognised_by_what_a_field_says() {
    let tables = tables("");
    let named = |owner: &str| {
        let body = format!(r#"{{"object":"list","data":[{{"id":"m","owned_by":"{owner}"}}]}}"#);
        tables.recognise(&answer("/v1/models", &body)).map(|(table, _)| table.engine.name.clone())
    };
    assert_eq!(named("made").as_deref(), Some("made"));
    assert_ne!(named("somebody else").as_deref(), Some("made"));
}

const EITHER: &str = r#"
[[assume]]
fact = "shared"
values = ["on", "off"]
words = { on = "the slots share one pool", off = "each slot has a pool of its own" }

[[source]]
id = "slots"
get = "/slots"
format = "json"
each = "[*]"
gather = true
read = [
  { name = "held", where = "busy", fold = "sum", signal = "kv.used", pool = "full" },
  { name = "room", fold = "max", when = "shared=on", signal = "kv.capacity", pool = "full" },
  { name = "room", fold = "sum", when = "shared=off", signal = "kv.capacity", pool = "full" },
]
"#;

#[test]
fn of_two_that_nothing_tells_the_one_that_can_be_is_concluded() {
    let tables = tables(EITHER);
    // 700 of 512 cannot be, so it is 700 of 1,024.
    let slots = r#"[{"busy":true,"held":400,"room":512},{"busy":true,"held":300,"room":512}]"#;
    let account = told(&tables, &[answer("/slots", slots)], &[]);
    let capacity = of(&account, Signal::KV_CAPACITY).expect("a reading");
    assert_eq!((capacity.value, capacity.state), (Some(1024.0), State::Inferred));
    assert_eq!(capacity.inputs, ["shared=off"]);
    assert_eq!(of(&account, Signal::KV_USED).map(|used| used.state), Some(State::Reported));
    assert_eq!(account.fact("shared"), Some("off"));
}

#[test]
fn of_two_that_can_be_both_are_said_and_none_is_shown() {
    let tables = tables(EITHER);
    let slots = r#"[{"busy":true,"held":128,"room":512},{"busy":false,"held":300,"room":512}]"#;
    let account = told(&tables, &[answer("/slots", slots)], &[]);
    assert_eq!((value(&account, Signal::KV_USED), of(&account, Signal::KV_CAPACITY)), (Some(128.0), None));
    let note = account.notes.iter().find(|note| note.id == "either").expect("a note");
    // 128 of 512 and of 1,024.
    let said = "25.0 % of 512 tokens in use if the slots share one pool, or 12.5 % of 1,024 tokens in use if each slot has a pool of its own; nothing tells which";
    assert_eq!(note.text, said);
    // A flag tells: no note.
    let mut flags = Facts::new();
    flags.insert("shared".to_owned(), model::Fact { value: "on".to_owned(), source: "--shared".to_owned(), weight: 1 });
    let table = tables.get("made").expect("a table");
    let account = engines::interpret(table, &[answer("/slots", slots)], &[], &flags);
    assert_eq!((value(&account, Signal::KV_CAPACITY), account.notes.len()), (Some(512.0), 0));
}

#[test]
fn what_all_ranks_say_of_all_is_shared() {
    let rows = r#"
        { name = "config", label = "blocks", shared = true, times = ["block_size"], signal = "kv.capacity", pool = "full" },
        { name = "usage", signal = "kv.in_use", pool = "full" }"#;
    let of = |rank: u8| {
        format!(
            "made:config{{engine=\"{rank}\",blocks=\"4000\",block_size=\"16\"}} 1\nmade:usage{{engine=\"{rank}\"}} 0.5\n"
        )
    };
    let account = page(rows, &(of(0) + &of(1)));
    // 4000 blocks of two ranks are 2000 each, of 16 tokens.
    let capacities: Vec<Option<f64>> =
        account.sets.iter().map(|set| set.readings[&Signal::KV_CAPACITY].value).collect();
    assert_eq!(capacities, [Some(32_000.0), Some(32_000.0)]);
    assert_eq!(value(&page(rows, &of(0)), Signal::KV_CAPACITY), Some(64_000.0));
}

#[test]
fn a_product_that_another_number_contradicts_is_none() {
    let rows = r#"{ name = "config", label = "blocks", times = ["block_size"], agrees = "tokens", signal = "kv.capacity", pool = "full" }"#;
    let at =
        |tokens: &str| page(rows, &format!("made:config{{blocks=\"100\",block_size=\"16\",tokens=\"{tokens}\"}} 1\n"));
    // 100 × 16 = 1600; 1590 is the same but for a reserved block, 4000 is not.
    assert_eq!(value(&at("1590"), Signal::KV_CAPACITY), Some(1600.0));
    let refused = of(&at("4000"), Signal::KV_CAPACITY).expect("a reading");
    assert_eq!((refused.value, refused.state), (None, State::NotReported));
    assert!(refused.reason.expect("a reason").contains("tokens is 4000"));
    // What is not said contradicts nothing.
    assert_eq!(value(&at("None"), Signal::KV_CAPACITY), Some(1600.0));
}

#[test]
fn parts_are_added_when_all_are_there() {
    let rows = r#"{ name = "hits", plus = ["misses"], signal = "cache.queries_total" }"#;
    let both = of(&page(rows, "made:hits 30\nmade:misses 12\n"), Signal::CACHE_QUERIES_TOTAL).expect("a reading");
    assert_eq!((both.value, both.state), (Some(42.0), State::Derived));
    assert_eq!(of(&page(rows, "made:hits 30\n"), Signal::CACHE_QUERIES_TOTAL), None);
}

#[test]
fn a_series_own_value_may_be_a_fact() {
    let sources = "[[source]]\nid = \"metrics\"\nget = \"/metrics\"\nformat = \"prometheus\"\n\
        facts = { \"tokens_per_block.value\" = \"block_size\" }\n\
        read = [{ name = \"used\", times = [\"block_size\"], signal = \"kv.used\", pool = \"full\" }]\n";
    let body = "made:used 5\nmade:tokens_per_block{x=\"y\"} 32\n";
    let account = told(&tables(sources), &[answer("/metrics", body)], &[]);
    assert_eq!(value(&account, Signal::KV_USED), Some(160.0));
}

#[test]
fn lines_tell_facts_by_their_words() {
    let tables = tables(
        r#"
[[line]]
id = "banner"
starts = ["server "]
with = ["version "]
without = ["client"]
words = { "version " = "version" }
says = { "with a store" = "store=on" }
read = []
"#,
    );
    let log = |text: &str| Log {
        name: "log".to_owned(),
        at: AT,
        took: 0.0,
        since: None,
        clock: LogClock::Offset(0.0),
        written: None,
        outcome: Ok(vec![Stretch {
            bytes: format!("2026-11-29 16:15:20 {text}\n").into_bytes(),
            first_line: Some(1),
            from_start: true,
            name: None,
        }]),
    };
    let account = told(&tables, &[], &[log("server of version 0.6.3.post1, with a store.")]);
    assert_eq!((account.fact("version"), account.fact("store")), (Some("0.6.3.post1"), Some("on")));
    let account = told(&tables, &[], &[log("server and client of version 0.6.3")]);
    assert_eq!(account.fact("version"), None);
}

#[test]
fn a_part_that_cannot_be_is_not_hidden_in_a_sum() {
    let rows = r#"{ name = "used", fold = "sum", signal = "kv.used", pool = "full" }"#;
    let state = |body: &str| of(&page(rows, body), Signal::KV_USED).map(|reading| (reading.value, reading.state));
    assert_eq!(state("made:used{x=\"a\"} 10\nmade:used{x=\"b\"} 5\n"), Some((Some(15.0), State::Reported)));
    assert_eq!(state("made:used{x=\"a\"} 10\nmade:used{x=\"b\"} -7\n"), Some((None, State::Impossible)));
    assert_eq!(state("made:used{x=\"a\"} 10\nmade:used{x=\"b\"} NaN\n"), Some((None, State::Impossible)));
    // The very same series again is one, and none where it says something else.
    assert_eq!(state("made:used{x=\"a\"} 10\nmade:used{x=\"a\"} 10\n"), Some((Some(10.0), State::Reported)));
    assert_eq!(state("made:used{x=\"a\"} 10\nmade:used{x=\"a\"} 11\n"), Some((None, State::Impossible)));
    let rows = r#"{ name = "used", fold = "max", signal = "kv.used", pool = "full" }"#;
    assert_eq!(
        of(&page(rows, "made:used{x=\"a\"} 10\nmade:used{x=\"b\"} NaN\n"), Signal::KV_USED)
            .map(|reading| reading.state),
        Some(State::Impossible)
    );
}

#[test]
fn what_belongs_to_no_rank_that_can_be_read_is_no_ranks() {
    let rows = r#"{ name = "running", signal = "req.running" }"#;
    let account = page(rows, "made:running{engine=\"0\"} 12\nmade:running{engine=\"zz\"} 500\n");
    assert_eq!((account.values.len(), value(&account, Signal::REQ_RUNNING)), (1, Some(12.0)));
    assert!(account.notes.iter().any(|note| note.id == "bad-labels"));
}

#[test]
fn an_endless_divisor_makes_no_rate() {
    let rows = r#"{ name = "hits", over = "asked", signal = "cache.hit_rate" }"#;
    assert_eq!(of(&page(rows, "made:hits 3\nmade:asked +Inf\n"), Signal::CACHE_HIT_RATE), None);
}

#[test]
fn a_list_that_is_cut_is_not_added_up() {
    let tables = tables(SLOTS);
    let slots: Vec<String> =
        (0..2000).map(|index| format!(r#"{{"busy":true,"held":{},"room":512}}"#, index / 1024)).collect();
    let account = told(&tables, &[answer("/slots", &format!("[{}]", slots.join(",")))], &[]);
    assert!(account.sets.is_empty() && account.values.is_empty(), "{:?}", account.sets);
    // A field that is no number is not one that is left out.
    let account = told(&tables, &[answer("/slots", r#"[{"busy":false,"held":"n/a","room":512}]"#)], &[]);
    assert_eq!(value(&account, Signal::KV_EVICTABLE), None);
}

/// A page as one answer, changed before it is read.
fn changed(rows: &str, body: &str, change: impl FnOnce(&mut Answer)) -> Account {
    let mut observation = answer("/metrics", body);
    observation.outcome.as_mut().map(change).expect("an answer");
    let sources = format!(
        "[[source]]\nid = \"metrics\"\nget = \"/metrics\"\nformat = \"prometheus\"\nempty = \"off\"\nread = [{rows}]\n"
    );
    told(&tables(&sources), &[observation], &[])
}

/// What makes an answer another.
type Change = fn(&mut Answer);

#[test]
fn a_number_that_may_have_been_cut_is_none() {
    let rows = r#"{ name = "used", signal = "kv.used", pool = "full" },
        { name = "free", signal = "kv.available", pool = "full" }"#;
    // Of 120500, whose other digits did not come.
    let body = "made:free 400\nmade:used 12";
    let ends: [(Change, Option<f64>); 3] = [
        // Its length was stated, and all of it came: 12 is what was said.
        (|_| (), Some(12.0)),
        (|answer| answer.open_ended = true, None),
        (|answer| answer.first_line = Some(1), None),
    ];
    for (change, used) in ends {
        let account = changed(rows, body, change);
        assert_eq!(value(&account, Signal::KV_AVAILABLE), Some(400.0));
        assert_eq!(value(&account, Signal::KV_USED), used);
        let noted = account.notes.iter().any(|note| note.text.contains("may have been cut"));
        assert_eq!(noted, used.is_none(), "{:?}", account.notes);
    }
}

#[test]
fn what_ranks_share_is_not_told_where_not_all_were_read() {
    let rows = r#"
        { name = "config", label = "blocks", shared = true, times = ["block_size"], signal = "kv.capacity", pool = "full" },
        { name = "usage", signal = "kv.in_use", pool = "full" }"#;
    let of = |rank: usize| {
        format!(
            "made:config{{engine=\"{rank}\",blocks=\"40000\",block_size=\"16\"}} 1\nmade:usage{{engine=\"{rank}\"}} 0.5\n"
        )
    };
    // 2,000 ranks share 40,000 blocks: 20 each, which nobody knows who reads but 1,024 of them.
    let account = page(rows, &(0..2000).map(of).collect::<String>());
    assert_eq!(value(&account, Signal::KV_IN_USE), Some(0.5));
    assert_eq!(value(&account, Signal::KV_CAPACITY), None);
    assert!(account.notes.iter().any(|note| note.id == "cut"));
}

/// Nothing in use is 0 % of 512 and of 1,024; so much is known, and the size is not.
#[test]
fn a_share_that_is_the_same_of_every_size_is_known() {
    let slots = r#"[{"busy":false,"held":128,"room":512},{"busy":false,"held":300,"room":512}]"#;
    let account = told(&tables(EITHER), &[answer("/slots", slots)], &[]);
    let in_use = of(&account, Signal::KV_IN_USE).expect("a reading");
    assert_eq!((in_use.value, in_use.state), (Some(0.0), State::Inferred));
    assert_eq!(of(&account, Signal::KV_CAPACITY), None);
    assert!(account.notes.iter().any(|note| note.id == "either"));
}
