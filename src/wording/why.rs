//! Origin of a proposal, a note, a fact or an answer, in plain sentences, with a short trace back
//! to the first text that was not typed here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::language::{Language, say};
use super::review::Surface;
use crate::id::{ConversationId, ProposalId};
use crate::trust::{Label, Source};

/// Kind of a trace step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceStep {
    /// A proposal: the traced one, or an earlier one that became a skill.
    Proposal(ProposalId),
    /// An answer.
    Turn,
    /// A message.
    Message,
    /// A conversation summary.
    Summary,
    /// A file of the workspace.
    File,
    /// A file that came with a message.
    Attachment,
    /// A version of a skill.
    Version,
    /// Extracted facts.
    Facts,
}

/// Note that the journal no longer holds the trace.
pub const LOST: &str = "The journal no longer shows where it came from.";

/// Result: no text from outside had a part in the proposal.
pub fn clean(id: ProposalId, origin: &str) -> String {
    let how = match origin {
        "note" => "It was made from a note that you wrote.",
        "shipped" => "It came with an update of the program.",
        "reflection" => "The assistant made it in a reflection on what was typed here.",
        _ => "The assistant made it from what was typed here and the program's own text.",
    };
    format!("Nothing from outside had a part in proposal {id}. {how}")
}

/// Heading: text from outside had a part in the proposal.
pub fn tainted(id: ProposalId) -> String {
    format!("Text that nobody typed here had a part in proposal {id}. How it got there:")
}

/// Heading of the trace of a note, a fact or an answer.
pub const FROM_OUTSIDE: &str = "Text that nobody typed here had a part in it. How it got there:";
/// Result: no text from outside had a part in it.
pub const NOTHING_FROM_OUTSIDE: &str = "Nothing from outside had a part in it.";
/// Refusal: there is no such fact.
pub const NO_FACT: &str = "I know no fact with that key.";
/// Refusal: nothing was answered yet.
pub const NO_ANSWER: &str = "I have not answered you yet.";

/// Sources that had a part in a label with its person's yes.
pub fn accepted(label: &Label) -> Vec<String> {
    let vouched: BTreeSet<String> = label.vouched().map(in_words).collect();
    let vouched = (!vouched.is_empty())
        .then(|| format!("You vouched for something that had a part in it: {}.", enumerated(&vouched)));
    let skill = label.origins().next().map(|_| "An accepted skill by someone else had a part in it.".to_owned());
    vouched.into_iter().chain(skill).collect()
}

/// First line about a fact.
pub fn fact(fact: &str, path: &str) -> String {
    format!("“{fact}” is in {path}.")
}

/// First line about a note.
pub fn note(path: &str) -> String {
    format!("This is about {path}.")
}

/// Hand and time of the oldest version that is known.
pub fn written(at: &str, author: &str, cause: &str) -> String {
    format!("It is known since {at}, from {author}{cause}.")
}

/// Hand and time of the last of several changes.
pub fn changed(count: usize, at: &str, author: &str, cause: &str) -> String {
    let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    format!("It was changed {times} since, last on {at} by {author}{cause}.")
}

/// A conversation with the command that shows it.
pub fn conversation(id: ConversationId, opened: &str, surface: Surface) -> String {
    let command = surface.command(&format!("conversations {id}"), &format!("conversations show {id}"));
    format!("{opened} (`{command}`)")
}

/// The conversations that something comes from.
pub fn conversations(named: &[String], more: usize) -> String {
    let more = (more > 0).then(|| format!("{more} more"));
    let all: Vec<String> = named.iter().cloned().chain(more).collect();
    let conversations = if all.len() == 1 { "conversation" } else { "conversations" };
    format!("It comes from the {conversations} of {}.", enumerated(&all))
}

