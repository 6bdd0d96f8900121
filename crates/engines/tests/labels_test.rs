//! Which samples a row takes by their labels, and what it means that there is none. The engine is made up.

#[path = "support/made.rs"]
mod made;

use made::{answer, of, page, tables, told, value};
use model::{Account, Observation, Passed, Signal, State};

const HITS: &str =
    r#"{ name = "hits", signal = "cache.hits_total", with = { mode = ["device", "host"] }, fold = "sum" }"#;

#[test]
fn a_label_may_have_any_of_several_values() {
    // 20 + 12; the 40 are of another mode.
    let body = "made:hits{engine=\"0\",mode=\"device\"} 20\nmade:hits{engine=\"0\",mode=\"host\"} 12\n\
                made:hits{engine=\"0\",mode=\"input\"} 40\nmade:hits{engine=\"0\"} 1\n";
    assert_eq!(value(&page(HITS, body), Signal::CACHE_HITS_TOTAL), Some(32.0));
}

#[test]
fn an_empty_value_fits_a_label_that_is_not_there() {
    let row = r#"{ name = "hits", signal = "cache.hits_total", with = { pool = ["", "kv"] } }"#;
    let hits = |labels: &str| value(&page(row, &format!("made:hits{{{labels}}} 7\n")), Signal::CACHE_HITS_TOTAL);
    assert_eq!(hits(r#"engine="0""#), Some(7.0));
    assert_eq!(hits(r#"engine="0",pool="""#), Some(7.0));
    assert_eq!(hits(r#"engine="0",pool="kv""#), Some(7.0));
    assert_eq!(hits(r#"engine="0",pool="draft""#), None);
}

const LAZY: &str = r#"[[source]]
id = "metrics"
get = "/metrics"
format = "prometheus"
rank = { dp = "engine" }
facts = { "info.version" = "version" }
read = [
  { name = "running", signal = "req.running" },
  { name = "thrown_total", signal = "req.retracted_total", lazy = true, zero = { when = "version>=2", beside = "running" } },
]
"#;

const TWO: &str = "made:running{engine=\"0\"} 1\nmade:running{engine=\"1\"} 1\n";

fn lazy(body: &str, change: impl Fn(&mut Observation)) -> Account {
    let mut page = answer("/metrics", body);
    change(&mut page);
    told(&tables(LAZY), &[page], &[])
}

#[test]
fn a_counter_without_an_event_is_zero_where_it_would_be_there() {
    let account = lazy(&format!("made:info{{version=\"2.1\"}} 1\n{TWO}"), |_| ());
    let zero = of(&account, Signal::REQ_RETRACTED_TOTAL).expect("a reading");
    assert_eq!((zero.value, zero.state), (Some(0.0), State::Inferred));
    assert!(zero.inputs[0].contains("thrown_total is not on /metrics"), "{:?}", zero.inputs);
    let ranks = account.values.iter().filter(|value| value.signal == Signal::REQ_RETRACTED_TOTAL);
    assert_eq!(ranks.map(|value| value.rank.dp).collect::<Vec<_>>(), [Some(0), Some(1)]);
}

#[test]
fn what_may_only_be_left_out_is_no_zero() {
    let none = |body: &str, change: &dyn Fn(&mut Observation)| {
        assert_eq!(value(&lazy(body, change), Signal::REQ_RETRACTED_TOTAL), None, "{body}");
    };
    let new = format!("made:info{{version=\"2.1\"}} 1\n{TWO}");
    // A build of which nothing is known, or an older one.
    none(TWO, &|_| ());
    none(&new.replace("2.1", "1.9"), &|_| ());
    // Its writer is not on the page, or the page is not whole: saved, passed on, with a line that is none.
    none("made:info{version=\"2.1\"} 1\n", &|_| ());
    let change = |change: &dyn Fn(&mut model::Answer)| {
        none(&new, &|page| page.outcome.iter_mut().for_each(change));
    };
    change(&|answer| answer.first_line = Some(1));
    change(&|answer| answer.passed = Some(Passed { by: "an agent".to_owned(), ..Passed::default() }));
    none(&format!("{new}made:thrown_total{{engine=\"0\" 3\n"), &|_| ());
    // It is there for one rank: of the other it is not known why it is not.
    let account = lazy(&format!("{new}made:thrown_total{{engine=\"0\"}} 3\n"), |_| ());
    let told: Vec<_> = account.values.iter().filter(|value| value.signal == Signal::REQ_RETRACTED_TOTAL).collect();
    assert_eq!(told.iter().map(|value| value.reading.value).collect::<Vec<_>>(), [Some(3.0)]);
}

/// The rank and value of each inferred zero.
fn zeros(account: &Account) -> Vec<(Option<u32>, Option<f64>)> {
    let zeros = account.values.iter().filter(|value| value.signal == Signal::REQ_RETRACTED_TOTAL);
    zeros.map(|zero| (zero.rank.dp, zero.reading.value)).collect()
}

#[test]
fn each_rank_that_only_its_process_tells_has_its_zero() {
    // Two processes that run 1 and 5 requests are two ranks, and neither has retracted any.
    let info = "made:info{version=\"2.1\"} 1\n";
    let two = format!("{info}made:running{{pid=\"11\"}} 1\nmade:running{{pid=\"12\"}} 5\n");
    assert_eq!(zeros(&lazy(&two, |_| ())), [(Some(0), Some(0.0)), (Some(1), Some(0.0))]);
    // Copies of one process are one rank.
    let copies = two.replace(" 5", " 1");
    assert_eq!(zeros(&lazy(&copies, |_| ())), [(Some(0), Some(0.0))]);
    // Whose a number is that names none of the ranks beside it cannot be told.
    let rows = LAZY.replace("\n]\n", "\n  { name = \"waiting\", signal = \"req.waiting\" },\n]\n");
    let one = format!("{info}made:running 6\nmade:waiting{{engine=\"0\"}} 1\nmade:waiting{{engine=\"1\"}} 2\n");
    assert_eq!(zeros(&told(&tables(&rows), &[answer("/metrics", &one)], &[])), []);
}

#[test]
fn zeros_are_of_no_more_ranks_than_are_read() {
    let mut body = "made:info{version=\"2.1\"} 1\n".to_owned();
    body.extend((0..3000).map(|rank| format!("made:running{{engine=\"{rank}\"}} 0\n")));
    let account = lazy(&body, |_| ());
    assert!(account.notes.iter().any(|note| note.text.contains("more than 1024 ranks")), "{:?}", account.notes);
    let of = |signal| account.values.iter().filter(|value| value.signal == signal).count();
    assert_eq!((of(Signal::REQ_RUNNING), of(Signal::REQ_RETRACTED_TOTAL)), (1024, 1024));
}

#[test]
fn a_series_that_stands_twice_must_say_the_same() {
    // The 40 of one mode is not the 40 of another that said 20 before.
    let twice = "made:hits{mode=\"device\"} 20\nmade:hits{mode=\"host\"} 40\nmade:hits{mode=\"device\"} 40\n";
    let hits = of(&page(HITS, twice), Signal::CACHE_HITS_TOTAL).expect("a reading");
    assert_eq!((hits.state, hits.value), (State::Impossible, None), "{hits:?}");
    let same = twice.replace("device\"} 40", "device\"} 20");
    assert_eq!(value(&page(HITS, &same), Signal::CACHE_HITS_TOTAL), Some(60.0));
}
