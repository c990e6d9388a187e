//! The parts of a request that the offline model understands: speakers and their messages, known
//! facts, and the current question.
//!
//! Only the newest [`MAX_MESSAGES`] messages are read. The label separates text that a person typed
//! from text that they forwarded: only typed text is a request.

use crate::model::request::{Message, Request, RequestPart, Role};
use crate::text;
use crate::wording::prompt::THEY_SAID;

/// Number of messages that are read.
const MAX_MESSAGES: usize = 200;

/// Maximum number of bytes read of one message.
const MAX_MESSAGE: usize = 4_000;

/// Maximum number of bytes read of one block of memory, page or other material.
const MAX_BLOCK: usize = 32_000;

/// Kind of the source of piped text.
const PIPE: &str = "stdin:";

/// Maximum number of bytes of piped text that may be a question by itself.
const MAX_PIPED: usize = 300;

/// Words in headings of instruction sections that hold knowledge, not rules.
const KNOWLEDGE: &[&str] =
    &["previous conversation", "still open", "earlier", "memory", "note", "person", "user", "today"];

/// Understood parts of a request.
#[derive(Debug, Default)]
pub(super) struct PromptView<'a> {
    /// Text typed last.
    pub(super) question: String,
    /// True if a question of the program was answered instead.
    pub(super) is_decision: bool,
    /// Time in front of it.
    pub(super) time: Option<&'a str>,
    /// Material that came with it: pages, files, quotes, other people's text.
    pub(super) material: Vec<&'a str>,
    /// Short piped text that came alone.
    pub(super) piped: Option<&'a str>,
    /// True if a picture came with it.
    pub(super) picture: bool,
    /// Earlier messages of people, oldest first.
    pub(super) typed: Vec<&'a str>,
    /// Earlier forwarded text, oldest first.
    pub(super) forwarded: Vec<&'a str>,
    /// Lines of memory and of the last summary.
    pub(super) notes: Vec<&'a str>,
    /// Line that names the day.
    pub(super) day: Option<&'a str>,
    /// Tool results since then: the tool's name and the text.
    pub(super) results: Vec<(&'a str, &'a str)>,
    /// Names of the offered tools.
    pub(super) tools: Vec<&'a str>,
    /// Length of the prompt in messages, unique for each round of a conversation.
    pub(super) round: usize,
}

impl<'a> PromptView<'a> {
    /// Creates the view of a request.
    pub(super) fn of(request: &'a Request) -> Self {
        let messages = request.messages();
        let recent = messages.get(messages.len().saturating_sub(MAX_MESSAGES)..).unwrap_or_default();
        let is = |message: &&std::sync::Arc<Message>, role| message.role() == role;
        let answered = recent.iter().rposition(|message| is(&message, Role::Assistant) && !calls_tools(message));
        let (before, since) = recent.split_at(answered.map_or(0, |at| at + 1));

        let tools = request.tools().iter().map(|tool| tool.name.as_str()).collect();
        let mut view = Self { tools, round: messages.len(), ..Self::default() };
        let instructions = messages.iter().take_while(|message| is(message, Role::System));
        instructions.for_each(|message| view.read_instructions(message));
        before.iter().for_each(|message| view.read_past(message));
        since.iter().for_each(|message| view.read_present(message));
        view
    }

    fn read_instructions(&mut self, message: &'a Message) {
        for text in texts(message) {
            let mut known = false;
            for line in text.lines() {
                if let Some(heading) = line.strip_prefix('#') {
                    let heading = heading.to_lowercase();
                    known = KNOWLEDGE.iter().any(|word| heading.contains(word));
                } else if known {
                    self.note(line);
                }
            }
        }
    }

    fn read_past(&mut self, message: &'a Message) {
        if !matches!(message.role(), Role::System | Role::User) {
            return;
        }
        for part in message.parts() {
            let RequestPart::Text(text) = part.open().0 else { continue };
            if !part.label().is_trusted_here() {
                self.forwarded.push(text::cut_bytes(after_time(text).1, MAX_MESSAGE));
            } else if let Some(words) = self.without_context(cut(text))
                && message.role() == Role::User
            {
                self.typed.push(text::cut_bytes(after_time(words).1, MAX_MESSAGE));
            }
        }
    }

