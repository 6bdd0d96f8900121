//! Whether a page can be of several servers, or a wrapper's, at all.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::table::{Table, WrapperFile};

/// Texts of which every page has one that a wrapper serves or a router passes on. To look for them in a page of 220 kB takes
/// 0.1 ms, a fifth of what passing over its lines unread does; to make the search, once a program, 0.3 ms (unoptimised build).
#[derive(Debug, Clone)]
pub(crate) struct Hints {
    search: Option<AhoCorasick>,
    /// A page may begin with one of these; further on they stand behind the end of a line.
    fronts: Vec<String>,
}

impl Hints {
    /// The hints for these wrappers and engines.
    pub(crate) fn new(wrappers: &WrapperFile, tables: &[Table]) -> Hints {
        let mut texts: Vec<String> = Vec::new();
        let mut fronts: Vec<String> = Vec::new();
        for wrapper in &wrappers.wrapper {
            texts.extend(wrapper.told_by.iter().map(|label| format!("{label}=")));
            texts.extend(wrapper.suffix.iter().flat_map(|suffix| [format!("{suffix}{{"), format!("{suffix} ")]));
            fronts.extend(wrapper.prefix.iter().cloned());
            if wrapper.before_colon {
                let prefixes = tables.iter().flat_map(|table| &table.engine.prefixes);
                texts.extend(prefixes.filter(|prefix| prefix.ends_with(':')).map(|prefix| format!("_{prefix}")));
            }
        }
        let sources = tables.iter().flat_map(|table| &table.sources);
        texts.extend(sources.filter_map(|source| Some(format!("{}=", source.relay.as_ref()?))));
        let several = tables.iter().filter(|table| table.sources.iter().any(|source| !source.servers.is_empty()));
        fronts.extend(several.flat_map(|table| table.engine.prefixes.iter().cloned()));
        // Of names with a colon what stands before it is enough; others count only beside a label.
        let owners = wrappers.alias.iter().filter_map(|alias| alias.name.split_once(':'));
        fronts.extend(owners.map(|(owner, _)| format!("{owner}:")));
        texts.extend(fronts.iter().map(|front| format!("\n{front}")));
        for list in [&mut texts, &mut fronts] {
            list.sort();
            list.dedup();
        }
        // It is built of a few short texts: should that ever fail, every page is looked at closely.
        // Leftmost matches are found by comparing many bytes at once.
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(&texts);
        Hints { search: search.ok(), fronts }
    }

    /// Whether any of them is in a page.
    pub(crate) fn are_in(&self, body: &[u8]) -> bool {
        let front = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
        self.fronts.iter().any(|text| front.starts_with(text.as_bytes()))
            || self.search.as_ref().is_none_or(|search| search.is_match(body))
    }
}
