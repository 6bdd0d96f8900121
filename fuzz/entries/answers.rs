//! Any answer to any path that is asked, of any engine: understood, joined and judged without a panic, and nothing that
//! cannot be comes out as a number.

use engines::Tables;
use model::{Answer, Facts, Observation, State, Time, Unit};

/// The first byte chooses engine and path, the second the status; the rest is the body, given to every path that is the
/// same.
pub(crate) fn run(data: &[u8]) {
    let [choice, status, body @ ..] = data else { return };
    let tables = Tables::builtin();
    let all: Vec<_> = tables.iter().collect();
    let table = all[usize::from(*choice) % all.len()];
    let source = &table.sources[usize::from(*choice >> 2) % table.sources.len()];
    let status = [200, 200, 200, 401, 404, 500][usize::from(*status) % 6];
    let observation = Observation {
        get: source.get.clone(),
        url: format!("http://h:1{}", source.get),
        at: Time(1.8e9),
        took: 0.01,
        outcome: Ok(Answer { status, body: body.to_vec(), ..Answer::default() }),
    };
    let _ = tables.recognise(&observation);
    let account = engines::interpret(table, std::slice::from_ref(&observation), &[], &Facts::new());
    let why = |signal, pool: &str, tier: &str| engines::why(table, &account, signal, pool, tier);
    let subject = fleet::Subject {
        url: "http://h:1".to_owned(),
        host: "h".to_owned(),
        pid: None,
        unit: None,
        account: &account,
        seen_by: Vec::new(),
        why: &why,
    };
    let server = fleet::join(&subject, Time(1.8e9 + 1.0)).server;
    let _ = judge::verdict(&server);
    let _ = engines::examine(table, &account, &server, &engines::Whereabouts::default());
    let _ = fleet::totals(std::slice::from_ref(&server));
    for rank in &server.ranks {
        for reading in rank.pools.iter().flat_map(|pool| pool.readings.values()).chain(rank.readings.values()) {
            let valueless = matches!(reading.state, State::NotReported | State::Unreachable | State::Impossible);
            assert_eq!(reading.value.is_none(), valueless, "{reading:?}");
            assert!(!valueless || reading.reason.is_some(), "{reading:?}");
            if let Some(value) = reading.value {
                assert!(value.is_finite() && value >= 0.0, "{reading:?}");
                assert!(reading.unit != Unit::Ratio || value <= 1.01, "{reading:?}");
            }
        }
    }
}
