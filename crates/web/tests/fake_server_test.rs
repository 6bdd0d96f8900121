//! The site over the fake source, for programs that try an API by its OpenAPI file.

mod support;

use std::sync::Arc;
use std::time::Duration;

use support::FakeSource;
use web::{Listener, Options, Secret};

#[tokio::test]
#[ignore = "serves on the address in PLIMSOLL_FAKE until PLIMSOLL_FAKE_SECONDS have passed"]
async fn serve_the_fake() {
    let address = std::env::var("PLIMSOLL_FAKE").unwrap_or_else(|_| "127.0.0.1:9701".to_owned());
    let seconds = std::env::var("PLIMSOLL_FAKE_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(600);
    let listener = Listener::tcp(address.parse().expect("an address"), None).expect("a free port");
    let token = std::env::var("PLIMSOLL_FAKE_TOKEN").ok().map(|text| Secret::new(&text).expect("a token"));
    let end = tokio::time::sleep(Duration::from_secs(seconds));
    web::serve(vec![listener], Arc::new(FakeSource::default()), Options { token, ..Options::default() }, end).await;
}
