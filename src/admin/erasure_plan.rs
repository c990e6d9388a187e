//! Plans of deletions as they are shown: numbered items, what stays, and the code that carries the
//! plan out.
//!
//! The code is computed from the items, so it deletes only what was shown: if something has been
//! added since, or is gone, the plan is shown again. `only` and numbers before the code carry out a
//! part of it.

use serde_json::{Value, json};

use super::answer::{Answer, ShownLabel, plain};
use super::memory::visible_path;
use crate::erasure::{ErasurePreview, FileMatches, PlannedItem};
use crate::store::ErasureItem;
use crate::text::shorten;
use crate::wording::erasure_plan as says;
use crate::wording::personal_data::{self, ErasedKind};
use crate::wording::review::Surface;
use crate::wording::{Language, Locale, Sentence};

/// Maximum length of a shown line, in characters.
const LINE: usize = 120;
/// Maximum number of items that are listed one by one.
const SHOWN: usize = 40;
/// Maximum length of the command of a button, in bytes.
const BUTTON: usize = 64;
/// Kinds of items in the first sentence.
const KINDS: [ErasedKind; 7] = [
    ErasedKind::Note,
    ErasedKind::Line,
    ErasedKind::EarlierLine,
    ErasedKind::Message,
    ErasedKind::SummaryPlace,
    ErasedKind::Archive,
    ErasedKind::Reminder,
];
/// The word before the numbers of a choice.
const ONLY: &str = "only";

/// A name with the code of its plan, and a choice among its items.
pub(super) struct TypedPlan<'t> {
    pub(super) name: &'t str,
    /// Numbers of the chosen items; `None` for all.
    pub(super) numbers: Option<Vec<usize>>,
    pub(super) code: &'t str,
}

impl<'t> TypedPlan<'t> {
    /// Parses `NAME [only NUMBERS] CODE`; `None` if the last word is no code.
    pub(super) fn parse(typed: &'t str) -> Option<Self> {
        let is_code =
            |word: &str| word.len() == super::memory::CODE && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (rest, code) = typed.rsplit_once(char::is_whitespace).filter(|(_, last)| is_code(last))?;
        let (mut before, mut numbers) = (rest.trim_end(), Vec::new());
        while let Some((more, last)) = before.rsplit_once([' ', ',']) {
            let Ok(number) = last.parse() else { break };
            numbers.push(number);
            before = more.trim_end_matches([' ', ',']);
        }
        let chosen = before.rsplit_once(char::is_whitespace).filter(|(_, word)| word.eq_ignore_ascii_case(ONLY));
        Some(match chosen.filter(|_| !numbers.is_empty()) {
            Some((name, _)) => Self { name: name.trim_end(), numbers: Some(numbers), code },
            None => Self { name: rest.trim_end(), numbers: None, code },
        })
    }
}

/// A plan to show.
pub(super) struct ShownPlan<'p> {
    /// Name or words as typed.
    pub(super) name: &'p str,
    pub(super) preview: &'p ErasurePreview,
    /// True if messages go without being chosen.
    pub(super) has_messages: bool,
    /// Number of messages that stay because the person may not delete them.
    pub(super) others_messages: usize,
    /// True in a group.
    pub(super) is_group: bool,
    pub(super) code: &'p str,
    pub(super) locale: Locale,
    /// Days that a replica keeps what is deleted.
    pub(super) replica_days: Option<u32>,
    pub(super) surface: Surface,
}

