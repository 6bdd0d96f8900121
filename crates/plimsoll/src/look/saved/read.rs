//! Reading a file that was given, or standard input.

use std::io::Read as _;

use anyhow::{Result, anyhow};
use model::text::upsets;
use model::{Stretch, Time};
use sense::place::{A_FOLDER, Wanted};

use crate::look::Eye;
use crate::look::beside::stretches;

/// Bytes of a file's beginning and of its end that are read at first: those of a log that is found beside a server.
const ENDS: (usize, usize) = (512 << 10, 1 << 20);
/// Bytes of a file that only makes sense as a whole, and of standard input.
const WHOLE: usize = 16 << 20;

/// What was read of one file.
pub(super) struct Content {
    /// How it was named, safe to show.
    pub(super) name: String,
    /// Its stretches: one if all of it was read.
    pub(super) stretches: Vec<Stretch>,
    /// When it was last written to.
    pub(super) written: Option<Time>,
    /// Device and inode: equal when two names lead to one file.
    pub(super) identity: Option<(u64, u64)>,
}

impl Content {
    /// All of it, if all was read.
    pub(super) fn whole(&self) -> Option<&[u8]> {
        match self.stretches.as_slice() {
            [one] if one.from_start => Some(&one.bytes),
            _ => None,
        }
    }

    /// How it begins.
    pub(super) fn beginning(&self) -> &[u8] {
        self.stretches.first().map_or(&[], |first| &first.bytes)
    }
}

/// A folder where a file was to be.
#[derive(Debug, thiserror::Error)]
#[error("{0} is a folder: give the files in it ({inside}/*)", inside = .0.trim_end_matches('/'))]
pub(super) struct Folder(String);

/// Reads `file`, or standard input for `-`.
pub(super) async fn content(eye: &Eye, file: &str) -> Result<Content> {
    if file == "-" {
        return stdin();
    }
    let path = std::path::absolute(file)?;
    let ends = |(head, tail): (usize, usize)| eye.place.ends_each(vec![Wanted::File(path.clone())], head, tail);
    let only = |mut all: Vec<Result<_, model::Blind>>| all.pop().ok_or_else(|| anyhow!("{file}: nothing was read"));
    let unread = |blind: model::Blind| {
        if blind.text.ends_with(A_FOLDER) {
            return Folder(safe(file)).into();
        }
        crate::wrong_usage(anyhow!(safe(&blind.to_string())))
    };
    let mut read = only(ends(ENDS).await)?.map_err(unread)?;
    if read.size <= WHOLE as u64 && read.tail_from != read.head.len() as u64 {
        read = only(ends((WHOLE, 0)).await)?.map_err(unread)?;
    }
    let (written, identity) = (Some(read.modified), Some(read.identity));
    Ok(Content { name: safe(file), stretches: stretches(read), written, identity })
}

/// What a terminal shows as it is: names of files may hold anything.
fn safe(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if upsets(letter) { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    shown
}

fn stdin() -> Result<Content> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(WHOLE as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| crate::wrong_usage(anyhow!("standard input: {error}")))?;
    if bytes.len() > WHOLE {
        let text = format!("standard input is longer than {} MiB: save it to a file", WHOLE >> 20);
        return Err(crate::wrong_usage(anyhow!(text)));
    }
    let stretches = vec![Stretch { bytes, first_line: Some(1), from_start: true, name: None }];
    Ok(Content { name: "standard input".to_owned(), stretches, written: None, identity: None })
}
