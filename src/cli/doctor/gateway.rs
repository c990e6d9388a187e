//! The running gateway, asked how its channels are: it alone knows whether they are deaf.

use std::time::Duration;

use serde_json::Value;

use super::finding::Finding;
use crate::cli::client;
use crate::cli::paths::CliPaths;
use crate::time::{Clock, SystemClock};
use crate::wording::cli::doctor as says;

/// One that lives has answered by then.
const PATIENCE: Duration = Duration::from_secs(5);

/// What came of asking.
pub(super) enum Gateway {
    /// None runs.
    Away,
    /// It runs and does not answer.
    Silent,
    /// What it tells of itself.
    Runs(Value),
}

impl Gateway {
    /// Asks the gateway of that home. One that is stopped or hangs takes the question and says
    /// nothing.
    pub(super) async fn ask(place: &CliPaths) -> Self {
        let line = client::words(&["status"]);
        let clock = SystemClock::default();
        let answered = tokio::select! {
            answered = client::of_gateway(&line, &place.home, true) => answered,
            _busy = clock.wake_at(clock.now().plus(PATIENCE)) => return Self::Silent,
        };
        match answered {
            Ok(Some(status)) => Self::Runs(serde_json::from_str(&status.text).unwrap_or_default()),
            Ok(None) => Self::Away,
            Err(_) => Self::Silent,
        }
    }

    /// Whether one holds the home.
    pub(super) fn is_there(&self) -> bool {
        !matches!(self, Self::Away)
    }

    /// What it says of all its channels and servers.
    pub(super) fn finding(&self) -> Finding {
        let status = match self {
            Self::Away => return Finding::note(says::GATEWAY, says::NOT_RUNNING, ""),
            Self::Silent => return Finding::wrong(says::GATEWAY, says::SILENT, says::FIX_SILENT),
            Self::Runs(status) => status,
        };
        let parts = ["adapters", "servers"].into_iter().filter_map(|part| status.get(part).and_then(Value::as_array));
        let troubles: Vec<String> = parts.flatten().filter_map(trouble).collect();
        match troubles.as_slice() {
            [] => Finding::ok(says::GATEWAY, says::RUNNING),
            troubles => Finding::wrong(says::GATEWAY, &troubles.join("\n"), ""),
        }
    }
}

fn trouble(part: &Value) -> Option<String> {
    let text = |key: &str| part.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    Some(format!("{}: {}", text("name").unwrap_or_default(), text("trouble").or_else(|| text("remark"))?))
}
