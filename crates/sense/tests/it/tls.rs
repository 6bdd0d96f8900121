//! TLS: authorities, pins, client certificates, and what the errors say.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{Blind, BlindKind};
use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use sense::http::{Fingerprint, Identity};
use sense::{Target, TlsOptions};
use tempfile::TempDir;

use crate::peer::{Peer, get, ok, patient};

struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

struct Leaf {
    certificate: Certificate,
    key: KeyPair,
}

fn named(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new(vec!["localhost".to_string(), "127.0.0.1".to_string()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

fn authority(name: &str) -> Authority {
    let mut params = named(name);
    params.subject_alt_names.clear();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    Authority { certificate, issuer: Issuer::new(params, key) }
}

impl Authority {
    fn signs(&self, params: &CertificateParams) -> Leaf {
        let key = KeyPair::generate().unwrap();
        Leaf { certificate: params.signed_by(&key, &self.issuer).unwrap(), key }
    }
}

impl Leaf {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self.certificate.der())
    }
}

/// A TLS server that shows `leaf` and, with `clients`, wants a certificate of that authority.
fn server(leaf: &Leaf, clients: Option<&Authority>) -> Peer {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions().unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.certificate.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
            builder.with_client_cert_verifier(verifier)
        }
    };
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(leaf.key.serialize_der()));
    let config = Arc::new(builder.with_single_cert(vec![leaf.certificate.der().clone()], key).unwrap());
    Peer::on("127.0.0.1:0", move |peer, socket, _| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = StreamOwned::new(connection, socket);
        while peer.head(&mut stream).is_some() {
            let _ = stream.write_all(ok("secure").as_bytes());
        }
        // the rest is read, so that closing does not reset what was said last
        let _ = stream.sock.shutdown(std::net::Shutdown::Write);
        let _ = stream.sock.read_to_end(&mut Vec::new());
    })
}

fn target(peer: &Peer, tls: TlsOptions) -> Target {
    let mut target: Target = format!("https://127.0.0.1:{}", peer.port).parse().unwrap();
    target.tls = tls;
    target
}

async fn body(peer: &Peer, tls: TlsOptions) -> Result<Vec<u8>, Blind> {
    get(&target(peer, tls), patient()).await.map(|answer| answer.body)
}

async fn refused(peer: &Peer, tls: TlsOptions) -> String {
    let blind = body(peer, tls).await.unwrap_err();
    assert_eq!(blind.kind, BlindKind::Tls, "{blind}");
    assert_eq!(peer.heads.lock().unwrap().len(), 0, "a request was sent");
    blind.text
}

fn file(dir: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn with_ca(dir: &TempDir, authority: &Authority) -> TlsOptions {
    TlsOptions { ca: Some(file(dir, "ca.pem", &authority.certificate.pem())), ..TlsOptions::default() }
}

#[tokio::test]
async fn authorities() {
    let dir = tempfile::tempdir().unwrap();
    let authority = authority("ours");
    let leaf = authority.signs(&named("server"));
    let peer = server(&leaf, None);
    assert_eq!(body(&peer, with_ca(&dir, &authority)).await.unwrap(), b"secure");
    let client = crate::peer::client(patient());
    for _ in 0..2 {
        client.get(&target(&peer, with_ca(&dir, &authority)), "/metrics").await.outcome.unwrap();
    }
    assert_eq!(peer.connections(), 2, "kept alive");
}

#[tokio::test]
async fn unknown_issuers() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (authority("ours"), authority("theirs"));
    let leaf = theirs.signs(&named("server"));
    let peer = server(&leaf, None);
    for tls in [with_ca(&dir, &ours), TlsOptions::default()] {
        let text = refused(&peer, tls).await;
        assert!(text.contains("issuer is unknown to"), "{text}");
        assert!(text.contains("give its authority as a CA file"), "{text}");
        assert!(text.contains(&leaf.fingerprint().to_string()), "{text}");
    }
}

#[tokio::test]
async fn pins() {
    let dir = tempfile::tempdir().unwrap();
    let authority = authority("ours");
    let leaf = authority.signs(&named("server"));
    let other = authority.signs(&named("other"));
    let pinned = |leaf: &Leaf| TlsOptions { pin: Some(leaf.fingerprint()), ..TlsOptions::default() };
    let peer = server(&leaf, None);
    let text = refused(&peer, pinned(&other)).await;
    assert!(
        text.contains(&format!(
            "showed the certificate {}, not the pinned {}",
            leaf.fingerprint(),
            other.fingerprint()
        )),
        "{text}"
    );
    // right pin beside the wrong authority: both must hold
    let wrong = TlsOptions { pin: Some(leaf.fingerprint()), ..with_ca(&dir, &self::authority("theirs")) };
    assert!(refused(&peer, wrong).await.contains("issuer is unknown"));
    assert_eq!(body(&peer, pinned(&leaf)).await.unwrap(), b"secure");
    let both = TlsOptions { pin: Some(leaf.fingerprint()), ..with_ca(&dir, &authority) };
    assert_eq!(body(&peer, both).await.unwrap(), b"secure");
}

