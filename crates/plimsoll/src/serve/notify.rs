//! What the service manager is told, where there is one.

use std::time::Duration;

use sd_notify::NotifyState;
use sense::clock::steady;

/// Characters of a status.
const STATUS: usize = 500;

/// The service manager.
pub(crate) struct Manager {
    /// How often it wants to hear that we live.
    watchdog: Option<Duration>,
    last: f64,
}

impl Manager {
    /// The one that started this process, if any.
    pub(crate) fn new() -> Manager {
        // Half of what it waits for, as it asks of services.
        Manager { watchdog: sd_notify::watchdog_enabled().map(|wait| wait / 2), last: steady() }
    }

    /// The page is there and everything was looked at once.
    pub(crate) fn ready(status: &str) {
        // A line end would end it, and what follows would be told in its own right.
        let status: String = status.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(STATUS).collect();
        tell(&[NotifyState::Ready, NotifyState::Status(&status)]);
    }

    /// The configuration is read again; [`Manager::ready`] follows.
    pub(crate) fn reloading() {
        if let Ok(time) = NotifyState::monotonic_usec_now() {
            tell(&[NotifyState::Reloading, time]);
        }
    }

    /// It ends.
    pub(crate) fn stopping() {
        tell(&[NotifyState::Stopping]);
    }

    /// The loop is alive.
    pub(crate) fn beat(&mut self) {
        if self.watchdog.is_some_and(|every| steady() - self.last >= every.as_secs_f64()) {
            tell(&[NotifyState::Watchdog]);
            self.last = steady();
        }
    }
}

/// That nobody hears it is no fault.
fn tell(states: &[NotifyState<'_>]) {
    let _ = sd_notify::notify(states);
}
