//! What is still awaited, on one line of a terminal's standard error, when it takes more than a second.

use std::future::Future;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use super::Eye;

/// Quiet for this long.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two lines.
const STEP: Duration = Duration::from_millis(250);
/// Columns where the terminal does not say.
const COLUMNS: usize = 80;

/// Waits for `work`; tells people meanwhile what is awaited, unless `quiet`.
pub(crate) async fn over<T>(eyes: Vec<Arc<Eye>>, quiet: bool, work: impl Future<Output = T>) -> T {
    if quiet || !std::io::stderr().is_terminal() {
        return work.await;
    }
    let mut work = std::pin::pin!(work);
    if let Ok(done) = tokio::time::timeout(PATIENCE, &mut work).await {
        return done;
    }
    let mut shown = 0;
    loop {
        let awaited: Vec<String> = eyes.iter().flat_map(|eye| eye.awaited()).collect();
        shown = show(&line(&awaited), shown);
        if let Ok(done) = tokio::time::timeout(STEP, &mut work).await {
            show("", shown);
            return done;
        }
    }
}

fn line(awaited: &[String]) -> String {
    match awaited {
        [] => "looking …".to_owned(),
        [one] => format!("waiting for {one} …"),
        [first, others @ ..] => format!("waiting for {first} and {} more …", others.len()),
    }
}

/// Writes `text` over the `shown` columns that stand there, and says how many it takes.
fn show(text: &str, shown: usize) -> usize {
    let width = terminal_size::terminal_size_of(std::io::stderr()).map_or(COLUMNS, |(width, _)| usize::from(width.0));
    let text: String = text.chars().take(width.saturating_sub(1)).collect();
    let columns = text.chars().count();
    // No control sequences: a terminal that knows none shows this as well.
    let rest = " ".repeat(shown.saturating_sub(columns));
    let mut out = std::io::stderr();
    let end = if columns == 0 { "\r" } else { "" };
    let _ = write!(out, "\r{text}{rest}{end}").and_then(|()| out.flush());
    columns
}
