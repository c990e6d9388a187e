//! The origin of text from outside: the chain of edges in the journal from a proposal, a file or an
//! answer back to the first text from outside, in plain sentences.
//!
//! For each source in a label the chain follows the nodes that carry that source, and ends where
//! no parent carries it any more: the source entered there. Several answers in a row are one step.
//! A chain that is no longer in the journal is reported as lost, not invented.

use std::collections::{BTreeMap, VecDeque};

use crate::id::{FileId, ProposalId};
use crate::store::{Db, Node, StepKind, TextKind};
use crate::text::{escape_markdown, one_line};
use crate::time::Timestamp;
use crate::trust::{Label, Source};
use crate::wording::{Language, Locale, Sentence, why as says};

/// The maximum number of sources that are traced; the others are only counted.
const MOST_SOURCES: usize = 6;
/// The maximum number of nodes examined for one source.
const MOST_NODES: usize = 20_000;

/// Nodes from the asked one to where the source entered.
type Path = Vec<(Node, Timestamp)>;

/// Returns the origin of a proposal as Markdown lines; `None` if there is no such proposal.
pub fn of_proposal(db: Db<'_>, id: ProposalId, locale: Locale) -> anyhow::Result<Option<Vec<String>>> {
    let Some(row) = db.proposals().proposal(id)? else { return Ok(None) };
    if row.label.is_trusted() {
        return Ok(Some(vec![says::clean(id, row.origin.as_str())]));
    }
    let starts = [(Node::Proposal(id), row.label.clone())];
    let mut lines = vec![says::tainted(id)];
    lines.extend(chains(db, &starts, &row.label, Some(row.origin.as_str()), locale)?);
    Ok(Some(lines))
}

/// Returns what had a part in a label from outside, as Markdown lines. Each source is followed from
/// the first of the nodes whose label has it.
pub fn outside(db: Db<'_>, starts: &[(Node, Label)], label: &Label, locale: Locale) -> anyhow::Result<Vec<String>> {
    let words = |sentence: Sentence| sentence.in_language(locale.language).into_string();
    let mut lines = says::accepted(locale.language, label);
    if label.is_trusted() {
        lines.extend(lines.is_empty().then(|| words(says::NOTHING_FROM_OUTSIDE)));
    } else {
        lines.push(words(says::FROM_OUTSIDE));
        lines.extend(chains(db, starts, label, None, locale)?);
    }
    Ok(lines)
}

/// Returns the chain of each source. `origin` is that of a proposal, which begins its own chain.
fn chains(
    db: Db<'_>,
    starts: &[(Node, Label)],
    label: &Label,
    origin: Option<&str>,
    locale: Locale,
) -> anyhow::Result<Vec<String>> {
    let in_words = |source: &Source| says::source_in(locale.language, source);
    let mut traced: Vec<(&Source, Path)> = Vec::new();
    for source in label.sources().take(MOST_SOURCES) {
        let start = starts.iter().find(|(_, of)| of.sources().any(|known| known == source));
        let path = start.map_or_else(|| Ok(Vec::new()), |(node, _)| follow(db, *node, source))?;
        let words = in_words(source);
        // A file that was sent has two sources: the file, and the message that held it.
        if !traced.iter().any(|(known, same)| in_words(known) == words && *same == path) {
            traced.push((source, path));
        }
    }
    let mut lines = Vec::new();
    for (source, path) in &traced {
        // A single source is named where it came in, several in their headings.
        let is_single = traced.len() == 1;
        lines.extend((!is_single).then(|| says::heading(locale.language, source)));
        lines.extend(path_text(db, path, (source, is_single.then_some(*source)), origin, locale)?);
    }
    let more = label.sources().count().saturating_sub(MOST_SOURCES);
    lines.extend((more > 0).then(|| says::more(locale.language, more)));
    Ok(lines)
}

