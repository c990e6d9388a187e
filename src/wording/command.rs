//! What people read in answer to commands.

/// Nobody may use that.
pub const OWNER_ONLY: &str = "Only an owner may do that.";
/// Something went wrong inside.
pub const FAILED: &str = "That did not work, and I do not know why. The log says more; nothing was changed.";
/// /new
pub const NEW: &str = "Done. Your next message begins a new conversation; what mattered in this one is being written down.";
/// /stop
pub const STOPPED: &str = "Stopped.";
/// /stop
pub const NOTHING_RUNS: &str = "Nothing is running.";
/// Nothing was found.
pub const NOTHING_FOUND: &str = "Nothing was found.";
/// No conversations yet.
pub const NO_CONVERSATIONS: &str = "There are no conversations yet.";
/// No usage yet.
pub const NO_USAGE: &str = "No model has been used yet.";

/// What /help does.
pub const DOES_HELP: &str = "list the commands";
/// What /new does.
pub const DOES_NEW: &str = "begin a new conversation";
/// What /stop does.
pub const DOES_STOP: &str = "stop the answer that is being written";
/// What /status does.
pub const DOES_STATUS: &str = "show how everything is";
/// What /usage does.
pub const DOES_USAGE: &str = "show what the models took";
/// What /whoami does.
pub const DOES_WHOAMI: &str = "show who you are to me";
/// What /search does.
pub const DOES_SEARCH: &str = "search what was said: /search WORDS";
/// What /model does.
pub const DOES_MODEL: &str = "show or choose the model: /model NAME";
/// What /people does.
pub const DOES_PEOPLE: &str = "show who is allowed in";
/// What /pair does.
pub const DOES_PAIR: &str = "make a pairing code: /pair NAME";
/// What /remove does.
pub const DOES_REMOVE: &str = "let somebody in no longer: /remove NAME";

/// How /new is written.
pub const HOW_NEW: &str = "/new, alone, and then your message";
/// How /search is written.
pub const HOW_SEARCH: &str = "/search WORDS";
/// How /pair is written.
pub const HOW_PAIR: &str = "/pair NAME, or /pair NAME owner";
/// How /remove is written.
pub const HOW_REMOVE: &str = "/remove NAME";

/// An unknown command.
pub fn unknown(name: &str, near: Option<&str>) -> String {
    let hint = near.map(|near| format!(" Did you mean /{near}?")).unwrap_or_default();
    format!("I do not know the command /{name}.{hint} /help lists them all.")
}

/// A command that lacks something.
pub fn usage(how: &str) -> String {
    format!("Please write it as: {how}")
}
