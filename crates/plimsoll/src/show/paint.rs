//! Colour, always beside a word or a sign that says the same. `anstream` takes it off where there is no terminal or
//! NO_COLOR is set.

use anstyle::{AnsiColor, Style};
use model::{Level, State};

/// `text` in a style.
pub(crate) fn paint(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}

/// What a reader should see first.
pub(crate) fn strong(text: &str) -> String {
    paint(Style::new().bold(), text)
}

/// What may be passed over.
pub(crate) fn faint(text: &str) -> String {
    paint(Style::new().dimmed(), text)
}

/// The style of a level.
pub(crate) fn level(level: Level) -> Style {
    let style = Style::new().bold();
    match level {
        Level::Unknown => style.fg_color(Some(AnsiColor::Magenta.into())),
        Level::Calm => style.fg_color(Some(AnsiColor::Green.into())),
        Level::Tight => style.fg_color(Some(AnsiColor::Yellow.into())),
        Level::Strained | Level::Thrashing | Level::Stuck => style.fg_color(Some(AnsiColor::Red.into())),
    }
}

/// The word that goes behind a value of this state; nothing behind what was said or computed.
pub(crate) fn state_word(state: State) -> &'static str {
    match state {
        State::Inferred => " (inferred)",
        State::Stale => " (stale)",
        State::Impossible => " (impossible)",
        State::Reported | State::Derived | State::NotReported | State::Unreachable => "",
    }
}
