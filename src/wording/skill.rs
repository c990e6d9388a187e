//! Text about skills: their list in the prompt, the reasons why a folder does not load, and the
//! proposals that change them.

use super::ProgramText;
use super::language::Language;
use super::review::{Surface, newly};
use super::why::all_in_words;
use crate::id::ProposalId;
use crate::trust::Label;

/// Heading of the list of skills.
pub const LISTING: &str = "## Skills\n\nWhen one fits, read it with `load_skill` before you begin:\n";
/// Note that the descriptions are shortened.
pub const SHORTENED: &str =
    "\n(There are many skills, so these descriptions are shortened; `load_skill` gives a skill in full.)\n";
/// Reason: the folder is a link.
pub const IS_LINK: &str = "it is a link; links are not followed, so copy the folder to this place";
/// Reason: invalid folder name.
pub const ODD_NAME: &str =
    "its name is blank, longer than 64 characters, or has characters that cannot be seen; rename it";
/// Reason: the main file is not spelt `SKILL.md`.
pub const MISSPELT: &str = "its main file must be named SKILL.md in exactly this spelling; rename it";
/// Reason: the skill lies in a folder within the folder.
pub fn one_deeper(inner: &str) -> String {
    format!(
        "the skill lies deeper, in {}; move that folder into the folder of the skills",
        crate::text::shorten(inner, 80)
    )
}
/// Reason: too many files and folders.
pub const FOLDER_TOO_LARGE: &str =
    "it has far too many files and folders; move what is not part of the skill elsewhere";
/// Name of the folder of all skills.
pub const SKILLS_FOLDER: &str = "skills";

/// Reason: the folder cannot be listed.
pub fn cannot_list(why: &str) -> String {
    format!("it cannot be listed ({why})")
}

/// A skill in the list. Its folder is named only if it is not named like the skill.
pub fn listed(name: &str, folder: &str, description: &str) -> String {
    let at = if folder == name { String::new() } else { format!(" (skills/{folder}/SKILL.md)") };
    let colon = if description.is_empty() { "" } else { ": " };
    format!("- {name}{at}{colon}{description}\n")
}

/// Reason for a decision by the owner: made from a note.
pub const FROM_A_NOTE: &str = "What is made from a note is yours to decide.";
/// Reason for a decision by the owner: a third party's skill had a part in it.
pub const FROM_A_SKILL: &str = "A skill of a third party had a part in it.";
/// Reason for a decision by the owner: a newer version of a built-in skill that the owner changed.
pub const SHIPPED: &str = "You changed this skill, so its newer version is yours to decide.";
/// Reason for a decision by the owner: comes from a person who is not an owner.
pub const NOT_THE_OWNERS: &str = "It comes from a conversation with a person who is not an owner.";
/// Rejection: the reflection is not an owner's.
pub const REFLECTION_OF_A_MEMBER: &str = "Only proposals from an owner's own reflection are reviewed.";
/// Note that `review_mode` skips the reviewer.
pub const NOT_REVIEWED: &str = "Not asked: `[reflection] review_mode = \"none\"` leaves it out.";
/// Reason for a decision by the owner: no typed message asks for it.
pub const NOTHING_TYPED: &str = "Nobody typed anything that asks for it.";
/// Rejection: no change.
pub const NO_CHANGE: &str = "The skill has exactly this content already.";
/// Rejection: a deletion that lists files.
pub const DELETE_HAS_NO_FILES: &str = "To delete a skill, give no files; to take a file out of it, edit the skill.";
/// Rejection: duplicate path.
pub const FILE_TWICE: &str = "The same path appears twice in `files`.";

/// Reason for a decision by the owner under every policy: untrusted text had a part in it.
pub fn tainted(label: &Label) -> String {
    format!("Text from outside had a part in it: {}.", all_in_words(Language::ENGLISH, label))
}

/// Reason for a decision by the owner: text that its person vouched for had a part in it.
pub fn vouched_for(label: &Label) -> String {
    let sources = all_in_words(Language::ENGLISH, label);
    format!("Text from outside that its person vouched for had a part in it: {sources}.")
}

/// Rejection: untrusted text had a part in it, and the draft is not stored.
pub fn tainted_refused(label: &Label) -> String {
    format!(
        "Text from outside had a part in this ({}), and the owner has chosen that such proposals are not kept.",
        all_in_words(Language::ENGLISH, label)
    )
}

/// Rejection: the skill does not exist.
pub fn no_such_skill(name: &str) -> String {
    format!("There is no skill named {:?}.", crate::text::shorten(name, 80))
}

