//! The offline model's own sentences. Everything else in its answers is quoted.

/// Last line of each answer.
pub const SIGNATURE: &str = "_(offline model: set up a real one with `compline init`)_";

/// Reply to a greeting.
pub const GREETING: &str = "Hello! What is on your mind?";
/// Reply to thanks.
pub const THANKS: &str = "You are welcome.";
/// Reply to a goodbye.
pub const GOODBYE: &str = "Until next time.";
/// Answer after a no.
pub const ALL_RIGHT: &str = "All right, I leave it.";
/// Reply to "how are you".
pub const WELL: &str = "All is well here. I run without any network.";
/// Reply to "who are you".
pub const WHO: &str = "I am the built-in offline model of this assistant. I do not make anything up: I find what you told me, and \
     tell you where it stands.";
/// Reply to "what can you do".
pub const ABILITIES: &str = "Without a language model behind me I can do this:\n\n\
     - find again what you told me (\"my cat is called Whiskerino\") when you ask\n\
     - keep a note (\"remember that the safe is blue\")\n\
     - remind you (\"remind me tomorrow at 9:00 to call Nora\")\n\
     - search our earlier conversations and your notes (\"search for the safe\")\n\
     - read a web page for you when you send me its address\n\
     - tell the date and the time, and do sums (\"what is 12*7?\")\n\
     - write down what mattered when a conversation ends\n\n\
     For real answers give me a language model with `compline init`.";
/// Reply to a picture.
pub const NO_EYES: &str = "I cannot see pictures.";
/// Reply to an empty message.
pub const EMPTY: &str = "There was no text in that for me.";
/// Prefix of a statement that asks for nothing.
pub const HEARD: &str = "You told me, and I find it again when you ask. \"Remember that …\" puts it into your notes.";
/// Reply to a reminder without a time.
pub const REMIND_WHEN: &str =
    "I set no reminder, because I found no time in that. Write for example: remind me tomorrow at 9:00 to call Nora.";
/// Reply to a reminder without words.
pub const REMIND_OF_WHAT: &str =
    "I set no reminder, because I found no words for it. Write for example: remind me tomorrow at 9:00 to call Nora.";
/// Prefix of a quote from the person.
pub const YOU_TOLD: &str = "You told me:";
/// Prefix of a quote from the notes.
pub const NOTES_SAY: &str = "My notes say:";
/// Prefix of a quote from a forwarded text.
pub const PASSED_ON: &str = "In what you forwarded:";
/// Reflection on a period without notable messages.
pub const NOTHING_TO_QUOTE: &str = "Nothing was said that I can quote.";
/// Title of a reflection.
pub const LOOKED_BACK: &str = "A look back";
/// Reason for a proposed fact.
pub const SAID_SO: &str = "It was said in these words.";
/// Heartbeat answer without news.
pub const NOTHING_TO_REPORT: &str = "HEARTBEAT_OK";
/// Reply to a question without a match.
pub const UNKNOWN: &str = "I know nothing about that, neither from you nor from my notes.";
/// Reply to a web address without `web_fetch`.
pub const NO_WEB: &str = "I am not allowed to read web pages here.";
/// Reply to a calculation without a result.
pub const NO_SUM: &str = "That sum has no result.";
/// Note that the quote is truncated.
pub const TRUNCATED: &str = "There is more of it than I show here.";

/// Introduction to the result of a tool.
pub fn found(tool: &str) -> String {
    match tool {
        "memory_search" => "This is what I find:".to_owned(),
        "remind" | "list_scheduled" => "Your reminders:".to_owned(),
        "remember" => "Your notes:".to_owned(),
        "web_fetch" => "From the page:".to_owned(),
        other => format!("From the tool `{other}`:"),
    }
}

/// Answer to a task that is due.
pub fn time_for(task: &str) -> String {
    format!("It is time for this: {}", crate::text::shorten(task, 300))
}

/// Note that a tool returned nothing.
pub fn found_nothing(tool: &str) -> String {
    format!("The tool `{tool}` returned nothing.")
}

/// Current day from the prompt, and time of the newest message.
pub fn now(day: Option<&str>, time: Option<&str>) -> String {
    match (day, time) {
        (Some(day), Some(time)) => format!("{day} Your message came at {time}."),
        (Some(day), None) => day.to_owned(),
        (None, Some(time)) => format!("Your message came at {time}."),
        (None, None) => "Nobody told me the time.".to_owned(),
    }
}

/// Result of a calculation.
pub fn sum(question: &str, result: &str) -> String {
    format!("{question} = {result}")
}
