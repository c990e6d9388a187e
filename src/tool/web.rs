//! A public web page as readable text, fetched safely.
//!
//! The address comes from a model that may have read hostile text, and so does every redirect; the
//! page itself is hostile by assumption. Hence four promises: no request leaves for anything but a
//! public address (each hop is judged, each answer of a name is judged, and the connection goes to
//! exactly the addresses judged); no page can cost more than the stated bytes, time and redirects;
//! no page can crash or stall the program, as parsers see only what `tidy` has made well-formed and
//! shallow; and what comes out holds no control characters. Nothing is sent but a plain GET: no
//! cookies, no referer, no proxy from the environment.
//!
//! This module knows nothing of persons and labels: whether an address may be fetched at all is
//! asked before, and the text is untrusted, which the caller must say.

use std::time::Duration;

use url::Url;

mod address;
mod charset;
mod fetch;
mod interfaces;
mod names;
mod readable;
mod rule;
mod tidy;

pub use address::{Written, addresses_in, host_name, normal, parse};
pub use charset::decode;
pub use fetch::Fetcher;
pub use interfaces::{Interfaces, Network, SystemInterfaces};
pub use names::{Names, SystemNames};
pub use readable::{clean, whole};
pub use rule::Rule;

/// What one fetch may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of body read, counted after decompression; the rest is cut off.
    pub bytes: usize,
    /// From the look-up of the name to the finished text, over all redirects.
    pub time: Duration,
    /// How many redirects are followed.
    pub redirects: usize,
    /// Characters of text handed over; the rest is cut off.
    pub text_chars: usize,
}

impl Default for Limits {
    /// 2 MiB, 20 seconds, 5 redirects, 40,000 characters.
    fn default() -> Self {
        Self { bytes: 2 * 1024 * 1024, time: Duration::from_secs(20), redirects: 5, text_chars: 40_000 }
    }
}

/// A fetched page. `title` and `text` are whatever the other side wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebPage {
    /// Where the text stood, after all redirects.
    pub url: Url,
    /// The host of `url` as it may stand in a label: validated, lower-case, punycode, no trailing
    /// dot.
    pub host: String,
    /// One line without control characters.
    pub title: Option<String>,
    /// Never empty, no control characters but line feed and tab.
    pub text: String,
    /// Whether bytes or characters were cut off.
    pub truncated: bool,
    /// The media type without parameters, such as `text/html`.
    pub content_type: String,
}

/// Why there is no page, by what to do or tell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The text cannot be read as an address: ask for a proper one.
    #[error("Not an address")]
    NotAnAddress,
    /// Neither http nor https.
    #[error("Only http and https addresses can be fetched")]
    Scheme,
    /// The host is not on the public internet, or hides what it is; trying again is pointless.
    #[error("{host} is not a public host")]
    Forbidden {
        /// The host as asked for; never what its name resolved to.
        host: String,
    },
    /// The address carries a user name or password.
    #[error("The address carries credentials")]
    Credentials,
    /// A port on which no web server is expected.
    #[error("Port {0} is not open to fetching")]
    Port(u16),
    /// A secure page sent us on to an insecure one.
    #[error("A secure page redirects to an insecure one")]
    Downgrade,
    /// The page leads on to an address that may not be followed without being judged first.
    #[error("The page leads on to another address")]
    LeadsTo {
        /// The host that says so, as it may stand in a label.
        host: String,
        /// Where it leads: that host's word.
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
    /// The server answered, but with an error.
    #[error("The server answered {0}")]
    Status(u16),
    /// Not finished in time: trying again later may help.
    #[error("The page took too long")]
    TimedOut,
    /// No connection, no such name, or a broken reply: trying again later may help.
    #[error("The page is unreachable: {0}")]
    Unreachable(&'static str),
    /// The page has no text (it may need scripts to show any).
    #[error("The page holds no text")]
    Empty,
    /// A parser gave up on it.
    #[error("The page cannot be made readable")]
    Unreadable,
}
