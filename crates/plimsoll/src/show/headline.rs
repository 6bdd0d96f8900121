//! The first line: how full the server is that is worst off, and how many say nothing. It is what is read at night, and by
//! `head -1`, so it never calls a fleet calm in which something is not.

use model::{Level, Pool, Rank, Role, Server, Signal};

use super::fleet::{address, has_scheme};
use super::number::{precision, several};
use super::paint::{level, paint, strong};
use super::pool::headroom;
use super::wrap::hang;
use crate::look::{Look, NOT_GIVEN};
use model::number::{amount, percent, with_unit};

/// Columns before the line's text, as wide as `KV cache  `.
const INDENT: usize = 10;

/// Columns of a file's name that is shown as it is.
const LONG: usize = 40;

/// The line; nothing where there is no server.
pub(super) fn headline(look: &Look, width: usize) -> String {
    let Some((word, text)) = parts(look) else { return String::new() };
    let lead = format!("KV cache  {}  ", paint(level(word), &word.name().to_uppercase()));
    hang(&lead, INDENT, &text, width)
}

/// Its level, and its text without anything that only a terminal understands.
pub(crate) fn plain(look: &Look) -> (Level, String) {
    let (word, text) = parts(look).unwrap_or((Level::Unknown, "no server was found".to_owned()));
    (word, anstream::adapter::strip_str(&text).to_string())
}

/// Level and text; nothing where there is no server.
fn parts(look: &Look) -> Option<(Level, String)> {
    let servers = &look.snapshot.servers;
    if servers.is_empty() {
        return None;
    }
    let caches: Vec<&Server> = servers.iter().filter(|server| server.role != Role::Router).collect();
    let unknown = caches.iter().filter(|server| server.verdict.level == Level::Unknown).count();
    // Worst first is the order of servers; of calm ones a store comes last, since a full store is no trouble.
    let worst = caches.iter().find(|server| ![Level::Unknown, Level::Calm].contains(&server.verdict.level));
    let calm = |server: &&&Server| server.verdict.level == Level::Calm;
    let at_ease = || {
        let first = caches.iter().filter(calm).find(|server| server.role != Role::Store);
        first.or_else(|| caches.iter().find(calm))
    };
    // Of a server that is not known as a whole some rank may be.
    let partly =
        || caches.iter().filter(|server| server.verdict.level == Level::Unknown).find_map(|server| told(server));
    let verb = if unknown == 1 { "is" } else { "are" };
    let (word, text) = match (worst, unknown) {
        (Some(server), _) => {
            let rest = if unknown == 0 {
                String::new()
            } else {
                format!("; {}", strong(&format!("{} {verb} unknown", several(unknown, "server"))))
            };
            let figure = told(server).unwrap_or_else(|| format!("{}: {}", named(server), server.verdict.reason));
            (server.verdict.level, format!("{figure}{rest}"))
        }
        (None, 0) => match (at_ease(), look.notes.iter().find(|note| note.id == NOT_GIVEN)) {
            (Some(server), Some(absent)) => {
                let figure = told(server).unwrap_or_else(|| named(server));
                let seen = seen_by_router(servers).map_or(String::new(), |seen| format!("; {seen}"));
                (Level::Unknown, format!("{}{seen}; calm is {figure}", strong(&absent.text)))
            }
            (Some(server), None) => (Level::Calm, told(server).unwrap_or_else(|| named(server))),
            (None, _) => (Level::Unknown, "no server tells how full it is".to_owned()),
        },
        (None, _) => {
            let counted = strong(&format!("{unknown} of {} {verb} unknown", several(caches.len(), "server")));
            let text = match (at_ease().and_then(|server| told(server)), partly().or_else(|| trouble(&caches))) {
                (Some(figure), _) => format!("{counted}; calm is {figure}"),
                (None, Some(figure)) if caches.len() == 1 => figure,
                (None, Some(figure)) => format!("{counted}; of {figure}"),
                (None, None) => "no server tells how full it is".to_owned(),
            };
            (Level::Unknown, text)
        }
    };
    Some((word, text))
}

