//! Status of the semantic search.

use serde_json::{Value, json};

use super::answer::plain;
use crate::search::{VECTORS_COUNTED_UP_TO, VectorHealth};
use crate::time::{Timestamp, Zone};
use crate::wording::search as says;

/// One line for people.
pub(super) fn line(health: &VectorHealth, zone: Zone) -> String {
    let VectorHealth { source, model, dimensions, kept, lacking, .. } = health;
    let what = says::embedding_model(source, model, *dimensions, *kept, *lacking, VECTORS_COUNTED_UP_TO);
    let what = match &health.away {
        Some(away) => {
            says::embedding_unreachable(&what, &away.why, &zone.show_short(away.since), &zone.show_short(away.next))
        }
        None => what,
    };
    says::embedding_status(&plain(&what))
}

/// The same for programs; `null` if no vectors are computed. `trouble` and `next_at` are present
/// while the server is unreachable.
pub(super) fn json(health: Option<&VectorHealth>) -> Value {
    let Some(health) = health else { return Value::Null };
    let failed = health.failed.as_ref();
    json!({
        "source": health.source,
        "model": health.model,
        "dimensions": health.dimensions,
        "with_vector": health.kept,
        "without_vector": health.lacking,
        "in_memory": health.loaded,
        "complete": health.is_complete,
        "trouble": health.away.as_ref().map(|away| &away.why),
        "since": health.away.as_ref().map(|away| away.since.rfc3339()),
        "next_at": health.away.as_ref().map(|away| away.next.rfc3339()),
        "last_failure": failed.map(|(why, _)| why),
        "last_failure_at": failed.map(|(_, at)| *at).map(Timestamp::rfc3339),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::VectorOutage;

    fn health() -> VectorHealth {
        VectorHealth {
            source: "ollama".to_owned(),
            model: "small".to_owned(),
            dimensions: Some(8),
            kept: 120,
            lacking: 3,
            ..VectorHealth::default()
        }
    }

    #[test]
    fn it_says_how_much_is_there_why_it_is_away_and_when_it_is_asked_again() {
        let well = line(&health(), Zone::UTC);
        assert_eq!(well, "- search by meaning: ollama/small, 8 numbers a vector; 120 texts have one, 3 are missing");
        let at = |minutes: i64| Timestamp(1_795_251_600_000 + minutes * 60_000);
        let away = VectorOutage { why: "The key is refused".to_owned(), since: at(0), next: at(10) };
        let failed = Some((away.why.clone(), at(5)));
        let ill = VectorHealth { away: Some(away), failed, ..health() };
        let told = line(&ill, Zone::UTC);
        assert!(told.contains("The key is refused") && told.contains("09:00") && told.contains("09:10"), "{told}");
        let json = json(Some(&ill));
        assert_eq!((&json["with_vector"], &json["without_vector"]), (&json!(120), &json!(3)));
        assert_eq!((&json["trouble"], &json["next_at"]), (&json!("The key is refused"), &json!(at(10).rfc3339())));
        assert_eq!(json["last_failure_at"], json!(at(5).rfc3339()));
        assert_eq!(super::json(None), Value::Null);
    }
}
