//! DNS lookups whose answers are judged.
//!
//! A name is looked up once per hop, every answer is judged, and the connection is pinned to
//! exactly the judged answers. So a DNS server cannot answer with a public address for the check
//! and with 127.0.0.1 for the connection. A name with one private answer among public ones is
//! refused altogether instead of being raced.

use std::{io, net::SocketAddr};

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Url;

use super::{FetchError, Rule, address::host_name};

/// A resolver: the system's, or a script in tests.
pub trait Names: Send + Sync + 'static {
    /// Returns all addresses of `host`. Port 0 stands for the port of the fetched address.
    fn addresses<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>>;
}

/// The resolver of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemNames;

impl Names for SystemNames {
    fn addresses<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) })
    }
}

/// Returns the addresses of `name`, the host of `url`, if every one of them is permitted.
pub(super) async fn permitted_addresses(
    names: &dyn Names,
    name: &str,
    url: &Url,
    rule: &Rule,
) -> Result<Pinned, FetchError> {
    let mut addresses = names.addresses(name).await.map_err(|_| FetchError::Unreachable("the name is not known"))?;
    if addresses.is_empty() {
        return Err(FetchError::Unreachable("the name has no address"));
    }
    for address in &mut addresses {
        match (url.port(), url.port_or_known_default()) {
            (Some(port), _) => address.set_port(port),
            (None, Some(port)) if address.port() == 0 => address.set_port(port),
            _ => {}
        }
    }
    if addresses.iter().all(|address| rule.permits(address.ip(), address.port())) {
        Ok(Pinned { name: name.to_owned(), addresses })
    } else {
        Err(FetchError::Forbidden { host: host_name(url) })
    }
}

/// A resolver that knows at most one name: names that were not judged cannot be looked up.
#[derive(Debug, Clone, Default)]
pub(super) struct Pinned {
    name: String,
    addresses: Vec<SocketAddr>,
}

impl Resolve for Pinned {
    fn resolve(&self, name: Name) -> Resolving {
        let known = name.as_str() == self.name;
        let addresses = self.addresses.clone();
        Box::pin(async move {
            if known {
                Ok(Box::new(addresses.into_iter()) as Addrs)
            } else {
                Err(io::Error::from(io::ErrorKind::NotFound).into())
            }
        })
    }
}
