//! Arguments as Python's `repr` prints them.

use wire::launch::{Value, dump};

#[test]
fn every_kind_of_value() {
    let line = r#"[2026-01-01 10:00:00 TP0] server_args=ServerArgs(model_path='/m (x), y', port=30000, ratio=-0.5, on=False, no=None, api_key='se"same', it="it's", esc='a\n\x41\u00e9\\\'', names=['a, b', {'c': (1, 2)}], kind=<Kind.A: 1>, dtype=torch.bfloat16, inner=Inner(a=1, b='}'), empty='', last=1e-05)
next"#;
    let read = dump(line).expect("a dump");
    assert_eq!((read.name, read.line, read.whole, read.notes.len()), ("ServerArgs", 1, true, 0));
    let text = |text: &str| Value::Text(text.to_owned());
    let scalar = |text: &str| Value::Scalar(text.to_owned());
    let other = |text: &str| Value::Other(text.to_owned());
    let wanted = [
        ("model_path", text("/m (x), y")),
        ("port", scalar("30000")),
        ("ratio", scalar("-0.5")),
        ("on", scalar("False")),
        ("no", scalar("None")),
        ("api_key", text("se\"same")),
        ("it", text("it's")),
        ("esc", text("a\nAé\\'")),
        ("names", other("['a, b', {'c': (1, 2)}]")),
        ("kind", other("<Kind.A: 1>")),
        ("dtype", other("torch.bfloat16")),
        ("inner", other("Inner(a=1, b='}')")),
        ("empty", text("")),
        ("last", scalar("1e-05")),
    ];
    assert_eq!(read.fields.iter().map(|(key, value)| (key.as_str(), value.clone())).collect::<Vec<_>>(), wanted);
    assert!(line[read.range.clone()].starts_with("ServerArgs(") && line[read.range.clone()].ends_with("1e-05)"));
    assert!(!format!("{read:?}").contains("same"));
}

#[test]
fn other_spellings() {
    for (line, name, fields) in [
        ("x\nINFO args: Namespace(model='m', port=8000, api_key=None)", "Namespace", 3),
        ("INFO non-default args: {'model': 'm', 'port': 8000, 'c': C(a=1, b=[2])}", "args", 3),
        ("args = {\"model\": \"m\", \"port\": 8000}", "args", 2),
        ("EngineArgs(\n    a=1,\n    b='x',\n)", "EngineArgs", 2),
    ] {
        let read = dump(line).expect(line);
        assert_eq!((read.name, read.fields.len(), read.whole), (name, fields, true), "{line}");
    }
    for line in
        ["print(a=1, b=2)", "Foo(a=1, b=2)", "args: {'a'", "ServerArgs()", "ServerArgs(x)", "", "f(a=f(a=", "x == (y)"]
    {
        assert_eq!(dump(line), None, "{line}");
    }
}

#[test]
fn cut_in_the_middle() {
    let whole = "server_args=ServerArgs(a='x', b=2, c=[1, 2], d='(', e=3)";
    for length in 0..whole.len() {
        let Some(read) = dump(&whole[..length]) else { continue };
        assert!(!read.whole && read.notes[0].id == "cut");
        // A field counts only when its end was seen.
        let ended = ["'x',", "=2,", "],", "'(',"].iter().filter(|end| whole[..length].contains(*end)).count();
        assert_eq!(read.fields.len(), ended, "{}", &whole[..length]);
    }
    assert_eq!(dump(whole).expect("a dump").fields.len(), 5);
}