/// Rejection: the new name is taken.
pub fn name_is_taken(name: &str) -> String {
    format!("Something named {:?} is in the skills folder already.", crate::text::shorten(name, 80))
}

/// Rejection: the skill to be changed is held back.
pub fn base_is_held(name: &str) -> String {
    let name = crate::text::shorten(name, 80);
    format!(
        "The folder of the skill {name:?} is held back, or cannot be read as a skill: it waits for the owner. Nothing can be based on it until then."
    )
}

/// Rejection: the file to be removed does not exist.
pub fn no_such_file(path: &str) -> String {
    format!("The skill has no file {:?}.", crate::text::shorten(path, 200))
}

/// Rejection: the same proposal was rejected before.
pub fn rejected_before(id: ProposalId, reason: &str) -> String {
    let because = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
    format!("Exactly this was proposed before as number {id}, and the owner refused it{because}.")
}

/// Rejection: too many proposals of this kind are pending.
pub fn too_many_wait(count: usize) -> String {
    format!("{count} proposals of this kind wait for the owner already; none is added until some are decided.")
}

/// Number of findings of the scan.
pub fn findings(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "One place in it is hidden, disguised or imitated.".to_owned(),
        _ => format!("{count} places in it are hidden, disguised or imitated."),
    }
}

/// Reason given for an update of a built-in skill.
pub fn newer_builtin(conflicts: usize) -> String {
    let kept = match conflicts {
        0 => String::new(),
        1 => " In one place both changed the same passage; there yours stays.".to_owned(),
        _ => format!(" In {conflicts} places both changed the same passage; there yours stays."),
    };
    format!("{NEWER_BUILTIN}{kept}")
}

/// Origin of an update of a built-in skill.
pub const NEWER_BUILTIN: &str = "This skill ships with the program, and an update has changed it. You have changed it too, so the changes of the update are put into your text.";
/// Note that the reviewer could not be asked.
pub const REVIEW_IMPOSSIBLE: &str = "The reviewer could not be asked.";
/// Heading of the proposal's own reason.
pub const RATIONALE: &str = "Its reason, in its own words:";
/// Error: the stored proposal differs from the staged one.
pub const TAMPERED: &str =
    "The proposal in the journal is not the one that was staged. It cannot be approved; reject it.";
/// Title of the button that approves.
pub const APPROVE: &str = "Approve";
/// Title of the button that rejects.
pub const REJECT: &str = "Reject";
/// Title of the button that shows the origin.
pub const WHY: &str = "Where from?";

/// Title of a proposal.
pub fn title(id: ProposalId, origin: &str, change: &str, skill: &str, new_name: &str) -> String {
    let what = match (origin, change) {
        ("folder", _) => format!("use the skill `{skill}` as it is in the skills folder"),
        (_, "create") => format!("add the skill `{skill}`"),
        (_, "delete") => format!("delete the skill `{skill}`"),
        (_, "rename") => format!("rename the skill `{skill}` to `{new_name}`"),
        _ => format!("change the skill `{skill}`"),
    };
    format!("**Proposal {id}: {what}**")
}

/// Origin of a proposal.
pub fn origin(origin: &str) -> String {
    match origin {
        "turn" => "The assistant proposes it.",
        "note" => "It was made from a note.",
        "import" => "It was imported. Who wrote it is not known here.",
        "folder" => "Its folder was added to the skills by hand. It is not used until you accept it.",
        "shipped" => NEWER_BUILTIN,
        _ => "A reflection proposes it.",
    }
    .to_owned()
}

/// Heading of what a change newly does.
pub const EFFECTS: &str = "What it newly does, gravest first:";

/// A kind of effect, before its objects.
pub fn effect(kind: &str) -> &'static str {
    match kind {
        "sends" => "Sends to or opens",
        "secret" => "Asks for or reads secrets",
        "deletes" => "Deletes",
        "access" => "Grants access or lowers a protection",
        "overrides" => "Overrides rules",
        "obeys" => "Does what other texts say",
        "copies" => "Writes itself elsewhere",
        "assumes" => "Takes something else for a yes",
        "runs" => "Runs",
        "quiet" => "Keeps quiet or skips a question",
        "money" => "Money",
        "standing" => "Standing order",
        "writes" => "Writes files",
        "reads" => "Reads files",
        _ => "Uses tools",
    }
}

