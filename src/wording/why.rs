//! Where a proposal comes from, in words.

use crate::id::ProposalId;
use crate::trust::Source;

/// The journal does not know any more.
pub const LOST: &str = "- The journal does not hold the way back any more.";

/// Nothing from outside had a part in it.
pub fn clean(id: ProposalId) -> String {
    format!(
        "Nothing from outside had a part in proposal {id}: it was made of what people here typed, and of the program's own words."
    )
}

/// Something from outside had.
pub fn tainted(id: ProposalId) -> String {
    format!("Text from outside had a part in proposal {id}. This is the way it came, from the proposal backwards:")
}

/// One source.
pub fn heading(source: &Source) -> String {
    format!("\n**{}** (`{source}`)", in_words(source))
}

/// Others are not told.
pub fn more(count: usize) -> String {
    format!("\nAnd {count} more sources.")
}

/// Answers in a row.
pub fn further_answers(count: usize) -> String {
    match count {
        1 => "- One more answer lies between.".to_owned(),
        _ => format!("- {count} more answers lie between."),
    }
}

/// Where a clean one was made.
pub fn origin(origin: &str) -> String {
    match origin {
        "note" => "It was made from a note that you wrote.",
        "shipped" => "It came with an update of the program.",
        _ => "The assistant proposed it in an answer.",
    }
    .to_owned()
}

/// The last step.
pub fn came_by_tool(tool: &str, source: &Source) -> String {
    format!(
        "- In that answer the assistant used `{tool}`, and what came back was {}. That is where it came in.",
        in_words(source)
    )
}

/// The last step.
pub fn came_somehow(source: &Source) -> String {
    format!("- What that answer read held {}. That is where it came in.", in_words(source))
}

/// What a source is.
pub fn in_words(source: &Source) -> String {
    let (kind, detail) = source.as_str().split_once(':').unwrap_or((source.as_str(), ""));
    match kind {
        "web" => format!("text from the web, {detail}"),
        "file" => "the content of a file".to_owned(),
        "forward" => "words that somebody else wrote and that were passed on".to_owned(),
        "quote" => "a quote of somebody else's words".to_owned(),
        "via_bot" => "words that another bot wrote".to_owned(),
        "stdin" => "text that was piped in".to_owned(),
        "tool" => format!("what the outside tool {detail} gave"),
        "guest" => format!("the words of guest {detail}"),
        "import" => "something brought in from elsewhere".to_owned(),
        "folder" => "a file in the skills folder".to_owned(),
        _ => "text of unknown origin".to_owned(),
    }
}

/// One step of the way.
pub fn step(kind: Step, at: &str, origin: &str) -> String {
    match kind {
        Step::Proposal if origin == "turn" => format!("- The proposal was made on {at},"),
        Step::Proposal => format!("- The proposal was staged on {at}."),
        Step::Turn => format!("- in the answer that was begun on {at}."),
        Step::Message => format!("- That answered a message of {at}."),
        Step::Summary => format!("- That knew the summary of an earlier conversation, written on {at}."),
        Step::File => format!("- That had read a file of the workspace, written on {at}."),
        Step::Attachment => format!("- That had read a file that was sent on {at}."),
        Step::Version => format!("- That had loaded a skill as it was on {at}."),
    }
}

/// Where it came in, if not by a tool.
pub fn came_with(kind: Step, source: &Source, origin: &str) -> String {
    match (kind, origin) {
        (Step::Proposal, "import") => "- You imported it. Who wrote it is not known here.".to_owned(),
        (Step::Proposal, "folder") => "- It was put into the skills folder by hand or by another program.".to_owned(),
        (Step::Message, _) => format!("- The message held {}. That is where it came in.", in_words(source)),
        _ => format!("- It held {}. That is where it came in.", in_words(source)),
    }
}

/// What a step of the way is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The proposal itself.
    Proposal,
    /// An answer.
    Turn,
    /// What somebody said.
    Message,
    /// The end of a conversation, written down.
    Summary,
    /// A file of the workspace.
    File,
    /// A file that came with a message.
    Attachment,
    /// A skill.
    Version,
}
