//! Addresses lose what may be secret in them; other text stays as it is.

use model::without_secrets;

#[test]
fn addresses_lose_their_secrets() {
    for (text, shown) in [
        ("http://h:1/path", "http://h:1/path"),
        ("http://me:word@h:1/path", "http://h:1/path"),
        ("http://me:w/o@r:d@h:1", "http://h:1"),
        ("http://h:1/?token=word#part", "http://h:1/"),
        ("http://h:1/?token=w@rd", "http://…"),
        ("a http://me:word@h, grpc://me@[::1]:2?x b", "a http://h, grpc://[::1]:2 b"),
        (r#"{"endpoint":"tcp://me:word@*:5557","x":1}"#, r#"{"endpoint":"tcp://*:5557","x":1}"#),
        ("org/model@main?x", "org/model@main?x"),
        ("://", "://"),
        ("", ""),
    ] {
        assert_eq!(without_secrets(text), shown, "{text}");
    }
}
