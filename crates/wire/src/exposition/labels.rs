//! The labels of a sample, read when they are asked for.

use std::borrow::Cow;
use std::fmt;

use super::Reason;
use super::cursor::{Cursor, Quoted};

/// The labels of one sample, in the page's order. Cheap to copy: a piece of the page that was checked to be readable.
///
/// A label that stands twice is given twice, and [`Labels::get`] gives the first.
#[derive(Clone, Copy, Default)]
pub struct Labels<'a> {
    /// From behind the opening brace to the closing brace; empty when the sample has no braces.
    text: &'a str,
}

/// Walks over [`Labels`]: key and value of each, escapes resolved. Allocates only for a text with an escape in it.
#[derive(Debug, Clone)]
pub struct LabelIter<'a> {
    cursor: Cursor<'a>,
}

/// One thing between the braces.
enum Item<'a> {
    Label(Key<'a>, Quoted<'a>),
    /// The quoted name of the metric, which Prometheus 3 puts among the labels.
    Name(Quoted<'a>),
    End,
}

enum Key<'a> {
    Bare(&'a str),
    Quoted(Quoted<'a>),
}

impl<'a> Labels<'a> {
    /// The value of the first label called `key`.
    pub fn get(&self, key: &str) -> Option<Cow<'a, str>> {
        let mut cursor = Cursor::new(self.text);
        loop {
            match item(&mut cursor) {
                Ok(Item::Label(found, value)) if found.is(key) => return Some(value.text()),
                Ok(Item::Label(..) | Item::Name(_)) => {}
                Ok(Item::End) | Err(_) => return None,
            }
        }
    }

    /// All labels, in the page's order.
    pub fn iter(&self) -> LabelIter<'a> {
        LabelIter { cursor: Cursor::new(self.text) }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Reads labels from behind the opening brace to behind the closing one; gives them with the name among them.
    #[inline]
    pub(super) fn read(cursor: &mut Cursor<'a>, max: usize) -> Result<(Labels<'a>, Option<Quoted<'a>>), Reason> {
        let text = cursor.rest();
        let (mut count, mut name) = (0, None);
        loop {
            match item(cursor)? {
                Item::Label(..) => count += 1,
                Item::Name(_) if name.is_some() => return Err(Reason::Labels),
                Item::Name(found) => name = Some(found),
                Item::End => break,
            }
            if count > max {
                return Err(Reason::TooManyLabels);
            }
        }
        Ok((Labels { text }, name))
    }
}

/// One item and what separates it from the next.
#[inline]
fn item<'a>(cursor: &mut Cursor<'a>) -> Result<Item<'a>, Reason> {
    let key = match cursor.name() {
        "" if cursor.eat(b'}') => return Ok(Item::End),
        "" => match unusual_key_or_end(cursor)? {
            Some(key) => key,
            None => return Ok(Item::End),
        },
        name => Key::Bare(name),
    };
    let item = if cursor.eat_behind_blanks(b'=') {
        cursor.skip_blanks();
        Item::Label(key, cursor.quoted().ok_or(Reason::Labels)?)
    } else if let Key::Quoted(name) = key {
        Item::Name(name)
    } else {
        return Err(Reason::Labels);
    };
    let separated = cursor.eat_behind_blanks(b',') || cursor.peek() == Some(b'}');
    if separated { Ok(item) } else { Err(Reason::Labels) }
}

/// What may stand where no bare key does: blanks before one, a quoted key, or the closing brace, which is no key.
#[cold]
fn unusual_key_or_end<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Key<'a>>, Reason> {
    cursor.skip_blanks();
    if cursor.eat(b'}') {
        return Ok(None);
    }
    Ok(Some(match cursor.name() {
        "" => Key::Quoted(cursor.quoted().ok_or(Reason::Labels)?),
        name => Key::Bare(name),
    }))
}

impl<'a> Key<'a> {
    #[inline]
    fn text(self) -> Cow<'a, str> {
        match self {
            Key::Bare(name) => Cow::Borrowed(name),
            Key::Quoted(name) => name.text(),
        }
    }

    #[inline]
    fn is(&self, key: &str) -> bool {
        match self {
            Key::Bare(name) => *name == key,
            Key::Quoted(name) => name.text() == key,
        }
    }
}

impl<'a> Iterator for LabelIter<'a> {
    type Item = (Cow<'a, str>, Cow<'a, str>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match item(&mut self.cursor) {
                Ok(Item::Label(key, value)) => return Some((key.text(), value.text())),
                Ok(Item::Name(_)) => {}
                // An error cannot be: the same steps succeeded when the line was read.
                Ok(Item::End) | Err(_) => {
                    self.cursor = Cursor::new("");
                    return None;
                }
            }
        }
    }
}

impl<'a> IntoIterator for Labels<'a> {
    type Item = (Cow<'a, str>, Cow<'a, str>);
    type IntoIter = LabelIter<'a>;

    fn into_iter(self) -> LabelIter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &Labels<'a> {
    type Item = (Cow<'a, str>, Cow<'a, str>);
    type IntoIter = LabelIter<'a>;

    fn into_iter(self) -> LabelIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Labels<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self).finish()
    }
}
