//! What to write where, so that a scraper fetches a server.

/// How a server's scraping stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScrapeGap {
    /// It is fetched, and the series are there and fresh.
    None,
    /// Nobody fetches it.
    NotScraped,
    /// It is on the list and was not fetched yet.
    NotYet,
    /// It is fetched, but the fetch fails with this.
    Down(String),
    /// It is fetched, but whether the series are stored could not be asked.
    Unknown(String),
    /// It is fetched, but none of the series is stored.
    NoSeries,
    /// The newest sample is this old, in seconds.
    Stale(u64),
}

/// The scrape job that is missing, as lines of a Prometheus configuration.
pub fn job(name: &str, hosts: &[String]) -> Vec<String> {
    let hosts: Vec<String> = hosts.iter().map(|host| format!("\"{host}\"")).collect();
    vec![
        "scrape_configs:".to_owned(),
        format!("  - job_name: {name}"),
        "    scrape_interval: 5s".to_owned(),
        "    static_configs:".to_owned(),
        format!("      - targets: [{}]", hosts.join(", ")),
    ]
}
