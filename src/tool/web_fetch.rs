//! `web_fetch`: returns the readable text of a public web page. The result is untrusted, with the
//! host as its source.

use async_trait::async_trait;
use serde_json::{Value, json};
use url::Url;

use super::web::{FetchError, Fetcher, addresses_in, host_name, normal};
use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::trust::{Label, Source};
use crate::wording;

/// The maximum numbers of characters displayed of an address, a title and the text: together with
/// the frame less than the limit for all tools, so that the frame around a page is never cut.
const ADDRESS: usize = 2_000;
const TITLE: usize = 300;
const WORDS: usize = super::MAX_RESULT - 4_000;

/// The `web_fetch` tool.
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
        }
    }

    fn check(&self, arguments: &Value) -> Result<(), ToolError> {
        self.0.check(&address(arguments)?).map_err(|error| ToolError::Refused(error.to_string()))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let url = address(call.arguments)?;
        let page = match self.0.fetch(&url, &|to| call.may_open(to)).await {
            Ok(page) => page,
            Err(FetchError::LeadsTo { host, to }) => return Ok(leads_to(&url, &host, &to)),
            Err(error) => return Err(ToolError::Failed(error_text(&error, &url))),
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
    let Ok(stood_at) = super::web::parse(address) else { return Vec::new() };
    let origin = normal(&stood_at).origin();
    let links = addresses_in(page).into_iter().filter(|link| link.has_scheme).map(|link| normal(&link.url));
    links.filter(|link| link.origin() == origin).collect()
}

fn address(arguments: &Value) -> Result<Url, ToolError> {
    let url = super::web::parse(argument::text(arguments, "url"));
    url.map(|url| normal(&url)).map_err(|error| ToolError::Arguments(error.to_string()))
}
