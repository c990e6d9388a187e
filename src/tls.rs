//! HTTP clients with TLS: one implementation of cryptography, and the authorities that vouch for
//! servers.
//!
//! These are the authorities of this computer, as its administrator chose them. Where it has none
//! at all, as in a container with nothing but this program, they are those of Mozilla's list of the
//! time of the build. They are hundreds of files, so all clients share them, and they are read when
//! the first server has to be verified.

use std::error::Error;
use std::sync::{Arc, LazyLock, OnceLock};

use reqwest::{Client, ClientBuilder};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// Description of a server whose name cannot be resolved.
pub const SERVER_NOT_FOUND: &str = "the server's name is not found (DNS)";

/// Protocols of a connection, best first.
const PROTOCOLS: [&str; 2] = ["h2", "http/1.1"];

/// Settings of every client; an error if the protocol versions do not fit the cryptography.
static CONFIG: LazyLock<Result<ClientConfig, rustls::Error>> = LazyLock::new(|| {
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(LazyVerifier::new(Arc::clone(&provider), authorities));
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = config.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    config.alpn_protocols = PROTOCOLS.map(Vec::from).to_vec();
    Ok(config)
});

/// Builds a client.
pub fn client(settings: impl FnOnce(ClientBuilder) -> ClientBuilder) -> reqwest::Result<Client> {
    // For clients that other libraries build. Fails only if one is installed already, which is this
    // one.
    let _ = ring::default_provider().install_default();
    let client = Client::builder();
    let client = match &*CONFIG {
        Ok(config) => client.tls_backend_preconfigured(config.clone()),
        // The client's own settings fail with the same error.
        Err(_) => client,
    };
    settings(client).build()
}

/// Returns true if the server's name cannot be resolved. The resolver's own words differ from
/// system to system.
pub fn is_server_unknown(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if inner.to_string().contains("dns error") {
            return true;
        }
        cause = inner.source();
    }
    false
}

/// A verifier with its authorities.
type Verifier = Arc<dyn ServerCertVerifier>;

/// Reads authorities.
type ReadAuthorities = fn(Arc<CryptoProvider>) -> Result<Verifier, rustls::Error>;

/// Verifies servers by authorities that are read once, for the first server.
#[derive(Debug)]
struct LazyVerifier {
    provider: Arc<CryptoProvider>,
    read: ReadAuthorities,
    verifier: OnceLock<Result<Verifier, rustls::Error>>,
}

impl LazyVerifier {
    fn new(provider: Arc<CryptoProvider>, read: ReadAuthorities) -> Self {
        Self { provider, read, verifier: OnceLock::new() }
    }
}

impl ServerCertVerifier for LazyVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verifier = self.verifier.get_or_init(|| (self.read)(Arc::clone(&self.provider)));
        let verifier = verifier.as_ref().map_err(Clone::clone)?;
        verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Reads the authorities of this computer, or Mozilla's if it has none.
fn authorities(provider: Arc<CryptoProvider>) -> Result<Verifier, rustls::Error> {
    match rustls_platform_verifier::Verifier::new(Arc::clone(&provider)) {
        Ok(verifier) => Ok(Arc::new(verifier)),
        Err(_) => mozilla(provider),
    }
}

/// Returns the verifier with the list that came with the program.
fn mozilla(provider: Arc<CryptoProvider>) -> Result<Verifier, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
    Ok(verifier.map_err(|error| rustls::Error::General(error.to_string()))?)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Proves: operation/no-authorities
    #[test]
    fn the_list_that_came_with_the_program_can_be_used() {
        let verifier = mozilla(Arc::new(ring::default_provider())).unwrap();
        assert!(webpki_root_certs::TLS_SERVER_ROOT_CERTS.len() > 100);
        let authority = &webpki_root_certs::TLS_SERVER_ROOT_CERTS[0];
        let name = ServerName::try_from("example.org").unwrap();
        assert!(verifier.verify_server_cert(authority, &[], &name, &[], UnixTime::now()).is_err());
    }

    /// Hundreds of files for each client would slow the start and every fetched page down.
    #[test]
    fn the_authorities_are_read_once_and_only_for_a_server() {
        static READS: AtomicUsize = AtomicUsize::new(0);
        let read: ReadAuthorities = |provider| {
            READS.fetch_add(1, Ordering::SeqCst);
            mozilla(provider)
        };
        let verifier = LazyVerifier::new(Arc::new(ring::default_provider()), read);
        assert!(!verifier.supported_verify_schemes().is_empty());
        assert_eq!(READS.load(Ordering::SeqCst), 0);
        let (forged, name) = (CertificateDer::from(vec![0; 16]), ServerName::try_from("example.org").unwrap());
        for _ in 0..3 {
            assert!(verifier.verify_server_cert(&forged, &[], &name, &[], UnixTime::now()).is_err());
        }
        assert_eq!(READS.load(Ordering::SeqCst), 1);
    }

    /// The settings are those of the library that the clients use: others would be refused.
    #[test]
    fn every_client_shares_the_settings() {
        assert!(CONFIG.is_ok());
        for _ in 0..2 {
            client(|client| client).unwrap();
        }
    }

    struct Unresolved;

    impl reqwest::dns::Resolve for Unresolved {
        fn resolve(&self, _: reqwest::dns::Name) -> reqwest::dns::Resolving {
            Box::pin(async { Err("Name or service not known".into()) })
        }
    }

    #[tokio::test]
    async fn a_name_that_is_not_resolved_is_told_from_a_server_that_is_away() {
        let asked = async |client: Client, url| client.get(url).send().await.unwrap_err();
        let unresolved = client(|client| client.dns_resolver(Unresolved)).unwrap();
        assert!(is_server_unknown(&asked(unresolved, "http://models.example/").await));
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(!is_server_unknown(&asked(client(|client| client).unwrap(), &format!("http://{taken}/")).await));
    }
}
