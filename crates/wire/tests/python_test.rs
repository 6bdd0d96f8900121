//! Metric definitions out of Python source. Expected names, kinds and conditions are what running the lines would define,
//! reasoned from the language and from `prometheus_client`'s way of naming series.
#![allow(clippy::unwrap_used, missing_docs)] // tests: a panic is the report

use wire::python::{Kind, LONGEST, MOST, Metric, metrics};

fn read(source: &str) -> Vec<Metric> {
    let (found, notes) = metrics(source.as_bytes());
    assert!(notes.is_empty(), "{notes:?}");
    found
}

fn names(source: &str) -> Vec<String> {
    read(source).into_iter().map(|metric| metric.name).collect()
}

const COLLECTOR: &str = include_str!("sources/collector.py");

#[test]
fn definitions_with_all_that_is_said_of_them() {
    let found = read(COLLECTOR);
    let short: Vec<(&str, Kind, &str)> =
        found.iter().map(|metric| (metric.name.as_str(), metric.kind, metric.attribute.as_deref().unwrap())).collect();
    assert_eq!(
        short,
        [
            ("eng:kv_used", Kind::Gauge, "used"),
            ("eng:hits_total", Kind::Counter, "hits"),
            ("eng:stored", Kind::Gauge, "stored"),
            ("eng:{}_seconds", Kind::Histogram, "other"),
            ("eng:{}_sizes", Kind::GaugeHistogram, "rest"),
            ("eng:late", Kind::Gauge, "late"),
        ]
    );
    assert_eq!(found[0].labels, ["pool", "tier"]);
    assert_eq!(found[1].labels, ["how"]);
    assert!(found[0].when.is_empty());
    assert_eq!(found[2].when, ["self.enable_tier"]);
    assert_eq!(found[3].when, ["not (self.enable_tier)", "mode == Mode.DECODE and labels[\"a\"] > 0"]);
    assert_eq!(found[4].when, ["not (self.enable_tier)", "not (mode == Mode.DECODE and labels[\"a\"] > 0)"]);
    assert_eq!(found[5].when, ["self.on", "self.much"]);
    assert!(found.iter().all(|metric| metric.class.as_deref() == Some("Collector")));
    assert_eq!((found[0].line, found[0].function.as_deref()), (15, Some("__init__")));
    assert_eq!((found[5].line, found[5].function.as_deref()), (33, Some("later")));
}

#[test]
fn series_as_they_come_out() {
    let of = |source: &str| read(source).remove(0);
    assert_eq!(of("Gauge('a', 'b')").exposed(), ["a"]);
    assert_eq!(of("Counter('a', 'b')").exposed(), ["a_total"]);
    assert_eq!(of("Counter('a_total', 'b')").exposed(), ["a_total"]);
    assert_eq!(of("Histogram('a', 'b')").exposed(), ["a_bucket", "a_sum", "a_count"]);
    assert_eq!(of("pc.Summary('a', 'b')").exposed(), ["a_sum", "a_count"]);
    assert_eq!(of("Info('a', 'b')").exposed(), ["a_info"]);
    let open = of("Counter(f'eng:{what}_{how}_seen', 'b')");
    assert!(!open.is_whole() && of("Gauge('a', 'b')").is_whole());
    for (name, fits) in
        [("eng:a_b_seen_total", true), ("eng:__seen_total", true), ("eng:a_b_seen", false), ("eng:seen_total", false)]
    {
        assert_eq!(open.is_exposed_as(name), fits, "{name}");
    }
}

/// What else the client puts into a name: namespace, subsystem and unit.
#[test]
fn names_in_pieces() {
    assert_eq!(
        names("Gauge('used', 'd', namespace='eng', subsystem=SUB, unit='bytes')\nSUB = 'kv'\n"),
        ["eng_kv_used_bytes"]
    );
    assert_eq!(names("Counter('a_bytes_total', 'd', unit='bytes')"), ["a_bytes_total"]);
    assert_eq!(names("Gauge(('a' + \"b\") 'c' if 0 else 'd', 'x')"), Vec::<String>::new());
    assert_eq!(names("Gauge(('a' + \"b\") + 'c', 'x')"), ["abc"]);
    assert_eq!(names("Gauge('a\\x62\\\nc', 'x')"), ["abc"]);
    assert_eq!(names("Gauge(r'a' u'b' f'{{c}}', 'x')"), Vec::<String>::new(), "a brace is no letter of a name");
    assert_eq!(names("Gauge(b'a', 'x')"), Vec::<String>::new());
    assert_eq!(names("P: str = 'a:'\nP = 'b:'\nGauge(P + 'c', 'x')"), ["{P}c"], "one of two");
    assert_eq!(names("P = 'a:'\ndef f(P):\n  Gauge(P + 'c', 'x')\nf(1)"), ["{P}c", "{1}c"], "a parameter hides it");
}

