//! Probe of a daemon and linking to a phone, for set-up and checks.

use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::Signal;
use super::jsonrpc::{Params, RpcError, code, method};
use crate::adapter::PollError;
use crate::wording::channel as words;

/// Time allowed for a simple request.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Time allowed for requesting a link: the daemon contacts Signal for it.
const LINK_TIMEOUT: Duration = Duration::from_secs(60);
/// Time allowed for scanning the link with a phone.
const SCAN_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Version and accounts of a daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaemonProbe {
    /// Version.
    pub version: String,
    /// Numbers of its accounts; `None` if it serves one account only, which it then does not
    /// report.
    pub accounts: Option<Vec<String>>,
}

impl DaemonProbe {
    /// Chooses our account.
    ///
    /// # Errors
    ///
    /// A sentence on what to do, if there is no account or the choice is ambiguous.
    pub fn account(&self, configured: Option<&str>) -> Result<String, &'static str> {
        choose_account(configured, self.accounts.as_deref())
    }

    /// The version as comparable numbers.
    pub fn numbers(&self) -> (u64, u64, u64) {
        version(&self.version)
    }
}

#[derive(Deserialize)]
struct Version {
    #[serde(default)]
    version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Link {
    device_link_uri: String,
}

impl Signal {
    /// Asks the daemon for its version and its accounts. Changes nothing.
    pub async fn probe(&self) -> Result<DaemonProbe, PollError> {
        let none = Params::new();
        let Version { version } = self
            .account
            .rpc
            .call(method::VERSION, &none, TIMEOUT)
            .await
            .map_err(|failure| PollError::Unreachable(failure.to_string()))?;
        let accounts = match self.account.rpc.call::<Value>(method::LIST_ACCOUNTS, &none, TIMEOUT).await {
            Ok(list) => Some(numbers(&list)),
            Err(RpcError::Rejected(refusal)) if refusal.code == code::UNKNOWN_METHOD => None,
            Err(failure) => return Err(PollError::Unreachable(failure.to_string())),
        };
        Ok(DaemonProbe { version, accounts })
    }

    /// Begins to link the daemon as a new device. Returns the link, to be displayed as a code for
    /// the phone.
    ///
    /// # Errors
    ///
    /// If the daemon cannot be reached, or cannot reach Signal.
    pub async fn start_link(&self) -> anyhow::Result<String> {
        let link = self.account.rpc.call(method::START_LINK, &Params::new(), LINK_TIMEOUT).await;
        let Link { device_link_uri } = link.map_err(anyhow_of).context(words::NOT_LINKED)?;
        ensure!(device_link_uri.starts_with("sgnl:") || device_link_uri.starts_with("tsdevice:"), words::NOT_LINKED);
        Ok(device_link_uri)
    }

    /// Waits until the link was scanned, and returns the number of the linked account.
    ///
    /// # Errors
    ///
    /// If it was not scanned in time, or the daemon or Signal refused.
    pub async fn finish_link(&self, uri: &str, device_name: &str) -> anyhow::Result<String> {
        let mut params = Params::new();
        params.insert("deviceLinkUri".to_owned(), uri.into());
        params.insert("deviceName".to_owned(), device_name.into());
        let linked: Value = self
            .account
            .rpc
            .call(method::FINISH_LINK, &params, SCAN_TIMEOUT)
            .await
            .map_err(anyhow_of)
            .context(words::NOT_LINKED)?;
        // The manual says that the number itself is returned; in fact it is a field.
        let number = linked.get("number").or(Some(&linked)).and_then(Value::as_str);
        number.map(str::to_owned).context(words::NOT_LINKED)
    }
}

/// Chooses our account, or returns a sentence on what to do.
pub(super) fn choose_account(configured: Option<&str>, accounts: Option<&[String]>) -> Result<String, &'static str> {
    match (configured, accounts) {
        (_, Some([])) => Err(words::NO_ACCOUNT),
        (Some(number), Some(known)) if number.starts_with('+') && !known.iter().any(|other| other == number) => {
            Err(words::ACCOUNT_UNKNOWN)
        }
        (Some(account), _) => Ok(account.to_owned()),
        (None, Some([only])) => Ok(only.clone()),
        (None, Some(_)) => Err(words::WHICH_ACCOUNT),
        (None, None) => Err(words::NAME_ACCOUNT),
    }
}

/// Parses a version into three numbers, ignoring the rest.
pub(super) fn version(text: &str) -> (u64, u64, u64) {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|digits| digits.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    (next(), next(), next())
}

fn numbers(list: &Value) -> Vec<String> {
    let each = list.as_array().into_iter().flatten();
    each.filter_map(|account| account.get("number")?.as_str()).map(str::to_owned).collect()
}

fn anyhow_of(failure: RpcError) -> anyhow::Error {
    match failure {
        RpcError::Rejected(refusal) if refusal.code == code::NETWORK => {
            anyhow::anyhow!("The daemon could not reach Signal")
        }
        other => anyhow::anyhow!(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_is_the_configured_one_or_the_only_one() {
        let known = |numbers: &[&str]| Some(numbers.iter().map(|number| (*number).to_owned()).collect::<Vec<_>>());
        let uuid = "f47ac10b-58cc-4372-a567-0e02b2c3d479";
        for (configured, accounts, chosen) in [
            (None, known(&["+431"]), Ok("+431")),
            (None, known(&[]), Err(words::NO_ACCOUNT)),
            (None, known(&["+431", "+432"]), Err(words::WHICH_ACCOUNT)),
            (None, None, Err(words::NAME_ACCOUNT)),
            (Some("+432"), known(&["+431", "+432"]), Ok("+432")),
            (Some("+433"), known(&["+431", "+432"]), Err(words::ACCOUNT_UNKNOWN)),
            (Some("+433"), known(&[]), Err(words::NO_ACCOUNT)),
            (Some("+433"), None, Ok("+433")),
            (Some(uuid), known(&["+431"]), Ok(uuid)),
        ] {
            assert_eq!(choose_account(configured, accounts.as_deref()), chosen.map(str::to_owned), "{configured:?}");
        }
    }

    #[test]
    fn versions_compare_as_numbers() {
        assert_eq!(version("0.13.19"), (0, 13, 19));
        assert_eq!(version("0.14.2-SNAPSHOT"), (0, 14, 2));
        assert!(version("0.14") < version("0.14.2") && version("0.9.1") < version("0.14.0"));
        assert_eq!(version("unknown"), (0, 0, 0));
    }

    #[test]
    fn accounts_without_a_number_are_passed_over() {
        let list = serde_json::json!([{"number": "+431"}, {"number": null}, {}, 7]);
        assert_eq!(numbers(&list), ["+431"]);
        assert!(numbers(&Value::Null).is_empty());
    }
}
