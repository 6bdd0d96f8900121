//! The examples of `docs/scaling.md` are what its tables say they are.

mod scaling;

use saphyr::Yaml;
use scaling::{
    CAPACITY, GUARDED, Row, SITUATIONS, Seen, TRAPS, Trigger, WAITING, at, changed, examples, table, text, wanted, word,
};

/// What a query answers; `real_promtool_test` holds this against a real query engine.
fn answer(query: &str, row: &Row) -> Option<f64> {
    let known: Vec<f64> =
        row.servers.iter().filter_map(|seen| if let Seen::InUse(ratio) = seen { Some(*ratio) } else { None }).collect();
    let all = row.servers.len() as f64;
    let sum: f64 = known.iter().sum();
    let count = known.len() as f64;
    let some = |value: f64| (!known.is_empty()).then_some(value);
    match query {
        GUARDED => some(sum / count).filter(|_| count >= 0.5 * all),
        WAITING => row.waiting,
        query if query.contains("headroom") => some((count - sum) * CAPACITY / count),
        query if query.contains(" or 0 * ") => Some(sum / all),
        query if query.starts_with("avg(") => some(sum / count),
        query if query.starts_with("sum(") => some(sum),
        query => panic!("what does {query} answer?"),
    }
}

fn keda(example: &Yaml<'_>) -> Vec<Trigger> {
    let Yaml::Sequence(triggers) = at(example, "spec.triggers") else { panic!("no triggers") };
    triggers
        .iter()
        .map(|one| Trigger {
            query: word(one, "metadata.query"),
            per_pod: word(one, "metricType") == "AverageValue",
            target: scaling::thousandths(word(one, "metadata.threshold").parse().expect("a number")),
            blind_is_zero: word(one, "metadata.ignoreNullValues") != "false",
        })
        .collect()
}

/// Metrics of the autoscaler, with the adapter's rules of their names.
fn autoscaler(rules: &Yaml<'_>, example: &Yaml<'_>) -> Vec<Trigger> {
    let (Yaml::Sequence(rules), Yaml::Sequence(metrics)) = (at(rules, "externalRules"), at(example, "spec.metrics"))
    else {
        panic!("no lists")
    };
    metrics
        .iter()
        .map(|metric| {
            let name = word(metric, "external.metric.name");
            let rule = rules.iter().find(|rule| word(rule, "name.as") == name).expect("a rule of that name");
            let per_pod = word(metric, "external.target.type") == "AverageValue";
            let value = word(metric, if per_pod { "external.target.averageValue" } else { "external.target.value" });
            let target = match value.strip_suffix('m') {
                Some(thousandths) => thousandths.parse().expect("a quantity"),
                None => 1000 * value.parse::<i64>().expect("a quantity"),
            };
            Trigger { query: word(rule, "metricsQuery"), per_pod, target, blind_is_zero: false }
        })
        .collect()
}

/// The larger of what the triggers want; while one has no answer, no pod is removed.
fn pods(triggers: &[Trigger], row: &Row, least: i64, most: i64) -> i64 {
    let now = i64::try_from(row.servers.len()).expect("a few");
    let each: Vec<Option<i64>> =
        triggers.iter().map(|one| wanted(one, answer(&one.query, row), now as f64, row.ready)).collect();
    let largest = each.iter().flatten().max().copied();
    let blind = each.contains(&None);
    largest.filter(|largest| !blind || *largest >= now).map_or(now, |largest| largest.clamp(least, most))
}

fn limits(example: &Yaml<'_>, least: &str, most: &str) -> (i64, i64) {
    (word(example, least).parse().expect("a number"), word(example, most).parse().expect("a number"))
}

#[test]
fn both_examples_do_the_same() {
    let text = text();
    let examples = examples(&text);
    assert_eq!(keda(&examples[0]), autoscaler(&examples[1], &examples[2]));
    assert_eq!(
        limits(&examples[0], "spec.minReplicaCount", "spec.maxReplicaCount"),
        limits(&examples[2], "spec.minReplicas", "spec.maxReplicas")
    );
    assert_eq!(
        at(&examples[0], "spec.advanced.horizontalPodAutoscalerConfig.behavior"),
        at(&examples[2], "spec.behavior")
    );
}

#[test]
fn the_arithmetic_is_what_the_table_says() {
    let text = text();
    let examples = examples(&text);
    let triggers = keda(&examples[0]);
    let (least, most) = limits(&examples[0], "spec.minReplicaCount", "spec.maxReplicaCount");
    for row in table(&text, SITUATIONS) {
        let told = answer(&triggers[0].query, &row).map(scaling::thousandths);
        assert_eq!(told, row.answer.map(scaling::thousandths), "{row:?}");
        assert_eq!(pods(&triggers, &row, least, most), row.pods, "{row:?}");
    }
}

#[test]
fn the_traps_are_what_the_table_says() {
    let text = text();
    let examples = examples(&text);
    let triggers = keda(&examples[0]);
    let (least, most) = limits(&examples[0], "spec.minReplicaCount", "spec.maxReplicaCount");
    for row in table(&text, TRAPS) {
        let trigger = changed(&triggers[0], &row.changed);
        assert_ne!(trigger, triggers[0], "{row:?}");
        let told = answer(&trigger.query, &row).map(scaling::thousandths);
        assert_eq!(told, row.answer.map(scaling::thousandths), "{row:?}");
        assert_eq!(pods(std::slice::from_ref(&trigger), &row, least, most), row.pods, "{row:?}");
        // As it is set in the example, the same situation does no harm.
        let unchanged = pods(&triggers[..1], &row, least, most);
        assert_ne!(unchanged, row.pods, "the trap is none: {row:?}");
    }
}
