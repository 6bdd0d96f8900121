//! What to write where, so that a scraper fetches a server.

/// How a server's scraping stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScrapeGap {
    /// It is fetched, and the series are there and fresh.
    None,
    /// It is fetched; what is stored cannot be asked where it is fetched.
    Scraped,
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

/// A scrape job that is missing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// Whether the pages speak HTTPS.
    pub https: bool,
    /// Whether their certificate is of no public authority.
    pub own_ca: bool,
    /// The path of the page, prefix and all.
    pub path: String,
    /// What the pages want to know of who asks.
    pub door: Door,
}

/// What a page wants to know of who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Door {
    /// Nothing.
    Open,
    /// A bearer token.
    Bearer,
    /// A user and a password.
    Basic,
}

/// The jobs, each with its hosts, as lines of a Prometheus configuration: the whole section, whose items can be taken
/// over into a section that is there. What only the operator knows stands in angle brackets.
pub fn scrape_configs(jobs: &[(Job, Vec<String>)]) -> Vec<String> {
    let mut lines = vec!["scrape_configs:".to_owned()];
    for (job, hosts) in jobs {
        lines.push(format!("  - job_name: {}", job.name));
        lines.push("    scrape_interval: 5s".to_owned());
        if job.path != "/metrics" {
            lines.push(format!("    metrics_path: {}", quoted(&job.path)));
        }
        if job.https {
            lines.push("    scheme: https".to_owned());
        }
        if job.own_ca {
            lines.push("    tls_config:".to_owned());
            lines.push("      ca_file: \"<FILE OF THE AUTHORITY>\"".to_owned());
        }
        match job.door {
            Door::Open => {}
            Door::Bearer => {
                lines.push("    authorization:".to_owned());
                lines.push("      credentials_file: \"<FILE OF THE TOKEN>\"".to_owned());
            }
            Door::Basic => {
                lines.push("    basic_auth:".to_owned());
                lines.push("      username: \"<USER>\"".to_owned());
                lines.push("      password_file: \"<FILE OF THE PASSWORD>\"".to_owned());
            }
        }
        lines.push("    static_configs:".to_owned());
        let hosts: Vec<String> = hosts.iter().map(|host| quoted(host)).collect();
        lines.push(format!("      - targets: [{}]", hosts.join(", ")));
    }
    lines
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
