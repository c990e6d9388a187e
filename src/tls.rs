//! HTTP clients with TLS: one implementation of cryptography, and the authorities that vouch for
//! servers.
//!
//! These are the authorities of this computer, as its administrator chose them. Where it has none
//! at all, as in a container with nothing but this program, they are those of Mozilla's list of the
//! time of the build.

use std::error::Error;

use reqwest::{Certificate, Client, ClientBuilder};

/// Description of a server whose name cannot be resolved.
pub const SERVER_NOT_FOUND: &str = "the server's name is not found (DNS)";

/// Builds a client. The settings may be made twice.
pub fn client(settings: impl Fn(ClientBuilder) -> ClientBuilder) -> reqwest::Result<Client> {
    // Fails only if one is installed already, which is this one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let known = settings(Client::builder()).build();
    known.or_else(|_| settings(Client::builder()).tls_certs_only(mozilla()?).build())
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

fn mozilla() -> reqwest::Result<Vec<Certificate>> {
    webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().map(|authority| Certificate::from_der(authority)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves: operation/no-authorities
    #[test]
    fn the_list_that_came_with_the_program_can_be_used() {
        let authorities = mozilla().unwrap();
        assert!(authorities.len() > 100);
        let client = client(|client| client.tls_certs_only(authorities.clone()));
        client.unwrap();
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