/// Returns the nodes from `start` to the point where the source entered.
fn follow(db: Db<'_>, start: Node, source: &Source) -> anyhow::Result<Path> {
    let mut came_from: BTreeMap<Node, Node> = BTreeMap::new();
    let mut times: BTreeMap<Node, Timestamp> = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    let mut end = start;
    while let Some(node) = open.pop_front() {
        let Some((at, _)) = db.derivations().birth(node)? else { continue };
        times.insert(node, at);
        let mut carried = false;
        for parent in db.derivations().parents(node)? {
            let carries =
                db.derivations().birth(parent)?.is_some_and(|(_, label)| label.sources().any(|known| known == source));
            let is_known = parent == start || came_from.contains_key(&parent);
            if carries && !is_known && came_from.len() < MOST_NODES {
                came_from.insert(parent, node);
                open.push_back(parent);
            }
            // An answer and the file that it wrote derive from each other.
            carried |= carries && !(is_known && path_to(node, &came_from).contains(&parent));
        }
        // The search is breadth-first, so the first node without a carrying
        // parent ends the shortest chain.
        if !carried {
            end = node;
            break;
        }
    }
    let path = path_to(end, &came_from);
    Ok(path.into_iter().filter_map(|node| times.get(&node).map(|at| (node, *at))).collect())
}

/// Returns the nodes from the start to that node.
fn path_to(node: Node, came_from: &BTreeMap<Node, Node>) -> Vec<Node> {
    let mut path: Vec<Node> = std::iter::successors(Some(node), |node| came_from.get(node).copied()).collect();
    path.reverse();
    path
}

/// Returns the path in words, a numbered line for each step if there are several. Answers in a row
/// are one step. The source is named at the end if it is given twice.
fn path_text(
    db: Db<'_>,
    path: &[(Node, Timestamp)],
    (source, named): (&Source, Option<&Source>),
    origin: Option<&str>,
    locale: Locale,
) -> anyhow::Result<Vec<String>> {
    let mut sentences = Vec::new();
    let mut after: Option<says::TraceStep> = None;
    let mut between = 0;
    for (place, (node, at)) in path.iter().enumerate() {
        let (step, at) = (kind(*node), locale.near(*at));
        let is_followed = matches!(path.get(place + 1), Some((Node::Turn(_), _)));
        match (after, step) {
            (None, _) => sentences.extend(origin.map(|origin| says::made(origin, &at))),
            // The answer that proposed it is reported with the proposal.
            (Some(says::TraceStep::Proposal(_)), says::TraceStep::Turn) if place == 1 => {}
            (Some(says::TraceStep::Turn), says::TraceStep::Turn) if is_followed => between += 1,
            (Some(after), _) => {
                sentences.push(says::step(locale.language, after, step, &at, std::mem::take(&mut between)));
            }
        }
        after = Some(step);
    }
    sentences.extend(last(db, path, (source, named), locale.language)?);
    if sentences.len() > 1 {
        let numbered = sentences.iter().enumerate().map(|(place, sentence)| format!("{}. {sentence}", place + 1));
        sentences = numbered.collect();
    }
    Ok(sentences)
}

/// Returns how the source entered, where the path ends.
fn last(
    db: Db<'_>,
    path: &[(Node, Timestamp)],
    (source, named): (&Source, Option<&Source>),
    language: Language,
) -> anyhow::Result<Option<String>> {
    Ok(match path.last() {
        Some((Node::Turn(turn), _)) => {
            let steps = db.turns().steps(*turn)?;
            let carries = |step: &&crate::store::StepRow| step.text.label().sources().any(|known| known == source);
            Some(match steps.iter().filter(|step| step.kind == StepKind::Tool).find(carries) {
                Some(step) => says::came_by_tool(language, &step.tool, named),
                None => says::came_somehow(language, named),
            })
        }
        Some((node, _)) => {
            let name = name_of(db, *node, source)?.map(|name| escape_markdown(&one_line(&name)));
            says::came_with(language, kind(*node), source, named, name.as_deref())
        }
        None => Some(says::LOST.in_language(language).into_string()),
    })
}

