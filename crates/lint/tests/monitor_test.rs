//! Monitors by their command lines, and what their answers say.
#![allow(clippy::unwrap_used)] // tests: a panic is the report

use lint::{Running, active_targets, freshness, monitors};
use model::Time;

fn running(line: &str) -> Running {
    let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
    monitors().recognise(&argv).unwrap()
}

#[test]
fn the_address_and_the_path_in_front_are_read() {
    let it = running("prometheus --web.listen-address=10.0.0.5:9091 --web.external-url=http://x.example/prom/");
    assert_eq!((it.address, it.port, it.told), (Some([10, 0, 0, 5].into()), 9091, true));
    assert_eq!(it.prefix, "/prom");
    // What is served counts before what is shown outside.
    let it = running("prometheus --web.external-url http://x.example/prom --web.route-prefix=/");
    assert_eq!((it.prefix.as_str(), it.port, it.told), ("", 9090, false));
    let it = running("vmagent -httpListenAddr=[::1]:8500 -http.pathPrefix=/agent");
    assert_eq!((it.address, it.prefix.as_str()), (Some("::1".parse().unwrap()), "/agent"));
    assert!(!running("grafana server").told, "its port is in a file");
}

#[test]
fn intervals_are_read_as_they_are_spelled() {
    let fresh_for = |rest: &str| {
        let body = format!(r#"{{"data":{{"activeTargets":[{{"scrapeUrl":"http://h/metrics"{rest}}}]}}}}"#);
        active_targets(body.as_bytes()).unwrap()[0].fresh_for()
    };
    for (spelled, seconds) in [("1m", 60.0), ("15s", 15.0), ("1m30s", 90.0), ("500ms", 0.5), ("1h", 3600.0)] {
        assert_eq!(fresh_for(&format!(r#","scrapeInterval":"{spelled}""#)), 3.0 * seconds, "{spelled}");
    }
    for unread in ["", r#","scrapeInterval":"""#, r#","scrapeInterval":"soon""#, r#","scrapeInterval":"0s""#] {
        assert_eq!(fresh_for(unread), 180.0, "{unread}: three of the usual minute");
    }
}

#[test]
fn an_answer_that_is_no_time_is_not_a_missing_series() {
    let answered =
        |result: &str| freshness(format!(r#"{{"status":"success","data":{{"result":{result}}}}}"#).as_bytes());
    assert_eq!(answered("[]"), Ok(None), "no such series");
    assert_eq!(answered(r#"[{"metric":{},"value":[1764000000.1,"1764000000"]}]"#), Ok(Some(Time(1_764_000_000.0))));
    for odd in [r#"[{"value":[1,"NaN"]}]"#, r#"[{"value":[1,"+Inf"]}]"#, r#"[{"value":[1,5]}]"#, "[{}]", "null"] {
        assert!(answered(odd).is_err(), "{odd}");
    }
    assert!(freshness(b"<html>").is_err());
    assert!(freshness(br#"{"status":"error","error":"x"}"#).is_err());
}
