//! What a model reads of what people put under messages.

/// A frame around the lines.
pub fn block(lines: &[String]) -> String {
    format!("<reactions>\n{}\n</reactions>", lines.join("\n"))
}

/// One reaction: who put what under which message. A blank one was taken away.
pub fn line(who: &str, emoji: &str, before: &str, ours: bool, at: &str, words: Option<&str>) -> String {
    let whose = if ours { "your message" } else { "their message" };
    let words = words.filter(|words| !words.is_empty()).map(|words| format!(" «{words}»")).unwrap_or_default();
    if emoji.is_empty() {
        format!("{who} took {before} away from {whose} of {at}{words}")
    } else {
        format!("{who} put {emoji} under {whose} of {at}{words}")
    }
}
