//! The Prometheus text format 0.0.4, with what is found beside it: the extras of `OpenMetrics` 1.0 (exemplars,
//! `# UNIT`, `# EOF`, timestamps in seconds) and the quoted UTF-8 names of Prometheus 3.
//!
//! [`scan`] walks a page once and hands over the samples whose names are asked for, without allocating; lines with
//! other names are passed over at close to the speed of finding their ends. [`metadata`] lists what the page declares,
//! and [`looks_like`] tells whether a body is such a page at all.
//!
//! ```
//! use wire::exposition::{Limits, scan};
//!
//! let page = b"# TYPE used_tokens gauge\nused_tokens{dp_rank=\"1\"} 1364.0\nother 7\n";
//! let mut found = Vec::new();
//! let summary = scan(page, &Limits::default(), |name| name == "used_tokens", |sample| found.push(sample));
//! assert_eq!(found[0].value, 1364.0);
//! assert_eq!(found[0].labels.get("dp_rank").as_deref(), Some("1"));
//! assert_eq!((summary.samples, summary.wanted, summary.bad), (2, 1, 0));
//! ```

mod cursor;
mod labels;
mod limits;
mod lines;
mod look;
mod metadata;
mod sample;
mod scan;
mod skeleton;
mod summary;
mod value;
mod write;

pub use labels::{LabelIter, Labels};
pub use limits::Limits;
pub use look::{Kind, looks_like};
pub use metadata::{Metadata, Word, metadata};
pub use sample::Sample;
pub use scan::{parse_all, scan, scan_declared, scan_until};
pub use skeleton::Skeleton;
pub use summary::{BadLine, Reason, Summary};
pub use write::write_sample;
