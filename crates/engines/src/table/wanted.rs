//! What of an answer in JSON the rows of its source read: the rest need not be taken apart.

use super::{Source, Table};

/// A place in an answer, with the places below it that some row reads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// All that stands there is read.
    pub(crate) whole: bool,
    /// Fields of an object, the short names first: an answer has hundreds that none of these is, and most differ in length.
    fields: Vec<(String, Wanted)>,
    /// Elements, all alike: which of them a path means is seen when it is followed.
    pub(crate) items: Option<Box<Wanted>>,
}

impl Wanted {
    /// Everything that any row of `source` may look at.
    pub(crate) fn of(table: &Table, source: &Source) -> Wanted {
        let mut wanted = Wanted::default();
        for path in source.facts.keys() {
            wanted.add(&[], path);
        }
        if source.knobs {
            // A key as it stands, and no path.
            for key in table.knobs.iter().filter_map(|knob| knob.info.as_ref()) {
                wanted.field(key).whole = true;
            }
        }
        if let Some(list) = &source.workers {
            let fields = [Some(&list.url), list.role.as_ref(), list.healthy.as_ref(), list.version.as_ref()];
            wanted.descend(&list.each);
            fields.into_iter().flatten().for_each(|path| wanted.add(&[&list.each], path));
        }
        let outer: Vec<&str> = source.each.as_deref().into_iter().collect();
        let inner: Vec<&str> = outer.iter().copied().chain(source.inner.as_deref()).collect();
        for paths in [&outer, &inner] {
            wanted.reach(paths);
            let said = [&source.at, &source.now, &source.worker, &source.void].into_iter().flatten();
            said.chain(source.rank.values()).for_each(|path| wanted.add(paths, path));
            for row in &source.read {
                let beside = row.only.iter().chain(&row.unless).map(String::as_str);
                row.names().chain(beside).for_each(|path| wanted.add(paths, path));
            }
        }
        wanted
    }

    /// All that `path` leads to, from where `from` leads, one path behind the other.
    fn add(&mut self, from: &[&str], path: &str) {
        self.reach(if path.starts_with(ROOT) { &[] } else { from }).descend(path).whole = true;
    }

    fn reach(&mut self, paths: &[&str]) -> &mut Wanted {
        // A path that begins at the root leaves those before it behind.
        let first = paths.iter().rposition(|path| path.starts_with(ROOT)).unwrap_or(0);
        paths[first..].iter().fold(self, |place, path| place.descend(path))
    }

    /// The name and the place of a field, where anything of it is wanted.
    pub(crate) fn get(&self, name: &str) -> Option<&(String, Wanted)> {
        self.find(name).ok().map(|at| &self.fields[at])
    }

    fn field(&mut self, name: &str) -> &mut Wanted {
        let at = self.find(name).unwrap_or_else(|at| {
            self.fields.insert(at, (name.to_owned(), Wanted::default()));
            at
        });
        &mut self.fields[at].1
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        let order = |known: &str| known.len().cmp(&name.len()).then_with(|| known.cmp(name));
        self.fields.binary_search_by(|(known, _)| order(known))
    }

    fn descend(&mut self, path: &str) -> &mut Wanted {
        path.strip_prefix(ROOT).unwrap_or(path).split('.').fold(self, |place, text| {
            let (key, which) = step(text);
            let place = if key.is_empty() { place } else { place.field(key) };
            if which.is_some() { place.items.get_or_insert_default() } else { place }
        })
    }
}

/// What a path begins with that does not go on from an element.
pub(crate) const ROOT: &str = "$.";

/// One step of a path: the field, empty where it stays in its place, and which elements.
pub(crate) fn step(text: &str) -> (&str, Option<&str>) {
    match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        Some((key, which)) => (key, Some(which)),
        None => (text, None),
    }
}
