//! The fleet at a glance: roles side by side, one column each.

use model::{Pool, Rank, Role, Server, Signal};

use super::bar::{bar, held};
use super::number::several;
use super::paint::{level, paint, strong};
use crate::look::UNLISTED;
use model::number::percent;

/// Servers of one role shown in a column.
const MOST: usize = 6;
/// Columns are no wider than this.
const WIDEST: usize = 36;

/// The columns, or nothing where there is one role only or no room.
pub(crate) fn side_by_side(servers: &[Server], width: usize) -> String {
    let roles = [Role::Router, Role::Prefill, Role::Decode, Role::Unified, Role::Store, Role::Unknown];
    let columns: Vec<(Role, Vec<&Server>)> = roles
        .into_iter()
        .map(|role| (role, servers.iter().filter(|server| server.role == role).collect::<Vec<_>>()))
        .filter(|(_, servers)| !servers.is_empty())
        .collect();
    let room = width.saturating_sub(2) / columns.len().max(1);
    if columns.len() < 2 || room < 24 {
        return String::new();
    }
    let room = room.min(WIDEST);
    let cells: Vec<Vec<Cell>> = columns.iter().map(|(role, servers)| column(*role, servers, room - 2)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or_default();
    let mut out = String::new();
    for row in 0..height {
        let mut line = String::from("  ");
        for column in &cells {
            let cell = column.get(row);
            let (shown, length) = cell.map_or((String::new(), 0), |cell| (cell.painted.clone(), cell.length));
            line.push_str(&shown);
            line.push_str(&" ".repeat(room.saturating_sub(length)));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A cell with colour, and how many columns it shows.
struct Cell {
    painted: String,
    length: usize,
}

impl Cell {
    fn plain(text: String, room: usize) -> Cell {
        let text: String =
            if text.chars().count() > room { text.chars().take(room - 1).chain(['…']).collect() } else { text };
        Cell { length: text.chars().count(), painted: text }
    }

    fn styled(self, style: impl Fn(&str) -> String) -> Cell {
        Cell { painted: style(&self.painted), length: self.length }
    }
}

fn column(role: Role, servers: &[&Server], room: usize) -> Vec<Cell> {
    let title = if servers.len() > 1 {
        format!("{} × {}", role.name().to_uppercase(), servers.len())
    } else {
        role.name().to_uppercase()
    };
    let mut cells = vec![Cell::plain(title, room).styled(strong)];
    for server in servers.iter().take(MOST) {
        cells.push(Cell::plain(address(server), room));
        if role == Role::Router {
            cells.push(Cell::plain(workers(server), room));
            continue;
        }
        let fullest = server.ranks.iter().filter_map(Rank::binding).max_by(|a, b| a.1.total_cmp(&b.1));
        cells.push(match fullest {
            Some((pool, in_use)) => {
                let signs = room.saturating_sub(17).min(16);
                let words = format!(" {} in use", percent(in_use));
                let length = signs + words.chars().count();
                Cell { painted: bar(pool, server.verdict.level, signs) + &words, length }
            }
            None => held_by(server, room).unwrap_or_else(|| Cell::plain("?? in use unknown".to_owned(), room)),
        });
        let style = level(server.verdict.level);
        let word_of = if server.is_told_by_router() { ", by its router" } else { "" };
        let said = format!("{}{word_of}", server.verdict.level.name());
        cells.push(Cell::plain(said, room).styled(|text| paint(style, text)));
    }
    if servers.len() > MOST {
        cells.push(Cell::plain(format!("and {} more", servers.len() - MOST), room));
    }
    cells
}

/// What a server's fullest pool holds, where nothing tells how much of that is locked: of a store that is all there is.
fn held_by(server: &Server, room: usize) -> Option<Cell> {
    let pools = server.ranks.iter().flat_map(|rank| &rank.pools);
    let shares = pools.filter_map(|pool| Some((pool, Pool::fresh(pool, Signal::KV_OCCUPIED)?)));
    let (pool, share) = shares.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let signs = room.saturating_sub(17).min(16);
    let words = format!(" {} occupied", percent(share));
    let length = signs + words.chars().count();
    (length <= room).then(|| Cell { painted: held(pool, signs) + &words, length })
}

/// The address without the scheme; of a server on another host's loopback the host and the port, as a target may be given.
pub(crate) fn address(server: &Server) -> String {
    let (scheme, rest) = server.url.split_once("://").filter(|_| has_scheme(&server.url)).unwrap_or(("", &server.url));
    match rest.split_once("/127.0.0.1:") {
        Some((host, port)) if scheme == "ssh" => format!("{host}/{port}"),
        _ => rest.to_owned(),
    }
}

/// Whether it is an address, and no file: a file's name may hold an address further on.
pub(super) fn has_scheme(url: &str) -> bool {
    url.split_once("://").is_some_and(|(scheme, _)| scheme.chars().all(|letter| letter.is_ascii_alphanumeric()))
}

/// How many workers a router lists, and how many of them it sends requests to.
pub(crate) fn workers(server: &Server) -> String {
    if server.unreachable.is_some() {
        return "not reached".to_owned();
    }
    let mut names: Vec<(&str, Option<bool>)> =
        server.router_view.iter().map(|view| (view.worker.as_str(), view.healthy)).collect();
    names.sort_unstable();
    names.dedup_by_key(|(name, _)| *name);
    let sick = names.iter().filter(|(_, healthy)| *healthy == Some(false)).count();
    let well = names.iter().filter(|(_, healthy)| *healthy == Some(true)).count();
    let all = several(names.len(), "worker");
    if server.notes.iter().any(|note| note.id == UNLISTED) {
        return format!("{all} known of, and its list of them could not be read");
    }
    match (names.len(), sick) {
        (0, _) => "no workers".to_owned(),
        (1, 0) if well == 1 => format!("{all}, healthy"),
        (count, 0) if well == count => format!("{all}, all healthy"),
        (_, 0) => format!("{all}, health not told"),
        (_, sick) => format!("{all}, {sick} not healthy"),
    }
}