/// The kinds of effects that a change does not have.
pub fn untouched(kinds: impl Iterator<Item = &'static str>) -> String {
    let nouns = kinds.map(|kind| match kind {
        "sends" => "hosts or recipients",
        "secret" => "secrets",
        "deletes" => "deletions",
        "access" => "access",
        "overrides" => "other rules",
        "obeys" => "orders from other texts",
        "copies" => "copies of itself",
        "assumes" => "assumed consent",
        "runs" => "programs",
        "quiet" => "silence",
        "money" => "money",
        "standing" => "standing orders",
        "writes" => "files written",
        "reads" => "files read",
        _ => "tools",
    });
    let nouns: Vec<&str> = nouns.collect();
    if nouns.is_empty() { String::new() } else { format!("Nothing new was found about: {}.", nouns.join(", ")) }
}

/// Origin of a proposal in one line, with the reason why it waits, and `more`.
pub fn where_from(origin: &str, note: &str, more: &str) -> String {
    let rest: String = [note, more].iter().filter(|part| !part.is_empty()).map(|part| format!(" {part}")).collect();
    format!("Where it comes from: {origin}{rest}")
}

/// Reference to the command of the computer that traces a proposal back to its origin.
pub fn tells_more(id: ProposalId) -> String {
    format!("`compline review why {id}` tells more.")
}

/// Advice of the AI reviewer.
pub fn advice(outcome: &str, note: &str) -> String {
    match outcome {
        "passed" => "AI reviewer: sees nothing against it. That is advice; you decide.".to_owned(),
        "refused" => "AI reviewer: advises against it.".to_owned(),
        "skipped" => format!("AI reviewer: left out. {note}").trim_end().to_owned(),
        "later" => "AI reviewer: was not asked yet.".to_owned(),
        _ => format!("AI reviewer: no verdict, because {note}."),
    }
}

/// Notification of several skill folders that were added by hand.
pub fn many_folders(folders: &[(ProposalId, String)]) -> String {
    let lines: Vec<String> = folders.iter().map(|(id, name)| format!("- proposal {id}: `{name}`")).collect();
    format!(
        "{} folders were added to the skills by hand. None is used until you accept it.\n\n{}",
        folders.len(),
        lines.join("\n")
    )
}

/// Title of the button that restores the version before an edit.
pub const UNDO: &str = "Undo";

/// Notice that a skill was edited in place, with the lines that changed if they are few.
pub fn edited(name: &str, change: &str, lines: Option<&str>, several: bool) -> String {
    let lines = lines.map(|lines| format!("\n\n{lines}")).unwrap_or_default();
    let others = if several {
        format!(" It was used in between as it is no longer; `/history {name}` shows that.")
    } else {
        String::new()
    };
    format!("The skill `{name}` was changed in its folder, and is used as it is there now: {change}.{others}{lines}")
}

/// Notice that a skill was edited in place for a while, with the lines that were changed then.
pub fn edited_and_back(name: &str, change: &str, lines: Option<&str>) -> String {
    let lines = lines.map(|lines| format!("\n\n{lines}")).unwrap_or_default();
    format!(
        "The skill `{name}` was changed in its folder for a while, and is as it was again. Meanwhile it was used with this: \
         {change}.{lines}"
    )
}

/// Notice that several skills were edited in place.
pub fn many_edits<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    format!(
        "{} skills were changed in their folders, and are used as they are there now: {}. `/history NAME` shows the \
         versions of one of them, and how to undo it.",
        names.len(),
        names.join(", ")
    )
}

/// Origin of a held change of a skill's folder.
pub const EDIT_IS_HELD: &str =
    "Its folder was changed by hand, and the version that you accepted last stays in use until you accept this one.";

/// A file of a third party's skill.
pub fn file(path: &str, bytes: usize, script: bool) -> String {
    format!("{path}, {bytes} bytes{}", if script { ", a script" } else { "" })
}

/// Heading of the files of a third party's skill.
pub fn files(count: usize, scripts: usize) -> String {
    let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    match scripts {
        0 => format!("It has {files}, and no script:"),
        1 => format!("It has {files}. One is a script, which Compline shows to the assistant and never runs:"),
        _ => format!("It has {files}. {scripts} are scripts, which Compline shows to the assistant and never runs:"),
    }
}

/// Note that a third party's skill contains no web address.
pub const NO_HOSTS: &str = "It contains no web address. While it is in use, you are asked before anything is sent out.";

/// Heading of the hosts in a third party's skill.
pub fn hosts(more: usize) -> String {
    let rest = match more {
        0 => String::new(),
        _ => format!(" It names {more} more, which are not listed and are asked about."),
    };
    format!(
        "It names addresses on these hosts. If you approve, they are opened without asking while it is in use; you are asked before anything else is sent out.{rest}"
    )
}

