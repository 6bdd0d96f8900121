//! The bar of a pool: used, evictable, available, each with a sign of its own so that colour is not needed.

use anstyle::{AnsiColor, Style};
use model::{Level, Pool, Signal};

use super::paint::{self, paint};

/// What the signs mean, for the foot of a screen.
pub(crate) const LEGEND: [&str; 5] =
    ["█ used", "▒ evictable", "░ available", "─ headroom, not told apart", "? unknown"];

/// A bar of `width` signs; what is used in the level's colour.
pub(crate) fn bar(pool: &Pool, level: Level, width: usize) -> String {
    let value = |signal| pool.get(signal).and_then(|reading| reading.value);
    let Some(in_use) = value(Signal::KV_IN_USE) else { return "?".repeat(width) };
    let used = signs(in_use, width);
    let rest = width - used;
    match value(Signal::KV_OCCUPIED) {
        Some(occupied) => {
            let evictable = signs(occupied, width).saturating_sub(used).min(rest);
            let kept = paint(Style::new().fg_color(Some(AnsiColor::Cyan.into())), &"▒".repeat(evictable));
            paint(paint::level(level), &"█".repeat(used)) + &kept + &"░".repeat(rest - evictable)
        }
        None => paint(paint::level(level), &"█".repeat(used)) + &"─".repeat(rest),
    }
}

/// A bar of what a pool holds, where nothing tells how much of that is locked.
pub(crate) fn held(pool: &Pool, width: usize) -> String {
    let Some(share) = pool.get(Signal::KV_OCCUPIED).and_then(|reading| reading.value) else { return "?".repeat(width) };
    let full = signs(share, width);
    paint(Style::new().fg_color(Some(AnsiColor::Cyan.into())), &"▒".repeat(full)) + &"░".repeat(width - full)
}

/// Signs for a share: any use at all shows one, and only a full pool shows all.
fn signs(share: f64, width: usize) -> usize {
    let share = share.clamp(0.0, 1.0);
    let signs = (share * width as f64).round() as usize;
    match signs {
        0 if share > 0.0 => 1,
        all if all == width && share < 1.0 => width - 1,
        signs => signs,
    }
}
