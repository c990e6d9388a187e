//! What people read from the gateway itself: at the door, and around delivery.

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
/// Before a part that may have been sent before.
pub const POSSIBLY_REPEATED: &str = "(possibly repeated)";
/// A blank text that must be shown.
pub const BLANK: &str = "(blank)";

/// Somebody was let in.
pub fn welcome(name: &str, role: &str, agent: &str) -> String {
    format!("Welcome, {name}. You are in as {role}. I am {agent}: just write to me. /help shows what else there is.")
}

/// Something that we cannot take.
pub fn unsupported(what: &str) -> String {
    format!("I cannot take {what} yet. Please send it as text, a photo, a voice note or a file.")
}

/// A message too long to be handled.
pub fn message_too_long(characters: usize, most: usize) -> String {
    format!(
        "Your message has {characters} characters, and I can take {most} at once. It is kept, but not answered; please send it in parts or as a file."
    )
}

/// Nobody of that name, or nobody at all, may talk here.
pub fn no_such_person(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("There is nobody named {name:?} here. `compline people list` shows who is."),
        None => "Nobody is allowed in yet. Add yourself to [[people]] in the configuration, or run `compline init`."
            .to_owned(),
    }
}
