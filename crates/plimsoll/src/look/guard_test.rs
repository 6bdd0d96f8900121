//! What is not asked, and which port an observation is of.
#![allow(clippy::unwrap_used)] // tests: a panic is the report

use model::{Answer, Observation, Time};
use sense::Target;

use std::sync::Arc;

use engines::Tables;

use super::{Eye, ask};

fn target(url: &str) -> Target {
    url.parse().unwrap()
}

fn here() -> Eye {
    Eye::here(Arc::new(Tables::builtin()))
}

async fn refusal(eye: &Eye, url: &str, until: Time) -> String {
    eye.get(&target(url), "/metrics", until).await.outcome.unwrap_err().text
}

#[tokio::test]
async fn what_is_given_up_is_given_up_for_every_path() {
    let eye = here();
    eye.give_up(&target("http://127.0.0.1:1/a"), "nobody is there");
    let text = refusal(&eye, "http://127.0.0.1:1/b", eye.until_alone()).await;
    assert!(text.contains("not asked: nobody is there"), "{text}");
    let text = refusal(&eye, "http://127.0.0.1:2/a", eye.until_alone()).await;
    assert!(text.contains("refused"), "another port is another door: {text}");
}

#[tokio::test]
async fn nothing_is_asked_when_the_time_is_over() {
    let text = refusal(&here(), "http://127.0.0.1:1", Time(0.0)).await;
    assert!(text.contains("not asked: the time for"), "{text}");
}

#[test]
fn a_port_that_begins_another_is_not_the_other() {
    let seen = Observation {
        get: "/metrics".to_owned(),
        url: "http://h:29000/metrics".to_owned(),
        at: Time(0.0),
        took: 0.0,
        outcome: Ok(Answer::default()),
    };
    assert!(ask::is_of(&seen, &target("http://h:29000"), "/metrics"));
    assert!(!ask::is_of(&seen, &target("http://h:2900"), "/metrics"));
    assert!(!ask::is_of(&seen, &target("http://h:29000/path"), "/metrics"));
}
