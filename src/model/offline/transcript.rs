//! Summary of a transcript, in the JSON form that summaries require.
//!
//! A transcript comes as messages of both sides, as lines `name: words` in one message, or, for a
//! long conversation summarised in parts, as the summaries of those parts.

use super::extract::{self, Extract, LineSpeaker};
use super::prompt_view::after_time;
use crate::model::request::{Request, RequestPart, Role};

/// Names of the assistant in a transcript.
const ASSISTANT: &[&str] = &["assistant", "the assistant", "compline", "bot", "model", "you"];

/// Builds the summary that the request asks for.
pub(super) fn summary(request: &Request) -> String {
    let mut lines: Vec<(LineSpeaker, &str)> = Vec::new();
    let mut parts: Vec<Extract> = Vec::new();
    for message in request.messages() {
        let speaker = match message.role() {
            Role::User => LineSpeaker::Person,
            Role::Assistant => LineSpeaker::Assistant,
            Role::System | Role::Tool => continue,
        };
        for part in message.parts() {
            let RequestPart::Text(text) = part.open().0 else { continue };
            read(speaker, text, &mut lines, &mut parts);
        }
    }
    if !lines.is_empty() {
        parts.push(extract::summarise(&lines));
    }
    serde_json::to_string(&Extract::merged(parts)).unwrap_or_default()
}

fn read<'a>(speaker: LineSpeaker, text: &'a str, lines: &mut Vec<(LineSpeaker, &'a str)>, parts: &mut Vec<Extract>) {
    let summaries: Vec<Extract> = text.lines().filter_map(|line| serde_json::from_str(line.trim()).ok()).collect();
    if !summaries.is_empty() {
        parts.extend(summaries);
        return;
    }
    let written: Vec<&str> = text.lines().map(|line| after_time(line).1).filter(|line| !line.is_empty()).collect();
    let named = written.iter().filter(|line| named(line).is_some()).count();
    if written.len() < 2 || named * 2 < written.len() {
        lines.push((speaker, after_time(text).1));
        return;
    }
    // A line without a name continues the previous one.
    let mut last = speaker;
    for line in written {
        let (who, words) = named_or(line, last);
        last = who;
        lines.push((who, words));
    }
}

fn named_or(line: &str, last: LineSpeaker) -> (LineSpeaker, &str) {
    let Some((name, words)) = named(line) else {
        return (last, line);
    };
    let is_assistant = ASSISTANT.contains(&name.to_lowercase().as_str());
    (if is_assistant { LineSpeaker::Assistant } else { LineSpeaker::Person }, words)
}

fn named(line: &str) -> Option<(&str, &str)> {
    let (name, words) = line.split_once(':')?;
    let fits = !name.is_empty() && name.chars().count() <= 30 && name.split_whitespace().count() <= 3;
    (fits && words.starts_with(' ')).then(|| (name.trim(), words.trim()))
}
