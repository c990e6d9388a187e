//! From names to network addresses, judged.
//!
//! A name is asked for once per hop, every answer is judged, and the connection is pinned to
//! exactly the answers judged. So a server of names cannot say "public" when asked and "127.0.0.1"
//! when connected to, and a name with one private answer among public ones is refused altogether
//! instead of being raced.

use std::{io, net::SocketAddr};

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Url;

use super::{FetchError, Rule, address::host_name};

/// Where the addresses of a name come from: the system, or a script in tests.
pub trait Names: Send + Sync + 'static {
    /// All addresses of `host`. Port 0 stands for the port of the address fetched.
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

/// The addresses of `name`, the host of `url`, if every single one of them is permitted.
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

/// A resolver that knows one name, or none: nothing can be looked up that was not judged.
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
