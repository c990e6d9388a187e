//! `web_fetch`: the readable text of a public web page. What it gives is untrusted, and carries the host as its source.

use async_trait::async_trait;
use serde_json::{Value, json};
use url::Url;

use super::web::{FetchError, Fetcher, host_name};
use super::{Call, Output, Reach, Tool, ToolError, argument};
use crate::model::ToolSpec;
use crate::trust::{Label, Source};
use crate::wording;

/// Characters shown of an address, a title and the words: together with the frame less than what any tool may give, so that the frame
/// around a page is never what is cut.
const ADDRESS: usize = 2_000;
const TITLE: usize = 300;
const WORDS: usize = super::MAX_RESULT - 4_000;

/// The tool.
pub struct WebFetch {
    fetcher: Fetcher,
}

impl WebFetch {
    /// Fetches through `fetcher`, which knows the limits and which addresses are forbidden.
    pub fn new(fetcher: Fetcher) -> Self {
        Self { fetcher }
    }
}

#[async_trait]
impl Tool for WebFetch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "web_fetch".to_owned(),
            description: wording::tool::WEB_FETCH.to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "url": { "type": "string" } },
                "required": ["url"]
            }),
        }
    }

    fn repeatable(&self) -> bool {
        true
    }

    fn reach(&self, arguments: &Value) -> Reach {
        Reach::Address(written(arguments).to_owned())
    }

    fn judge(&self, arguments: &Value) -> Result<(), ToolError> {
        self.fetcher.judge(&address(arguments)?).map_err(|error| ToolError::Refused(error.to_string()))
    }

    async fn run(&self, call: &Call<'_>) -> Result<Output, ToolError> {
        let url = address(call.arguments)?;
        let page = self.fetcher.fetch(&url).await.map_err(|error| ToolError::Failed(told(&error, &url)))?;
        let title = page.title.as_deref().map(|title| crate::text::shorten(title, TITLE));
        let whole = crate::text::defuse(&page.text, "page");
        let words = crate::text::shorten(&whole, WORDS);
        let cut = page.truncated || words != whole;
        let address = crate::text::shorten(page.url.as_str(), ADDRESS);
        let text = wording::tool::page(&address, title.as_deref(), &words, cut);
        Ok(Output { text, label: Label::untrusted(Source::web(&page.host)), from: Vec::new() })
    }
}

/// What went wrong, in our own words. A host that a page leads on to is that page's word: it is not named.
fn told(error: &FetchError, asked: &Url) -> String {
    match error {
        FetchError::Forbidden { host } if *host != host_name(asked) => {
            wording::tool::LEADS_TO_NO_PUBLIC_HOST.to_owned()
        }
        other => other.to_string(),
    }
}

fn address(arguments: &Value) -> Result<Url, ToolError> {
    super::web::parse(written(arguments)).map_err(|error| ToolError::Arguments(error.to_string()))
}

fn written(arguments: &Value) -> &str {
    argument::text(arguments, "url")
}
