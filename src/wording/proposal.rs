//! What a model and the owner read about proposals.

use super::ProgramText;
use super::review_command::Surface;
use super::why::all_in_words;
use crate::id::ProposalId;
use crate::trust::Label;

/// Why a proposal waits.
pub const FROM_A_NOTE: &str = "What is made from a note is yours to decide.";
/// Why a proposal waits.
pub const FROM_A_SKILL: &str = "A skill of a third party had a part in it.";
/// Why a proposal waits.
pub const SHIPPED: &str = "You changed this skill, so its newer version is yours to decide.";
/// Why a proposal waits.
pub const NOT_THE_OWNERS: &str = "It comes from a conversation with somebody who is not an owner.";
/// Why a proposal waits.
pub const PASTED_AMONG: &str = "Among what the reflection looked back on stands a message with a quoted or code block, or one of more than 1,000 characters.";
/// Why a draft is refused.
pub const REFLECTION_OF_A_MEMBER: &str = "Only what an owner's own reflection proposes goes to the gate.";
/// Why no reviewer was asked.
pub const NOT_REVIEWED: &str = "Not asked: `[reflection] review_mode = \"none\"` leaves it out.";
/// Why a proposal waits.
pub const HAS_A_QUOTE: &str = "The message that led to it answers a quoted one.";
/// Why a proposal waits.
pub const HAS_A_BLOCK: &str = "The message that led to it holds a quoted or code block.";
/// Why a proposal waits.
pub const IS_LONG: &str = "More than 1,000 characters were typed or pasted in the message that led to it.";
/// Why a proposal waits.
pub const PASTED_EARLIER: &str =
    "Earlier in the conversation stands a message with a quoted or code block, or one of more than 1,000 characters.";
/// Why a proposal waits.
pub const NOTHING_TYPED: &str = "Nobody typed anything that asks for it.";
/// Why a draft is refused.
pub const NO_CHANGE: &str = "The skill has exactly this content already.";
/// Why a draft is refused.
pub const DELETE_HAS_NO_FILES: &str = "To delete a skill, give no files; to take a file out of it, edit the skill.";
/// Why a draft is refused.
pub const FILE_TWICE: &str = "The same path stands twice in `files`.";

/// Why a proposal waits, whatever the policy.
pub fn tainted(label: &Label) -> String {
    format!("Text from outside had a part in it: {}.", all_in_words(label))
}

/// Why a tainted draft is not even kept.
pub fn tainted_refused(label: &Label) -> String {
    format!(
        "Text from outside had a part in this ({}), and the owner has chosen that such proposals are not kept.",
        all_in_words(label)
    )
}

/// There is nothing to be changed.
pub fn no_such_skill(name: &str) -> String {
    format!("There is no skill named {:?}.", crate::text::shorten(name, 80))
}

/// A rename would lead onto something.
pub fn name_is_taken(name: &str) -> String {
    format!("Something named {:?} lies in the skills folder already.", crate::text::shorten(name, 80))
}

/// It may not be built upon.
pub fn base_is_held(name: &str) -> String {
    let name = crate::text::shorten(name, 80);
    format!(
        "What lies in the folder of the skill {name:?} is held back, or cannot be read as a skill: it waits for the owner. Nothing can be made of it until then."
    )
}

/// There is nothing to be taken out.
pub fn no_such_file(path: &str) -> String {
    format!("The skill has no file {:?}.", crate::text::shorten(path, 200))
}

/// It was refused once.
pub fn rejected_before(id: ProposalId, reason: &str) -> String {
    let because = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
    format!("Exactly this was proposed before as number {id}, and the owner refused it{because}.")
}

/// The owner has enough to read.
pub fn too_many_wait(count: usize) -> String {
    format!("{count} proposals of this kind wait for the owner already; none is added until some are decided.")
}

/// What the scan says.
pub fn findings(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "One place in it looks like an attack or would not be seen.".to_owned(),
        _ => format!("{count} places in it look like an attack or would not be seen."),
    }
}

