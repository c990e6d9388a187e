//! What the offline model says in words of its own. Everything else in its answers is a quote.

/// Ends each answer.
pub const SIGNATURE: &str = "_(offline model: set up a real one with `compline init`)_";

/// Greeting.
pub const GREETING: &str = "Hello! What is on your mind?";
/// Thanks.
pub const THANKS: &str = "You are welcome.";
/// Goodbye.
pub const GOODBYE: &str = "Until next time.";
/// Well.
pub const WELL: &str = "All is well here. I run without any network.";
/// Who.
pub const WHO: &str = "I am the built-in offline model of this assistant. I do not think up anything: I keep what you tell me, find it \
     again, and tell you where it stands.";
/// Abilities.
pub const ABILITIES: &str = "Without a language model behind me I can do this:\n\n\
     - remember what you tell me (\"my cat is called Whiskerino\") and find it again when you ask\n\
     - look into our earlier conversations (\"what did we talk about last week?\")\n\
     - read a web page for you when you send me its address\n\
     - tell the date and the time, and do sums (\"what is 12*7?\")\n\
     - write down what mattered when a conversation ends\n\n\
     For real answers give me a language model with `compline init`.";
/// No eyes.
pub const NO_EYES: &str = "I cannot see pictures.";
/// Empty.
pub const EMPTY: &str = "There were no words in that for me.";
/// Noted.
pub const NOTED: &str = "I will remember that you told me:";
/// You told.
pub const YOU_TOLD: &str = "You told me:";
/// Notes say.
pub const NOTES_SAY: &str = "My notes say:";
/// Passed on.
pub const PASSED_ON: &str = "In what you passed on:";
/// Of a time in which nothing stood out.
pub const NOTHING_TO_QUOTE: &str = "Nothing was said that I can quote.";
/// The title of a look back.
pub const LOOKED_BACK: &str = "A look back";
/// Why something is to be remembered.
pub const SAID_SO: &str = "It was said in these words.";
/// The word for nothing to report.
pub const NOTHING_TO_REPORT: &str = "HEARTBEAT_OK";
/// Unknown.
pub const UNKNOWN: &str = "I know nothing about that, neither from you nor from my notes.";
/// No web.
pub const NO_WEB: &str = "I am not allowed to read web pages here.";
/// No sum.
pub const NO_SUM: &str = "That sum has no result.";
/// Truncated.
pub const TRUNCATED: &str = "There is more of it than I show here.";

/// Leads in what a tool gave.
pub fn found(tool: &str) -> String {
    match tool {
        "recall" => "From our earlier conversations:".to_owned(),
        "web_fetch" => "From the page:".to_owned(),
        other => format!("From the tool `{other}`:"),
    }
}

/// What was talked about.
pub fn talked_about(topics: &[String]) -> String {
    format!("It was about {}.", topics.join(", "))
}

/// A task is due.
pub fn time_for(task: &str) -> String {
    format!("It is time for this: {}", crate::text::shorten(task, 300))
}

/// A tool gave nothing.
pub fn found_nothing(tool: &str) -> String {
    format!("The tool `{tool}` gave nothing.")
}

/// The day as the prompt gives it, and the time of the newest message.
pub fn now(day: Option<&str>, time: Option<&str>) -> String {
    match (day, time) {
        (Some(day), Some(time)) => format!("{day} Your message came at {time}."),
        (Some(day), None) => day.to_owned(),
        (None, Some(time)) => format!("Your message came at {time}."),
        (None, None) => "Nobody told me the time.".to_owned(),
    }
}

/// The result of a sum.
pub fn sum(question: &str, result: &str) -> String {
    format!("{question} = {result}")
}