/// Role and address; of long files' names only so much that the figure stands in the first line, too.
fn named(server: &Server) -> String {
    let whole = address(server);
    let short = || {
        let file =
            |named: &'_ str| named.split(" (").next().and_then(|path| path.rsplit('/').next()).map(str::to_owned);
        let mut files = whole.split(" + ").filter_map(file);
        let first = files.next().unwrap_or_default();
        let more = files.count();
        if more == 0 { format!("…/{first}") } else { format!("…/{first} + {}", several(more, "file")) }
    };
    let is_long = !has_scheme(&server.url) && whole.chars().count() > LONG;
    format!("{} {}", server.role.name(), if is_long { short() } else { whole.clone() })
}

/// The most that a router sees in use of any worker.
fn seen_by_router(servers: &[Server]) -> Option<String> {
    let views = servers.iter().flat_map(|server| &server.router_view);
    let shares = views.filter_map(|view| Some((view, view.readings.get(&Signal::KV_IN_USE)?.value?)));
    let (view, share) = shares.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(format!("the router sees up to {} in use, of {}", percent(share), view.worker))
}

/// What a server says is the matter with it, where none of them tells how full it is.
fn trouble(caches: &[&Server]) -> Option<String> {
    let troubled = caches.iter().find_map(|server| Some((server, server.troubles.first()?)));
    troubled.map(|(server, trouble)| format!("{}: {}", named(server), trouble.why))
}

/// How full a server is: its fullest pool, or what a store holds.
fn told(server: &Server) -> Option<String> {
    let fullest = server.ranks.iter().filter_map(Rank::binding).max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((pool, in_use)) = fullest else {
        return either(server).or_else(|| held(server)).or_else(|| used(server));
    };
    let several = server.ranks.iter().any(|rank| rank.pools.iter().filter(|pool| pool.binds).count() > 1);
    let which = if several { format!(" of the {} pool", pool.name()) } else { String::new() };
    let off = pool.get(Signal::KV_IN_USE).map(precision).unwrap_or_default();
    let figure = strong(&format!("{} in use", percent(in_use)));
    let by = if server.is_told_by_router() { ", by its router's word" } else { "" };
    Some(format!("{}: {figure}{which}{off}{}{by}", named(server), headroom(pool)))
}

/// What the fullest tier of a store holds; of another server it is said that this is not what is in use.
fn held(server: &Server) -> Option<String> {
    let is_store = server.role == Role::Store;
    let pools = server.ranks.iter().flat_map(|rank| &rank.pools);
    let pools = pools.filter(|pool| is_store || pool.tier == model::DEVICE);
    let shares = pools.filter_map(|pool| Some((pool, Pool::fresh(pool, Signal::KV_OCCUPIED)?)));
    let (pool, share) = shares.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let off = pool.get(Signal::KV_OCCUPIED).map(precision).unwrap_or_default();
    let figure = strong(&format!("{} occupied", percent(share)));
    let what = if is_store { format!(" of the {} tier{off}", pool.tier) } else { format!("{off}, in use is not told") };
    Some(format!("{}: {figure}{what}", named(server)))
}

/// The figures of which one is true.
fn either(server: &Server) -> Option<String> {
    let note = server.notes.iter().find(|note| note.id == judge::EITHER)?;
    let figures = note.text.split(';').next().unwrap_or_default();
    Some(format!("{}: {}", named(server), strong(figures)))
}

/// What is used where nothing tells of how much.
fn used(server: &Server) -> Option<String> {
    let pools = server.ranks.iter().flat_map(|rank| &rank.pools).filter(|pool| pool.binds);
    let most = pools.filter_map(|pool| Some((pool.get(Signal::KV_USED)?, Pool::fresh(pool, Signal::KV_USED)?)));
    let (known, value) = most.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let figure = with_unit(&amount(value, known.unit), known.unit);
    Some(format!("{}: {} used, of how many is not told", named(server), strong(&figure)))
}