/// Why a built-in is offered.
pub const NEWER_BUILTIN: &str = "This skill ships with the program, and a newer version came with an update. You have changed yours, so it was kept. With a yes the newer one takes its place; yours stays among its versions.";
/// The reviewer could not be asked.
pub const REVIEW_IMPOSSIBLE: &str = "The reviewer could not be asked.";
/// Before the reason that a proposal gives.
pub const RATIONALE: &str = "Its reason, in its own words:";
/// The rows are not what was staged.
pub const TAMPERED: &str =
    "What the journal holds of this proposal is not what was staged. It cannot be approved; reject it.";
/// A button.
pub const APPROVE: &str = "Approve";
/// A button.
pub const REJECT: &str = "Reject";
/// A button.
pub const WHY: &str = "Where from?";

/// What a proposal would do.
pub fn title(id: ProposalId, origin: &str, change: &str, skill: &str, new_name: &str) -> String {
    let what = match (origin, change) {
        ("folder", _) => format!("use the skill `{skill}` as it lies in the skills folder"),
        (_, "create") => format!("add the skill `{skill}`"),
        (_, "delete") => format!("delete the skill `{skill}`"),
        (_, "rename") => format!("rename the skill `{skill}` to `{new_name}`"),
        _ => format!("change the skill `{skill}`"),
    };
    format!("**Proposal {id}: {what}**")
}

/// Where a proposal comes from.
pub fn origin(origin: &str) -> String {
    match origin {
        "turn" => "The assistant proposes it.",
        "note" => "It was made from a note.",
        "import" => "It was imported. Who wrote it is not known here.",
        "folder" => {
            "Its folder was put among the skills by hand, or changed so that the scan finds something in it. It is not used until you accept it."
        }
        "shipped" => NEWER_BUILTIN,
        _ => "A reflection proposes it.",
    }
    .to_owned()
}

/// What one stage said.
pub fn stage(stage: &str, outcome: &str, note: &str) -> String {
    let (name, said) = match (stage, outcome) {
        ("taint", "passed") => ("Origin", "clean."),
        ("taint", _) => ("Origin", "waits for you."),
        ("hash", _) => ("Base", "unchanged, and not decided before."),
        ("structure", _) => ("Form", "in order."),
        ("scan", "passed") => ("Scan", "nothing found."),
        ("scan", _) => ("Scan", "waits for you."),
        ("reviewer", "passed") => ("AI reviewer", "sees nothing against it. That is advice; you decide."),
        ("reviewer", "refused") => ("AI reviewer", "advises against it."),
        ("reviewer", "skipped") => ("AI reviewer", "left out."),
        ("reviewer", "later") => ("AI reviewer", "was not asked yet."),
        ("reviewer", _) => return format!("- AI reviewer: no verdict, because {note}."),
        (other, _) => (other, ""),
    };
    let note = if note.is_empty() { String::new() } else { format!(" {note}") };
    format!("- {name}: {said}{note}")
}

/// Many folders were put there by hand at once.
pub fn many_folders(folders: &[(ProposalId, String)]) -> String {
    let lines: Vec<String> = folders.iter().map(|(id, name)| format!("- proposal {id}: `{name}`")).collect();
    format!(
        "{} folders were put among the skills by hand. None is used until you accept it; `/show NUMBER` shows one of them, and how to decide.\n\n{}",
        folders.len(),
        lines.join("\n")
    )
}

/// Skills that were put there by hand before such folders were held.
pub fn carried_over(names: &[String]) -> ProgramText {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    ProgramText::message(format!(
        "From this version on, a folder that somebody puts among the skills is not used until you accept it. These skills were put there by hand \
         before, and stay in use: {}. If you do not know one of them, look at it on the computer with `compline skills show NAME`, and delete its folder.",
        names.join(", ")
    ))
}

/// Below the title of a change that is held.
pub const LAST_ACCEPTED_STAYS: &str = "Meanwhile the version that you accepted last stays in use.";

/// A file of a third party's skill.
pub fn file(path: &str, bytes: usize, script: bool) -> String {
    format!("{path}, {bytes} bytes{}", if script { ", a script" } else { "" })
}

