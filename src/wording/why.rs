//! Origin of a proposal, a note, a fact or an answer, in plain sentences, with a short trace back
//! to the first text that was not typed here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::language::{Language, Sentence, say};
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

impl TraceStep {
    fn name(self) -> &'static str {
        match self {
            Self::Proposal(_) => "proposal",
            Self::Turn => "answer",
            Self::Message => "message",
            Self::Summary => "summary",
            Self::File => "file",
            Self::Attachment => "attachment",
            Self::Version => "skill",
            Self::Facts => "facts",
        }
    }
}

/// Note that the journal no longer holds the trace.
pub const LOST: Sentence = Sentence("why-lost");

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
pub const FROM_OUTSIDE: Sentence = Sentence("why-from-outside");
/// Result: no text from outside had a part in it.
pub const NOTHING_FROM_OUTSIDE: Sentence = Sentence("why-nothing-from-outside");
/// Refusal: there is no such fact.
pub const NO_FACT: Sentence = Sentence("why-no-fact");
/// Refusal: nothing was answered yet.
pub const NO_ANSWER: Sentence = Sentence("why-no-answer");

/// Sources that had a part in a label with its person's yes.
pub fn accepted(language: Language, label: &Label) -> Vec<String> {
    let vouched: BTreeSet<String> = label.vouched().map(|source| source_in(language, source)).collect();
    let vouched =
        (!vouched.is_empty()).then(|| say!(language, "why-vouched", sources = enumerated(language, &vouched)));
    let skill = label.origins().next().map(|_| say!(language, "why-skill"));
    vouched.into_iter().chain(skill).collect()
}

/// First line about a fact.
pub fn fact(language: Language, fact: &str, path: &str) -> String {
    say!(language, "why-fact", fact = fact, path = path)
}

/// First line about a note.
pub fn note(language: Language, path: &str) -> String {
    say!(language, "why-note", path = path)
}

/// Hand and time of the oldest version that is known.
pub fn written(language: Language, at: &str, origin: &str) -> String {
    say!(language, "why-written", at = at, origin = origin)
}

/// Hand and time of the last of several changes.
pub fn changed(language: Language, count: usize, at: &str, origin: &str) -> String {
    say!(language, "why-changed", count = count, at = at, origin = origin)
}

/// A conversation with the command that shows it.
pub fn conversation(id: ConversationId, opened: &str, surface: Surface) -> String {
    let command = surface.command(&format!("conversations {id}"), &format!("conversations show {id}"));
    say!(surface.language(), "why-conversation", opened = opened, command = command)
}

