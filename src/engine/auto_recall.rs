//! What comes to mind at the beginning of a conversation: the facts that mattered most so far, and
//! what is known about the first words.
//!
//! It is asked for once, before the first answer, and stays what it was. Only trusted entries come
//! to mind, and only trusted words call them: what somebody passed on cannot choose what the
//! assistant is reminded of. What is loaded anyway is left out. That something came to mind by
//! itself is no use of it, so what is often shown does not grow by being shown. The search is
//! lexical and has little time; whatever goes wrong with it, nothing comes to mind and the answer
//! comes all the same.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::Engine;
use crate::memory::{EntryHit, IndexQuery, Loaded};
use crate::people::Party;
use crate::store::{EntryKind, Node};
use crate::text::{one_line, shorten};
use crate::trust::{Labelled, Text};
use crate::wording::{self, agent as says};

/// The most facts that come to mind because they mattered.
const SALIENT: usize = 10;
/// The most entries that come to mind because of the first words.
const RELATED: usize = 3;
/// So many more are looked at, because some are loaded anyway.
const MORE: usize = 20;
/// The longest line, in characters.
const LINE: usize = 300;
/// How long is looked.
const PATIENCE: Duration = Duration::from_millis(500);

/// What comes to mind at these first words: the facts that matter most, and what is known about
/// them, with where it comes from. Blank if nothing does. Trusted only.
pub async fn recalled(engine: &Arc<Engine>, party: &Party, words: &[Text], loaded: &Loaded) -> (Text, Vec<Node>) {
    let nothing = (wording::own("", party.scope()), Vec::new());
    if !engine.memory.enabled {
        return nothing;
    }
    let clock = &engine.clock;
    let found = tokio::select! {
        found = found(engine, party, words) => found,
        _late = clock.wake_at(clock.now().plus(PATIENCE)) => Ok(Vec::new()),
    };
    let from = match found {
        Ok(hits) => with_origins(engine, told(&hits, loaded, nothing.0.clone())).await,
        Err(error) => Err(error),
    };
    from.unwrap_or_else(|error| {
        tracing::warn!("Nothing comes to mind, because the index cannot be searched: {error:#}");
        nothing
    })
}

/// What is told, with what in the journal it grew from.
async fn with_origins(engine: &Arc<Engine>, told: (Text, Vec<EntryHit>)) -> anyhow::Result<(Text, Vec<Node>)> {
    let (text, hits) = told;
    let nodes = if hits.is_empty() { Vec::new() } else { engine.index.origins(&hits).await? };
    Ok((text, nodes))
}

/// The hits in their order, with the most of each kind that may be told.
async fn found(engine: &Arc<Engine>, party: &Party, words: &[Text]) -> anyhow::Result<Vec<(usize, Vec<EntryHit>)>> {
    let index = &engine.index;
    let mut salient = index.salient(party, SALIENT + MORE).await?;
    salient.retain(|hit| hit.kind == EntryKind::Fact);
    let mut related = Vec::new();
    if let Some(words) = trusted(words, party) {
        // Files that say who is who and how to work are loaded anyway.
        let kinds = vec![EntryKind::Fact, EntryKind::Note, EntryKind::Day];
        let question = IndexQuery { kinds, limit: RELATED + MORE, ..IndexQuery::of(party, words) };
        related = index.search(&question).await?.hits;
    }
    Ok(vec![(RELATED, related), (SALIENT, salient)])
}

/// The trusted ones of the first words, as one text.
fn trusted(words: &[Text], party: &Party) -> Option<Text> {
    let trusted: Vec<&Text> = words.iter().filter(|text| text.label().is_trusted()).collect();
    let label = trusted.first()?.label().clone();
    let joined: Vec<&str> = trusted.iter().map(|text| &**text.open().0).collect();
    Some(Labelled::new(Arc::from(joined.join("\n")), label, party.scope()))
}

/// What is told of the hits, and which of them: each once, and none that is loaded anyway.
fn told(hits: &[(usize, Vec<EntryHit>)], loaded: &Loaded, nothing: Text) -> (Text, Vec<EntryHit>) {
    let files = [&loaded.user, &loaded.memory, &loaded.today, &loaded.agent, &loaded.experience];
    // A fact stands in its file with its key in bold.
    let loaded: Vec<String> = files.iter().map(|file| one_line(&file.open().0.replace("**", ""))).collect();
    let mut label = nothing.label().clone();
    let (mut seen, mut lines, mut told) = (BTreeSet::new(), Vec::new(), Vec::new());
    for (most, hits) in hits {
        let mut taken = 0;
        for hit in hits.iter().filter(|hit| hit.text.label().is_trusted() && !is_learned(hit)) {
            let words = told_of(hit);
            let known = words.is_empty() || loaded.iter().any(|file| file.contains(&words));
            if known || taken == *most || !seen.insert(hit.key.clone()) {
                continue;
            }
            taken += 1;
            label.absorb(hit.text.label());
            lines.push(line(hit, &words));
            told.push(hit.clone());
        }
    }
    if lines.is_empty() {
        return (nothing, told);
    }
    let words = says::comes_to_mind(&lines.join("\n"));
    (Labelled::new(Arc::from(words), label, nothing.scope()), told)
}

/// What was learned from what went wrong stands at the beginning anyway.
fn is_learned(hit: &EntryHit) -> bool {
    hit.path.split('/').any(|part| part == "learnings")
}

/// What is told of a hit: of a note its name alone, because its words are read when they are
/// needed.
fn told_of(hit: &EntryHit) -> String {
    let words = if hit.kind == EntryKind::Note { hit.name.open().0 } else { hit.text.open().0 };
    one_line(words)
}

fn line(hit: &EntryHit, words: &str) -> String {
    let name = one_line(hit.name.open().0);
    let named = if name.is_empty() || words.starts_with(&name) { words.to_owned() } else { format!("{name}: {words}") };
    let from = if hit.kind == EntryKind::Fact { String::new() } else { format!(" ({})", hit.path) };
    crate::text::defuse(&format!("- {}{from}", shorten(&named, LINE)), "context")
}
