//! Text of the gateway itself: admission and delivery.

use super::ProgramText;
use super::language::{Language, Sentence, say};
use crate::id::{OutboxId, QuestionId};

/// Reply to an unknown sender, at most once a day.
pub const STRANGER: Sentence = Sentence("stranger");
/// Reply to an invalid code.
pub const CODE_REFUSED: Sentence = Sentence("code-refused");
/// Reply to too many invalid codes.
pub const CODE_TOO_MANY: Sentence = Sentence("code-too-many");
/// Reply when too many messages of the sender are queued.
pub const QUEUE_FULL: Sentence = Sentence("queue-full");
/// Health message while incoming messages cannot be stored; the log says why.
pub const NOT_STORED: &str = "Incoming messages cannot be stored; the log says why. None is confirmed meanwhile, so none is lost, and this \
    continues by itself.";
/// The same while there is no space.
pub const NOT_STORED_FULL: &str = "Incoming messages cannot be stored, because the disk is full or a limit is reached. None is confirmed \
    meanwhile, so none is lost; free some space, and this continues by itself.";
/// The same while another program holds the journal.
pub const NOT_STORED_LOCKED: &str = "Incoming messages cannot be stored, because another program has locked the journal. None is confirmed \
    meanwhile, so none is lost; close that program, and this continues by itself.";
/// Error at a terminal: nothing more can be stored.
pub const DISK_FULL: &str =
    "Nothing more can be stored: the disk is full, or a limit is reached. Make room (`df -h` says how much there is).";
/// Notice that a delivery was abandoned after a week of attempts.
pub const GIVEN_UP: Sentence = Sentence("delivery-given-up");
/// Notice that a delivery was set aside although others succeed.
pub const SET_ASIDE: Sentence = Sentence("delivery-set-aside");

/// The same notice in a group.
pub const SET_ASIDE_IN_GROUP: Sentence = Sentence("delivery-set-aside-in-group");

/// Notice to the owner that a delivery to another person or a group was set aside.
pub fn set_aside_of(person: Option<&str>, channel: &str, id: OutboxId) -> ProgramText {
    let to = person.map_or_else(|| "a group".to_owned(), ToOwned::to_owned);
    ProgramText::message(format!(
        "Messages to {to} ({channel}) cannot be delivered, although others can. I set them aside; `/resend {id}` tries the first one again, \
         /status counts them."
    ))
}

/// Decision shown in place of the buttons of a question, with its time: allowed.
pub const ALLOWED: Sentence = Sentence("decision-allowed");
/// The same: refused.
pub const NOT_ALLOWED: Sentence = Sentence("decision-not-allowed");
/// The same: no decision came in time.
pub const EXPIRED: Sentence = Sentence("decision-expired");
/// A question that nobody answered before the conversation ended.
pub const UNANSWERED: Sentence = Sentence("question-unanswered");
/// Decision shown in place of the buttons of a question about a memory: kept.
pub const KEPT: Sentence = Sentence("decision-kept");
/// The same: refused, or not possible any more.
pub const NOT_KEPT: Sentence = Sentence("decision-not-kept");
/// Decision shown in place of the buttons of a proposal: approved.
pub const APPROVED: Sentence = Sentence("decision-approved");
/// The same: rejected.
pub const REJECTED: Sentence = Sentence("decision-rejected");
/// The same: withdrawn with what it was about, before anyone decided.
pub const WITHDRAWN: Sentence = Sentence("decision-withdrawn");
/// The same: the folder that it was about has changed, before anyone decided.
pub const CHANGED_MEANWHILE: Sentence = Sentence("decision-changed");
/// Decision shown in place of the buttons about a stranger: let in.
pub const LET_IN: Sentence = Sentence("decision-let-in");
/// The same: ignored.
pub const IGNORED: Sentence = Sentence("decision-ignored");
/// The same for a proposal: approved, but the skill has changed.
pub const NOT_APPLIED: Sentence = Sentence("decision-not-applied");

/// Beginnings of commands that need no line where there are no buttons: what they do can be said in
/// any words or is in a list, or the text names another command for it.
const SHORTCUTS: [&str; 7] = ["/reminders ", "/settings ", "/whoami", "/link", "/usage", "/export", "/people remove "];

/// A button as a line of text, for a channel without buttons; `None` for a mere shortcut, and for a
/// command that cannot be shown as it is typed.
pub fn button_in_words(title: &str, command: &str) -> Option<String> {
    if command.contains('`') || SHORTCUTS.iter().any(|shortcut| command.starts_with(shortcut)) {
        return None;
    }
    // The button asks for the name, which can as well be typed at once.
    let name = if command.starts_with("/people admit ") { " NAME" } else { "" };
    Some(format!("- {title}: `{command}{name}`"))
}

