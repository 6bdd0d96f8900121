//! Who has the token, and who has not.

mod support;

use std::time::Duration;

use support::{Answer, Site, TOKEN, ask, get, get_with, patiently, with_token};
use web::{Limits, Options, Secret};

fn login(form: &str) -> String {
    format!(
        "POST /login HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {}\r\n\r\n{form}",
        form.len()
    )
}

fn cookie(answer: &Answer) -> String {
    answer.header("set-cookie").expect("a cookie").split(';').next().expect("a pair").to_owned()
}

#[tokio::test]
async fn without_the_token_there_is_nothing_to_see() {
    let site = Site::start(with_token());
    for path in ["/", "/metrics", "/api/v1/overview", "/api/v1/stream", "/api/v1/openapi.json", "/none", "//healthz"] {
        let answer = get(site.address, path).await;
        assert_eq!(answer.status, 401, "{path}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"plimsoll\""));
        assert!(!answer.text().contains(TOKEN));
        assert!(answer.text().contains("token_file") && answer.text().contains("sign in"), "{}", answer.text());
    }
    // What shows nothing of the fleet: whether it lives, and the files that everybody has.
    assert_eq!(get(site.address, "/healthz").await.status, 200);
    assert_eq!(get(site.address, "/assets/app.css").await.status, 200);
}

#[tokio::test]
async fn only_the_token_itself_is_the_token() {
    let site = Site::start(with_token());
    let right = get_with(site.address, "/api/v1/overview", &format!("Authorization: Bearer {TOKEN}\r\n")).await;
    assert_eq!(right.status, 200);
    let short = &TOKEN[..TOKEN.len() - 1];
    let upper = TOKEN.to_uppercase();
    let long = "x".repeat(8000);
    let wrong = [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Bearer {short}"),
        format!("Bearer {TOKEN}x"),
        format!("Bearer {TOKEN} {TOKEN}"),
        format!("Bearer {upper}"),
        format!("Bearer {long}"),
        format!("Basic {TOKEN}"),
        TOKEN.to_owned(),
        format!("Bearer\t{TOKEN}"),
    ];
    for value in wrong {
        let answer = get_with(site.address, "/api/v1/overview", &format!("Authorization: {value}\r\n")).await;
        assert_eq!(answer.status, 401, "{value}");
        assert!(answer.text().contains("that is not the token: send the one"), "{}", answer.text());
    }
    let mut bytes = b"GET /api/v1/overview HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ".to_vec();
    bytes.extend_from_slice(b"\xff\xfe\x80\r\n\r\n");
    assert_eq!(ask(site.address, bytes).await.status, 401);
    // Nor is it taken where addresses are kept: in logs, in histories, in what pages link to.
    for path in [format!("/api/v1/overview?token={TOKEN}"), format!("/metrics?token={TOKEN}")] {
        assert_eq!(get(site.address, &path).await.status, 401);
    }
}

#[tokio::test]
async fn a_browser_signs_in_once() {
    let site = Site::start(with_token());
    let page = get_with(site.address, "/", "Accept: text/html,*/*\r\n").await;
    assert_eq!((page.status, page.header("content-type")), (401, Some("text/html; charset=utf-8")));
    assert!(page.text().contains("action=\"/login\"") && page.text().contains("type=\"password\""));

    let by_form = ask(site.address, login(&format!("token={TOKEN}"))).await;
    let by_address = get(site.address, &format!("/?token={TOKEN}")).await;
    for answer in [by_form, by_address] {
        assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
        let line = answer.header("set-cookie").expect("a cookie");
        assert!(
            line.contains("; HttpOnly") && line.contains("; SameSite=Strict") && line.contains("; Path=/"),
            "{line}"
        );
        assert!(!line.contains("Secure") && !answer.head.contains(TOKEN), "{line}");
        let kept = cookie(&answer);
        for path in ["/", "/api/v1/overview"] {
            assert_eq!(get_with(site.address, path, &format!("Cookie: a=b; {kept}\r\n")).await.status, 200);
        }
        let value = kept.split('=').nth(1).expect("a value");
        let crooked = [
            format!("Cookie: {kept}0\r\n"),
            format!("Cookie: other={value}\r\n"),
            format!("Authorization: Bearer {value}\r\n"),
        ];
        for line in crooked {
            assert_eq!(get_with(site.address, "/api/v1/overview", &line).await.status, 401, "{line}");
        }
    }
    let crooked = format!("token={TOKEN}x");
    for (form, status) in
        [("", 400), ("tocken=x", 400), ("%00%ff", 400), ("token=", 401), ("token=%ff", 401), (&crooked, 401)]
    {
        let answer = ask(site.address, login(form)).await;
        assert_eq!((answer.status, answer.header("set-cookie")), (status, None), "{form}");
    }
    let wrong = get_with(site.address, "/?token=wrong", "Accept: text/html\r\n").await;
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, None));
}

#[tokio::test]
async fn the_form_has_a_bound_and_comes_from_our_page() {
    let site = Site::start(with_token());
    assert_eq!(ask(site.address, login(&"x".repeat(4097))).await.status, 413);
    let endless = "POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2000\r\n";
    assert_eq!(ask(site.address, format!("{endless}{}", "x".repeat(0x2000))).await.status, 413);
    let foreign = login(&format!("token={TOKEN}")).replace("Accept:", "Sec-Fetch-Site: cross-site\r\nAccept:");
    let answer = ask(site.address, foreign).await;
    assert_eq!((answer.status, answer.header("set-cookie")), (403, None));
    assert_eq!(get(site.address, "/login").await.status, 405);
}

#[tokio::test]
async fn many_who_guess_at_once_are_sent_away_and_the_right_one_is_let_in() {
    let limits = Limits { most_wrong_tokens: 2, wrong_token: Duration::from_secs(1), ..Limits::default() };
    let token = Some(Secret::new(TOKEN).expect("a token"));
    let site = Site::start(Options { token, limits, ..Options::default() });
    let address = site.address;
    let guesses: Vec<_> = (0..40)
        .map(|guess| {
            tokio::spawn(async move {
                let line = format!("Authorization: Bearer guess-{guess}-0123456789\r\n");
                get_with(address, "/api/v1/overview", &line).await.status
            })
        })
        .collect();
    let right = get_with(address, "/api/v1/overview", &format!("Authorization: Bearer {TOKEN}\r\n")).await;
    assert_eq!(right.status, 200);
    let mut statuses = Vec::new();
    for guess in guesses {
        statuses.push(patiently(guess).await.expect("an answer"));
    }
    assert!(statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&429) && statuses.contains(&401), "{statuses:?}");
}
