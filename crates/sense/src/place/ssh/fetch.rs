//! Pages of the far host: over its own curl, python3 or wget, or over a connection that ssh makes from there.
//!
//! One shell for each target, so that a target that hangs holds up no other, and none is asked twice at once.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use model::{Answer, Blind, BlindKind, Observation, Time};
use tokio::sync::Mutex as AsyncMutex;

use super::questions::quoted;
use super::session::Session;
use super::survey::seconds;
use super::{PAGES, Ssh, answers, lock, page};
use crate::http::{Base, Counts, Credentials, Scheme, Target, with_query};
use crate::place::Foreseen;
use crate::place::ask::{Ask, Told};

/// Shells for targets, by namespace, host and port; and what was asked through them.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    open: Mutex<BTreeMap<Door, Lane>>,
    /// The shells; more targets than there are shells share them.
    shells: [Lane; SHELLS],
    requests: AtomicU64,
    failed: AtomicU64,
    bytes: AtomicU64,
}

/// Shells for targets: with those for files and programs fewer than the ten that a host allows by default.
const SHELLS: usize = 6;

type Door = (Option<u32>, String, u16);
type Lane = Arc<AsyncMutex<Option<Arc<Session>>>>;

impl Lanes {
    fn of(&self, target: &Target) -> Lane {
        let Base { host, port, .. } = &target.base;
        let host = if target.base.is_loopback() { "localhost".to_owned() } else { host.clone() };
        let door = (target.namespace.map(|namespace| namespace.0), host, *port);
        let mut open = lock(&self.open);
        let next = open.len() % SHELLS;
        Arc::clone(open.entry(door).or_insert_with(|| Arc::clone(&self.shells[next])))
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            requests: self.requests.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    fn count(&self, outcome: &Result<Answer, Blind>) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(outcome.is_err()), Ordering::Relaxed);
        let bytes = outcome.as_ref().map_or(0, |answer| answer.body.len() as u64);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// How pages of a target are fetched.
enum Means {
    /// By a program there.
    Tool(&'static str),
    /// Over a connection from there.
    Forward,
}

/// One page.
pub(super) async fn get(ssh: &Ssh, target: &Target, listed: &str, query: Option<&str>) -> Observation {
    let path = query.map_or_else(|| listed.to_owned(), |query| with_query(listed, query));
    let url = target.base.url(&path);
    let blind = |blind: Blind| Blind::new(blind.kind, format!("GET {url}: {}", blind.text));
    let failed = |at: Time, error: Blind| Observation {
        get: listed.to_owned(),
        url: url.clone(),
        at,
        took: 0.0,
        outcome: Err(blind(error)),
    };
    if let Err(refused) = ssh.0.client.may(listed) {
        return failed(ssh.now(), refused);
    }
    let means = match means(ssh, target) {
        Ok(means) => means,
        Err(none) => return failed(ssh.now(), none),
    };
    match means {
        Means::Tool(tool) => {
            let answered = match setting(tool, target) {
                Ok(setting) => ask(ssh, target, &format!("{setting}{}", line(target, &path))).await,
                Err(blind) => Err(blind),
            };
            let (at, seconds, outcome) = match answered {
                Ok(frames) => fetched(&frames, &path, tool),
                Err(error) => (None, 0.0, Err(error)),
            };
            ssh.0.lanes.count(&outcome);
            let at = at.unwrap_or_else(|| ssh.now());
            Observation { get: listed.to_owned(), url: url.clone(), at, took: seconds, outcome: outcome.map_err(blind) }
        }
        Means::Forward => {
            let seen = match query {
                Some(query) => ssh.0.client.get_query(target, listed, query).await,
                None => ssh.0.client.get(target, listed).await,
            };
            if seen.outcome.is_ok() || !ssh.0.tunnels.are_refused() {
                return Observation { at: ssh.now(), ..seen };
            }
            // It was found out just now that connections are refused: the programs there are what is left.
            match self::means(ssh, target) {
                Ok(Means::Tool(_)) => Box::pin(get(ssh, target, listed, query)).await,
                Ok(Means::Forward) => Observation { at: ssh.now(), ..seen },
                Err(none) => failed(ssh.now(), none),
            }
        }
    }
}

/// Pages that will be asked one after the other, in one round trip.
pub(super) async fn foresee(ssh: &Ssh, target: &Target, pages: &[Foreseen]) {
    let Ok(Means::Tool(tool)) = means(ssh, target) else { return };
    let known = |page: &Foreseen| ssh.0.shelf.has(&asked(target, &page.path));
    let pages: Vec<&Foreseen> =
        pages.iter().filter(|page| ssh.0.client.may(&page.path).is_ok() && !known(page)).collect();
    if pages.is_empty() {
        return;
    }
    let Ok(mut script) = setting(tool, target) else { return };
    for (at, page) in pages.iter().enumerate() {
        let of = |path: &String| pages.iter().position(|other| other.path == *path).filter(|other| *other < at);
        let mut free: String =
            page.unless.iter().filter_map(of).map(|other| format!("[ \"$p{other}\" != 1 ] && ")).collect();
        free.extend(page.after.iter().filter_map(of).map(|other| format!("[ \"$p{other}\" = 1 ] && ")));
        let _ = write!(
            script,
            "p{at}=0\nif {free}! hopeless; then\n{}if found; then p{at}=1; fi\nfi\n",
            line(target, &page.path)
        );
    }
    let Ok(frames) = ask(ssh, target, &script).await else { return };
    for page in pages {
        let (at, seconds, outcome) = fetched(&frames, &page.path, tool);
        let Some(at) = at else { continue };
        ssh.0.lanes.count(&outcome);
        let url = target.base.url(&page.path);
        let outcome = outcome.map_err(|blind| Blind::new(blind.kind, format!("GET {url}: {}", blind.text)));
        let seen = Observation { get: page.path.clone(), url, at, took: seconds, outcome };
        ssh.0.shelf.put(asked(target, &page.path).key(), Ok(Told::Seen(seen)));
    }
}

fn asked(target: &Target, path: &str) -> Ask {
    Ask::Get { target: Box::new(target.clone()), path: path.to_owned(), query: None }
}

/// What fetches pages of this target: whatever is allowed there. Connections are for what must not pass through a program
/// there, a program for what needs the fewest round trips.
fn means(ssh: &Ssh, target: &Target) -> Result<Means, Blind> {
    let tools = lock(&ssh.0.tools).clone();
    let [curl, python3, wget] = ["curl", "python3", "wget"].map(|tool| tools.has(tool));
    let refused = |text: &str| Blind::new(BlindKind::Denied, text.to_owned());
    let open = target.credentials == Credentials::None;
    if target.namespace.is_some() {
        return match (tools.has("nsenter"), target.base.scheme, curl, python3, wget && open) {
            (false, ..) => Err(refused("it listens in another network namespace, and there is no nsenter there")),
            (_, Scheme::Https, ..) => Err(refused("HTTPS in another network namespace is not asked over ssh")),
            (_, _, true, ..) => Ok(Means::Tool("curl")),
            (_, _, _, true, _) => Ok(Means::Tool("python3")),
            (_, _, _, _, true) => Ok(Means::Tool("wget")),
            _ => Err(refused(
                "it listens in another network namespace, and there is neither curl, python3 nor wget there",
            )),
        };
    }
    if !ssh.0.tunnels.are_refused() && (target.base.scheme == Scheme::Https || !open || !curl) {
        return Ok(Means::Forward);
    }
    match (target.base.scheme, curl, python3, wget) {
        (Scheme::Https, ..) => {
            Err(refused("ssh may not connect from there (forwarding is refused), and HTTPS is asked in no other way"))
        }
        (_, true, ..) => Ok(Means::Tool("curl")),
        (_, _, true, _) => Ok(Means::Tool("python3")),
        (_, _, _, true) if open => Ok(Means::Tool("wget")),
        (_, _, _, true) => Err(refused(
            "ssh may not connect from there (forwarding is refused), and wget would show the credentials to everybody there",
        )),
        _ => Err(refused(
            "ssh may not connect from there (AllowTcpForwarding), and there is neither curl, python3 nor wget: allow one of them",
        )),
    }
}

/// The variables that the far functions read. A secret stays in the shell, and goes on by its standard input.
fn setting(tool: &str, target: &Target) -> Result<String, Blind> {
    let inside = target.namespace.map_or_else(String::new, |namespace| format!("nsenter -t {} -n --", namespace.0));
    let header = target.credentials.header()?.map(|value| format!("Authorization: {value}")).unwrap_or_default();
    // curl reads it as a quoted string of its configuration.
    let header = if tool == "curl" { header.replace('\\', "\\\\").replace('"', "\\\"") } else { header };
    Ok(format!(
        "st= late=0 T={tool} M={} AGENT={} N={} A={}\n",
        page::MOST,
        concat!("plimsoll/", env!("CARGO_PKG_VERSION")),
        quoted(&inside),
        quoted(&header)
    ))
}

fn line(target: &Target, path: &str) -> String {
    let Base { host, port, prefix, .. } = &target.base;
    let whole = format!("{prefix}{path}");
    format!(
        "g {} {} {} {port} {}\n",
        quoted(&key_of(path)),
        quoted(&target.base.url(path)),
        quoted(host),
        quoted(&whole)
    )
}

/// A path as a key without blanks.
fn key_of(path: &str) -> String {
    format!("#{}", path.replace(' ', "%20"))
}

async fn ask(ssh: &Ssh, target: &Target, script: &str) -> Result<Vec<super::frames::Frame>, Blind> {
    let lane = ssh.0.lanes.of(target);
    let mut held = lane.lock().await;
    let session = if let Some(session) = held.as_ref().filter(|session| session.lives()) {
        Arc::clone(session)
    } else {
        let session = Arc::new(ssh.further().await?);
        *held = Some(Arc::clone(&session));
        session
    };
    session.ask(script, PAGES).await
}

/// When a page was there, how long it took, and what came of it; without a time it was not fetched at all.
fn fetched(frames: &[super::frames::Frame], path: &str, tool: &str) -> (Option<Time>, f64, Result<Answer, Blind>) {
    let groups = answers::grouped(frames);
    let key = key_of(path);
    let group = groups.get(key.as_str()).map(Vec::as_slice).unwrap_or_default();
    let body = group.iter().find_map(|(word, bytes)| (*word == "body").then_some(*bytes));
    let end = group.iter().find_map(|(word, bytes)| Some((word.strip_prefix("end ")?, *bytes)));
    let (Some(body), Some((date, told))) = (body, end) else {
        let blind = Blind::new(BlindKind::Gone, "the far shell did not fetch it");
        return (None, 0.0, Err(blind));
    };
    let (spent, outcome) = page::of(tool, &String::from_utf8_lossy(told), body);
    (seconds(date), spent, outcome)
}
