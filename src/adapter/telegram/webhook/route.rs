//! Route for Telegram's calls: one path, one method, authenticated by the secret.
//!
//! It is exposed to the internet, perhaps through a proxy, so it is strict: nothing is read from a
//! caller without the secret, and bodies are bounded. [`http`](crate::http) bounds the rest.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::header::{CONNECTION, HeaderValue};
use axum::http::request::Parts;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::post;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::config;
use crate::http::{CONNECTIONS, Connection};
use crate::time::Clock;

/// Maximum length of a body; an update is far smaller.
const MAX_BODY: usize = 1 << 20;
/// Time for which a caller waits for the journal. Telegram itself waits for about a minute.
const STORED_WITHIN: Duration = Duration::from_secs(25);
/// Header with the secret.
const SECRET: &str = "x-telegram-bot-api-secret-token";

/// An update with its waiting caller.
pub(super) struct WebhookCall {
    pub(super) raw: String,
    pub(super) caller: WebhookCaller,
}

/// A waiting caller. Dropping it rejects the call.
pub(super) struct WebhookCaller(oneshot::Sender<()>);

impl WebhookCaller {
    /// Confirms that the update is in the journal.
    pub(super) fn confirm(self) {
        // A caller that has hung up calls again, and the update is recognised.
        let _ = self.0.send(());
    }

    /// Returns true if the caller has hung up.
    pub(super) fn has_hung_up(&self) -> bool {
        self.0.is_closed()
    }
}

/// Passes calls on until it is stopped.
pub(super) struct WebhookRoute {
    pub(super) secret: SecretString,
    pub(super) calls: mpsc::Sender<WebhookCall>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) stop: CancellationToken,
}

impl WebhookRoute {
    /// Returns the routes of a server: the path of the configured address alone.
    pub(super) fn routes(self, config: &config::Webhook) -> Router {
        Router::new()
            // The path is the configured one, even if it begins with a colon.
            .without_v07_checks()
            .route(config.url.path(), post(receive))
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .layer(map_response(close_refused))
            .with_state(Arc::new(self))
    }

    /// Passes a call on and waits until it is stored, within a time limit.
    async fn wait_until_stored(&self, raw: String) -> StatusCode {
        let late = self.clock.wake_at(self.clock.now().plus(STORED_WITHIN));
        let (caller, stored) = oneshot::channel();
        let handed = async {
            let call = WebhookCall { raw, caller: WebhookCaller(caller) };
            self.calls.send(call).await.is_ok() && stored.await.is_ok()
        };
        tokio::select! {
            is_stored = handed => if is_stored { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE },
            _ = late => StatusCode::SERVICE_UNAVAILABLE,
            () = self.stop.cancelled() => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// Receives a call whose caller has been authenticated, before its body is read.
async fn receive(State(route): State<Arc<WebhookRoute>>, _: FromTelegram, body: Bytes) -> StatusCode {
    route.wait_until_stored(String::from_utf8_lossy(&body).into_owned()).await
}

/// Closes the connection of a caller that was refused.
async fn close_refused(mut response: Response) -> Response {
    if response.status() != StatusCode::OK {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Holder of the connections of callers that know the secret.
const TELEGRAM: i64 = 0;

/// A caller that knows the secret.
struct FromTelegram;

impl FromRequestParts<Arc<WebhookRoute>> for FromTelegram {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, route: &Arc<WebhookRoute>) -> Result<Self, StatusCode> {
        let shown = parts.headers.get(SECRET).map(HeaderValue::as_bytes).unwrap_or_default();
        let is_known = is_same(shown, route.secret.expose_secret().as_bytes());
        if let Some(connection) = parts.extensions.get::<Connection>() {
            connection.belongs_to(is_known.then_some(TELEGRAM), CONNECTIONS);
        }
        if is_known { Ok(Self) } else { Err(StatusCode::UNAUTHORIZED) }
    }
}

/// Compares two secrets in constant time.
fn is_same(shown: &[u8], secret: &[u8]) -> bool {
    let (shown, secret) = (Sha256::digest(shown), Sha256::digest(secret));
    shown.iter().zip(secret.iter()).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_secret_is_the_secret() {
        assert!(is_same(b"abc-DEF_1", b"abc-DEF_1"));
        for wrong in [&b""[..], b"abc-DEF_", b"abc-DEF_1 ", b"abc-DEF_2", b"ABC-def_1"] {
            assert!(!is_same(wrong, b"abc-DEF_1"), "{wrong:?}");
        }
    }
}
