//! Models, channels and outside servers, as far as the running program knows them.

use strum::VariantArray;

use super::Finding;
use crate::config::Config;
use crate::message::ChannelKind;
use crate::search::{VECTORS_COUNTED_UP_TO, VectorHealth};
use crate::time::{Timestamp, Zone};
use crate::wording::{Language, Sentence, doctor as says, search};

/// Tells whether the model answers.
pub fn model(outage: Option<(Timestamp, Sentence)>, name: &str, zone: Zone) -> Finding {
    match outage {
        None => Finding::ok(says::MODEL, name),
        Some((since, why)) => {
            let why = why.in_language(Language::ENGLISH);
            Finding::wrong(says::MODEL, &says::away(name, &zone.show_short(since), &why), "")
        }
    }
}

/// Tells the state of the vectors.
pub fn vectors(health: &VectorHealth, zone: Zone) -> Finding {
    let VectorHealth { source, model, dimensions, kept, lacking, .. } = health;
    let what =
        search::embedding_model(Language::ENGLISH, source, model, *dimensions, *kept, *lacking, VECTORS_COUNTED_UP_TO);
    let away = health.away.as_ref();
    meaning(&what, away.map(|away| (&*away.why, zone.show_short(away.since), zone.show_short(away.next))))
}

/// Tells the state of the search by meaning. `away` is why its server is unreachable, since when,
/// and when it is asked again.
pub fn meaning(what: &str, away: Option<(&str, String, String)>) -> Finding {
    match away {
        None => Finding::ok(says::MEANING, what),
        Some((why, since, next)) => Finding::wrong(
            says::MEANING,
            &search::embedding_unreachable(Language::ENGLISH, what, why, &since, &next),
            search::FIX_AWAY,
        ),
    }
}

/// Finds groups that are allowed on a channel that is not configured.
pub fn groups(config: &Config) -> Vec<Finding> {
    let configured = config.channels();
    let absent = ChannelKind::VARIANTS.iter().filter(|channel| !configured.contains(channel)).map(|kind| kind.name());
    let finding = |channel: &str| {
        let count = config.groups.allowed.iter().filter(|group| group.split(':').next() == Some(channel)).count();
        let fix = says::fix_unheard_groups(channel);
        (count > 0).then(|| Finding::wrong(says::GROUPS, &says::unheard_groups(channel, count), &fix))
    };
    absent.filter_map(finding).collect()
}

/// Names the part that has a problem.
pub fn problem(part: &str, problem: &str) -> String {
    format!("{part}: {problem}")
}

/// Tells whether everything receives, of a gateway that runs.
pub fn gateway(problems: &[String]) -> Finding {
    match problems {
        [] => Finding::ok(says::GATEWAY, says::RUNNING),
        problems => Finding::wrong(says::GATEWAY, &problems.join("\n"), ""),
    }
}