/// Above the files of a third party's skill.
pub fn files(count: usize, scripts: usize) -> String {
    let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    match scripts {
        0 => format!("It has {files}, and no script:"),
        1 => format!("It has {files}. One is a script, which Compline shows to the assistant and never runs:"),
        _ => format!("It has {files}. {scripts} are scripts, which Compline shows to the assistant and never runs:"),
    }
}

/// A third party's skill names no host.
pub const NO_HOSTS: &str =
    "No web address stands in it. While it is in use, you are asked before anything is sent out.";

/// Above the hosts that a third party's skill names.
pub fn hosts(more: usize) -> String {
    let rest = match more {
        0 => String::new(),
        _ => format!(" It names {more} more, which are not listed and are asked about."),
    };
    format!(
        "It names addresses on these hosts. With your yes they are opened without a question while it is in use; anything else that is sent out is asked about.{rest}"
    )
}

/// Before the words of the reviewer.
pub const REVIEWER: &str = "The AI reviewer, in its own words:";

/// What the scan found.
pub fn finding(says: &str) -> String {
    format!("Found: {says}")
}

/// Where it was found.
pub fn place(path: &str, line: usize, column: usize) -> String {
    let path = if path.is_empty() { "reason" } else { path };
    format!("{path}:{line}:{column}")
}

/// How to decide. The digest stands here and nowhere else.
pub fn how_to_decide(id: ProposalId, digest: &str, way: Surface) -> String {
    let (approve, others) = match way {
        Surface::Chat => (
            format!("/approve {id} {digest}"),
            format!("To refuse it: `/reject {id} why`\nWhere it comes from: `/why {id}`"),
        ),
        Surface::CommandLine => (
            format!("compline review approve {id} {digest}"),
            format!("To refuse it: `compline review reject {id} --reason WHY`"),
        ),
    };
    format!("Hash: `{digest}`\n\nTo make exactly this live:\n`{approve}`\n\n{others}")
}

/// What became of a proposal.
pub fn state(state: &str, reason: &str) -> String {
    let words = match state {
        "approved" => "It was approved.",
        "rejected" => "It was refused.",
        "expired" => "Nobody decided in time, or what it was about is not there any more. It is void.",
        "conflict" => "The skill was changed meanwhile, so it was not applied.",
        _ => "It waits.",
    };
    if reason.is_empty() { words.to_owned() } else { format!("{words}\n\n```\n{}\n```", reason.replace("```", "'''")) }
}

/// Too long to be sent unasked.
pub fn too_long_to_push(id: ProposalId) -> String {
    format!("It is too long to be sent unasked. `/show {id}` shows all of it, and how to decide.")
}

/// Too long for any chat.
pub fn too_long_for_chat(id: ProposalId) -> String {
    format!(
        "It is too long for a chat. On the computer, `compline review show {id}` shows all of it, and how to decide."
    )
}

/// Why a policy applied a proposal.
pub fn reviewer_approved(id: ProposalId) -> String {
    format!("The reviewer approved proposal {id}")
}

/// Why a policy applied a proposal.
pub fn passed_every_stage(id: ProposalId) -> String {
    format!("Proposal {id} of a reflection passed every stage that nobody has to decide")
}

/// A policy applied a proposal.
pub fn by_policy(id: ProposalId, skill: &str, why: &str, setting: &str, ended: Ended) -> String {
    match ended {
        Ended::Done => format!(
            "{why}, and the skill `{skill}` is changed, as `{setting}` allows. `/show {id}` shows what changed; \
             `/history {skill}` leads back."
        ),
        Ended::Conflict => format!("Proposal {id} was not applied: the skill `{skill}` was changed meanwhile."),
        Ended::Later => format!(
            "{why}, but the skill `{skill}` cannot be written now, perhaps because the disk is full. It is tried again."
        ),
    }
}

/// How applying ended, in the words of this room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It is live.
    Done,
    /// Something else lies there.
    Conflict,
    /// It cannot be written now.
    Later,
}
