//! What all connections share.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

use crate::assets::Assets;
use crate::documents::Packed;
use crate::held::Held;
use crate::hosts::Hosts;
use crate::options::{Limits, Options};
use crate::places::Places;
use crate::secret::Secret;
use crate::source::Source;

/// What all connections share.
pub(crate) struct Site {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) token: Option<Secret>,
    pub(crate) hosts: Hosts,
    pub(crate) limits: Limits,
    pub(crate) assets: Assets,
    pub(crate) packed: Packed,
    pub(crate) streams: Places,
    pub(crate) history: Arc<Semaphore>,
    pub(crate) held: Held,
    pub(crate) reports: Arc<Semaphore>,
    pub(crate) wrong_tokens: Semaphore,
    /// True once the site stops.
    pub(crate) stop: watch::Receiver<bool>,
}

impl Site {
    pub(crate) fn new(source: Arc<dyn Source>, options: Options, stop: watch::Receiver<bool>) -> Self {
        let limits = options.limits;
        Self {
            source,
            token: options.token,
            hosts: Hosts::new(&options.hosts),
            assets: Assets::new(),
            packed: Packed::default(),
            streams: Places::new(limits.most_streams),
            history: Arc::new(Semaphore::new(limits.most_history)),
            held: Held::new(limits.most_held_bytes),
            reports: Arc::new(Semaphore::new(limits.most_reports)),
            wrong_tokens: Semaphore::new(limits.most_wrong_tokens),
            limits,
            stop,
        }
    }

    /// Returns once the site stops.
    pub(crate) async fn stopped(&self) {
        // Whoever could say so is gone: that is a stop as well.
        let _ = self.stop.clone().wait_for(|stop| *stop).await;
    }
}
