//! Health of the running gateway: only the gateway knows if its channels receive.

use std::time::Duration;

use serde_json::Value;

use super::finding::Finding;
use crate::cli::client;
use crate::cli::paths::CliPaths;
use crate::time::{Clock, SystemClock};
use crate::wording::cli::doctor as says;

/// Time within which a healthy gateway answers.
const PATIENCE: Duration = Duration::from_secs(5);

/// Result of the query.
pub(super) enum Gateway {
    /// No gateway is running.
    Away,
    /// The gateway is running but does not answer.
    Silent,
    /// Status reported by the gateway.
    Runs(Value),
}

impl Gateway {
    /// Queries the gateway of this home. One that is stopped or hangs accepts the query without
    /// answering.
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

    /// Returns `true` if a gateway holds the home.
    pub(super) fn is_there(&self) -> bool {
        !matches!(self, Self::Away)
    }

    /// Returns the finding about all its channels and servers.
    pub(super) fn finding(&self) -> Finding {
        let status = match self {
            Self::Away => return Finding::note(says::GATEWAY, says::NOT_RUNNING, ""),
            Self::Silent => return Finding::wrong(says::GATEWAY, says::SILENT, says::FIX_SILENT),
            Self::Runs(status) => status,
        };
        let parts = ["adapters", "servers"].into_iter().filter_map(|part| status.get(part).and_then(Value::as_array));
        let troubles: Vec<String> = parts.flatten().filter_map(problem).collect();
        match troubles.as_slice() {
            [] => Finding::ok(says::GATEWAY, says::RUNNING),
            troubles => Finding::wrong(says::GATEWAY, &troubles.join("\n"), ""),
        }
    }
}

fn problem(part: &Value) -> Option<String> {
    let text = |key: &str| part.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    Some(format!("{}: {}", text("name").unwrap_or_default(), text("trouble").or_else(|| text("remark"))?))
}
