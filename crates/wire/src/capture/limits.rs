//! How much of a capture is read.

/// Limits of reading; what is behind one is not read, and a note says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the file.
    pub packed: usize,
    /// Bytes that it unpacks to.
    pub unpacked: u64,
    /// Bytes of one line; a longer one is passed over.
    pub line: usize,
    /// Lines.
    pub lines: u32,
    /// Looks, each at one site.
    pub looks: usize,
    /// Members of the gzip file.
    pub members: usize,
    /// Bytes of all different sites together.
    pub sites: usize,
    /// What the answers of one look may cost together, bytes: see [`Limits::cost`].
    pub look: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            packed: 256 << 20,
            unpacked: 512 << 20,
            line: 64 << 20,
            lines: 4_000_000,
            looks: 100_000,
            members: 200_000,
            sites: 16 << 20,
            look: 256 << 20,
        }
    }
}

impl Limits {
    /// What a line costs when it is held as values: short answers and short items of lists are many times as large then.
    /// Counted anew for each reference to it, since each makes values of its own.
    pub(super) fn cost(line: &[u8]) -> usize {
        /// About what an item of a list takes, and what an answer does.
        const ITEM: usize = 32;
        const ANSWER: usize = 256;
        ANSWER + line.len() + ITEM * memchr::memchr_iter(b',', line).count()
    }
}