/// Returns the name by which a person knows the text of a node that carries that source: of a file,
/// or of the author of a forwarded message.
fn name_of(db: Db<'_>, node: Node, source: &Source) -> anyhow::Result<Option<String>> {
    let message = match node {
        Node::File(id) => {
            let name = |path: String| path.rsplit('/').next().unwrap_or_default().to_owned();
            return Ok(db.file_versions().file_row(FileId(id))?.map(|row| name(row.path)));
        }
        Node::Attachment(id) => db.attachments().message_of_attachment(id)?,
        Node::Message(id) => Some(id),
        _ => None,
    };
    let Some(message) = message else { return Ok(None) };
    let carries = |label: &Label| label.sources().any(|known| known == source);
    let files = db.attachments().attachments_of(message)?;
    let file = files.into_iter().find(|file| carries(&file.label));
    let file = file.map(|file| if file.remote.name.is_empty() { file.path } else { file.remote.name });
    let texts = db.messages().texts_of(message)?;
    let author = texts.iter().find(|text| text.kind == TextKind::ForwardedFrom && carries(text.text.label()));
    Ok(file.or_else(|| author.map(|author| author.text.open().0.to_string())).filter(|name| !name.is_empty()))
}

fn kind(node: Node) -> says::TraceStep {
    match node {
        Node::Proposal(id) => says::TraceStep::Proposal(id),
        Node::Turn(_) => says::TraceStep::Turn,
        Node::Message(_) => says::TraceStep::Message,
        Node::Summary(_) => says::TraceStep::Summary,
        Node::File(_) => says::TraceStep::File,
        Node::Attachment(_) => says::TraceStep::Attachment,
        Node::Version(_) => says::TraceStep::Version,
        Node::Extraction(_) | Node::Erasure(_) => says::TraceStep::Facts,
        Node::Compaction(_) => says::TraceStep::Summary,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::VersionId;
    use crate::store::Journal;
    use crate::time::Zone;
    use crate::wording::{review, skill};

    /// Promise (trust/one-origin): The card of a proposal, `/why`, `/pending` and the page agree about each
    /// text whether something from outside had a part in it.
    #[tokio::test]
    async fn every_surface_agrees_whether_something_from_outside_had_a_part() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&folder.path().join("j.db"), None).unwrap();
        let (bill, page) = (Source::file(1), Source::web("example.org"));
        let (sent, read) = (Label::untrusted(bill.clone()), Label::untrusted(page));
        let vouched = sent.vouched_for(&std::collections::BTreeSet::from([bill]));
        let skill = Label::approved(VersionId(1));
        let own = Label::neutral();
        let all = [own, skill, vouched, sent, read];
        for label in all.iter().flat_map(|one| all.iter().map(move |other| one.join_with(other))) {
            let locale = Locale { language: Language::ENGLISH, zone: Zone::UTC, now: Timestamp(0) };
            let of = label.clone();
            let lines = journal.read_now(|db| outside(db, &[], &of, locale)).unwrap().join(" ");
            let is_outside = !label.is_trusted();
            assert_eq!(
                lines.contains(&*says::FROM_OUTSIDE.in_language(Language::ENGLISH)),
                is_outside,
                "{label:?}: {lines}"
            );
            let nothing = lines.contains(&*says::NOTHING_FROM_OUTSIDE.in_language(Language::ENGLISH));
            assert_eq!(nothing, !label.asks_before_leaving(), "{label:?}: {lines}");
            let sources = says::all_in_words(Language::ENGLISH, &label);
            assert_eq!(!sources.is_empty(), is_outside, "{label:?}");
            let standing = review::standing(Language::ENGLISH, &sources, &[], "later");
            assert_eq!(standing.contains("text from outside"), is_outside, "{label:?}: {standing}");
            let card = if label.is_trusted_here() { skill::vouched_for(&label) } else { skill::tainted(&label) };
            assert_eq!(card.contains(&sources) && !sources.is_empty(), is_outside, "{label:?}: {card}");
        }
    }
}
