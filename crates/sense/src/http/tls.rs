//! TLS: whom we believe, who we are, and what went wrong.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{Blind, BlindKind, Note};
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{CertificateError, ClientConfig, Error, RootCertStore};

use super::pin::{Fingerprint, Judge};
use crate::place::read_capped;
use crate::secret::readable_by_others;

/// Largest file of certificates or keys that is read, bytes.
const CAP: usize = 4 << 20;
/// Where systems keep the authorities that they believe.
const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// How a target's certificate is judged, and what we show in turn. There is no way to believe anyone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// Authorities to believe instead of the system's (`SSL_CERT_FILE`, else its bundle, else Mozilla's list): a PEM file.
    pub ca: Option<PathBuf>,
    /// The only certificate to believe. Alone it suffices, whatever name, dates and issuer that has; beside `ca` both must
    /// hold.
    pub pin: Option<Fingerprint>,
    /// Our own certificate.
    pub identity: Option<Identity>,
    /// The name to expect in the certificate, if not the host.
    pub name: Option<String>,
}

/// A client certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// PEM file of the certificate and its chain.
    pub certificate: PathBuf,
    /// PEM file of its key, without a passphrase.
    pub key: PathBuf,
}

impl TlsOptions {
    /// What the operator should know: that others can read the key.
    pub fn notes(&self) -> Vec<Note> {
        self.identity.iter().filter_map(|identity| readable_by_others(&identity.key)).collect()
    }

    /// What rustls needs, and the judge who remembers what the server showed.
    pub(super) fn config(&self) -> Result<(Arc<ClientConfig>, Arc<Judge>), Blind> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let chain = match (&self.ca, self.pin) {
            (None, Some(_)) => None,
            (ca, _) => {
                let roots = Arc::new(roots(ca.as_deref())?);
                let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider)).build();
                Some(verifier.map_err(|error| bad(format!("no authority to believe: {error}")))?)
            }
        };
        let judge = Arc::new(Judge::new(self.pin, chain, Arc::clone(&provider)));
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| bad(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&judge) as _);
        let config = match &self.identity {
            None => config.with_no_client_auth(),
            Some(Identity { certificate, key }) => {
                let (chain, key_path) = (certificates(certificate)?, key);
                let key = PrivateKeyDer::from_pem_slice(&pem(key)?)
                    .map_err(|error| bad(format!("{}: no private key in it ({error})", key_path.display())))?;
                config.with_client_auth_cert(chain, key).map_err(|error| {
                    bad(format!("{} and {} do not belong together: {error}", certificate.display(), key_path.display()))
                })?
            }
        };
        Ok((Arc::new(config), judge))
    }

    /// The story of a handshake that failed.
    pub(super) fn explain(&self, error: &Error, shown: Option<Fingerprint>) -> String {
        let shown = shown.map(|shown| shown.to_string());
        let believe = match &shown {
            Some(shown) => {
                format!("give its authority as a CA file, or believe this one certificate by the pin {shown}")
            }
            None => "give its authority as a CA file, or a pin".to_string(),
        };
        match error {
            Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure) => format!(
                "the server showed the certificate {}, not the pinned {}",
                shown.as_deref().unwrap_or("–"),
                self.pin.map(|pin| pin.to_string()).unwrap_or_default()
            ),
            Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
                let ca = self.ca.as_ref().map_or("the system".to_string(), |path| path.display().to_string());
                format!("the certificate's issuer is unknown to {ca}: {believe}")
            }
            Error::InvalidCertificate(CertificateError::Other(other))
                if format!("{other:?}").contains("CaUsedAsEndEntity") =>
            {
                format!("the certificate is an authority's own, used as a server's: no CA file helps there; {believe}")
            }
            Error::InvalidCertificate(why) => format!("the certificate does not hold: {why}; {believe}"),
            Error::AlertReceived(alert) => match &self.identity {
                None => format!("the server ended TLS ({alert:?}); it may want a client certificate"),
                Some(_) => format!("the server ended TLS ({alert:?}); it may not accept our client certificate"),
            },
            Error::InvalidMessage(_) => format!("what came back is not TLS ({error}); http:// may be meant"),
            error => format!("TLS failed: {error}"),
        }
    }
}

fn roots(ca: Option<&Path>) -> Result<RootCertStore, Blind> {
    let mut roots = RootCertStore::empty();
    if let Some(path) = ca {
        for certificate in certificates(path)? {
            roots.add(certificate).map_err(|error| bad(format!("{}: {error}", path.display())))?;
        }
        return Ok(roots);
    }
    let own = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let bundle = own.or_else(|| BUNDLES.iter().map(PathBuf::from).find(|path| path.exists()));
    if let Some(certificates) = bundle.and_then(|path| certificates(&path).ok()) {
        // a system's bundle may hold an odd one; the others count
        roots.add_parsable_certificates(certificates);
    }
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Blind> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem(path)?).collect();
    let found = found.map_err(|error| bad(format!("{}: not a PEM file ({error})", path.display())))?;
    if found.is_empty() {
        return Err(bad(format!("{}: no certificate in it", path.display())));
    }
    Ok(found)
}

fn pem(path: &Path) -> Result<Vec<u8>, Blind> {
    Ok(read_capped(path, CAP)?.bytes)
}

fn bad(text: String) -> Blind {
    Blind::new(BlindKind::Tls, text)
}
