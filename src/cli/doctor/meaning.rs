//! Semantic search: its state as reported by a running gateway, else by the journal, and a test of
//! the server.

use serde_json::Value;

use super::finding::Finding;
use super::gateway::Gateway;
use crate::cli::probe;
use crate::config::{self, Config};
use crate::memory::{VECTORS_COUNTED_UP_TO, VectorHealth};
use crate::model::embed;
use crate::store;
use crate::time::{Timestamp, Zone};
use crate::wording::cli::doctor as of_doctor;
use crate::wording::meaning as says;

/// Returns the finding.
pub(super) async fn check(config: &Config, gateway: &Gateway, offline: bool) -> Finding {
    let Some(embedding) = &config.embedding else { return Finding::ok(of_doctor::MEANING, says::BY_WORDS) };
    if let Gateway::Runs(status) = gateway
        && let Some(told) = status.get("embeddings").filter(|told| told.is_object())
    {
        return running(told, config.zone);
    }
    let seen = stored_state(config, embedding);
    if offline {
        return Finding::note(of_doctor::MEANING, &of_doctor::not_tried(&seen), "");
    }
    match probe::embedding(embedding).await {
        Ok(dimensions) => Finding::ok(of_doctor::MEANING, &says::answers(&seen, dimensions)),
        Err(trouble) => Finding::wrong(of_doctor::MEANING, &format!("{seen}: {}", trouble.what), &trouble.fix),
    }
}

/// Formats the state that the gateway reports.
fn running(told: &Value, zone: Zone) -> Finding {
    let text = |key: &str| told.get(key).and_then(Value::as_str).unwrap_or_default();
    let shown = |key| Timestamp::of_rfc3339(text(key)).map_or_else(|| text(key).to_owned(), |at| zone.show_short(at));
    let count = |key: &str| told.get(key).and_then(Value::as_u64);
    let dimensions = count("dimensions").and_then(|length| usize::try_from(length).ok());
    let (kept, lacking) = (count("with_vector").unwrap_or_default(), count("without_vector").unwrap_or_default());
    let what = says::model(text("source"), text("model"), dimensions, kept, lacking, VECTORS_COUNTED_UP_TO);
    match text("trouble") {
        "" => Finding::ok(of_doctor::MEANING, &what),
        why => {
            let away = says::away(&what, why, &shown("since"), &shown("next_at"));
            Finding::wrong(of_doctor::MEANING, &away, says::FIX_AWAY)
        }
    }
}

/// Formats the state from the journal; only the name of the model, if no journal is readable.
fn stored_state(config: &Config, embedding: &config::Embedding) -> String {
    let Ok(embedder) = embed::build(embedding) else { return embedding.name.clone() };
    let card = embedder.card();
    let health = store::examine(&config.home.journal(), |db| VectorHealth::read(db, card));
    health.map_or_else(
        |_| format!("{}/{}", card.provider, card.name),
        |VectorHealth { source, model, dimensions, kept, lacking, .. }| {
            says::model(&source, &model, dimensions, kept, lacking, VECTORS_COUNTED_UP_TO)
        },
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::finding::FindingState;
    use super::*;

    #[test]
    fn what_a_running_gateway_says_is_told_with_what_to_do() {
        let mut told = json!({
            "source": "ollama", "model": "small", "dimensions": 8, "with_vector": 12, "without_vector": 0, "trouble": null,
        });
        let zone = Zone::named("Europe/Vienna").unwrap();
        let well = running(&told, zone);
        assert_eq!((well.state, well.what.contains("ollama/small, 8 numbers")), (FindingState::Ok, true));
        told["trouble"] = json!("The key is refused");
        told["next_at"] = json!("2026-11-21T10:00:00.000Z");
        let ill = running(&told, zone);
        assert!(ill.what.contains("The key is refused") && ill.what.contains("2026-11-21 11:00"), "{}", ill.what);
        assert_eq!((ill.state, ill.fix.as_str()), (FindingState::Wrong, says::FIX_AWAY));
    }
}