/// Heading of the reviewer's own words.
pub const REVIEWER: &str = "The AI reviewer, in its own words:";

/// A finding of the scan.
pub fn finding(says: &str) -> String {
    format!("Found: {says}")
}

/// Location of a finding.
pub fn place(path: &str, line: usize, column: usize) -> String {
    let path = if path.is_empty() { "reason" } else { path };
    format!("{path}:{line}:{column}")
}

/// End of a proposal that can be decided, with its digest, which is shown only here; on the command
/// line with the commands. `word` names what the change newly does, if that needs a word of its own.
pub fn how_to_decide(id: ProposalId, digest: &str, word: Option<&str>, way: Surface) -> String {
    let hash = format!("Hash: `{digest}`");
    match (way, word) {
        (Surface::Chat(_), None) => hash,
        (Surface::Chat(_), Some(word)) => {
            format!("To approve it takes the word `{word}` too, because {}.\n\n{hash}", newly(word))
        }
        (Surface::CommandLine, word) => {
            let word = word.map(|word| format!(" {word}")).unwrap_or_default();
            let why = if word.is_empty() { "" } else { " (the last word names what it newly does)" };
            format!(
                "{hash}\n\nTo make exactly this live{why}:\n`compline review approve {id} {digest}{word}`\n\n\
                 To refuse it: `compline review reject {id} --reason WHY`"
            )
        }
    }
}

/// State of a proposal.
pub fn state(state: &str, reason: &str) -> String {
    let words = match state {
        "approved" => "It was approved.",
        "rejected" => "It was refused.",
        "expired" => "Nobody decided in time, or its subject no longer exists. It has expired.",
        "conflict" => "The skill was changed meanwhile, so it was not applied.",
        _ => "It waits.",
    };
    if reason.is_empty() { words.to_owned() } else { format!("{words}\n\n```\n{}\n```", reason.replace("```", "'''")) }
}

/// Note that a proposal is too long for a notification.
pub const TOO_LONG_TO_PUSH: &str = "It is too long to be sent unasked.";

/// Title of the button that shows a proposal.
pub const SHOW: &str = "Show it";

/// Notice to an owner that a proposal waits whose text comes from another person's conversations;
/// of a group if there is no name.
pub fn waits_from(id: ProposalId, from: Option<&str>) -> ProgramText {
    let from = from.map_or_else(|| "a group".to_owned(), ToOwned::to_owned);
    ProgramText::message(format!(
        "A change of a skill from the conversations of {from} waits for an owner: proposal {id}."
    ))
}

/// Notice to the other owners that a proposal was decided; by the command line if there is no name.
pub fn decided_by(id: ProposalId, state: &'static str, owner: Option<&str>) -> ProgramText {
    let by = owner.map_or_else(|| "on the command line".to_owned(), |name| format!("by {name}"));
    ProgramText::message(format!("Proposal {id} was {state} {by}. Nothing is left to decide about it."))
}

/// Note that a proposal is too long for a chat.
pub fn too_long_for_chat(id: ProposalId) -> String {
    format!(
        "It is too long for a chat. On the computer, `compline review show {id}` shows all of it, and how to decide."
    )
}

/// Reason for a decision by policy: approved by the reviewer.
pub fn reviewer_approved(id: ProposalId) -> String {
    format!("The reviewer approved proposal {id}")
}

/// Reason for a decision by policy: passed every automatic stage.
pub fn passed_every_stage(id: ProposalId) -> String {
    format!("Proposal {id} from a reflection passed every automatic check")
}

/// Notification of a decision by policy.
pub fn by_policy(id: ProposalId, skill: &str, why: &str, setting: &str, ended: ApplyOutcome) -> String {
    match ended {
        ApplyOutcome::Done => format!(
            "{why}, and the skill `{skill}` is changed, as `{setting}` allows. `/show {id}` shows what changed; \
             `/history {skill}` shows how to undo it."
        ),
        ApplyOutcome::Conflict => format!("Proposal {id} was not applied: the skill `{skill}` was changed meanwhile."),
        ApplyOutcome::Later => format!(
            "{why}, but the skill `{skill}` cannot be written now, perhaps because the disk is full. It is tried again."
        ),
    }
}

/// Outcome of applying a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyOutcome {
    /// Applied and active.
    Done,
    /// The skill has changed in the meantime.
    Conflict,
    /// The folder cannot be written now.
    Later,
}
