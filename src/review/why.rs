//! The origin of a proposal: the chain of edges in the journal from the proposal back to the first
//! text from outside, in plain sentences.
//!
//! For each source in its label the chain follows the nodes that carry that source, and ends where
//! no parent carries it any more: the source entered there. Several answers in a row are one step.
//! A chain that is no longer in the journal is reported as lost, not invented.

use std::collections::{BTreeMap, VecDeque};

use crate::id::ProposalId;
use crate::store::{Db, Node, StepKind};
use crate::time::{Timestamp, Zone};
use crate::trust::Source;
use crate::wording::why as says;

/// The maximum number of sources that are traced; the others are only counted.
const MOST_SOURCES: usize = 6;
/// The maximum number of nodes examined for one source.
const MOST_NODES: usize = 20_000;

/// Returns the chains of a proposal as Markdown lines; `None` if there is no such proposal.
pub fn chains(db: Db<'_>, id: ProposalId, zone: Zone) -> anyhow::Result<Option<Vec<String>>> {
    let Some(row) = db.proposals().proposal(id)? else { return Ok(None) };
    if row.label.is_trusted() {
        return Ok(Some(vec![says::clean(id, row.origin.as_str())]));
    }
    let sources: Vec<&Source> = row.label.sources().collect();
    let mut lines = vec![says::tainted(id)];
    for source in sources.iter().take(MOST_SOURCES) {
        // A single source is named where it came in.
        lines.extend((sources.len() > 1).then(|| says::heading(source)));
        let path = follow(db, Node::Proposal(id), source)?;
        lines.extend(path_text(db, &path, source, row.origin.as_str(), zone)?);
    }
    if sources.len() > MOST_SOURCES {
        lines.push(says::more(sources.len() - MOST_SOURCES));
    }
    Ok(Some(lines))
}

/// Returns the nodes from `start` to the point where the source entered.
fn follow(db: Db<'_>, start: Node, source: &Source) -> anyhow::Result<Vec<(Node, Timestamp)>> {
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
            if carries && parent != start && !came_from.contains_key(&parent) && came_from.len() < MOST_NODES {
                came_from.insert(parent, node);
                open.push_back(parent);
            }
            carried |= carries;
        }
        // The search is breadth-first from the proposal, so the first node without a carrying
        // parent ends the shortest chain.
        if !carried {
            end = node;
            break;
        }
    }
    let mut path = vec![end];
    while let Some(next) = path.last().and_then(|node| came_from.get(node)) {
        path.push(*next);
    }
    path.reverse();
    Ok(path.into_iter().filter_map(|node| times.get(&node).map(|at| (node, *at))).collect())
}

/// Returns the path in words, a numbered line for each step if there are several. Answers in a row
/// are one step.
fn path_text(
    db: Db<'_>,
    path: &[(Node, Timestamp)],
    source: &Source,
    origin: &str,
    zone: Zone,
) -> anyhow::Result<Vec<String>> {
    let mut sentences = Vec::new();
    let mut after: Option<says::TraceStep> = None;
    let mut between = 0;
    for (place, (node, at)) in path.iter().enumerate() {
        let (step, at) = (kind(*node), zone.show_short(*at));
        let is_followed = matches!(path.get(place + 1), Some((Node::Turn(_), _)));
        match (after, step) {
            (None, _) => sentences.push(says::made(origin, &at)),
            // The answer that proposed it is reported with the proposal.
            (Some(says::TraceStep::Proposal(_)), says::TraceStep::Turn) if place == 1 => {}
            (Some(says::TraceStep::Turn), says::TraceStep::Turn) if is_followed => between += 1,
            (Some(after), _) => sentences.push(says::step(after, step, &at, std::mem::take(&mut between))),
        }
        after = Some(step);
    }
    sentences.extend(last(db, path, source)?);
    if sentences.len() > 1 {
        let numbered = sentences.iter().enumerate().map(|(place, sentence)| format!("{}. {sentence}", place + 1));
        sentences = numbered.collect();
    }
    Ok(sentences)
}

/// Returns how the source entered, where the path ends.
fn last(db: Db<'_>, path: &[(Node, Timestamp)], source: &Source) -> anyhow::Result<Option<String>> {
    Ok(match path.last() {
        Some((Node::Turn(turn), _)) => {
            let steps = db.turns().steps(*turn)?;
            let carries = |step: &&crate::store::StepRow| step.text.label().sources().any(|known| known == source);
            Some(match steps.iter().filter(|step| step.kind == StepKind::Tool).find(carries) {
                Some(step) => says::came_by_tool(&step.tool, source),
                None => says::came_somehow(source),
            })
        }
        Some((node, _)) => says::came_with(kind(*node), source),
        None => Some(says::LOST.to_owned()),
    })
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
