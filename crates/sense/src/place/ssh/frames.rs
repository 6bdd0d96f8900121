//! What a far shell says, taken apart: lines with the session's boundary, each with bytes up to the next. The boundary is
//! random, so that nothing that is read there can hold it.

use memchr::memmem::Finder;
use model::{Blind, BlindKind};

/// Most bytes of one answer, and of all that is not taken yet: slabs, pages, and many logs at once.
const MOST: usize = 256 << 20;
/// Most bytes before the first boundary: what a login shell prints of itself.
const MOST_NOISE: usize = 1 << 20;

/// One line with the boundary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    /// What stands behind the boundary: the question's key, and what came of it.
    pub(super) head: String,
    /// The bytes behind it.
    pub(super) body: Vec<u8>,
}

/// Takes bytes as they come.
#[derive(Debug)]
pub(super) struct Frames {
    needle: Vec<u8>,
    bytes: Vec<u8>,
    /// Bytes before it hold no boundary.
    searched: usize,
    begun: bool,
    batch: Vec<Frame>,
    held: usize,
}

impl Frames {
    pub(super) fn new(boundary: &str) -> Frames {
        let needle = format!("\n{boundary} ").into_bytes();
        Frames { needle, bytes: Vec::new(), searched: 0, begun: false, batch: Vec::new(), held: 0 }
    }

    /// Whether a boundary was seen: the far shell runs what it was told.
    pub(super) fn begun(&self) -> bool {
        self.begun
    }

    /// What was printed before any boundary: the end of it, for people.
    pub(super) fn noise(&self) -> String {
        const SHOWN: usize = 200;
        let text = if self.begun { &[][..] } else { &self.bytes };
        String::from_utf8_lossy(&text[text.len().saturating_sub(SHOWN)..]).into_owned()
    }

    /// Takes bytes, and gives every batch that they end.
    pub(super) fn add(&mut self, piece: &[u8]) -> Result<Vec<Vec<Frame>>, Blind> {
        self.bytes.extend_from_slice(piece);
        let finder = Finder::new(&self.needle);
        let mut batches = Vec::new();
        let (mut taken, mut from, mut stop) = (0, self.searched, None);
        while let Some(found) = finder.find(&self.bytes[from..]) {
            let boundary = from + found;
            let head = boundary + self.needle.len();
            let Some(length) = memchr::memchr(b'\n', &self.bytes[head..]) else {
                // the line is still coming
                stop = Some(boundary);
                break;
            };
            // What came before the first boundary is what a login shell prints of itself.
            if let Some(last) = self.batch.last_mut() {
                last.body = self.bytes[taken..boundary].to_vec();
                self.held += last.body.len();
            }
            self.begun = true;
            let text = String::from_utf8_lossy(&self.bytes[head..head + length]).into_owned();
            (taken, from) = (head + length + 1, head + length + 1);
            if text == "." {
                batches.push(std::mem::take(&mut self.batch));
                self.held = 0;
            } else {
                self.batch.push(Frame { head: text, body: Vec::new() });
            }
        }
        let searched = stop.unwrap_or_else(|| from.max((self.bytes.len() + 1).saturating_sub(self.needle.len())));
        self.bytes.drain(..taken);
        self.searched = searched - taken;
        let most = if self.begun { MOST } else { MOST_NOISE };
        if self.bytes.len() + self.held > most {
            let text = if self.begun {
                "it answers with more than was asked for"
            } else {
                "its login shell prints without end, or takes what is meant for the shell"
            };
            return Err(Blind::new(BlindKind::TooLarge, text));
        }
        Ok(batches)
    }
}
