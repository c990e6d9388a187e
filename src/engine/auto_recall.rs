//! Automatic recall: it brings the most important facts so far, and entries related to the first
//! messages. The search runs once, before the first answer, and its result stays fixed. Only
//! trusted entries are recalled, and only trusted messages are used as the query: forwarded text
//! cannot choose which memories the assistant sees. Entries that are loaded anyway are left out.
//! Automatic recall does not count as use, so frequently shown entries do not rank higher for being
//! shown. The search is lexical and has a short time limit; if it fails, nothing is recalled and
//! the answer comes all the same.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::Engine;
use super::context::TurnContext;
use crate::id::MessageId;
use crate::memory::TurnFiles;
use crate::people::Party;
use crate::search::{EntryHit, EntryQuery};
use crate::store::{Db, EntryKind, Node};
use crate::text::{defuse, one_line, shorten};
use crate::time::Zone;
use crate::trust::{Labelled, Text};
use crate::wording;

/// Maximum number of facts recalled for their importance.
const SALIENT: usize = 10;
/// Maximum number of entries recalled for the first messages.
const RELATED: usize = 3;
/// Extra candidates to fetch, because some are loaded anyway.
const MORE_RECALLED: usize = 20;
/// Maximum length of a line, in characters.
const RECALL_LINE: usize = 300;
/// Time limit of the search.
const RECALL_PATIENCE: Duration = Duration::from_millis(500);

/// Returns the recalled memories for the first messages of a conversation, and the sources of these
/// and of the opening.
pub async fn for_messages(
    engine: &Arc<Engine>,
    inputs: &TurnContext,
    messages: Vec<MessageId>,
) -> anyhow::Result<(Text, Vec<Node>)> {
    let read = move |db: Db<'_>| {
        let texts: Vec<_> = messages.iter().map(|id| db.messages().texts_of(*id)).collect::<anyhow::Result<_>>()?;
        Ok(texts.into_iter().flatten().map(|text| text.text).collect::<Vec<Text>>())
    };
    let words = engine.journal.read(read).await?;
    let (recalled, mut from) = recalled(engine, &inputs.party, &words, &inputs.loaded).await;
    from.extend(engine.workspace.notes().learned_from(&inputs.party).await?);
    Ok((recalled, from))
}

/// Returns the recalled memories for these first messages, most important facts and related
/// entries, and their sources. Blank if there are none. Trusted only.
async fn recalled(engine: &Arc<Engine>, party: &Party, words: &[Text], loaded: &TurnFiles) -> (Text, Vec<Node>) {
    let nothing = (wording::own("", party.scope()), Vec::new());
    if !engine.memory.enabled {
        return nothing;
    }
    let clock = &engine.clock;
    let search = async {
        let hits = tokio::select! {
            hits = search_hits(engine, party, words) => hits?,
            _late = clock.wake_at(clock.now().plus(RECALL_PATIENCE)) => Vec::new(),
        };
        let zone = engine.zone_of(party.scope()).await?;
        let (text, hits) = render_hits(&hits, loaded, zone, nothing.0.clone());
        let nodes = if hits.is_empty() { Vec::new() } else { engine.index.origins(&hits).await? };
        anyhow::Ok((text, nodes))
    };
    search.await.unwrap_or_else(|error| {
        tracing::warn!("Nothing comes to mind, because the index cannot be searched: {error:#}");
        nothing
    })
}

/// Hits in order, with the maximum number of each kind.
async fn search_hits(
    engine: &Arc<Engine>,
    party: &Party,
    words: &[Text],
) -> anyhow::Result<Vec<(usize, Vec<EntryHit>)>> {
    let index = &engine.index;
    let mut salient = index.salient(party, SALIENT + MORE_RECALLED).await?;
    salient.retain(|hit| hit.kind == EntryKind::Fact);
    let mut related = Vec::new();
    if let Some(words) = trusted_query(words, party) {
        // Files about identity and working style are loaded anyway.
        let kinds = vec![EntryKind::Fact, EntryKind::Note, EntryKind::Day];
        let (limit, unasked) = (RELATED + MORE_RECALLED, index.unasked_memories(party).await?);
        let question = EntryQuery { kinds, limit, unasked, ..EntryQuery::of(party, words) };
        related = index.search(&question).await?.hits;
    }
    Ok(vec![(RELATED, related), (SALIENT, salient)])
}

/// Joins the trusted ones of the first messages into one text.
fn trusted_query(words: &[Text], party: &Party) -> Option<Text> {
    let trusted: Vec<&Text> = words.iter().filter(|text| text.label().is_trusted()).collect();
    let label = trusted.first()?.label().clone();
    let joined: Vec<&str> = trusted.iter().map(|text| &**text.open().0).collect();
    Some(Labelled::new(Arc::from(joined.join("\n")), label, party.scope()))
}

/// Renders the hits, each once, without those that are loaded anyway. Returns the rendered hits
/// too.
fn render_hits(
    hits: &[(usize, Vec<EntryHit>)],
    loaded: &TurnFiles,
    zone: Zone,
    nothing: Text,
) -> (Text, Vec<EntryHit>) {
    let loaded = loaded.lines();
    let mut label = nothing.label().clone();
    let (mut seen, mut lines, mut told) = (BTreeSet::new(), Vec::new(), Vec::new());
    for (most, hits) in hits {
        let mut taken = 0;
        for hit in hits.iter().filter(|hit| hit.text.label().is_trusted() && !is_learned(hit)) {
            let words = hit_text(hit);
            let known = words.is_empty() || loaded.iter().any(|file| file.contains(&words));
            if known || taken == *most || !seen.insert(hit.key.clone()) {
                continue;
            }
            taken += 1;
            label.absorb(hit.text.label());
            lines.push(hit_line(hit, &words, &zone.day(hit.at)));
            told.push(hit.clone());
        }
    }
    if lines.is_empty() {
        return (nothing, told);
    }
    let words = wording::agent_memory::comes_to_mind(&lines.join("\n"));
    (Labelled::new(Arc::from(words), label, nothing.scope()), told)
}

/// Lessons are in the opening anyway.
fn is_learned(hit: &EntryHit) -> bool {
    hit.path.split('/').any(|part| part == "learnings")
}

/// Text of a hit: only the name for a note, whose content is read on demand.
fn hit_text(hit: &EntryHit) -> String {
    let words = if hit.kind == EntryKind::Note { hit.name.open().0 } else { hit.text.open().0 };
    one_line(words)
}

/// Renders a hit with its day, which the path of a daily note names already.
fn hit_line(hit: &EntryHit, words: &str, day: &str) -> String {
    let name = one_line(hit.name.open().0);
    let named = if name.is_empty() || words.starts_with(&name) { words.to_owned() } else { format!("{name}: {words}") };
    let from = match hit.kind {
        EntryKind::Fact => day.to_owned(),
        EntryKind::Day => hit.path.clone(),
        _ => format!("{}, {day}", hit.path),
    };
    defuse(&format!("- {} ({from})", shorten(&named, RECALL_LINE)), "context")
}