#[tokio::test]
async fn an_authority_as_a_server() {
    let dir = tempfile::tempdir().unwrap();
    let mut params = named("self-signed authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let leaf = Leaf { certificate: params.self_signed(&key).unwrap(), key };
    let peer = server(&leaf, None);
    let ca = file(&dir, "ca.pem", &leaf.certificate.pem());
    let text = refused(&peer, TlsOptions { ca: Some(ca), ..TlsOptions::default() }).await;
    assert!(text.contains("an authority's own") && text.contains(&leaf.fingerprint().to_string()), "{text}");
    let pin = TlsOptions { pin: Some(leaf.fingerprint()), ..TlsOptions::default() };
    assert_eq!(body(&peer, pin).await.unwrap(), b"secure");
}

#[tokio::test]
async fn dates_and_names() {
    let dir = tempfile::tempdir().unwrap();
    let authority = authority("ours");
    let mut params = named("old");
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    let old = authority.signs(&params);
    let peer = server(&old, None);
    let text = refused(&peer, with_ca(&dir, &authority)).await;
    assert!(text.contains("expired") && text.contains(&old.fingerprint().to_string()), "{text}");
    assert_eq!(
        body(&peer, TlsOptions { pin: Some(old.fingerprint()), ..TlsOptions::default() }).await.unwrap(),
        b"secure"
    );
    let elsewhere = authority.signs(&CertificateParams::new(vec!["elsewhere.example".to_string()]).unwrap());
    let peer = server(&elsewhere, None);
    let text = refused(&peer, with_ca(&dir, &authority)).await;
    assert!(text.contains("elsewhere.example"), "{text}");
    let named = TlsOptions { name: Some("elsewhere.example".to_string()), ..with_ca(&dir, &authority) };
    assert_eq!(body(&peer, named).await.unwrap(), b"secure");
}

#[tokio::test]
async fn client_certificates() {
    let dir = tempfile::tempdir().unwrap();
    let (authority, theirs) = (authority("ours"), authority("theirs"));
    let peer = server(&authority.signs(&named("server")), Some(&authority));
    let text = refused(&peer, with_ca(&dir, &authority)).await;
    assert!(text.contains("may want a client certificate"), "{text}");
    let identity = |name: &str, leaf: &Leaf| Identity {
        certificate: file(&dir, &format!("{name}.pem"), &leaf.certificate.pem()),
        key: file(&dir, &format!("{name}.key"), &leaf.key.serialize_pem()),
    };
    let wrong = identity("wrong", &theirs.signs(&named("stranger")));
    let text = refused(&peer, TlsOptions { identity: Some(wrong), ..with_ca(&dir, &authority) }).await;
    assert!(text.contains("may not accept our client certificate"), "{text}");
    let right = identity("right", &authority.signs(&named("me")));
    let options = TlsOptions { identity: Some(right), ..with_ca(&dir, &authority) };
    assert_eq!(body(&peer, options.clone()).await.unwrap(), b"secure");
    // a key that everybody can read is told
    assert_eq!(options.notes().len(), 1);
}

#[tokio::test]
async fn bad_files_send_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let authority = authority("ours");
    let (one, two) = (authority.signs(&named("one")), authority.signs(&named("two")));
    let peer = server(&one, None);
    let certificate = file(&dir, "one.pem", &one.certificate.pem());
    let key = file(&dir, "two.key", &two.key.serialize_pem());
    let empty = file(&dir, "empty.pem", "nothing here\n");
    let identity = |certificate: &Path, key: &Path| {
        let identity = Identity { certificate: certificate.to_path_buf(), key: key.to_path_buf() };
        TlsOptions { identity: Some(identity), ..TlsOptions::default() }
    };
    let ca = |path: &Path| TlsOptions { ca: Some(path.to_path_buf()), ..TlsOptions::default() };
    for (tls, part) in [
        (ca(&empty), "no certificate in it"),
        (ca(&dir.path().join("missing")), "missing"),
        (ca(dir.path()), "is a folder"),
        (identity(&certificate, &empty), "no private key in it"),
        (identity(&certificate, &key), "do not belong together"),
    ] {
        let blind = body(&peer, tls).await.unwrap_err();
        assert!(blind.text.contains(part), "{blind}");
    }
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn the_wrong_scheme() {
    let plain = Peer::on("127.0.0.1:0", |_, mut stream, _| {
        let _ = stream.read(&mut [0; 1000]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let text = refused(&plain, TlsOptions::default()).await;
    assert!(text.contains("is not TLS") && text.contains("http:// may be meant"), "{text}");
    let leaf = authority("ours").signs(&named("server"));
    let secure = server(&leaf, None);
    let blind = get(&secure.target(), patient()).await.unwrap_err();
    assert!(blind.kind == BlindKind::NotHttp || blind.kind == BlindKind::Cut, "{blind}");
}
