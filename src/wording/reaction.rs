//! Reactions of people to messages, in the prompt.

/// Frame of the reactions.
pub fn block(lines: &[String]) -> String {
    format!("<reactions>\n{}\n</reactions>", lines.join("\n"))
}

/// A reaction: its author, emoji and message. A blank emoji means that it was removed.
pub fn line(who: &str, emoji: &str, before: &str, ours: bool, at: &str, words: Option<&str>) -> String {
    let whose = if ours { "your message" } else { "their message" };
    let words = words.filter(|words| !words.is_empty()).map(|words| format!(" «{words}»")).unwrap_or_default();
    if emoji.is_empty() {
        format!("{who} took {before} away from {whose} of {at}{words}")
    } else {
        format!("{who} put {emoji} under {whose} of {at}{words}")
    }
}