/// Contents of the prompt of an answer.
#[derive(Debug, Clone, Default, Serialize)]
pub struct AnswerParts {
    /// Number of messages that it answers.
    pub messages: usize,
    /// True if earlier messages of its conversation were in it.
    pub has_history: bool,
    /// Other conversations that were summarised or read.
    pub conversations: BTreeSet<i64>,
    /// Paths of files and notes.
    pub files: BTreeSet<String>,
    /// Tools with the number of their calls.
    pub tools: BTreeMap<String, usize>,
}

/// The last answer, and what its prompt held.
pub fn answer(at: &str, parts: &AnswerParts) -> Vec<String> {
    let mut held = vec![match parts.messages {
        0 => "your answer to a question".to_owned(),
        1 => "your message".to_owned(),
        more => format!("your {more} messages"),
    }];
    held.extend(parts.has_history.then(|| "what was said before in the conversation".to_owned()));
    if !parts.conversations.is_empty() {
        let numbers = enumerated(&parts.conversations);
        let conversations = if parts.conversations.len() == 1 { "conversation" } else { "conversations" };
        held.push(format!("{conversations} {numbers}, summarised or read"));
    }
    held.extend((!parts.files.is_empty()).then(|| format!("the files {}", enumerated(&parts.files))));
    let tools = parts.tools.iter().map(|(tool, calls)| match calls {
        1 => format!("`{tool}`"),
        more => format!("`{tool}` ({more} times)"),
    });
    let tools: Vec<String> = tools.collect();
    let mut lines = vec![format!("For my last answer, of {at}, I had: {}.", held.join("; "))];
    lines.extend((!tools.is_empty()).then(|| format!("I used the tools {}.", enumerated(&tools))));
    lines
}

