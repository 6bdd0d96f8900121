//! Walking a log backwards: the newest lines first, and only those that hold one of a few words.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::{memchr, memchr_iter, memrchr};

/// Lines beyond this many bytes are passed over.
pub const MOST_LINE: usize = 1 << 20;
/// The first block is small, because the newest lines are often enough; then they grow up to the largest.
const FIRST_BLOCK: usize = 16 << 10;
const LARGEST_BLOCK: usize = 256 << 10;

/// The words that make a line relevant, ready to be searched for.
#[derive(Debug, Clone)]
pub struct Anchors(Option<AhoCorasick>);

impl Anchors {
    /// Words as lines hold them. Empty ones, and such with a line feed, are left out.
    pub fn new(words: &[&str]) -> Anchors {
        Anchors::of(words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// The same, and also as the journal's JSON writes them in messages that are no plain text: as numbers of bytes.
    pub fn in_records(words: &[&str]) -> Anchors {
        let numbers = |word: &&str| word.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(",");
        Anchors::of(words.iter().map(|word| (*word).to_owned()).chain(words.iter().map(numbers)).collect())
    }

    fn of(mut words: Vec<String>) -> Anchors {
        words.retain(|word| !word.is_empty() && !word.contains('\n'));
        // Only words of many megabytes together cannot be built: then no line is relevant.
        let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(&words).ok();
        Anchors(built.filter(|_| !words.is_empty()))
    }

    /// Whether `text` holds one of the words.
    pub fn are_in(&self, text: &[u8]) -> bool {
        self.first(text).is_some()
    }

    /// Where the first word in `text` begins and ends.
    fn first(&self, text: &[u8]) -> Option<Range<usize>> {
        self.0.as_ref()?.find(text).map(|found| found.range())
    }
}

/// Words of which it is asked where each stands in a text.
#[derive(Debug, Clone)]
pub struct Words(Option<AhoCorasick>);

impl Words {
    /// These words; empty ones stand nowhere.
    pub fn new(words: &[&str]) -> Words {
        // Empty words would match everywhere and nowhere in particular; they keep their number.
        let words: Vec<&str> = words.iter().map(|word| if word.is_empty() { "\n" } else { word }).collect();
        Words(AhoCorasick::new(words).ok())
    }

    /// The number of each word in `text` and where it begins, also where words overlap.
    pub fn places(&self, text: &str) -> impl Iterator<Item = (usize, usize)> {
        let found = self.0.as_ref().map(|words| words.find_overlapping_iter(text));
        found.into_iter().flatten().map(|found| (found.pattern().as_usize(), found.start()))
    }
}

/// The relevant lines of `chunk`, newest first, each with its place and without its line feed. A line that ends with
/// the chunk and has no line feed may still be being written: its range ends where the chunk does.
///
/// `whole` says that the chunk begins where a line does (at the beginning of the file, say); else what stands before its
/// first line feed is passed over. Only as much of the chunk is read as the lines taken need.
pub fn newest_first<'a>(chunk: &'a [u8], anchors: &'a Anchors, whole: bool) -> Newest<'a> {
    Newest { chunk, anchors, whole, upto: chunk.len(), block: FIRST_BLOCK, found: Vec::new(), long: 0 }
}

/// See [`newest_first`].
#[derive(Debug)]
pub struct Newest<'a> {
    chunk: &'a [u8],
    anchors: &'a Anchors,
    whole: bool,
    /// What stands before this is not searched yet; it begins a line or ends the chunk.
    upto: usize,
    block: usize,
    /// Lines of the last block, in its order.
    found: Vec<Range<usize>>,
    long: usize,
}

impl Newest<'_> {
    /// Lines longer than [`MOST_LINE`] that were passed over so far, relevant or not.
    pub fn long(&self) -> usize {
        self.long
    }

    /// Bytes of the chunk, counted from its end, that were searched or passed over so far.
    pub fn read(&self) -> usize {
        self.chunk.len() - self.upto
    }

    /// Searches the whole lines of one more block.
    fn search(&mut self) {
        let least = self.upto.saturating_sub(self.block);
        self.block = (self.block * 2).min(LARGEST_BLOCK);
        // The line feed that ends the last line does not begin one within the block.
        let inner = &self.chunk[least..self.upto.saturating_sub(1).max(least)];
        let start = match memchr(b'\n', inner) {
            _ if least == 0 && self.whole => 0,
            Some(at) => least + at + 1,
            // One line fills the block.
            None => match memrchr(b'\n', &self.chunk[..least]) {
                Some(at) => at + 1,
                None if self.whole => 0,
                None => return self.upto = 0,
            },
        };
        let feed = usize::from(self.chunk[start..self.upto].ends_with(b"\n"));
        if self.upto - feed - start > MOST_LINE {
            self.long += 1;
        } else {
            self.lines(start);
        }
        self.upto = start;
        // Before the first line feed stands the end of a line whose beginning is not here.
        if least == 0 && !self.whole {
            self.upto = 0;
        }
    }

    fn lines(&mut self, start: usize) {
        let block = &self.chunk[start..self.upto];
        let mut from = 0;
        while let Some(word) = self.anchors.first(&block[from..]) {
            let begins = memrchr(b'\n', &block[from..from + word.start]).map_or(from, |at| from + at + 1);
            let behind = from + word.end;
            let ends = memchr(b'\n', &block[behind..]).map_or(block.len(), |at| behind + at);
            self.found.push(start + begins..start + ends);
            from = (ends + 1).min(block.len());
        }
    }
}

impl<'a> Iterator for Newest<'a> {
    type Item = (Range<usize>, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        while self.found.is_empty() && self.upto > 0 {
            self.search();
        }
        let range = self.found.pop()?;
        Some((range.clone(), &self.chunk[range]))
    }
}

/// The number of the line that `offset` lies in, counted from 1 at the beginning of `chunk`.
pub fn number_of_line(chunk: &[u8], offset: usize) -> usize {
    memchr_iter(b'\n', &chunk[..offset.min(chunk.len())]).count() + 1
}
