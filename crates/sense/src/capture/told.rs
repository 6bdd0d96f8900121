//! Answers as objects with one key, which names their kind, and back.

use std::borrow::Cow;
use std::net::IpAddr;

use model::{Answer, Blind, BlindKind, Observation, Time};
use serde::{Deserialize, Serialize};

use super::form;
use crate::command::Ran;
use crate::event::Heard;
use crate::place::{Answered, Commands, Content, Ends, Kin, Listing, Pipes, SiftedFolder, Told};

/// An answer as it is written.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Said<'a> {
    Content(&'a Content),
    Listing(&'a Listing),
    Link(Cow<'a, str>),
    Ends(&'a Ends),
    Sifted(&'a SiftedFolder),
    Commands(&'a Commands),
    Kin(&'a [Kin]),
    Pipes(&'a Pipes),
    Ran(&'a Ran),
    Addresses(&'a [IpAddr]),
    Seen(SeenOut<'a>),
    Heard(&'a Heard),
    Blind(BlindForm),
}

/// An answer as it is read: exactly one of these is there.
#[derive(Deserialize)]
struct Read {
    content: Option<Content>,
    listing: Option<Listing>,
    link: Option<String>,
    ends: Option<Ends>,
    sifted: Option<SiftedFolder>,
    commands: Option<Commands>,
    kin: Option<Vec<Kin>>,
    pipes: Option<Pipes>,
    ran: Option<Ran>,
    addresses: Option<Vec<IpAddr>>,
    seen: Option<SeenIn>,
    heard: Option<Heard>,
    blind: Option<BlindForm>,
}

/// Why there is no answer.
#[derive(Serialize, Deserialize)]
pub(super) struct BlindForm {
    kind: String,
    text: String,
}

/// An observation: an answer's fields, or `blind`.
#[derive(Serialize)]
pub(super) struct SeenOut<'a> {
    get: &'a str,
    url: &'a str,
    at: Time,
    took: f64,
    #[serde(flatten)]
    outcome: Outcome<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Outcome<'a> {
    Answer {
        status: u16,
        content_type: &'a str,
        #[serde(with = "wire::capture::bytes")]
        body: &'a [u8],
        #[serde(skip_serializing_if = "Option::is_none")]
        first_line: Option<u32>,
        #[serde(skip_serializing_if = "form::not")]
        open_ended: bool,
    },
    Blind {
        blind: BlindForm,
    },
}

#[derive(Deserialize)]
struct SeenIn {
    get: String,
    url: String,
    at: Time,
    took: f64,
    status: Option<u16>,
    #[serde(default)]
    content_type: String,
    #[serde(default, with = "wire::capture::bytes")]
    body: Vec<u8>,
    first_line: Option<u32>,
    #[serde(default)]
    open_ended: bool,
    blind: Option<BlindForm>,
}

impl<'a> From<&'a Answered> for Said<'a> {
    fn from(answered: &'a Answered) -> Said<'a> {
        match answered {
            Ok(Told::Content(told)) => Said::Content(told),
            Ok(Told::Listing(told)) => Said::Listing(told),
            Ok(Told::Link(told)) => Said::Link(told.to_string_lossy()),
            Ok(Told::Ends(told)) => Said::Ends(told),
            Ok(Told::Sifted(told)) => Said::Sifted(told),
            Ok(Told::Commands(told)) => Said::Commands(told),
            Ok(Told::Kin(told)) => Said::Kin(told),
            Ok(Told::Pipes(told)) => Said::Pipes(told),
            Ok(Told::Ran(told)) => Said::Ran(told),
            Ok(Told::Addresses(told)) => Said::Addresses(told),
            Ok(Told::Seen(told)) => Said::Seen(told.into()),
            Ok(Told::Heard(told)) => Said::Heard(told),
            Err(blind) => Said::Blind(blind.into()),
        }
    }
}

/// The answer that a line holds; none where it holds none, or several, or one that cannot be read.
pub(super) fn read(line: &[u8]) -> Option<Answered> {
    let read: Read = serde_json::from_slice(line).ok()?;
    let Read { content, listing, link, ends, sifted, commands, kin, pipes, ran, addresses, seen, heard, blind } = read;
    let mut told = [
        content.map(Told::Content),
        listing.map(Told::Listing),
        link.map(|link| Told::Link(link.into())),
        ends.map(Told::Ends),
        sifted.map(Told::Sifted),
        commands.map(Told::Commands),
        kin.map(Told::Kin),
        pipes.map(Told::Pipes),
        ran.map(Told::Ran),
        addresses.map(Told::Addresses),
        match seen {
            Some(seen) => Some(Told::Seen(seen.observation()?)),
            None => None,
        },
        heard.map(Told::Heard),
    ]
    .into_iter()
    .flatten();
    match (told.next(), told.next(), blind) {
        (Some(told), None, None) => Some(Ok(told)),
        (None, _, Some(blind)) => Some(Err(blind.into())),
        _ => None,
    }
}

impl<'a> From<&'a Observation> for SeenOut<'a> {
    fn from(seen: &'a Observation) -> SeenOut<'a> {
        let outcome = match &seen.outcome {
            // Who passed it on is made out later, and was not heard.
            Ok(Answer { status, content_type, body, first_line, open_ended, passed: _ }) => Outcome::Answer {
                status: *status,
                content_type,
                body,
                first_line: *first_line,
                open_ended: *open_ended,
            },
            Err(blind) => Outcome::Blind { blind: blind.into() },
        };
        SeenOut { get: &seen.get, url: &seen.url, at: seen.at, took: seen.took, outcome }
    }
}

impl SeenIn {
    fn observation(self) -> Option<Observation> {
        let SeenIn { get, url, at, took, status, content_type, body, first_line, open_ended, blind } = self;
        let outcome = match (status, blind) {
            (_, Some(blind)) => Err(blind.into()),
            (Some(status), None) => {
                Ok(Answer { status, content_type, body, first_line, open_ended, ..Answer::default() })
            }
            (None, None) => return None,
        };
        Some(Observation { get, url, at, took, outcome })
    }
}

/// The kinds of not seeing.
const KINDS: [BlindKind; 10] = [
    BlindKind::Name,
    BlindKind::Refused,
    BlindKind::NoRoute,
    BlindKind::Deadline,
    BlindKind::Cut,
    BlindKind::TooLarge,
    BlindKind::Tls,
    BlindKind::NotHttp,
    BlindKind::Denied,
    BlindKind::Gone,
];

/// The name of a kind of not seeing, which never changes.
fn kind_name(kind: BlindKind) -> &'static str {
    match kind {
        BlindKind::Name => "name",
        BlindKind::Refused => "refused",
        BlindKind::NoRoute => "no_route",
        BlindKind::Deadline => "deadline",
        BlindKind::Cut => "cut",
        BlindKind::TooLarge => "too_large",
        BlindKind::Tls => "tls",
        BlindKind::NotHttp => "not_http",
        BlindKind::Denied => "denied",
        BlindKind::Gone => "gone",
    }
}

impl From<&Blind> for BlindForm {
    fn from(blind: &Blind) -> BlindForm {
        BlindForm { kind: kind_name(blind.kind).to_owned(), text: blind.text.clone() }
    }
}

impl From<BlindForm> for Blind {
    fn from(form: BlindForm) -> Blind {
        // A kind of a program to come is at least not there.
        let kind = KINDS.into_iter().find(|kind| kind_name(*kind) == form.kind).unwrap_or(BlindKind::Gone);
        Blind::new(kind, form.text)
    }
}
