//! `/health` and `/metrics`: the state of the program for other programs. They need no session, so
//! they hold no names and no words, and answer only programs of this computer, under a name of it,
//! unless the configuration says otherwise.

use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{ConnectInfo, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::site_names::Via;
use super::{Web, layout};
use crate::admin::Numbers;
use crate::message::Health;

/// Answers 200 only while every configured channel receives.
pub async fn health(
    State(web): State<Arc<Web>>,
    Extension(via): Extension<Via>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
) -> Response {
    if !web.shows_state(via, peer) {
        return layout::not_found().await;
    }
    let receive = web.admin.channels.health().iter().all(|(_, health)| receives(health));
    if receive { "ok\n".into_response() } else { (StatusCode::SERVICE_UNAVAILABLE, "degraded\n").into_response() }
}

/// Answers with numbers in the OpenMetrics text format
/// (<https://prometheus.io/docs/specs/om/open_metrics_spec/>).
pub async fn metrics(
    State(web): State<Arc<Web>>,
    Extension(via): Extension<Via>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
) -> Response {
    if !web.shows_state(via, peer) {
        return layout::not_found().await;
    }
    let numbers = match web.admin.reports().numbers().await {
        Ok(numbers) => numbers,
        Err(error) => return layout::failure(&error),
    };
    let mut text = String::new();
    let channels = web.admin.channels.health();
    let receiving: Vec<String> = channels
        .iter()
        .map(|(channel, health)| {
            format!("compline_channel_receiving{{channel=\"{channel}\"}} {}", u8::from(receives(health)))
        })
        .collect();
    add(&mut text, "channel_receiving", "1 while the channel receives", &receiving.join("\n"));
    for (name, help, value) in gauges(&numbers) {
        add(&mut text, name, help, &format!("compline_{name} {value}"));
    }
    text.push_str("# EOF\n");
    ([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text).into_response()
}

/// Returns true if a channel has had its first contact and works since.
fn receives(health: &Health) -> bool {
    health.problem.is_none() && !health.is_connecting
}

fn add(text: &mut String, name: &str, help: &str, lines: &str) {
    // Writing into a text cannot fail.
    let _ = writeln!(text, "# TYPE compline_{name} gauge\n# HELP compline_{name} {help}.\n{lines}");
}

fn gauges(numbers: &Numbers) -> [(&'static str, &'static str, String); 9] {
    [
        ("people", "People with access", numbers.people.to_string()),
        ("browsers", "Browsers that are signed in", numbers.browsers.to_string()),
        ("waiting_messages", "Messages that wait for an answer", numbers.waiting_messages.to_string()),
        ("waiting_deliveries", "Deliveries that wait", numbers.waiting_deliveries.to_string()),
        ("failed_deliveries", "Deliveries that were set aside", numbers.failed_deliveries.to_string()),
        ("waiting_proposals", "Proposals that wait for an owner", numbers.waiting_proposals.to_string()),
        ("spent_today_micros", "Spending today, in millionths", numbers.spent_micros.to_string()),
        ("unpriced_tokens_today", "Tokens today without a known price", numbers.unpriced_tokens.to_string()),
        ("model_answers", "1 while the model answers", u8::from(!numbers.model_is_out).to_string()),
    ]
}

impl Web {
    fn shows_state(&self, via: Via, peer: SocketAddr) -> bool {
        self.config.public_metrics || is_here(via, peer)
    }
}

/// Returns true for a request that came from this computer. Its name alone says nothing,
/// because any program that reaches the port can claim it.
fn is_here(via: Via, peer: SocketAddr) -> bool {
    via == Via::Local && peer.ip().to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_computer_is_here() {
        for (via, peer, here) in [
            (Via::Local, "127.0.0.1:50000", true),
            (Via::Local, "127.0.0.2:50000", true),
            (Via::Local, "[::1]:50000", true),
            (Via::Local, "[::ffff:127.0.0.1]:50000", true),
            (Via::Local, "192.168.1.7:50000", false),
            (Via::Local, "[::ffff:192.168.1.7]:50000", false),
            (Via::Public, "127.0.0.1:50000", false),
        ] {
            assert_eq!(is_here(via, peer.parse().unwrap()), here, "{via:?} {peer}");
        }
    }
}
