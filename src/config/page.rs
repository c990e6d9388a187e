//! `[web]`: the page.

use std::net::SocketAddr;
use std::time::Duration;

use url::Url;

use super::error::ValueError;
use super::reader::ConfigReader;
use super::units::{self, wrong};
use super::{Web, channels};

/// Interprets `[web]`; `None` if the page is switched off.
pub fn web(reader: &mut ConfigReader<'_>) -> Option<Web> {
    let at = "web";
    let is_enabled = reader.get(at, "enabled", units::flag).unwrap_or_default();
    let public_url = reader.get(at, "public_url", origin);
    let is_public = public_url.is_some();
    let listen = reader.get(at, "listen", |text| address(text, is_public));
    let days = reader.get(at, "session_days", |text| units::count(text, 1, 365)).unwrap_or_default();
    let public_metrics = reader.get(at, "public_metrics", units::flag).unwrap_or_default();
    let session = Duration::from_hours(24 * days);
    listen.filter(|_| is_enabled).map(|listen| Web { listen, public_url, session, public_metrics })
}

/// Parses the local address. Without a TLS proxy it stays on this computer.
fn address(text: &str, is_public: bool) -> Result<SocketAddr, ValueError> {
    let address = channels::socket(text)?;
    if address.ip().is_loopback() || is_public {
        return Ok(address);
    }
    let fix = "write \"127.0.0.1:7420\", or name the TLS proxy too: public_url = \"https://compline.example.org\"";
    Err(wrong(text, "would show the page beyond this computer without TLS", fix))
}

/// Parses an `https` address that is no more than a name and perhaps a port.
fn origin(text: &str) -> Result<Url, ValueError> {
    let url = Url::parse(text).ok().filter(|url| {
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let has_password = !url.username().is_empty() || url.password().is_some();
        url.scheme() == "https" && url.host_str().is_some() && is_bare && !has_password
    });
    let fix = "write the address of the TLS proxy without a path, as \"https://compline.example.org\"";
    url.ok_or_else(|| wrong(text, "is no https address without a path", fix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_leaves_this_computer_only_behind_tls() {
        assert!(address("127.0.0.1:7420", false).is_ok());
        assert!(address("[::1]:7420", false).is_ok());
        for text in ["0.0.0.0:7420", "192.168.1.5:7420", "[::]:7420"] {
            let refused = address(text, false).unwrap_err();
            assert!(refused.fix.contains("public_url"), "{}", refused.fix);
            assert!(address(text, true).is_ok());
        }
    }

    #[test]
    fn the_public_address_is_an_origin() {
        for text in ["https://a.example", "https://a.example/", "https://a.example:8443"] {
            assert!(origin(text).is_ok(), "{text}");
        }
        for text in
            ["http://a.example", "https://a.example/x", "https://u:p@a.example", "https://a.example/?q", "a.example"]
        {
            assert!(origin(text).is_err(), "{text}");
        }
    }
}
