//! Caps on what a page can make us do.

/// Caps of one scan. Hitting one is said in the [`Summary`](super::Summary).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one line without its end; a longer line is a bad line.
    pub max_line: usize,
    /// Sample lines, read, passed over or bad; the scan stops after them.
    pub max_samples: u32,
    /// Labels of one sample; a line with more is a bad line.
    pub max_labels: usize,
    /// The page is known to be whole, as an HTTP answer read to its stated end is: a last line without an end counts.
    /// Otherwise its value may have been cut, and it is a bad line.
    pub whole: bool,
}

impl Limits {
    /// The defaults, for a page that is known to be whole.
    pub fn whole() -> Limits {
        Limits { whole: true, ..Limits::default() }
    }
}

impl Default for Limits {
    /// 64 KiB a line, 2,000,000 samples, 64 labels a sample, not known to be whole.
    fn default() -> Limits {
        Limits { max_line: 64 * 1024, max_samples: 2_000_000, max_labels: 64, whole: false }
    }
}