    fn read_present(&mut self, message: &'a Message) {
        match message.role() {
            Role::System => texts(message).for_each(|text| {
                let _ = self.without_context(text);
            }),
            Role::User => message.parts().iter().for_each(|part| {
                let is_typed = part.label().is_trusted_here();
                let is_piped = part.label().sources().all(|source| source.as_str().starts_with(PIPE));
                match part.open().0 {
                    RequestPart::Text(text) => {
                        self.read_newest(cut(text), is_typed);
                        if !is_typed && is_piped {
                            self.piped = Some(unframed(after_time(text).1)).filter(|text| text.len() <= MAX_PIPED);
                        }
                    }
                    RequestPart::Image { .. } => self.picture = true,
                    RequestPart::Call { .. } | RequestPart::Result { .. } => {}
                }
            }),
            Role::Tool => message.parts().iter().for_each(|part| {
                if let RequestPart::Result { name, text, .. } = part.open().0 {
                    self.results.push((name, cut(text)));
                }
            }),
            Role::Assistant => {}
        }
    }

    fn read_newest(&mut self, text: &'a str, is_typed: bool) {
        self.is_decision |= is_typed && is_decision(text);
        let Some(text) = self.without_context(text) else {
            return;
        };
        let (time, words) = after_time(text);
        self.time = time.or(self.time);
        if is_typed {
            if !self.question.is_empty() {
                self.question.push('\n');
            }
            self.question.push_str(words.trim());
        } else {
            self.material.push(unframed(words));
        }
    }

    /// Strips the program's blocks from a text and reads the context; `None` if nothing else is
    /// left.
    fn without_context(&mut self, text: &'a str) -> Option<&'a str> {
        if let Some(sent) = text.trim_start().strip_prefix("<sent>") {
            let rest = sent.split_once("</sent>").map_or("", |(_, rest)| rest);
            return Some(rest).filter(|rest| !rest.trim().is_empty());
        }
        if is_decision(text) {
            return None;
        }
        let Some((_, inner)) = text.trim_start().strip_prefix("<context").and_then(|rest| rest.split_once('>')) else {
            return Some(text);
        };
        let (context, rest) = inner.split_once("</context>").unwrap_or((inner, ""));
        // The newest copy counts; a recalled block names no day.
        if context.trim_start().starts_with("Now:") {
            self.day = None;
        }
        for line in context.lines() {
            self.note(line);
        }
        Some(rest).filter(|rest| !rest.trim().is_empty())
    }

    fn note(&mut self, line: &'a str) {
        let line = line.trim().trim_start_matches(['-', '*', ' ']);
        let lower = line.to_lowercase();
        if self.day.is_none() && (lower.starts_with("now:") || lower.starts_with("today")) {
            self.day = Some(line);
        } else if !line.is_empty() && !line.starts_with(['#', '<']) {
            self.notes.push(line);
        }
    }
}

/// Returns true for what the program writes in place of the person's answer to a question.
fn is_decision(text: &str) -> bool {
    after_time(text).1.starts_with(THEY_SAID)
}

/// Takes the frame off a text from outside.
fn unframed(text: &str) -> &str {
    let inner = text.split_once("<untrusted").and_then(|(_, rest)| rest.split_once('>')).map(|(_, inner)| inner);
    inner.map_or(text, |inner| inner.rsplit_once("</untrusted>").map_or(inner, |(inner, _)| inner)).trim()
}

fn texts(message: &Message) -> impl Iterator<Item = &str> {
    message.parts().iter().filter_map(|part| match part.open().0 {
        RequestPart::Text(text) => Some(cut(text)),
        _ => None,
    })
}

fn calls_tools(message: &Message) -> bool {
    message.parts().iter().any(|part| matches!(part.open().0, RequestPart::Call { .. }))
}

fn cut(text: &str) -> &str {
    text::cut_bytes(text, MAX_BLOCK)
}

/// Splits a timestamp like `[2026-11-20 18:05]` off the beginning of a text.
pub(super) fn after_time(text: &str) -> (Option<&str>, &str) {
    let text = text.trim();
    let split = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match split {
        Some((time, words)) if is_time(time) => (Some(time), words.trim_start()),
        _ => (None, text),
    }
}

fn is_time(text: &str) -> bool {
    text.len() <= 60 && text.starts_with(|c: char| c.is_ascii_digit()) && text.contains([':', '-'])
}
