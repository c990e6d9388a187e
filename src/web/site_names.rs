//! The names of the page: of this computer, and under its public address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use url::Url;

/// The name under which a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// A name of this computer.
    Local,
    /// The public address, behind a TLS proxy.
    Public,
}

/// Names of the page.
#[derive(Debug, Clone)]
pub struct SiteNames {
    local: Vec<String>,
    public: Option<String>,
}

impl SiteNames {
    /// Returns the names of a page at `listen`, and under its public address.
    pub fn new(listen: SocketAddr, public: Option<&Url>) -> Self {
        let port = listen.port();
        let host = match listen.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Some(Ipv4Addr::LOCALHOST.to_string()),
            IpAddr::V6(ip) if ip.is_unspecified() => Some(format!("[{}]", Ipv6Addr::LOCALHOST)),
            IpAddr::V4(ip) => ip.is_loopback().then(|| ip.to_string()),
            IpAddr::V6(ip) => ip.is_loopback().then(|| format!("[{ip}]")),
        };
        // An address of the network is no name of this computer: there the TLS proxy is named.
        let hosts: Vec<String> = host.into_iter().flat_map(|host| [host, "localhost".to_owned()]).collect();
        let with_port = hosts.iter().map(|host| format!("{host}:{port}"));
        let bare = hosts.iter().filter(|_| port == 80).cloned();
        let local = with_port.chain(bare).collect();
        let public = public.and_then(|url| {
            let host = url.host_str()?;
            Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
        });
        Self { local, public }
    }

    /// Returns the name that a `Host` is, if it is one of ours.
    pub fn via(&self, host: &str) -> Option<Via> {
        let is_local = self.local.iter().any(|name| name == host);
        let is_public = self.public.as_deref() == Some(host);
        if is_local { Some(Via::Local) } else { is_public.then_some(Via::Public) }
    }

    /// Returns true for an origin that is the page itself.
    pub fn is_own_origin(&self, origin: &str) -> bool {
        let local = origin.strip_prefix("http://").is_some_and(|host| self.local.iter().any(|name| name == host));
        let public = origin.strip_prefix("https://").is_some_and(|host| self.public.as_deref() == Some(host));
        local || public
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_the_page_is_one_of_its_names() {
        for (listen, host, is_local) in [
            ("127.0.0.2:7420", "127.0.0.2:7420", true),
            ("127.0.0.2:7420", "127.0.0.1:7420", false),
            ("0.0.0.0:7420", "127.0.0.1:7420", true),
            ("0.0.0.0:7420", "0.0.0.0:7420", false),
            ("[::1]:80", "[::1]", true),
            ("[::]:7420", "[::1]:7420", true),
            ("192.168.1.5:7420", "192.168.1.5:7420", false),
            ("192.168.1.5:7420", "localhost:7420", false),
        ] {
            let via = SiteNames::new(listen.parse().unwrap(), None).via(host);
            assert_eq!(via.is_some(), is_local, "{listen} {host}");
        }
    }
}
