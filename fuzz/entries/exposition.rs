//! Any bytes as a page of samples: nothing panics, and what the two ways to read it say agrees.

use wire::exposition::{Limits, Sample, Summary, looks_like, metadata, parse_all, scan, write_sample};

/// Panics where an invariant of the reader does not hold for `data`.
pub(crate) fn run(data: &[u8]) {
    for limits in [Limits::default(), Limits { max_line: 80, max_samples: 20, max_labels: 3, whole: true }] {
        let (all, summary) = parse_all(data, &limits);
        counts(&all, &summary, &limits);
        all.iter().for_each(labels);
        subset(data, &limits, &all, &summary);
        assert!(metadata(data, &limits).count() >= summary.families as usize || summary.truncated);
        written_again(&all);
    }
    looks_like(data);
}

fn counts(all: &[Sample<'_>], summary: &Summary, limits: &Limits) {
    assert_eq!((all.len(), all.len()), (summary.samples as usize, summary.wanted as usize));
    assert!(summary.samples + summary.bad <= summary.lines && summary.silent <= summary.families);
    assert!(summary.first_bad.len() <= summary.bad as usize);
    assert_eq!(summary.notes().is_empty(), summary.bad == 0 && !summary.truncated);
    assert!(all.windows(2).all(|pair| pair[0].line < pair[1].line), "line numbers grow");
    assert!(all.last().is_none_or(|sample| sample.line <= summary.lines));
    assert!(all.iter().all(|sample| sample.labels.iter().count() <= limits.max_labels));
    assert!(all.len() <= limits.max_samples as usize);
}

fn labels(sample: &Sample<'_>) {
    let all: Vec<_> = sample.labels.iter().collect();
    for (key, _) in &all {
        let first = all.iter().find(|(other, _)| other == key).map(|(_, value)| value);
        assert_eq!(sample.labels.get(key).as_ref(), first);
    }
    assert_eq!(sample.labels.is_empty(), all.is_empty());
}

/// Asking for some names gives what asking for all and leaving out the others gives.
fn subset(data: &[u8], limits: &Limits, all: &[Sample<'_>], summary: &Summary) {
    let wanted = |name: &str| name.len() % 2 == 1;
    let mut some = Vec::new();
    let some_summary = scan(data, limits, wanted, |sample| some.push(shown(&sample)));
    let expected: Vec<_> = all.iter().filter(|sample| wanted(&sample.name)).map(shown).collect();
    assert_eq!(some, expected);
    assert_eq!(some_summary.samples + some_summary.bad, summary.samples + summary.bad);
    assert_eq!((some_summary.lines, some_summary.truncated), (summary.lines, summary.truncated));
    assert_eq!((some_summary.families, some_summary.silent), (summary.families, summary.silent));
}

/// Writing what was read, and reading that, changes nothing but the line numbers.
fn written_again(all: &[Sample<'_>]) {
    let mut page = String::new();
    for sample in all {
        let labels: Vec<_> = sample.labels.iter().collect();
        let labels = labels.iter().map(|(key, value)| (&**key, &**value));
        write_sample(&mut page, &sample.name, labels, sample.value, sample.timestamp_ms);
    }
    let limits = Limits { max_line: usize::MAX, ..Limits::default() };
    let (again, summary) = parse_all(page.as_bytes(), &limits);
    assert_eq!(summary.bad, 0, "{page}");
    let without_line = |sample: &Sample<'_>| shown(&Sample { line: 0, ..sample.clone() });
    assert!(again.iter().map(without_line).eq(all.iter().map(without_line)), "{page}");
}

fn shown(sample: &Sample<'_>) -> String {
    format!("{sample:?}")
}
