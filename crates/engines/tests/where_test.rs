//! Where a flag goes: into the container's command, a unit that starts the server, or its command line.

use engines::{Tables, Whereabouts, examine};
use model::{Account, Server, SourceOutcome, SourceStatus, Time};
use testkit::made;

fn place(whereabouts: &Whereabouts) -> String {
    let tables = Tables::builtin();
    let table = tables.get("sglang").expect("a table");
    let mut account = Account { engine: Some("sglang".to_owned()), ..Account::default() };
    account.learn("metrics", "off", "its command line", 1);
    account.sources.push(SourceStatus {
        id: "loads".to_owned(),
        get: "/v1/loads".to_owned(),
        http: true,
        at: Time(0.0),
        took: 0.0,
        outcome: SourceOutcome::Answered,
        passed_by: None,
    });
    let server = Server { engine: Some("sglang".to_owned()), ..made::server("http://h:1") };
    let findings = examine(table, &account, &server, whereabouts);
    let finding = findings.into_iter().find(|finding| finding.id == "kv-series").expect("the finding");
    finding.fix.expect("a fix").place
}

fn in_unit(unit: &str, user: Option<u32>, container: Option<&str>) -> String {
    place(&Whereabouts {
        unit: Some(unit.to_owned()),
        unit_user: user,
        container: container.map(str::to_owned),
        pid: Some(7),
        command: Some("python -m engine".to_owned()),
        ..Whereabouts::default()
    })
}

#[test]
fn a_flag_goes_where_it_is_read() {
    let line = "the command line of pid 7: python -m engine …";
    assert_eq!(in_unit("decode.service", None, None), "ExecStart of decode.service (systemctl edit decode.service)");
    let own = in_unit("decode.service", Some(1000), None);
    assert!(own.contains("systemctl --user edit decode.service") && own.contains("1000"), "{own}");
    // What has no ExecStart of the server: a session's scope, the manager of a user.
    assert_eq!(in_unit("session-3.scope", None, None), line);
    assert_eq!(in_unit("user@1000.service", None, None), line);
    assert_eq!(in_unit("docker.service", None, Some("0123456789ab")), "the command of container 0123456789ab");
}