/// Functions, classes and other names of the constructors.
#[test]
fn what_a_file_calls_the_constructors() {
    let source = r#"
import functools
Seen = functools.partial(Counter, labelnames=["pool"])
class Timer(Histogram):
    pass
class Wrapped:
    def __init__(self, name, help="", labels=None):
        self.metric = client.Gauge(name=name, documentation=help, labelnames=["a"])
class Page:
    def _gauge(self, name: str, doc, **more):
        return Gauge("eng:" + name, doc, ["rank"], **more)
    def fill(self):
        self.one = self._gauge("one", "first")
        self.two = self._gauge(doc="second", name="two")
        Seen("eng:seen", "seen")
        if self.slow: Timer("eng:slow", "slow"); Wrapped("eng:wrapped")
"#;
    let found = read(source);
    let short: Vec<(&str, Kind, Vec<&str>)> = found
        .iter()
        .map(|metric| (metric.name.as_str(), metric.kind, metric.labels.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(
        short,
        [
            ("eng:{name}", Kind::Gauge, vec!["rank"]),
            ("eng:one", Kind::Gauge, vec!["rank"]),
            ("eng:two", Kind::Gauge, vec!["rank"]),
            ("eng:seen", Kind::Counter, vec![]),
            ("eng:slow", Kind::Histogram, vec![]),
            ("eng:wrapped", Kind::Gauge, vec!["a"]),
        ]
    );
    assert_eq!(found[4].when, ["self.slow"]);
}

/// Bytes as files have them: marks, line ends, tabs, letters of no encoding, lines that go on.
#[test]
fn odd_bytes() {
    let source = b"\xEF\xBB\xBFif a:\r\n\tif b:\r\n\t\tGauge('x:1',\r\n'd')\r\n        Gauge('x:2', '\xFF\xFE')\rGauge( \\\r\n 'x:3'  # c\n , \"d\")\n";
    let (found, notes) = metrics(source);
    assert!(notes.is_empty(), "{notes:?}");
    let short: Vec<(&str, Vec<&str>, u32)> = found
        .iter()
        .map(|metric| (metric.name.as_str(), metric.when.iter().map(String::as_str).collect(), metric.line))
        .collect();
    assert_eq!(names("Gauge('a\\\r\nb', 'd')"), ["ab"], "a string that goes on");
    // A tab goes to column 8: the second definition stands beside the inner `if`.
    assert_eq!(short, [("x:1", vec!["a", "b"], 3), ("x:2", vec!["a"], 5), ("x:3", vec![], 6)]);
}

#[test]
fn formatted_strings_with_strings_inside() {
    let source = r#"Gauge(f"eng:{x["a"]}_{f'{y}':>{w}}_z", "d") or Gauge("eng:next", "d")"#;
    assert_eq!(names(source), ["eng:{x[\"a\"]}_{f'y'}_z", "eng:next"]);
    assert_eq!(names("Gauge(f'a{', 'd') or Gauge('b', 'd')"), ["a{", "b"].map(str::to_owned)[1..], "no field, no name");
}

/// A line that is wrong costs itself.
#[test]
fn bad_lines() {
    let source =
        "Gauge('a', 'd'\nx = (1,\ndef f():\n    Gauge('b', 'd')\ny = 'open\nGauge('c', 'd')\n)]}\nGauge('e', 'd')\n";
    let (found, notes) = metrics(source.as_bytes());
    let names: Vec<&str> = found.iter().map(|metric| metric.name.as_str()).collect();
    assert_eq!(names, ["b", "c", "e"]);
    let ids: Vec<&str> = notes.iter().map(|note| note.id).collect();
    assert_eq!(ids, ["python-unclosed-text", "python-unclosed-bracket"]);
    let (found, notes) = metrics(b"Gauge('a', 'd')\n'''\nGauge('b', 'd')\n");
    assert_eq!((found.len(), notes[0].id), (1, "python-unclosed-text"));
}

#[test]
fn limits() {
    let many = "Gauge('a', 'd')\n".repeat(MOST + 1);
    let (found, notes) = metrics(many.as_bytes());
    assert_eq!((found.len(), notes[0].id), (MOST, "python-many"));
    let long = format!("{}\nGauge('a', 'd')\n", "#".repeat(LONGEST));
    let (found, notes) = metrics(long.as_bytes());
    assert_eq!((found.len(), notes[0].id), (0, "python-cut"));
    let deep: String = (0..300).map(|depth| format!("{}if a{depth}:\n", " ".repeat(depth))).collect();
    let (found, notes) = metrics(format!("{deep}{}Gauge('a', 'd')\n", " ".repeat(300)).as_bytes());
    assert_eq!((found.len(), notes[0].id), (1, "python-deep"));
    assert!(found[0].when.len() <= 8);
    let (_, notes) = metrics(b"Gauge(name=make(), documentation='d')\n");
    assert_eq!(notes[0].id, "python-unnamed");
    for hard in ["Gauge(", "[{(", "f'{", "f\"{f'{", "(", "\\", "\"\"\"{", "if ", "a.", "Gauge('a'+", "else:"] {
        metrics(hard.repeat(60_000).as_bytes());
    }
}

#[test]
fn blocks_of_other_kinds() {
    let source = r#"
match mode:
    case "a":
        Gauge("a", "d")
try:
    import thing
except ImportError:
    Gauge("b", "d")
else:
    Gauge("c", "d")
for x in (1, 2):
    Gauge(f"d{x}", "d")
async def f():
    async with y as z: Gauge("e", "d")
    w = None if z else Gauge("f", "d")
lambda: Gauge("g", "d")
"#;
    let found = read(source);
    let short: Vec<(&str, Vec<&str>)> =
        found.iter().map(|metric| (metric.name.as_str(), metric.when.iter().map(String::as_str).collect())).collect();
    assert_eq!(
        short,
        [
            ("a", vec!["case \"a\""]),
            ("b", vec!["except ImportError"]),
            ("c", vec![]),
            ("d{x}", vec![]),
            ("e", vec![]),
            ("f", vec!["not (z)"]),
            ("g", vec![]),
        ]
    );
}
