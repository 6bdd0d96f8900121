//! Properties: what was written reads back, and numbers are std's to the last bit.

mod support;

use proptest::prelude::*;
use wire::exposition::{Limits, parse_all, write_sample};

type Written = (String, Vec<(String, String)>, f64, Option<i64>);

/// Names that stand bare and names that need quotes.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z_:][a-zA-Z0-9_:]{0,20}",
        "\\PC{1,12}",
        any::<String>().prop_filter("a name", |name| !name.is_empty())
    ]
}

fn sample() -> impl Strategy<Value = Written> {
    let labels = prop::collection::vec((name(), any::<String>()), 0..6);
    let value = prop_oneof![any::<f64>(), prop::num::f64::ANY, (0_u32..5000).prop_map(f64::from)];
    (name(), labels, value, any::<Option<i64>>())
}

proptest! {
    #[test]
    fn written_samples_read_back(written in prop::collection::vec(sample(), 0..8)) {
        let mut page = String::new();
        for (name, labels, value, time) in &written {
            let labels = labels.iter().map(|(key, value)| (&**key, &**value));
            write_sample(&mut page, name, labels, *value, *time);
        }
        let (read, summary) = parse_all(page.as_bytes(), &Limits::default());
        prop_assert_eq!(summary.bad, 0, "{:?}", page);
        prop_assert_eq!(read.len(), written.len());
        for (read, (name, labels, value, time)) in read.iter().zip(&written) {
            prop_assert_eq!(&*read.name, name);
            let found: Vec<_> = read.labels.iter().map(|(key, value)| (key.into_owned(), value.into_owned())).collect();
            prop_assert_eq!(&found, labels);
            // One NaN is as good as another: the text has no room for its bits.
            prop_assert!(read.value.to_bits() == value.to_bits() || read.value.is_nan() && value.is_nan());
            prop_assert_eq!(read.timestamp_ms, *time);
        }
    }

    #[test]
    fn numbers_are_those_of_std(token in prop_oneof![
        "[0-9]{1,18}",
        "[0-9]{0,12}\\.[0-9]{0,12}",
        "[+-]?[0-9]{0,9}(\\.[0-9]{0,9})?([eE][+-]?[0-9]{1,3})?",
        "[0-9.eE+-]{1,20}",
    ]) {
        let page = format!("a {token}\n");
        let read = parse_all(page.as_bytes(), &Limits::default()).0.first().map(|sample| sample.value.to_bits());
        prop_assert_eq!(read, token.parse::<f64>().ok().map(f64::to_bits), "{}", token);
    }

    #[test]
    fn any_bytes_are_survived(page in prop::collection::vec(any::<u8>(), 0..400)) {
        let (samples, summary) = parse_all(&page, &Limits::default());
        prop_assert_eq!(samples.len(), summary.samples as usize);
    }
}
