//! The parts of a request that the offline model understands: who said what, what is known, and
//! what is asked now.
//!
//! Only the newest [`REACH`] messages are looked at. What a person typed is told apart from what
//! they passed on by its label: only typed words are a wish.

use crate::model::request::{Message, Request, RequestPart, Role};
use crate::text;

/// How many messages back it looks.
const REACH: usize = 200;

/// The most of one message that is looked at, in bytes.
const MAX_SAID: usize = 4_000;

/// The most of one block of memory, page or other material that is looked at, in bytes.
const MAX_BLOCK: usize = 32_000;

/// Parts of the instructions that hold knowledge and not rules, by a word of their heading.
const KNOWLEDGE: &[&str] = &["previous conversation", "earlier", "memory", "note", "person", "user", "today"];

/// What is understood of a request.
#[derive(Debug, Default)]
pub(super) struct PromptView<'a> {
    /// What was typed last.
    pub(super) question: String,
    /// The time in front of it.
    pub(super) time: Option<&'a str>,
    /// What was passed on with it: pages, files, quotes, other people's words.
    pub(super) material: Vec<&'a str>,
    /// Whether a picture came with it.
    pub(super) picture: bool,
    /// What persons said before, the oldest first.
    pub(super) said: Vec<&'a str>,
    /// What they passed on before, the oldest first.
    pub(super) passed_on: Vec<&'a str>,
    /// Lines of memory and of the last summary.
    pub(super) notes: Vec<&'a str>,
    /// The line that names the day.
    pub(super) day: Option<&'a str>,
    /// What tools gave since: the tool's name and its text.
    pub(super) results: Vec<(&'a str, &'a str)>,
    /// The names of the tools on offer.
    pub(super) tools: Vec<&'a str>,
    /// How long the prompt is, in messages: no two rounds of a conversation have the same.
    pub(super) round: usize,
}

impl<'a> PromptView<'a> {
    /// The view of a request.
    pub(super) fn of(request: &'a Request) -> Self {
        let messages = request.messages();
        let recent = messages.get(messages.len().saturating_sub(REACH)..).unwrap_or_default();
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
            if !part.label().is_trusted() {
                self.passed_on.push(text::cut_bytes(after_time(text).1, MAX_SAID));
            } else if let Some(said) = self.without_context(cut(text))
                && message.role() == Role::User
            {
                self.said.push(text::cut_bytes(after_time(said).1, MAX_SAID));
            }
        }
    }

    fn read_present(&mut self, message: &'a Message) {
        match message.role() {
            Role::System => texts(message).for_each(|text| {
                let _ = self.without_context(text);
            }),
            Role::User => message.parts().iter().for_each(|part| {
                let typed = part.label().is_trusted();
                match part.open().0 {
                    RequestPart::Text(text) => self.read_newest(cut(text), typed),
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

    fn read_newest(&mut self, text: &'a str, typed: bool) {
        let Some(text) = self.without_context(text) else {
            return;
        };
        let (time, words) = after_time(text);
        self.time = time.or(self.time);
        if typed {
            if !self.question.is_empty() {
                self.question.push('\n');
            }
            self.question.push_str(words.trim());
        } else {
            self.material.push(words);
        }
    }

    /// Takes the program's own block off a text and reads it; `None` when nothing else is there.
    fn without_context(&mut self, text: &'a str) -> Option<&'a str> {
        let Some((mark, inner)) = text.trim_start().strip_prefix("<context").and_then(|rest| rest.split_once('>'))
        else {
            return Some(text);
        };
        let (context, rest) = inner.split_once("</context>").unwrap_or((inner, ""));
        // The newest copy is the one that counts; what came to mind besides says no day.
        if mark.is_empty() {
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

/// Splits `[2026-11-20 18:05]` off the beginning of a text.
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
