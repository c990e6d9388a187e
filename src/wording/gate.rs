//! What people read from the gateway itself: at the door, and around delivery.

use super::ProgramText;
use crate::id::OutboxId;

/// The one line a stranger gets, once a day.
pub const STRANGER: &str = "This is a private assistant. If you were given a pairing code, send it as: /start CODE";
/// A code that is none.
pub const CODE_REFUSED: &str = "That code is not valid. It may be used up or too old; ask for a new one.";
/// Too many of those.
pub const CODE_TOO_MANY: &str = "Too many wrong codes for today. Please try again tomorrow.";
/// Too much waits.
pub const QUEUE_FULL: &str =
    "You have a great many messages waiting. I left this one unanswered; please wait until I have caught up.";
/// The journal takes nothing.
pub const NOT_STORED: &str = "What comes in cannot be stored, perhaps because the disk is full. Nothing is confirmed meanwhile, so nothing is \
    lost; make room, and this goes on by itself.";
/// Nothing more can be written, to whoever waits at a terminal.
pub const DISK_FULL: &str =
    "Nothing more can be stored: the disk is full, or a limit is reached. Make room (`df -h` says how much there is).";
/// Something waited for a week, was tried again and again, and is given up.
pub const GIVEN_UP: &str = "For more than a week what I had for you here could not be delivered, so I gave up what had waited that long. My \
    answers are kept: ask me for what you miss.";
/// Something is not taken by the server, although other things are.
pub const SET_ASIDE: &str = "A message of mine could not be delivered here, although others could. I set it aside so that the rest goes on; \
    /resend tries it again.";

/// The same, in a group.
pub const SET_ASIDE_IN_GROUP: &str = "A message of mine could not be delivered here, although others could. I set it aside so that the rest \
    goes on; an owner can send it again with /resend.";

/// A delivery to somebody else was set aside, and they cannot be told.
pub fn set_aside_of(person: Option<&str>, channel: &str, id: OutboxId) -> ProgramText {
    let to = person.map_or_else(|| "a group".to_owned(), ToOwned::to_owned);
    ProgramText::message(format!(
        "Messages to {to} ({channel}) cannot be delivered, although others can. I set them aside; `/resend {id}` tries the first one again, \
         /status counts them."
    ))
}

/// Before a part that may have been sent before.
pub const POSSIBLY_REPEATED: &str = "(possibly repeated)";
/// A blank text that must be shown.
pub const BLANK: &str = "(blank)";

/// Somebody was let in.
pub fn welcome(name: &str, role: &'static str, agent: &str) -> ProgramText {
    ProgramText::message(format!(
        "Welcome, {name}. You are in as {role}. I am {agent}: just write to me. /help shows what else there is."
    ))
}

/// Something that we cannot take.
pub fn unsupported(what: &str) -> ProgramText {
    ProgramText::message(format!("I cannot take {what} yet. Please send it as text, a photo, a voice note or a file."))
}

/// A message too long to be handled.
pub fn message_too_long(characters: usize, most: usize) -> ProgramText {
    ProgramText::message(format!(
        "Your message has {characters} characters, and I can take {most} at once. It is kept, but not answered; please send it in parts or as a file."
    ))
}

/// Nobody of that name, or nobody at all, may talk here.
pub fn no_such_person(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("There is nobody named {name:?} here. `compline people list` shows who is."),
        None => "Nobody is allowed in yet. Add yourself to [[people]] in the configuration, or run `compline init`."
            .to_owned(),
    }
}

/// In a group, after `/new`.
pub const GROUP_BEGINS_ANEW: &str = "The next message here begins a new conversation.";
/// In a group, after `/stop`.
pub const GROUP_STOPPED: &str = "Stopped.";
/// In a group, to a member who wants messages gone that others wrote too.
pub const OWNER_FORGETS_MESSAGES: &str = "Only the owner has messages of everybody deleted here. Without the word `messages` I forget what is \
    kept for this group; what you wrote yourself you can delete in the group.";
/// In a group, when a command was answered elsewhere.
pub const ANSWERED_IN_PRIVATE: &str = "I have answered that in our direct chat.";
/// In a group, when there is no direct chat to answer in.
pub const WRITE_TO_ME_FIRST: &str = "I answer that in our direct chat only. Write to me there first.";
/// In the direct chat, when it was tried in a group.
pub const ONLY_HERE: &str =
    "What you just wrote in a group counts only here, in our direct chat. Say it here if you meant it.";

/// An owner spoke to us in a group that is not allowed.
pub fn group_not_allowed(id: &str) -> ProgramText {
    ProgramText::message(format!(
        "You spoke to me in a group in which I may not answer. To let me, add \"{id}\" to `allowed` under `[groups]` in the configuration, \
         and restart me. Everybody in that group can then talk to me; what they say counts as untrusted."
    ))
}

/// An owner sent the code of somebody who is none.
pub const JOIN_AS_LESS: &str = "That code belongs to somebody who is not an owner. I have not used it: with it everything that you ever told me would have \
    become theirs.";
/// Somebody of the configuration sent another person's code.
pub const JOIN_IN_CONFIGURATION: &str =
    "This address stands in the configuration. To join it to somebody else, move it there in the configuration.";
/// Somebody sent another person's code while something of theirs is open.
pub const JOIN_LATER: &str = "I am still answering you here. Send the code again when I am done.";

/// Somebody turned out to be somebody else.
pub fn joined(name: &str) -> ProgramText {
    ProgramText::message(format!(
        "From now on this is one conversation with what I know as {name}, wherever you write from."
    ))
}

/// What joining would mean, before it is done.
pub fn join_means(name: &str) -> ProgramText {
    ProgramText::message(format!(
        "This code joins you with {name}: everything that you say to me here becomes {name}'s, who can read it, as what you have said before does if this is your only address; and you are let in as {name} from then on. \
         If you are {name}, send the code once more. If somebody asked you to type it, do not."
    ))
}
