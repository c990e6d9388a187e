//! A public web page as readable text, fetched safely.
//!
//! The address comes from a model that may have read hostile text, and so does every redirect; the
//! page itself is assumed to be hostile. Hence four guarantees: no request goes to anything but a
//! public address (each hop is judged, each DNS answer is judged, and the connection uses exactly
//! the judged addresses); no page costs more than the stated bytes, time and redirects; no page can
//! crash or stall the program, since parsers only see input that `tidy` has made well-formed and
//! shallow; and the output contains no control characters. Only a plain GET is sent: no cookies, no
//! referer, no proxy from the environment.
//!
//! [`WebFetch`] is the tool over it. The decision whether an address may be fetched is made
//! earlier, by the rules for all tools; the result is untrusted, with the host as its source.

mod address;
mod fetch;
mod readable;
mod rule;
mod tidy;

use std::time::Duration;

pub use address::{WrittenAddress, addresses_in, host_name, normal, parse};
use async_trait::async_trait;
pub use fetch::{Fetcher, Names, SystemNames};
pub use readable::{clean, decode, whole};
pub use rule::{Interfaces, Network, Rule, SystemInterfaces};
use serde_json::{Value, json};
use url::Url;

use super::question_text::QuestionText;
use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::trust::{Label, Source};
use crate::wording;

/// Limits of one fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of body read, counted after decompression; the rest is cut off.
    pub bytes: usize,
    /// From the DNS lookup to the finished text, over all redirects.
    pub time: Duration,
    /// Number of redirects followed.
    pub redirects: usize,
    /// Characters of text returned; the rest is cut off.
    pub text_chars: usize,
}

impl Default for Limits {
    /// 2 MiB, 20 seconds, 5 redirects, 40,000 characters.
    fn default() -> Self {
        Self { bytes: 2 * 1024 * 1024, time: Duration::from_secs(20), redirects: 5, text_chars: 40_000 }
    }
}

/// A fetched page. `title` and `text` are the other side's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebPage {
    /// Final address, after all redirects.
    pub url: Url,
    /// The host of `url` in the form used in labels: validated, lower-case, punycode, no trailing
    /// dot.
    pub host: String,
    /// One line without control characters.
    pub title: Option<String>,
    /// Never empty, no control characters but line feed and tab.
    pub text: String,
    /// True if bytes or characters were cut off.
    pub truncated: bool,
    /// Media type without parameters, such as `text/html`.
    pub content_type: String,
}

/// Reason for a failed fetch, by the appropriate reaction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// Text is not an address.
    #[error("Not an address")]
    NotAnAddress,
    /// Neither http nor https.
    #[error("Only http and https addresses can be fetched")]
    Scheme,
    /// The host is not on the public internet, or is disguised; a retry is pointless.
    #[error("{host} is not a public host")]
    Forbidden {
        /// The host as requested; never the addresses that its name resolved to.
        host: String,
    },
    /// Address contains a user name or password.
    #[error("The address carries credentials")]
    Credentials,
    /// A port on which no web server is expected.
    #[error("Port {0} is not open to fetching")]
    Port(u16),
    /// A secure page redirects to an insecure one.
    #[error("A secure page redirects to an insecure one")]
    Downgrade,
    /// The page redirects to an address that must be judged before it is followed.
    #[error("The page leads on to another address")]
    LeadsTo {
        /// The redirecting host, in the form used in labels.
        host: String,
        /// The target, as stated by that host.
        to: Url,
    },
    /// The chain of redirects is too long, or a circle.
    #[error("Too many redirects")]
    TooManyRedirects,
    /// Not text: a picture, an archive, an unknown character set.
    #[error("That address gives something that is not text")]
    Unsupported {
        /// Media type, reduced to harmless characters.
        content_type: String,
    },
    /// The server answered with an error.
    #[error("The server answered {0}")]
    Status(u16),
    /// Not finished in time; a later retry may succeed.
    #[error("The page took too long")]
    TimedOut,
    /// No connection, no such name, or a broken reply; a later retry may succeed.
    #[error("The page is unreachable: {0}")]
    Unreachable(&'static str),
    /// The page has no text (it may need scripts to show any).
    #[error("The page holds no text")]
    Empty,
    /// A parser failed on the page.
    #[error("The page cannot be made readable")]
    Unreadable,
}

