//! Tools of a conversation: those whose effects are allowed to its kind.
//!
//! A run that no person reads along passes nothing to other programs, with one exception: a tool
//! that its person named in text that they wrote themselves. `HEARTBEAT.md` counts if it was
//! written by hand. The text of a task was chosen by a model; it counts only if it appears verbatim
//! in what the person typed up to the request.

use super::RunKind;
use crate::id::{ConversationId, FileId, TurnId};
use crate::model::ToolSpec;
use crate::store::{Conversation, Db, MessageKind, Node, TextKind};
use crate::text::one_line;
use crate::tool::{Effects, Toolbox};
use crate::trust::{Scope, Text};
use crate::wording::tool as says;

/// Author of files that a person wrote with another program.
const BY_HAND: &str = "hand";

/// Effects allowed to a run that no person reads along. A reflection requests everything else in
/// its result.
const REFLECTION: Effects = Effects::READS.and(Effects::READS_PERSONAL).and(Effects::FETCHES);
const ERRAND: Effects = REFLECTION.and(Effects::WRITES).and(Effects::PROPOSES);
/// Lists, proposals and reflections belong to one person, who can manage them in their direct chat.
const GROUP: Effects =
    Effects::ALL.without(Effects::SCHEDULES).without(Effects::PROPOSES).without(Effects::READS_PERSONAL);

/// Permitted effects of a conversation.
#[derive(Debug)]
pub struct Allowance {
    effects: Effects,
    is_run: bool,
    /// Texts in which tools of other programs may be named.
    words: Vec<String>,
}

impl Allowance {
    /// Derives the allowance of a conversation from the journal.
    pub fn of(db: Db<'_>, conversation: &Conversation) -> anyhow::Result<Self> {
        let kind = RunKind::of(conversation);
        let effects = match (kind, conversation.scope) {
            (Some(RunKind::Reflection), _) => REFLECTION,
            (Some(RunKind::Heartbeat | RunKind::Task), _) => ERRAND,
            (None, Scope::Group(_)) => GROUP,
            (None, _) => Effects::ALL,
        };
        let words = match kind {
            Some(kind @ (RunKind::Heartbeat | RunKind::Task)) => words_of_person(db, kind, conversation.id)?,
            Some(RunKind::Reflection) | None => Vec::new(),
        };
        Ok(Self { effects, is_run: kind.is_some(), words })
    }

    /// Tools that are offered.
    pub fn offered(&self, toolbox: &Toolbox) -> std::sync::Arc<[ToolSpec]> {
        let all = toolbox.specs();
        if all.iter().all(|tool| self.refuses(toolbox, &tool.name).is_none()) {
            return all;
        }
        all.iter().filter(|tool| self.refuses(toolbox, &tool.name).is_none()).cloned().collect()
    }

    /// Returns the reason if that tool may not be called here.
    pub fn refuses(&self, toolbox: &Toolbox, name: &str) -> Option<String> {
        let effects = toolbox.effects(name)?;
        if effects.are_within(self.effects) {
            return None;
        }
        if !self.is_run || !effects.are_within(self.effects.and(Effects::LEAVES)) {
            return Some(says::unknown(name));
        }
        (!self.names(toolbox, name)).then(|| says::not_named(name))
    }

    fn names(&self, toolbox: &Toolbox, name: &str) -> bool {
        let names = toolbox.names_of(name);
        self.words.iter().any(|words| names.iter().any(|name| names_whole(words, name)))
    }
}

/// Returns true if a name occurs in a text as a whole word.
fn names_whole(words: &str, name: &str) -> bool {
    let is_of_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    !name.is_empty()
        && words.match_indices(name).any(|(at, _)| {
            let before = words.get(..at).and_then(|before| before.chars().next_back());
            let after = words.get(at + name.len()..).and_then(|after| after.chars().next());
            !is_of_word(before) && !is_of_word(after)
        })
}

/// Texts of a run that its person wrote themselves.
fn words_of_person(db: Db<'_>, kind: RunKind, run: ConversationId) -> anyhow::Result<Vec<String>> {
    let asked = db.messages().messages_of(run)?.into_iter().find(|message| message.kind == MessageKind::Task);
    let Some(asked) = asked else { return Ok(Vec::new()) };
    // The first text is the program's own description of the run.
    let texts = db.messages().texts_of(asked.id)?.into_iter().skip(1).map(|text| text.text);
    let texts: Vec<Text> = texts.filter(|text| text.label().is_trusted()).collect();
    let mut words: Vec<String> = texts.iter().map(|text| one_line(text.open().0)).collect();
    let mut is_asked_in_talk = false;
    for parent in db.derivations().parents(Node::Message(asked.id))? {
        match parent {
            Node::File(row) => {
                let author = db.file_versions().file_row(FileId(row))?.map(|row| row.author);
                words.retain(|_| author.as_deref() == Some(BY_HAND));
            }
            Node::Turn(turn) => {
                is_asked_in_talk = true;
                let typed = typed_in(db, turn)?;
                words.retain(|words| typed.iter().any(|typed| typed.contains(words)));
            }
            _ => words.clear(),
        }
    }
    words.retain(|_| is_asked_in_talk || kind == RunKind::Heartbeat);
    Ok(words)
}

/// Texts typed in the conversation of that turn up to then.
fn typed_in(db: Db<'_>, turn: TurnId) -> anyhow::Result<Vec<String>> {
    let Some(row) = db.turns().turn(turn)? else { return Ok(Vec::new()) };
    let mut typed = Vec::new();
    for message in db.messages().messages_of(row.conversation)? {
        if message.kind == MessageKind::Said && message.turn.is_some_and(|said| said <= turn) {
            let texts = db.messages().texts_of(message.id)?.into_iter();
            let texts = texts.filter(|text| text.kind == TextKind::Said && text.text.label().is_trusted());
            typed.extend(texts.map(|text| one_line(text.text.open().0)));
        }
    }
    Ok(typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_named_by_a_whole_word() {
        for words in ["call fake__echo now", "fake/echo", "(echo)", "echo", "use `echo`, please"] {
            assert!(["fake__echo", "fake/echo", "echo"].iter().any(|name| names_whole(words, name)), "{words}");
        }
        for words in ["", "echoes", "my_echo", "re-echo it", "fake__echoes", "Echo"] {
            assert!(!["fake__echo", "fake/echo", "echo"].iter().any(|name| names_whole(words, name)), "{words}");
        }
    }
}
