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
//! This module does not handle people or labels: the decision whether an address may be fetched is
//! made earlier, and the caller must label the text as untrusted.

use std::time::Duration;

use url::Url;

mod address;
mod fetch;
mod readable;
mod rule;
mod tidy;

pub use address::{WrittenAddress, addresses_in, host_name, normal, parse};
pub use fetch::{Fetcher, Names, SystemNames};
pub use readable::{clean, decode, whole};
pub use rule::{Interfaces, Network, Rule, SystemInterfaces};

/// The limits of one fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of body read, counted after decompression; the rest is cut off.
    pub bytes: usize,
    /// From the DNS lookup to the finished text, over all redirects.
    pub time: Duration,
    /// The number of redirects followed.
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
    /// The final address, after all redirects.
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
    /// The media type without parameters, such as `text/html`.
    pub content_type: String,
}

/// The reason for a failed fetch, by the appropriate reaction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The text is not an address.
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
    /// The address contains a user name or password.
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
        /// The media type, reduced to harmless characters.
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
