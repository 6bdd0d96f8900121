//! The addresses of workers, as routers spell them, taken apart in one place: what they lead to, and what of them may be
//! shown. Where a router sends us is the router's word, and trusted no further than a port on a host.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use model::{Account, Note};
use sense::Target;
use sense::http::Base;

use super::Eye;
use super::access::Keys;
use super::identity::{Spot, is_link_local};

/// A worker that a router names.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    /// As the router spells it: to be compared with the router's own labels, never shown.
    pub(crate) raw: String,
    /// As it is shown: no userinfo, no query.
    pub(crate) shown: String,
    /// It is in the router's list; else only its opinions mention it.
    pub(crate) listed: bool,
    /// Where it is, as the router sees it.
    base: Result<Base, String>,
    /// It is spoken to by other means than HTTP: the scheme of its address.
    unspoken: Option<String>,
    /// Where it is, as seen from here.
    from_here: Option<Base>,
    /// Why it was not asked.
    pub(crate) unread: Option<String>,
    /// Where it is, as seen from here; filled once names are resolved.
    pub(crate) spots: Vec<Spot>,
}

impl Named {
    fn of(raw: &str, listed: bool) -> Named {
        let (unspoken, address) = unspoken(raw).map_or((None, raw), |(scheme, rest)| (Some(scheme), rest));
        let base = base(address);
        let shown = match (&base, &unspoken) {
            (Ok(base), None) => base.to_string(),
            _ => printable(raw),
        };
        Named { raw: raw.to_owned(), shown, listed, base, unspoken, from_here: None, unread: None, spots: Vec::new() }
    }

    /// Settles where it is, as seen from here.
    pub(super) fn found(&mut self, eye: &Eye, target: &Target) {
        self.spots = eye.atlas.spots(target);
        self.from_here = Some(target.base.clone());
    }

    /// Its address, as seen from here where that is known.
    pub(super) fn url(&self) -> String {
        match (&self.from_here, &self.unspoken) {
            (Some(base), Some(scheme)) => base.to_string().replacen("http", scheme, 1),
            (Some(base), None) => base.to_string(),
            (None, _) => self.shown.clone(),
        }
    }

    /// The host of that address.
    pub(super) fn host(&self) -> String {
        let base = self.from_here.as_ref().or(self.base.as_ref().ok());
        base.map(|base| base.host.clone()).unwrap_or_default()
    }

    /// The target, as seen from here, of a worker that a router at `from` names: loopback is the router's own.
    pub(super) fn reach(&self, eye: &Eye, from: &Target) -> Result<Target, String> {
        let base = self.base.clone().map_err(|why| format!("worker {}: {why}", self.shown))?;
        let mut target = Target::new(base);
        if !target.base.is_loopback() {
            return Ok(target);
        }
        if from.base.is_loopback() {
            target.namespace = from.namespace;
        } else if eye.atlas.home(from) == Some(eye.atlas.space(&target)) {
            // The router is on this very host, by one of its other addresses.
            "127.0.0.1".clone_into(&mut target.base.host);
            return Ok(target);
        }
        target.base.host.clone_from(&from.base.host);
        Ok(target)
    }
}

/// Takes the workers of an account apart; from then on it holds nothing of them that may not be shown.
pub(super) fn settle(account: &mut Account) -> Vec<Named> {
    let mut named: BTreeMap<String, Named> = BTreeMap::new();
    let mut order = Vec::new();
    for (raw, listed) in account
        .workers
        .iter_mut()
        .map(|worker| (&mut worker.url, true))
        .chain(account.views.iter_mut().filter(|view| view.by_fact.is_none()).map(|view| (&mut view.worker, false)))
    {
        let one = named.entry(raw.clone()).or_insert_with(|| {
            order.push(raw.clone());
            Named::of(raw, listed)
        });
        raw.clone_from(&one.shown);
    }
    let mut shown = BTreeSet::new();
    account.workers.retain(|worker| shown.insert(worker.url.clone()));
    order.into_iter().filter_map(|raw| named.remove(&raw)).collect()
}

/// What may be asked of a worker: its target with what opens it, or why not. Notes tell what was left out.
pub(super) fn admitted(
    eye: &Eye,
    keys: &Keys,
    named: &Named,
    mut target: Target,
    known: &dyn Fn(&Target) -> bool,
    notes: &mut Vec<Note>,
) -> Result<Target, String> {
    if known(&target) {
        return Ok(target);
    }
    if let Some(scheme) = &named.unspoken {
        return Err(format!("worker {}: {scheme} is not spoken here, only http and https", named.shown));
    }
    if let Some(opened) = keys.listed(&target) {
        notes.extend(opened.notes());
        return Ok(opened);
    }
    if let Some(address) = eye.atlas.addresses(&target).into_iter().find(|address| is_refused(*address)) {
        return Err(format!(
            "worker {target}: {address} is no server's address (link-local, multicast or broadcast): not asked, because \
             only a router says so; give it as a target if it is meant"
        ));
    }
    if !target.base.prefix.is_empty() {
        let path = std::mem::take(&mut target.base.prefix);
        let text = format!(
            "the path {path} in the router's address of worker {target} was left out: a router chooses \
             hosts and ports, not paths; list the worker in --targets-file to ask it there"
        );
        notes.push(Note::new("path-dropped", text));
        if let Some(opened) = keys.listed(&target) {
            return Ok(opened);
        }
    }
    Ok(target)
}

fn is_refused(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    is_link_local(address) || address.is_multicast() || broadcast
}

/// Another scheme than those that are spoken, and what follows it.
fn unspoken(raw: &str) -> Option<(String, &str)> {
    let (scheme, rest) = raw.trim().split_once("://")?;
    let plain = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let spoken = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    (plain && !spoken).then(|| (scheme.to_ascii_lowercase(), rest))
}

/// Host, port and path of a router's spelling. Credentials in it are not taken: they are the router's, not ours.
fn base(raw: &str) -> Result<Base, String> {
    let raw = raw.trim();
    let bare = raw.split(['?', '#']).next().unwrap_or_default();
    // `http://host:port@3`: the third data-parallel rank of that server.
    let bare = match bare.rsplit_once('@') {
        Some((server, rank)) if rank.parse::<u16>().is_ok() && server.parse::<Target>().is_ok() => server,
        _ => bare,
    };
    let target: Target = bare.parse().map_err(|error: sense::http::TargetError| error.to_string())?;
    Ok(target.base)
}

/// A spelling that is no target, as far as it may be shown.
fn printable(raw: &str) -> String {
    let address = if raw.contains("://") { raw.to_owned() } else { format!("://{raw}") };
    let shown = model::without_secrets(&address);
    let shown = shown.strip_prefix("://").unwrap_or(&shown);
    shown.chars().filter(|letter| !letter.is_control()).take(200).collect()
}
