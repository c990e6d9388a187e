//! A provider behind LiteLLM's proxy, which translates between the protocols.

use std::path::Path;

use compline::config::Provider;
use compline::model::{ModelError, NullSink, Stop};

use super::program::Server;
use super::{Peer, ask, calls, go_on, installed, text, wire};
use crate::support::free_address::free_address;

/// Protocols that the proxy speaks, as the provider and the end of the address.
const SPOKEN: [(Provider, &str); 3] =
    [(Provider::OpenAi, ""), (Provider::OpenAi, "/v1/responses"), (Provider::Anthropic, "")];

/// The proxy before the peer. `bash tests/run.sh long` installs it, and names it for the test.
fn proxy(peer: &Peer) -> Option<Server> {
    std::env::var_os("COMPLINE_PROXY")?;
    let (script, port) = (installed("proxy/start.py"), free_address().port().to_string());
    let arguments: [&Path; 3] = [&script, peer.url.as_ref(), port.as_ref()];
    Some(Server::start(installed("proxy/venv/bin/python"), &arguments))
}

/// Proves: models/protocols
#[tokio::test]
async fn a_proxy_between_changes_no_answer() {
    let peer = Peer::start();
    let proxy = proxy(&peer);
    let urls = [Some(&peer.url), proxy.as_ref().map(|proxy| &proxy.url)];
    for url in urls.into_iter().flatten() {
        for (provider, path) in SPOKEN {
            through(provider, &format!("{url}{path}")).await;
        }
        // Through the other two the proxy ends a broken-off answer of the server like a whole one.
        let cut = wire(Provider::OpenAi, url).call(&ask("cut"), &NullSink).await;
        assert!(cut.as_ref().is_err_and(ModelError::is_transient), "{url}: {cut:?}");
    }
    println!("did: the answers of {} servers", urls.into_iter().flatten().count());
}

async fn through(provider: Provider, url: &str) {
    let model = wire(provider, url);
    let reply = model.call(&ask("plain"), &NullSink).await.unwrap();
    assert_eq!(text(&reply), "Grüß Gott, this is a plain answer in several pieces.", "{url}");

    let reply = model.call(&ask("two tools"), &NullSink).await.unwrap();
    let made = calls(&reply);
    let arguments: Vec<&str> = made.iter().map(|call| call.arguments.as_str()).collect();
    assert_eq!(reply.stop, Stop::Tools, "{url}");
    assert_eq!(arguments, [r#"{"city":"Vienna"}"#, r#"{"city":"Oslo"}"#], "{url}");
    let reply = model.call(&go_on("two tools", &made), &NullSink).await.unwrap();
    assert_eq!(text(&reply), "Vienna is warmer than Oslo.", "{url}");

    let busy = model.call(&ask("busy"), &NullSink).await;
    assert!(matches!(busy, Err(ModelError::Later { .. })), "{url}: {busy:?}");
}
