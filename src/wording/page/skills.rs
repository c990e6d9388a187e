//! Sentences about skills and proposals on the page.

use crate::id::ProposalId;
use crate::wording::Language;

/// An empty list of proposals.
pub const NO_PROPOSALS: &str = "Nothing was proposed yet. When the assistant proposes a skill, or a change of one, it \
    stands here until you decide.";
/// An empty list of skills.
pub const NO_SKILLS: &str = "There are no skills yet. Ask your assistant to write one, or put a folder with a SKILL.md \
    into the skills folder.";
/// Title of a proposal.
pub fn title(id: ProposalId, change: &str) -> String {
    format!("Proposal {id}: {change}")
}

/// Instruction above the decision.
pub const READ_TO_THE_END: &str = "You have reached the end of it. Approving makes exactly this live, and nothing that \
    took its place meanwhile.";
/// Refusal: another text was shown.
pub const NOT_WHAT_WAS_SHOWN: &str = "Nothing was changed: this is not the text that you were shown. Here it is as it is \
    now.";
/// Heading of a skill's present text below a refused approval.
pub const SKILL_AS_IT_IS: &str = "The skill as it is now";
/// Remark: a held skill or broken folder has no text in use.
pub const NOT_IN_USE: &str = "Nothing of it is in use.";
/// Remark: restoring counts at once.
pub const RESTORED_AT_ONCE: &str = "The version is used from the next message on. Nothing is lost: the present one stays \
    in this list.";

/// Refusal: the folder was changed after it was shown; the other proposal is about its present
/// content.
pub fn changed_since_shown(id: ProposalId, present: ProposalId) -> String {
    format!(
        "Nothing was changed: proposal {id} is void, because the folder was changed after you were shown it. This is proposal {present}, about its present content."
    )
}

/// Instruction for the word that names what a change newly does.
pub fn word_needed(newly: &str, word: &str) -> String {
    format!("Mind that {newly}. To approve that too, write the word \u{201c}{word}\u{201d}.")
}

/// Refusal: that word is missing.
pub fn word_missing(newly: &str, word: &str) -> String {
    format!("Nothing was changed yet: {newly}. Write the word \u{201c}{word}\u{201d} at the end to approve that too.")
}

/// A decision that counted. `owner` is the name of a person, `way` where they decided.
pub fn decision(act: &str, decider: &str, owner: Option<&str>, way: &str) -> String {
    let done = match act {
        "approve" => "Approved",
        "reject" => "Refused",
        _ => "Void",
    };
    let by = match (decider, owner) {
        ("reviewer", _) => " by the reviewer".to_owned(),
        ("program", _) => " by a rule of the configuration".to_owned(),
        (_, Some(owner)) => format!(" by {owner}"),
        (_, None) => String::new(),
    };
    let place = match way {
        "chat" => " in a chat",
        "page" => " on this page",
        "command line" => " on the command line",
        _ => "",
    };
    format!("{done}{by}{place}")
}

/// Result of a stage, in one sentence. `note` is the stage's own reason.
pub fn stage(stage: &str, outcome: &str, note: &str) -> String {
    let name = stage_name(stage);
    let words = match (stage, outcome) {
        ("taint", "passed") => "no text from outside had a part in it",
        ("taint", _) => "it waits for you",
        ("hash", _) => "it changes something, and was not refused before",
        ("structure", _) => "its files are formed as they must be",
        ("scan", "passed") => "nothing hidden, disguised or imitated was found",
        ("scan", _) => "something hidden, disguised or imitated was found",
        ("effects", "passed") => "it newly does nothing that waits for you",
        ("effects", _) => "it newly does something that waits for you",
        ("reviewer", "passed") => "sees nothing against it",
        ("reviewer", "refused") => "advises against it",
        ("reviewer", "skipped") => "was left out",
        ("reviewer", _) => "gave no verdict",
        _ => "decides",
    };
    let note = if note.is_empty() { String::new() } else { format!(" {note}") };
    format!("{name}: {words}.{note}")
}

/// Name of a stage.
pub fn stage_name(stage: &str) -> &'static str {
    match stage {
        "taint" => "Origin",
        "hash" => "Base",
        "structure" => "Form",
        "scan" => "Scan",
        "effects" => "Effects",
        "reviewer" => "AI reviewer",
        _ => "You",
    }
}

/// Mark of a stage's result.
pub fn mark(outcome: &str) -> &'static str {
    match outcome {
        "passed" => "\u{2713}",
        "waits" => "!",
        "refused" => "\u{2717}",
        _ => "\u{2013}",
    }
}

/// State of a proposal, in a few words.
pub fn state(state: &str) -> String {
    match state {
        "pending" => "waits for you".to_owned(),
        other => crate::wording::review::ended(Language::ENGLISH, other),
    }
}