/// Maximum numbers of characters displayed of an address, a title and the text: together with
/// the frame less than the limit for all tools, so that the frame around a page is never cut.
const ADDRESS: usize = 2_000;
const TITLE: usize = 300;
const WORDS: usize = crate::tool::MAX_RESULT - 4_000;

/// `web_fetch`: returns the readable text of a public web page.
pub struct WebFetch(Fetcher);

impl WebFetch {
    /// Creates the tool over `fetcher`, which knows the limits and forbidden addresses.
    pub fn new(fetcher: Fetcher) -> Self {
        Self(fetcher)
    }
}

#[async_trait]
impl Tool for WebFetch {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({ "url": { "type": "string" } });
        ToolDeclaration {
            spec: argument::spec("web_fetch", wording::tool::WEB_FETCH, properties, &["url"]),
            effects: Effects::FETCHES,
            egress: Egress::Address("url"),
            repeatable: true,
            replaces: false,
        }
    }

    fn check(&self, arguments: &Value) -> Result<(), ToolError> {
        self.0.check(&address(arguments)?).map_err(|error| ToolError::Refused(error.to_string()))
    }

    async fn question(&self, call: &AuthorizableCall<'_>) -> Result<QuestionText, ToolError> {
        let question = wording::tool::may_i_open(call.language, &host_name(&address(call.arguments)?));
        Ok(QuestionText { question, shown: String::new(), label: call.label.clone() })
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let url = address(call.arguments)?;
        let page = match self.0.fetch(&url, &|to| call.may_open(to)).await {
            Ok(page) => page,
            Err(FetchError::LeadsTo { host, to }) => return Ok(leads_to(&url, &host, &to)),
            Err(error) => return Err(tool_error(&error, &url)),
        };
        let title = page.title.as_deref().map(|title| crate::text::shorten(title, TITLE));
        let whole = crate::text::defuse(&page.text, "page");
        let words = crate::text::shorten(&whole, WORDS);
        let cut = page.truncated || words != whole;
        let address = crate::text::shorten(page.url.as_str(), ADDRESS);
        let text = wording::tool::page(&address, title.as_deref(), &words, cut);
        Ok(Output { text, label: Label::untrusted(Source::web(&page.host)), from: Vec::new() })
    }
}

/// Returns the error with our own reason.
fn tool_error(error: &FetchError, asked: &Url) -> ToolError {
    let text = error_text(error, asked);
    match error {
        FetchError::TimedOut => ToolError::TimedOut(text),
        FetchError::Unreachable(_) => ToolError::Unreachable(text),
        _ => ToolError::Failed(text),
    }
}

/// Returns the error in our own words. The target host of a redirect is the page's claim and is not
/// named.
fn error_text(error: &FetchError, asked: &Url) -> String {
    match error {
        FetchError::Forbidden { host } if *host != host_name(asked) => {
            wording::tool::LEADS_TO_NO_PUBLIC_HOST.to_owned()
        }
        other => other.to_string(),
    }
}

/// Returns the result for a redirect: the target is the page's claim, and is judged when the model
/// fetches it.
fn leads_to(asked: &Url, host: &str, to: &Url) -> Output {
    let (asked, to) = (crate::text::shorten(asked.as_str(), ADDRESS), crate::text::shorten(to.as_str(), ADDRESS));
    let text = wording::tool::leads_to(&asked, &to);
    Output { text, label: Label::untrusted(Source::web(host)), from: Vec::new() }
}

/// Returns the addresses of its own host in a page, given the stored result of a call. Scheme and
/// port belong to the host.
pub fn links_within(result: &str) -> Vec<Url> {
    let Some((address, page)) = result.strip_prefix(wording::tool::PAGE_ADDRESS).and_then(|rest| rest.split_once('\n'))
    else {
        return Vec::new();
    };
    let Ok(stood_at) = parse(address) else { return Vec::new() };
    let origin = normal(&stood_at).origin();
    let links = addresses_in(page).into_iter().filter(|link| link.has_scheme).map(|link| normal(&link.url));
    links.filter(|link| link.origin() == origin).collect()
}

fn address(arguments: &Value) -> Result<Url, ToolError> {
    let url = parse(argument::text(arguments, "url"));
    url.map(|url| normal(&url)).map_err(|error| ToolError::Arguments(error.to_string()))
}