/// The conversations that something comes from.
pub fn conversations(language: Language, named: &[String], more: usize) -> String {
    let more = (more > 0).then(|| say!(language, "why-more-conversations", count = more));
    let all: Vec<String> = named.iter().cloned().chain(more).collect();
    say!(language, "why-conversations", count = all.len(), conversations = enumerated(language, &all))
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
pub fn answer(language: Language, at: &str, parts: &AnswerParts) -> Vec<String> {
    let mut held = vec![say!(language, "why-messages", count = parts.messages)];
    held.extend(parts.has_history.then(|| say!(language, "why-history")));
    if !parts.conversations.is_empty() {
        let (count, numbers) = (parts.conversations.len(), enumerated(language, &parts.conversations));
        held.push(say!(language, "why-read-conversations", count = count, numbers = numbers));
    }
    let files = || say!(language, "why-files", files = enumerated(language, &parts.files));
    held.extend((!parts.files.is_empty()).then(files));
    let tools = parts.tools.iter().map(|(tool, calls)| match calls {
        1 => format!("`{tool}`"),
        more => say!(language, "why-tool-times", tool = format!("`{tool}`"), count = *more),
    });
    let tools: Vec<String> = tools.collect();
    let mut lines = vec![say!(language, "why-answer", at = at, held = held.join("; "))];
    lines.extend((!tools.is_empty()).then(|| say!(language, "why-tools", tools = enumerated(language, &tools))));
    lines
}

/// Items as `a, b and c`.
fn enumerated<'a, T: fmt::Display + 'a>(language: Language, items: impl IntoIterator<Item = &'a T>) -> String {
    let mut items: Vec<String> = items.into_iter().map(T::to_string).collect();
    match items.pop() {
        Some(last) if !items.is_empty() => say!(language, "enumeration", first = items.join(", "), last = last),
        last => last.unwrap_or_default(),
    }
}

/// Heading of the trace to one source.
pub fn heading(language: Language, source: &Source) -> String {
    let words = source_in(language, source);
    let mut rest = words.chars();
    let first: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("\n**{first}{}**", rest.as_str())
}

/// Number of sources that are not shown.
pub fn more(language: Language, count: usize) -> String {
    format!("\n{}", say!(language, "why-more-sources", count = count))
}

/// First step: creation of the proposal.
pub fn made(origin: &str, at: &str) -> String {
    match origin {
        "turn" => format!("The assistant proposed it ({at}), while it wrote an answer."),
        "note" => format!("It was made from a note ({at})."),
        "import" => format!("You imported it ({at}). Who wrote it is not known here."),
        "folder" => format!("It was found in the skills folder ({at}), put there by hand or by another program."),
        "shipped" => format!("It came with an update of the program ({at})."),
        _ => format!("A reflection of the assistant proposed it ({at})."),
    }
}

/// Step back from `after`, which came later, to `step`. `between` is the number of consecutive
/// answers that are not listed.
pub fn step(language: Language, after: TraceStep, step: TraceStep, at: &str, between: usize) -> String {
    let verb = match (after, step) {
        (TraceStep::Turn, TraceStep::Message) => "given",
        (TraceStep::Turn, TraceStep::Turn | TraceStep::Summary) => "knew",
        (TraceStep::Turn, TraceStep::File | TraceStep::Attachment | TraceStep::Version) => "read",
        _ => "from",
    };
    let thing = match step {
        TraceStep::Turn if between > 0 => say!(language, "why-earlier-answers", at = at, count = between),
        TraceStep::Turn if after == TraceStep::Turn => say!(language, "why-earlier-answer", at = at),
        TraceStep::Proposal(id) => say!(language, "why-proposal", id = id.to_string(), at = at),
        step => say!(language, "why-thing", step = step.name(), at = at),
    };
    say!(language, "why-step", after = after.name(), verb = verb, thing = thing)
}

/// Last step: the source is the result of a tool.
pub fn came_by_tool(language: Language, tool: &str, source: Option<&Source>) -> String {
    let tool = format!("`{tool}`");
    match source {
        Some(source) => say!(language, "why-came-by-tool", tool = tool, source = source_in(language, source)),
        None => say!(language, "why-came-by-tool-alone", tool = tool),
    }
}

/// Last step: the exact origin is unknown.
pub fn came_somehow(language: Language, source: Option<&Source>) -> String {
    match source {
        Some(source) => say!(language, "why-came-somehow", source = source_in(language, source)),
        None => say!(language, "why-came-somehow-alone"),
    }
}

/// Last step other than an answer, which names the source if it is given twice, and the file or the
/// author if it is known. `None` for an item that is itself entirely from outside.
pub fn came_with(
    language: Language,
    last: TraceStep,
    source: &Source,
    named: Option<&Source>,
    name: Option<&str>,
) -> Option<String> {
    if matches!(last, TraceStep::Proposal(_)) && matches!(source.as_str().split(':').next(), Some("import" | "folder"))
    {
        return None;
    }
    let name = name.map(|name| format!(" {}", say!(language, "why-name", name = name))).unwrap_or_default();
    Some(match named {
        Some(source) => {
            let source = source_in(language, source);
            say!(language, "why-came-with", what = last.name(), source = source, name = name)
        }
        None => say!(language, "why-came-with-alone", what = last.name(), name = name),
    })
}

/// Sources of a label, in words, each once.
pub fn all_in_words(language: Language, label: &Label) -> String {
    let mut words: Vec<String> = label.sources().map(|source| source_in(language, source)).collect();
    let mut seen = BTreeSet::new();
    words.retain(|source| seen.insert(source.clone()));
    words.join("; ")
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
                let told = step(Language::ENGLISH, after, next, "2026-11-20 10:01", 0);
                let (first, last) = (told.chars().next().unwrap(), told.chars().last().unwrap());
                assert!(first.is_uppercase() && last == '.' && told.contains("2026-11-20 10:01"), "{told}");
            }
        }
        assert_eq!(
            step(Language::ENGLISH, TraceStep::Turn, TraceStep::Turn, "noon", 2),
            "That answer knew earlier ones, back to one (noon), with 2 more between."
        );
    }

    #[test]
    fn an_import_needs_no_final_trace_step() {
        let proposal = TraceStep::Proposal(ProposalId(1));
        assert_eq!(came_with(Language::ENGLISH, proposal, &Source::new("import", ""), None, None), None);
        let import = Source::import(crate::id::ImportId(1));
        assert_eq!(came_with(Language::ENGLISH, proposal, &import, None, None), None);
        assert!(came_with(Language::ENGLISH, proposal, &Source::unknown(), None, None).is_some());
        assert_eq!(heading(Language::ENGLISH, &Source::web("example.org")), "\n**Text from the web, example.org**");
    }
}
