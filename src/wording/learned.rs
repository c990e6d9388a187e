//! What the program learned of a model's server, for owners.

use super::{Language, ProgramText};

/// Pictures are not sent.
pub const NO_PICTURES: &str = "it takes no pictures";
/// Tools are not offered.
pub const NO_TOOLS: &str = "it takes no tools, so it cannot remember, search or remind";
/// `stream_options` is not sent.
pub const NO_STREAM_OPTIONS: &str = "it takes no `stream_options`, so its use is estimated";
/// `temperature` is not sent.
pub const NO_TEMPERATURE: &str = "it takes no `temperature`";
/// The limit of an answer is sent under its other name.
pub const OTHER_LIMIT: &str = "it has another name for the limit of an answer";
/// No JSON mode is asked for.
pub const NO_JSON_MODE: &str = "it has no JSON mode";
/// Instructions are sent as words of the user.
pub const NO_SYSTEM_ROLE: &str = "it takes no system messages";
/// Thinking is not given back.
pub const NO_REASONING: &str = "it does not take its thinking back";

/// A tool that a server does not take.
pub fn without_tool(tool: &str) -> String {
    format!("it refuses the tool `{tool}`")
}

/// A window that is smaller than configured.
pub fn window(tokens: u64) -> String {
    format!("its window holds {} tokens, less than `context_window` says", Language::ENGLISH.number(tokens))
}

/// A limit of an answer that is smaller than configured.
pub fn output(tokens: u64) -> String {
    format!("its answers have at most {} tokens, less than `max_output` says", Language::ENGLISH.number(tokens))
}

/// A silence that is longer than configured.
pub fn patience(seconds: u64) -> String {
    format!("it may be silent for {seconds} seconds, longer than `patience` says")
}

/// Notice about what is less than was configured.
pub fn notice(model: &str, news: &[String]) -> ProgramText {
    ProgramText::message(format!(
        "I learned about the server of {model}: {}. I keep to that from now on; `/model forget-learned` makes me try again.",
        news.join("; ")
    ))
}

/// Reply after everything learned was forgotten.
pub const FORGOTTEN: &str = "What I had learned about the models' servers is forgotten. I try everything again.";