impl ShownPlan<'_> {
    /// Returns the plan as an answer, with a button where there is room for its command.
    pub(super) fn answer(&self, has_changed: bool) -> Answer {
        let mut shown = ShownLabel::nothing();
        let language = self.locale.language;
        let words = |sentence: Sentence| sentence.in_language(language).into_string();
        let items = &self.preview.items;
        let (certain, optional): (Vec<_>, Vec<_>) =
            items.iter().enumerate().partition(|(_, planned)| self.goes(planned));
        let mut parts: Vec<String> = has_changed.then(|| words(says::CHANGED)).into_iter().collect();
        let name = plain(self.name);
        parts.push(says::headline(language, &name, &self.counts(certain.iter().map(|(_, planned)| *planned))));
        let mut room = SHOWN;
        for (title, listed) in [(None, certain), (Some(says::OPTIONAL), optional)] {
            let mut lines: Vec<String> = title.filter(|_| !listed.is_empty()).map(words).into_iter().collect();
            let more = listed.len().saturating_sub(room);
            for (at, planned) in listed.iter().take(room) {
                lines.push(says::item(at.saturating_add(1), &self.described(planned, &mut shown)));
            }
            room = room.saturating_sub(listed.len());
            lines.extend((more > 0).then(|| says::more(language, more)));
            if !lines.is_empty() {
                parts.push(lines.join("\n"));
            }
        }
        parts.extend(self.words_that_stay());
        parts.push(says::stays(language, &self.stays(), self.replica_days));
        // Backslashes would stay visible in a command.
        let typed = self.name.replace('`', "");
        parts.push(says::carry_out(&typed, self.code, self.has_messages, items.len(), self.surface));
        let command = says::command(self.name, self.code, self.has_messages);
        let buttons = (command.len() <= BUTTON).then(|| (words(says::DELETE), command));
        let answer = Answer::showing(shown, parts.join("\n\n"), self.json());
        answer.with_buttons(buttons.into_iter().collect())
    }

    /// Returns the sentence that messages keep the words, if that is not chosen otherwise.
    fn words_that_stay(&self) -> Option<String> {
        let stay = !self.has_messages && self.preview.items.iter().any(PlannedItem::goes_with_messages);
        stay.then(|| says::messages_stay(&self.name.replace('`', ""), self.surface))
    }

    fn goes(&self, planned: &PlannedItem) -> bool {
        !planned.is_optional() || planned.goes_with_messages() && self.has_messages
    }

    fn counts<'i>(&self, items: impl Iterator<Item = &'i PlannedItem>) -> Vec<String> {
        let mut counts = [0_usize; KINDS.len()];
        for planned in items {
            let kind = match planned.item {
                ErasureItem::Note(_) => 0,
                ErasureItem::Line { .. } if planned.is_current => 1,
                ErasureItem::Line { .. } => 2,
                ErasureItem::Message(_) => 3,
                ErasureItem::Summary(_) | ErasureItem::Reflection(_) => 4,
                ErasureItem::Archive(_) => 5,
                ErasureItem::Reminder(_) => 6,
            };
            if let Some(count) = counts.get_mut(kind) {
                *count = count.saturating_add(1);
            }
        }
        let copies = (self.preview.copies, ErasedKind::PlannedCopy);
        let counted = counts.into_iter().zip(KINDS).chain([copies]);
        counted.filter_map(|(count, kind)| personal_data::counted(self.locale.language, count, kind)).collect()
    }

    fn described(&self, planned: &PlannedItem, shown: &mut ShownLabel) -> String {
        let what = self.named(planned, shown);
        if planned.is_derived { says::derived(self.locale.language, &what) } else { what }
    }

    fn named(&self, planned: &PlannedItem, shown: &mut ShownLabel) -> String {
        planned.labels.iter().for_each(|label| shown.also(label));
        let text = plain(&shorten(planned.text.trim(), LINE));
        let language = self.locale.language;
        let at = planned.at.map(|at| self.locale.near(at)).unwrap_or_default();
        let path = plain(visible_path(&planned.path));
        match &planned.item {
            ErasureItem::Note(_) => says::note(language, &text, &path, planned.versions),
            ErasureItem::Line { .. } => says::line(language, &path, &text, planned.is_current, planned.versions),
            ErasureItem::Archive(_) => says::archive(language, &path),
            ErasureItem::Message(_) => says::message(language, planned.is_reply, self.is_group, &at, &text),
            ErasureItem::Summary(_) => says::summary(language, &at),
            ErasureItem::Reflection(_) => says::reflection(language, &at),
            ErasureItem::Reminder(id) => says::reminder(language, *id),
        }
    }

    fn stays(&self) -> Vec<String> {
        let FileMatches { files, by_assistant, received, paraphrases: _, unreadable } = &self.preview.files;
        let language = self.locale.language;
        let by = |files: &[String], named: fn(Language, &str) -> String| {
            (!files.is_empty()).then(|| named(language, &listed(files)))
        };
        [
            by(files, says::stays_by_hand),
            by(by_assistant, says::stays_by_assistant),
            by(received, says::stays_received),
            by(unreadable, says::stays_unread),
            (self.others_messages > 0).then(|| says::stays_in_messages(language, self.others_messages)),
            (self.preview.proposals > 0).then(|| says::stays_in_proposals(language, self.preview.proposals)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn json(&self) -> Value {
        let item = |(at, planned): (usize, &PlannedItem)| {
            json!({ "number": at.saturating_add(1), "kind": kind(&planned.item), "path": planned.path,
                "at": planned.at.map(|at| at.rfc3339()), "versions": planned.versions, "goes": self.goes(planned) })
        };
        let items: Vec<Value> = self.preview.items.iter().enumerate().map(item).collect();
        json!({ "plan": items, "copies": self.preview.copies, "code": self.code })
    }
}

/// Returns the items that a choice leaves out, as they are named afterwards: without their text.
pub(super) fn left_out(preview: &ErasurePreview, numbers: &[usize], locale: Locale) -> Vec<String> {
    let language = locale.language;
    let is_left = |(at, _): &(usize, &PlannedItem)| !numbers.contains(&at.saturating_add(1));
    let named = |(_, planned): (usize, &PlannedItem)| {
        let at = planned.at.map(|at| locale.near(at)).unwrap_or_default();
        let path = plain(visible_path(&planned.path));
        match &planned.item {
            ErasureItem::Note(_) => says::note(language, "", &path, 0),
            ErasureItem::Line { .. } => says::line_of(language, &path),
            ErasureItem::Archive(_) => says::archive(language, &path),
            ErasureItem::Message(_) => says::message_of(language, planned.is_reply, &at),
            ErasureItem::Summary(_) => says::summary(language, &at),
            ErasureItem::Reflection(_) => says::reflection(language, &at),
            ErasureItem::Reminder(id) => says::reminder_named(language, *id),
        }
    };
    preview.items.iter().enumerate().filter(is_left).map(named).collect()
}

/// Returns the text whose digest is the code of a plan.
pub(super) fn digest_input(preview: &ErasurePreview) -> String {
    let kind: &'static str = preview.plan.kind.into();
    // The words of a note may change in their place.
    let query = json!(preview.plan.query);
    format!("forget\n{kind}\n{}\n{query}\n{}", preview.plan.target, preview.keys().join(" "))
}

fn kind(item: &ErasureItem) -> &'static str {
    match item {
        ErasureItem::Note(_) => "note",
        ErasureItem::Line { .. } => "line",
        ErasureItem::Archive(_) => "archive",
        ErasureItem::Message(_) => "message",
        ErasureItem::Reflection(_) => "reflection",
        ErasureItem::Summary(_) => "summary",
        ErasureItem::Reminder(_) => "reminder",
    }
}

pub(super) fn listed(files: &[String]) -> String {
    files.iter().map(|file| plain(file)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_the_code_of_its_plan() {
        let parsed = |typed: &str| {
            TypedPlan::parse(typed).map(|plan| (plan.name.to_owned(), plan.numbers, plan.code.to_owned()))
        };
        let code = "0123abcdef";
        let some = |name: &str, numbers: Option<Vec<usize>>| Some((name.to_owned(), numbers, code.to_owned()));
        assert_eq!(parsed("garden gate"), None);
        assert_eq!(parsed("0123abcdef"), None);
        assert_eq!(parsed("gate 0123abcdef"), some("gate", None));
        assert_eq!(parsed("gate 7 0123abcdef"), some("gate 7", None));
        assert_eq!(parsed("garden gate only 3 1 0123abcdef"), some("garden gate", Some(vec![1, 3])));
        assert_eq!(parsed("gate only 1, 3,4 0123abcdef"), some("gate", Some(vec![4, 3, 1])));
        assert_eq!(parsed("if only 0123abcdef"), some("if only", None));
    }
}
