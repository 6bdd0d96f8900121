use super::*;

fn uri(query: &str) -> Uri {
    format!("/api/v1/x?{query}").parse().expect("an address")
}

#[test]
fn a_bare_question_has_a_window() {
    let ask = history(&uri("")).expect("a question");
    assert_eq!(ask.signals, ["in_use"]);
    assert_eq!((ask.window_s, ask.points, ask.from), (Some(3600.0), Some(300), None));
    assert_eq!(events(&uri("")).expect("a question").window_s, Some(86_400.0));
    assert_eq!(report(&uri("")).expect("a question").command, "status");
}

#[test]
fn every_parameter_is_read() {
    let ask = history(&uri(
        "server=http%3A%2F%2F10.0.0.1%3A30000&signal=in_use,used&signal=waiting&rank=dp0+tp1&pool=full&tier=device&from=1.5&to=2e3&points=10",
    ))
    .expect("a question");
    let expected = HistoryAsk {
        server: Some("http://10.0.0.1:30000".to_owned()),
        signals: ["in_use", "used", "waiting"].map(str::to_owned).into(),
        rank: Some("dp0 tp1".to_owned()),
        pool: Some("full".to_owned()),
        tier: Some("device".to_owned()),
        from: Some(1.5),
        to: Some(2000.0),
        window_s: None,
        points: Some(10),
    };
    assert_eq!(ask, expected);
    let ask = report(&uri("command=explain&json=true&width=80&colour=false&target=a&target=b")).expect("a question");
    assert_eq!((ask.json, ask.width, ask.colour, ask.targets), (true, 80, false, vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn what_is_not_understood_is_named() {
    let cases = [
        ("nonsense=1", "nonsense"),
        ("points=9", "points"),
        ("points=5001", "points"),
        ("points=%2B10", "points"),
        ("points=10&points=11", "points"),
        ("points=99999999999999999999999", "points"),
        ("from=nan", "from"),
        ("from=-1", "from"),
        ("to=inf", "to"),
        ("to=1e400", "to"),
        ("from=2&to=1", "from"),
        ("from=1&window=1h", "window"),
        ("window=0", "window"),
        ("window=2h", "window"),
        ("window=", "window"),
        ("signal=", "signal"),
        ("signal=in_use,,used", "signal"),
        ("signal=In%20Use", "signal"),
        ("server=a&server=b", "server"),
        ("server=%ff", "server"),
        ("rank=%00", "rank"),
    ];
    for (query, name) in cases {
        let sentence = history(&uri(query)).expect_err(query);
        assert!(sentence.starts_with(&format!("{name}:")), "{query}: {sentence}");
    }
    let long = format!("server={}", "x".repeat(2049));
    assert!(history(&uri(&long)).expect_err("too long").starts_with("server:"));
    assert!(none(&uri("a=1")).is_err() && none(&uri("")).is_ok());
    assert!(report(&uri("command=doctor")).is_err() && report(&uri("json=yes")).is_err());
}
