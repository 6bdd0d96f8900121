//! What watches the servers, held against the servers: does anything scrape them, and does the cache's fullness arrive?
//! Pure: answers are given, none is fetched here.

mod advice;
mod monitor;
mod scrape;

pub use advice::{Door, Job, ScrapeGap, scrape_configs};
pub use monitor::{Kind, Monitor, Monitors, Running, monitors};
pub use scrape::{ActiveTarget, active_targets, freshness, freshness_query};
