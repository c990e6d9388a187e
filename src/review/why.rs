//! Where a proposal comes from: the chain of edges in the journal from it back to the first text
//! that came from outside, told in plain sentences.
//!
//! For each source in its label the chain follows whatever carries that source, and ends where
//! nothing that it grew from carries it any more: there it came in. Many answers in a row are one
//! step. A chain that the journal does not hold any more is said to be lost, not made up.

use std::collections::{BTreeMap, VecDeque};

use crate::id::ProposalId;
use crate::store::{Db, Node};
use crate::time::{Timestamp, Zone};
use crate::trust::Source;
use crate::wording::why as says;

/// So many sources are followed; the others are named only.
const MOST_SOURCES: usize = 6;
/// So many nodes are looked at for one source.
const MOST_NODES: usize = 20_000;

/// The chains of a proposal as Markdown lines; `None` if there is no such proposal.
pub fn chains(db: Db<'_>, id: ProposalId, zone: Zone) -> anyhow::Result<Option<Vec<String>>> {
    let Some(row) = db.proposals().proposal(id)? else { return Ok(None) };
    if row.label.is_trusted() {
        return Ok(Some(vec![says::clean(id, &row.origin)]));
    }
    let sources: Vec<&Source> = row.label.sources().collect();
    let mut lines = vec![says::tainted(id)];
    for source in sources.iter().take(MOST_SOURCES) {
        lines.push(says::heading(source));
        let path = follow(db, Node::Proposal(id), source)?;
        lines.extend(told(db, &path, source, &row.origin, zone)?);
    }
    if sources.len() > MOST_SOURCES {
        lines.push(says::more(sources.len() - MOST_SOURCES));
    }
    Ok(Some(lines))
}

/// The nodes from `start` to where the source came in.
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
        // The first that nothing it grew from explains, seen from the proposal: the shortest chain.
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

/// The path in words, a numbered line for each step if there are several. Answers in a row are one
/// step.
fn told(
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
        let goes_on = matches!(path.get(place + 1), Some((Node::Turn(_), _)));
        match (after, step) {
            (None, _) => sentences.push(says::made(origin, &at)),
            // The answer in which it was proposed is told with the proposal.
            (Some(says::TraceStep::Proposal(_)), says::TraceStep::Turn) if place == 1 => {}
            (Some(says::TraceStep::Turn), says::TraceStep::Turn) if goes_on => between += 1,
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

/// How it came in, where the path ends.
fn last(db: Db<'_>, path: &[(Node, Timestamp)], source: &Source) -> anyhow::Result<Option<String>> {
    Ok(match path.last() {
        Some((Node::Turn(turn), _)) => {
            let steps = db.turns().steps(*turn)?;
            let carries = |step: &&crate::store::StepRow| step.text.label().sources().any(|known| known == source);
            Some(match steps.iter().filter(|step| step.kind == "tool").find(carries) {
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
        Node::Extraction(_) | Node::Forgetting(_) => says::TraceStep::Facts,
        Node::Compaction(_) => says::TraceStep::Summary,
    }
}
