//! HTTP clients with TLS: one implementation of cryptography, and the authorities that vouch for
//! servers.
//!
//! These are the authorities of this computer, as its administrator chose them. Where it has none
//! at all, as in a container with nothing but this program, they are those of Mozilla's list of the
//! time of the build.

use reqwest::{Certificate, Client, ClientBuilder};

/// Builds a client. The settings may be made twice.
pub fn client(settings: impl Fn(ClientBuilder) -> ClientBuilder) -> reqwest::Result<Client> {
    // Fails only if one is installed already, which is this one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let known = settings(Client::builder()).build();
    known.or_else(|_| settings(Client::builder()).tls_certs_only(mozilla()?).build())
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
}
