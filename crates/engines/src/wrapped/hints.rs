//! Whether a page can be a wrapper's at all.

use aho_corasick::AhoCorasick;

use crate::table::{Table, WrapperFile};

/// Texts of which every page of a wrapper has one. Searching costs about a tenth of a millisecond for a page of 200 kB, which
/// is less than reading it; the search is built once a program, in a tenth of a millisecond.
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
        // Of names with a colon what stands before it is enough; others count only beside a label.
        let owners = wrappers.alias.iter().filter_map(|alias| alias.name.split_once(':'));
        fronts.extend(owners.map(|(owner, _)| format!("{owner}:")));
        texts.extend(fronts.iter().map(|front| format!("\n{front}")));
        for list in [&mut texts, &mut fronts] {
            list.sort();
            list.dedup();
        }
        // It is built of a few short texts: should that ever fail, every page is looked at closely.
        Hints { search: AhoCorasick::new(&texts).ok(), fronts }
    }

    /// Whether any of them is in a page.
    pub(crate) fn are_in(&self, body: &[u8]) -> bool {
        let front = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
        self.fronts.iter().any(|text| front.starts_with(text.as_bytes()))
            || self.search.as_ref().is_none_or(|search| search.is_match(body))
    }
}