/// Decision shown in place of the buttons of which one was pressed.
pub fn pressed(title: &str) -> String {
    format!("✓ {title}")
}

/// Title that shows a decision and its time. The stored decision is the key of a sentence, or the
/// title itself.
pub fn decided(language: Language, stored: &str, at: &str) -> String {
    format!("{} {at}", language.message(stored, &[]))
}

/// Mark of a part that may have been sent before.
pub const POSSIBLY_REPEATED: Sentence = Sentence("mark-repeated");
/// Mark of a question that was closed before it could be delivered.
pub const CLOSED: Sentence = Sentence("mark-closed");
/// Maximum number of bytes of a mark, for which each part leaves room.
pub const MARK: usize = "(possibly repeated)".len();
/// Placeholder for a blank text.
pub const BLANK: Sentence = Sentence("mark-blank");

/// Text that a channel shows before the first message.
pub fn bot_description(language: Language) -> String {
    say!(language, "bot-description")
}

/// Reply to a person who has just been given access.
pub fn welcome(language: Language, name: &str, role: &'static str, agent: &str) -> ProgramText {
    ProgramText::message(say!(language, "welcome", name = name, role = role, agent = agent))
}

/// Reply to an unsupported kind of message.
pub fn unsupported(language: Language, what: &str) -> ProgramText {
    let kind = match what {
        "a file that did not arrive with its message" => "missing-file".to_owned(),
        what => what.trim_start_matches("an ").trim_start_matches("a ").replace(' ', "-"),
    };
    ProgramText::message(say!(language, "unsupported", kind = kind))
}

/// Reply to a yes that may mean one of several questions.
pub fn which_yes(language: Language, questions: &[QuestionId]) -> ProgramText {
    let commands: Vec<String> = questions.iter().map(|question| format!("`/yes {question}`")).collect();
    ProgramText::message(say!(language, "which-yes", commands = commands.join(", ")))
}

/// Reply to a message that is too long.
pub fn message_too_long(language: Language, characters: usize, most: usize) -> ProgramText {
    ProgramText::message(say!(language, "message-too-long", characters = characters, most = most))
}

/// Error: unknown person, or no person has access.
pub fn no_such_person(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("There is nobody named {name:?} here. `compline people list` shows everybody."),
        None => {
            "Nobody has access yet. Add yourself to [[people]] in the configuration, or run `compline init`.".to_owned()
        }
    }
}

/// Reply to `/new` in a group.
pub const GROUP_BEGINS_ANEW: Sentence = Sentence("group-begins-anew");
/// Reply to `/stop` in a group.
pub const GROUP_STOPPED: Sentence = Sentence("stopped");
/// Reply to a member who asks for the deletion of messages in a group.
pub const OWNER_FORGETS_MESSAGES: Sentence = Sentence("group-owner-forgets");
/// Note in a group that the answer is in the direct chat.
pub const ANSWERED_IN_PRIVATE: Sentence = Sentence("group-answered-in-private");
/// Note in a group that the person has no direct chat yet.
pub const WRITE_TO_ME_FIRST: Sentence = Sentence("group-write-first");
/// Note in the direct chat that a command sent in a group counts only here.
pub const ONLY_HERE: Sentence = Sentence("group-only-here");

/// Notice to an owner who wrote in a group that is not allowed.
pub fn group_not_allowed(id: &str) -> ProgramText {
    ProgramText::message(format!(
        "You spoke to me in a group in which I may not answer. To let me, add \"{id}\" to `allowed` under `[groups]` in the configuration, \
         and run `compline reload`. Everybody in that group can then talk to me; what they say counts as untrusted."
    ))
}

/// Reply to an owner who sends the code of a person who is not an owner.
pub const JOIN_AS_LESS: Sentence = Sentence("join-as-less");
/// Reply to a configured person who sends another person's code.
pub const JOIN_IN_CONFIGURATION: Sentence = Sentence("join-in-configuration");
/// Reply to another person's code while an answer is in progress.
pub const JOIN_LATER: Sentence = Sentence("join-later");

/// Reply after accounts were merged.
pub fn joined(language: Language, name: &str) -> ProgramText {
    ProgramText::message(say!(language, "joined", name = name))
}

/// Explanation of a merge, before it is confirmed.
pub fn join_means(language: Language, name: &str) -> ProgramText {
    ProgramText::message(say!(language, "join-means", name = name))
}