/// Items as `a, b and c`.
fn enumerated<'a, T: fmt::Display + 'a>(items: impl IntoIterator<Item = &'a T>) -> String {
    let mut items: Vec<String> = items.into_iter().map(T::to_string).collect();
    match items.pop() {
        Some(last) if !items.is_empty() => format!("{} and {last}", items.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// Heading of the trace to one source.
pub fn heading(source: &Source) -> String {
    let words = in_words(source);
    let mut rest = words.chars();
    let first: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("\n**{first}{}**", rest.as_str())
}

/// Number of sources that are not shown.
pub fn more(count: usize) -> String {
    let sources = if count == 1 { "source" } else { "sources" };
    format!("\n{count} more {sources} had a part in it too.")
}

/// First step: creation of the proposal.
pub fn made(origin: &str, at: &str) -> String {
    match origin {
        "turn" => format!("The assistant proposed it on {at}, while it wrote an answer."),
        "note" => format!("It was made from a note on {at}."),
        "import" => format!("You imported it on {at}. Who wrote it is not known here."),
        "folder" => format!("It was found in the skills folder on {at}, put there by hand or by another program."),
        "shipped" => format!("It came with an update of the program on {at}."),
        _ => format!("A reflection of the assistant proposed it on {at}."),
    }
}

/// Step back from `after`, which came later, to `step`. `between` is the number of consecutive
/// answers that are not listed.
pub fn step(after: TraceStep, step: TraceStep, at: &str, between: usize) -> String {
    let subject = match after {
        TraceStep::Proposal(_) => "It",
        TraceStep::Turn => "That answer",
        TraceStep::Message => "That message",
        TraceStep::Summary => "That summary",
        TraceStep::File | TraceStep::Attachment => "That file",
        TraceStep::Version => "That skill",
        TraceStep::Facts => "That list of facts",
    };
    let verb = match (after, step) {
        (TraceStep::Turn, TraceStep::Message) => "was given to",
        (TraceStep::Turn, TraceStep::Turn | TraceStep::Summary) => "knew",
        (TraceStep::Turn, TraceStep::File | TraceStep::Attachment | TraceStep::Version) => "had read",
        _ => "came from",
    };
    let thing = match step {
        TraceStep::Proposal(id) => format!("proposal {id}, made on {at}"),
        TraceStep::Turn if between > 0 => {
            format!("earlier ones, back to the answer of {at}, with {between} more between")
        }
        TraceStep::Turn if after == TraceStep::Turn => format!("an earlier one, of {at}"),
        TraceStep::Turn => format!("an answer of {at}"),
        TraceStep::Message => format!("a message of {at}"),
        TraceStep::Summary => format!("the summary of an earlier conversation, written on {at}"),
        TraceStep::File => format!("a file of the workspace, written on {at}"),
        TraceStep::Attachment => format!("a file that was sent on {at}"),
        TraceStep::Version => format!("a skill as it was on {at}"),
        TraceStep::Facts => format!("the facts that were extracted on {at}"),
    };
    format!("{subject} {verb} {thing}.")
}

/// Last step: the source is the result of a tool.
pub fn came_by_tool(tool: &str, source: Option<&Source>) -> String {
    let came = source.map_or(String::new(), |source| format!(", and what came back was {}", in_words(source)));
    format!("It came in here: the assistant used `{tool}`{came}.")
}

/// Last step: the exact origin is unknown.
pub fn came_somehow(source: Option<&Source>) -> String {
    match source {
        Some(source) => format!("It came in here: what was read for that answer held {}.", in_words(source)),
        None => "It came in here, with what was read for that answer.".to_owned(),
    }
}

/// Last step other than an answer, which names the source if it is given twice. `None` for an item
/// that is itself entirely from outside.
pub fn came_with(last: TraceStep, source: &Source, named: Option<&Source>) -> Option<String> {
    let what = match last {
        TraceStep::Proposal(_) if matches!(source.as_str().split(':').next(), Some("import" | "folder")) => {
            return None;
        }
        TraceStep::Message => "the message",
        TraceStep::Proposal(_)
        | TraceStep::Turn
        | TraceStep::Summary
        | TraceStep::File
        | TraceStep::Attachment
        | TraceStep::Version
        | TraceStep::Facts => "it",
    };
    Some(match named {
        Some(source) => format!("It came in here: {what} held {}.", in_words(source)),
        None => format!("It came in here, with {what}."),
    })
}

/// Sources of a label, in words, each once.
pub fn all_in_words(language: Language, label: &Label) -> String {
    let mut words: Vec<String> = label.sources().map(|source| source_in(language, source)).collect();
    let mut seen = BTreeSet::new();
    words.retain(|source| seen.insert(source.clone()));
    words.join("; ")
}

/// A source in words.
pub fn in_words(source: &Source) -> String {
    source_in(Language::ENGLISH, source)
}

/// A source in the words of a language.
pub fn source_in(language: Language, source: &Source) -> String {
    let (kind, detail) = source.as_str().split_once(':').unwrap_or((source.as_str(), ""));
    say!(language, "source", kind = kind, detail = detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_a_whole_sentence() {
        let all = [
            TraceStep::Proposal(ProposalId(3)),
            TraceStep::Turn,
            TraceStep::Message,
            TraceStep::Summary,
            TraceStep::File,
            TraceStep::Attachment,
            TraceStep::Version,
        ];
        for after in all {
            for next in all {
                let told = step(after, next, "2026-11-20 10:01", 0);
                let (first, last) = (told.chars().next().unwrap(), told.chars().last().unwrap());
                assert!(first.is_uppercase() && last == '.' && told.contains("2026-11-20 10:01"), "{told}");
            }
        }
        assert_eq!(
            step(TraceStep::Turn, TraceStep::Turn, "noon", 2),
            "That answer knew earlier ones, back to the answer of noon, with 2 more between."
        );
    }

    #[test]
    fn an_import_needs_no_final_trace_step() {
        let proposal = TraceStep::Proposal(ProposalId(1));
        assert_eq!(came_with(proposal, &Source::new("import", ""), None), None);
        assert_eq!(came_with(proposal, &Source::import(crate::id::ImportId(1)), None), None);
        assert!(came_with(proposal, &Source::unknown(), None).is_some());
        assert_eq!(heading(&Source::web("example.org")), "\n**Text from the web, example.org**");
    }
}
