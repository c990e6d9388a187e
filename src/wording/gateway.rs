//! Text of the gateway itself: admission and delivery.

use super::ProgramText;
use crate::id::OutboxId;

/// Reply to an unknown sender, at most once a day.
pub const STRANGER: &str = "This is a private assistant. If you were given a pairing code, send it as: /start CODE";
/// Reply to an invalid code.
pub const CODE_REFUSED: &str = "That code is not valid. It may be used up or too old; ask for a new one.";
/// Reply to too many invalid codes.
pub const CODE_TOO_MANY: &str = "Too many wrong codes for today. Please try again tomorrow.";
/// Reply when too many messages of the sender are queued.
pub const QUEUE_FULL: &str =
    "You have a great many messages waiting. I left this one unanswered; please wait until I have caught up.";
/// Health message while incoming messages cannot be stored.
pub const NOT_STORED: &str = "Incoming messages cannot be stored, perhaps because the disk is full. None is confirmed meanwhile, so none is \
    lost; free some space, and this continues by itself.";
/// Error at a terminal: nothing more can be stored.
pub const DISK_FULL: &str =
    "Nothing more can be stored: the disk is full, or a limit is reached. Make room (`df -h` says how much there is).";
/// Notice that a delivery was abandoned after a week of attempts.
pub const GIVEN_UP: &str = "Some of my messages could not be delivered here for more than a week, so I gave up on them. My \
    answers are kept: ask me for any you missed.";
/// Notice that a delivery was set aside although others succeed.
pub const SET_ASIDE: &str = "A message of mine could not be delivered here, although others could. I set it aside so that the rest goes on; \
    /resend tries it again.";

/// The same notice in a group.
pub const SET_ASIDE_IN_GROUP: &str = "A message of mine could not be delivered here, although others could. I set it aside so that the rest \
    goes on; an owner can send it again with /resend.";

/// Notice to the owner that a delivery to another person or a group was set aside.
pub fn set_aside_of(person: Option<&str>, channel: &str, id: OutboxId) -> ProgramText {
    let to = person.map_or_else(|| "a group".to_owned(), ToOwned::to_owned);
    ProgramText::message(format!(
        "Messages to {to} ({channel}) cannot be delivered, although others can. I set them aside; `/resend {id}` tries the first one again, \
         /status counts them."
    ))
}

/// Decision shown in place of the buttons of a question, with its time: allowed.
pub const ALLOWED: &str = "Allowed";
/// The same: refused.
pub const NOT_ALLOWED: &str = "Not allowed";
/// The same: nobody decided in time.
pub const EXPIRED: &str = "Expired";
/// Decision shown in place of the buttons of a question about a memory: kept.
pub const KEPT: &str = "Kept";
/// The same: refused, or not possible any more.
pub const NOT_KEPT: &str = "Not kept";
/// Decision shown in place of the buttons of a proposal: approved.
pub const APPROVED: &str = "Approved";
/// The same: rejected.
pub const REJECTED: &str = "Rejected";
/// Decision shown in place of the buttons about a stranger: let in.
pub const LET_IN: &str = "Let in";
/// The same: ignored.
pub const IGNORED: &str = "Ignored";
/// The same for a proposal: approved, but the skill has changed.
pub const NOT_APPLIED: &str = "Not applied";

/// Decision shown in place of the buttons of which one was pressed.
pub fn pressed(title: &str) -> String {
    format!("✓ {title}")
}

/// Mark of a part that may have been sent before.
pub const POSSIBLY_REPEATED: &str = "(possibly repeated)";
/// Mark of a question that was closed before it could be delivered; not longer than the mark of a
/// repeat, for which each part leaves room.
pub const CLOSED: &str = "(no longer open)";
/// Placeholder for a blank text.
pub const BLANK: &str = "(blank)";

/// Reply to a person who has just been given access.
pub fn welcome(name: &str, role: &'static str, agent: &str) -> ProgramText {
    ProgramText::message(format!(
        "Welcome, {name}. You are in as {role}. I am {agent}: just write to me. /help shows what else there is."
    ))
}

/// Reply to an unsupported kind of message.
pub fn unsupported(what: &str) -> ProgramText {
    ProgramText::message(format!("I cannot take {what} yet. Please send it as text, a photo, a voice note or a file."))
}

/// Reply to a message that is too long.
pub fn message_too_long(characters: usize, most: usize) -> ProgramText {
    ProgramText::message(format!(
        "Your message has {characters} characters, and I can take {most} at once. It is kept, but not answered; please send it in parts or as a file."
    ))
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
pub const GROUP_BEGINS_ANEW: &str = "The next message here begins a new conversation.";
/// Reply to `/stop` in a group.
pub const GROUP_STOPPED: &str = "Stopped.";
/// Reply to a member who asks for the deletion of messages in a group.
pub const OWNER_FORGETS_MESSAGES: &str = "Only the owner can delete everybody's messages here. Without the word `messages` I forget what is \
    kept for this group; you can delete your own messages in the group.";
/// Note in a group that the answer is in the direct chat.
pub const ANSWERED_IN_PRIVATE: &str = "I have answered that in our direct chat.";
/// Note in a group that the person has no direct chat yet.
pub const WRITE_TO_ME_FIRST: &str = "I answer that in our direct chat only. Write to me there first.";
/// Note in the direct chat that a command sent in a group counts only here.
pub const ONLY_HERE: &str =
    "What you just wrote in a group counts only here, in our direct chat. Say it here if you meant it.";

/// Notice to an owner who wrote in a group that is not allowed.
pub fn group_not_allowed(id: &str) -> ProgramText {
    ProgramText::message(format!(
        "You spoke to me in a group in which I may not answer. To let me, add \"{id}\" to `allowed` under `[groups]` in the configuration, \
         and restart me. Everybody in that group can then talk to me; what they say counts as untrusted."
    ))
}

/// Reply to an owner who sends the code of a person who is not an owner.
pub const JOIN_AS_LESS: &str = "That code belongs to a person who is not an owner. I did not use it: everything that you ever told me would have \
    become theirs.";
/// Reply to a configured person who sends another person's code.
pub const JOIN_IN_CONFIGURATION: &str =
    "This address is set in the configuration. To link it to another person, move it there.";
/// Reply to another person's code while an answer is in progress.
pub const JOIN_LATER: &str = "I am still answering you here. Send the code again when I am done.";

/// Reply after accounts were merged.
pub fn joined(name: &str) -> ProgramText {
    ProgramText::message(format!("From now on you are {name} here too, with one conversation wherever you write from."))
}

/// Explanation of a merge, before it is confirmed.
pub fn join_means(name: &str) -> ProgramText {
    ProgramText::message(format!(
        "This code links you to {name}: everything that you say to me here becomes {name}'s, who can read it, and so does what you said before if this is your only address. From then on you have access as {name}. \
         If you are {name}, send the code once more. If somebody asked you to type it, do not."
    ))
}
