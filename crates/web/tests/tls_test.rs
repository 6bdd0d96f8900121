//! The site under TLS.

mod support;

use std::sync::Arc;
use std::time::Duration;

use rcgen::generate_simple_self_signed;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use support::{Site, TOKEN, answer_of, connect, until_end, with_token};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsConnector;
use web::{Limits, Options, Tls, TlsError};

#[tokio::test]
async fn under_tls_the_cookie_stays_under_tls() {
    let made = generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = made.signing_key.serialize_pem();
    let tls = Tls::from_pem(made.cert.pem().as_bytes(), key.as_bytes()).expect("a pair");
    let limits = Limits { head: Duration::from_millis(300), ..Limits::default() };
    let site = Site::start(Options { tls: Some(tls), limits, ..with_token() });
    let mut silent = connect(site.address).await;
    let mut plain = connect(site.address).await;
    plain.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("a request");

    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).expect("a root");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let stream = connect(site.address).await;
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.expect("a handshake");
    let request = format!("GET /?token={TOKEN} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let answer = answer_of(&mut stream, request.as_bytes()).await;
    assert_eq!(answer.status, 303);
    assert!(answer.header("set-cookie").expect("a cookie").ends_with("; Secure"));

    // Without a handshake nothing is said in plain text, and nobody waits for one for ever.
    assert!(!until_end(&mut plain).await.starts_with(b"HTTP"));
    assert!(until_end(&mut silent).await.is_empty());
}

#[test]
fn what_is_no_certificate_is_said() {
    let made = generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let other = generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    assert!(matches!(Tls::from_pem(b"", key.as_bytes()), Err(TlsError::Certificate(_))));
    assert!(matches!(Tls::from_pem(certificate.as_bytes(), b"nonsense"), Err(TlsError::Key(_))));
    let foreign = other.signing_key.serialize_pem();
    assert!(matches!(Tls::from_pem(certificate.as_bytes(), foreign.as_bytes()), Err(TlsError::Pair(_))));
}
