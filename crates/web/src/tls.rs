//! Who we are to visitors.

use std::fmt;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// A certificate and its key, ready to be shown.
#[derive(Clone)]
pub struct Tls(Arc<ServerConfig>);

/// Why TLS cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The first file is no list of certificates.
    #[error("the file of the certificate holds none in PEM form ({0})")]
    Certificate(String),
    /// The second file is no key.
    #[error("the file of the certificate's key holds none in PEM form ({0})")]
    Key(String),
    /// They do not belong together, or are of a kind that is not known.
    #[error("the certificate and its key cannot be used: {0}")]
    Pair(#[from] rustls::Error),
}

impl Tls {
    /// Takes a chain of certificates, our own first, and its key, both in PEM form.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificates).collect();
        let chain = chain.map_err(|error| TlsError::Certificate(error.to_string()))?;
        if chain.is_empty() {
            return Err(TlsError::Certificate("it has no CERTIFICATE section".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsError::Key(error.to_string()))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(Arc::new(config)))
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.0))
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}
