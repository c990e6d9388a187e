//! The fetch itself: judge the address, look up the name, judge the answers, connect to exactly
//! those, read within the limits, and follow redirects through the same steps. Every hop gets its
//! own client: it is pinned to the addresses judged for this hop, and no connection or session is
//! shared between fetches.
//!
//! A name is looked up once per hop, every answer is judged, and the connection is pinned to
//! exactly the judged answers. So a DNS server cannot answer with a public address for the check
//! and with 127.0.0.1 for the connection. A name with one private answer among public ones is
//! refused altogether instead of being raced.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Response, header, redirect};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use url::{Host, Url};

use super::address::{host_name, leads_to_same, normal, permitted_host, redirected};
use super::readable::{BodyKind, Readable, decode, readable};
use super::rule::SystemInterfaces;
use super::{FetchError, Limits, Rule, WebPage};
use crate::tls;

const USER_AGENT: &str = concat!("compline/", env!("CARGO_PKG_VERSION"), " (+personal assistant)");
const ACCEPT: &str = "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8, */*;q=0.1";
/// Maximum number of parsers at work. A parser cannot be interrupted when time is up.
const READERS: usize = 2;
const MAX_TYPE_CHARS: usize = 60;

/// Fetches public pages within its limits. Cheap to clone.
#[derive(Clone)]
pub struct Fetcher {
    limits: Limits,
    rule: Rule,
    names: Arc<dyn Names>,
    readers: Arc<Semaphore>,
}

/// A body as received, with the data needed to read it.
struct Body {
    url: Url,
    content_type: String,
    charset: Option<String>,
    bytes: Vec<u8>,
    cut: bool,
}

impl Fetcher {
    /// Creates a fetcher for public addresses only, excluding this machine and its networks, with
    /// the system's resolver. Fails if no secure connection could ever be made.
    pub fn new(limits: Limits) -> anyhow::Result<Self> {
        Self::with_rule(limits, Rule::public_only().and_not_near(Arc::new(SystemInterfaces)))
    }

    /// Like [`Fetcher::new`], with another rule.
    pub fn with_rule(limits: Limits, rule: Rule) -> anyhow::Result<Self> {
        Self::with_names(limits, rule, Arc::new(SystemNames))
    }

    /// Like [`Fetcher::with_rule`], with another resolver.
    pub fn with_names(limits: Limits, rule: Rule, names: Arc<dyn Names>) -> anyhow::Result<Self> {
        client(Pinned::default()).context("Cannot set up secure connections")?;
        Ok(Self { limits, rule, names, readers: Arc::new(Semaphore::new(READERS)) })
    }

    /// Checks whether the address may be requested at all, as far as that is known before the DNS
    /// lookup.
    ///
    /// # Errors
    /// Reason why not.
    pub fn check(&self, url: &Url) -> Result<(), FetchError> {
        permitted_host(url, &self.rule).map(|_| ())
    }

    /// Fetches the page at `url` as text. Always finishes within the time limit. Redirects are
    /// followed where `may_follow` permits, and to the same page.
    ///
    /// # Errors
    /// Reason why there is no page.
    pub async fn fetch(&self, url: &Url, may_follow: &(dyn Fn(&Url) -> bool + Sync)) -> Result<WebPage, FetchError> {
        timeout(self.limits.time, self.page(url.clone(), may_follow)).await.unwrap_or(Err(FetchError::TimedOut))
    }

    async fn page(&self, url: Url, may_follow: &(dyn Fn(&Url) -> bool + Sync)) -> Result<WebPage, FetchError> {
        let (url, response) = self.follow(url, may_follow).await?;
        let body = self.body(url, response).await?;
        self.read(body).await
    }

    async fn follow(
        &self,
        mut url: Url,
        may_follow: &(dyn Fn(&Url) -> bool + Sync),
    ) -> Result<(Url, Response), FetchError> {
        for _ in 0..=self.limits.redirects {
            let response = self.get(&url).await?;
            let status = response.status();
            if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
                return if status.is_success() {
                    Ok((url, response))
                } else {
                    Err(FetchError::Status(status.as_u16()))
                };
            }
            let location = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
            let to = normal(&redirected(&url, location.ok_or(FetchError::Status(status.as_u16()))?)?);
            if !leads_to_same(&url, &to) && !may_follow(&to) {
                self.check(&to)?;
                return Err(FetchError::LeadsTo { host: host_name(&url), to });
            }
            url = to;
        }
        Err(FetchError::TooManyRedirects)
    }

    /// Makes one hop, judged separately.
    async fn get(&self, url: &Url) -> Result<Response, FetchError> {
        let pinned = match permitted_host(url, &self.rule)? {
            Host::Domain(name) => permitted_addresses(self.names.as_ref(), &name, url, &self.rule).await?,
            Host::Ipv4(_) | Host::Ipv6(_) => Pinned::default(),
        };
        let client = client(pinned).map_err(|_| FetchError::Unreachable("no secure connection can be set up"))?;
        client.get(url.clone()).header(header::ACCEPT, ACCEPT).send().await.map_err(|error| unreachable_by(&error))
    }

    async fn body(&self, url: Url, mut response: Response) -> Result<Body, FetchError> {
        let (content_type, charset) = media_type(&response);
        if !content_type.is_empty() && kind_of(&content_type).is_none() {
            return Err(FetchError::Unsupported { content_type });
        }
        let mut bytes = Vec::new();
        let mut cut = false;
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable_by(&error))? {
            let room = self.limits.bytes.saturating_sub(bytes.len());
            cut = chunk.len() > room;
            bytes.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if cut {
                break;
            }
        }
        Ok(Body { url, content_type, charset, bytes, cut })
    }

    async fn read(&self, body: Body) -> Result<WebPage, FetchError> {
        let permit = self.readers.clone().acquire_owned().await.map_err(|_| FetchError::Unreadable)?;
        let max_chars = self.limits.text_chars;
        let reading = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            page_of(body, max_chars)
        });
        reading.await.unwrap_or(Err(FetchError::Unreadable))
    }
}

fn page_of(body: Body, max_chars: usize) -> Result<WebPage, FetchError> {
    let Body { url, content_type, charset, bytes, cut } = body;
    let text = decode(&bytes, charset.as_deref())
        .map_err(|set| FetchError::Unsupported { content_type: harmless(&format!("{content_type}; charset={set}")) })?;
    let content_type = if content_type.is_empty() { sniffed(&text)? } else { content_type };
    let kind = kind_of(&content_type).unwrap_or(BodyKind::Plain);
    let Readable { title, text, truncated } = readable(&text, kind, &url, max_chars)?;
    Ok(WebPage { host: host_name(&url), url, title, text, truncated: truncated || cut, content_type })
}

fn client(pinned: Pinned) -> reqwest::Result<Client> {
    let pinned = Arc::new(pinned);
    tls::client(|client| {
        client
            .user_agent(USER_AGENT)
            .dns_resolver(Arc::clone(&pinned))
            .redirect(redirect::Policy::none())
            .referer(false)
            .no_proxy()
            .pool_max_idle_per_host(0)
            .connect_timeout(Duration::from_secs(10))
    })
}

/// Converts the error; the library's messages contain addresses and are not passed on.
fn unreachable_by(error: &reqwest::Error) -> FetchError {
    if error.is_timeout() {
        FetchError::TimedOut
    } else if error.is_connect() {
        FetchError::Unreachable("no connection")
    } else {
        FetchError::Unreachable("the reply is broken")
    }
}

/// Returns the media type, empty if none was given, and the character set.
fn media_type(response: &Response) -> (String, Option<String>) {
    let value = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let mut parts = value.unwrap_or_default().split(';');
    let content_type = harmless(parts.next().unwrap_or_default());
    let charset = parts
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
        .map(|(_, set)| set.trim().trim_matches(['"', '\'']).to_owned());
    (content_type, charset.filter(|set| !set.is_empty()))
}

/// Returns the other side's media type, made safe for display.
fn harmless(content_type: &str) -> String {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || "/+-._;= ".contains(*c);
    content_type.trim().to_ascii_lowercase().chars().filter(allowed).take(MAX_TYPE_CHARS).collect()
}

fn kind_of(content_type: &str) -> Option<BodyKind> {
    match content_type {
        "text/html" | "application/xhtml+xml" => Some(BodyKind::Html),
        "application/json" | "application/xml" | "application/x-ndjson" | "application/yaml" => Some(BodyKind::Plain),
        other if other.starts_with("text/") || other.ends_with("+json") || other.ends_with("+xml") => {
            (!other.starts_with("image/")).then_some(BodyKind::Plain)
        }
        _ => None,
    }
}

/// Guesses the type of a body without one.
fn sniffed(text: &str) -> Result<String, FetchError> {
    if text.contains(['\0', char::REPLACEMENT_CHARACTER]) {
        return Err(FetchError::Unsupported { content_type: "application/octet-stream".to_owned() });
    }
    let start: String = text.trim_start().chars().take(14).collect::<String>().to_ascii_lowercase();
    let html = start.starts_with("<!doctype html") || start.starts_with("<html");
    Ok(if html { "text/html" } else { "text/plain" }.to_owned())
}

/// A resolver: the system's, or a script in tests.
pub trait Names: Send + Sync + 'static {
    /// Returns all addresses of `host`. Port 0 stands for the port of the fetched address.
    fn addresses<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>>;
}

/// Resolver of the operating system.
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

#[cfg(test)]
mod tests;
