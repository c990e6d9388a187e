//! Labels of a change: whose each line is, and whether its author may take away what stands there.

use super::super::passages::{Passages, is_line_of};
use super::super::{label, layout};
use super::{Author, ChangeOrigin, WritePlan, WriteRefusal};
use crate::trust::{Label, Text};
use crate::wording::knowledge as says;

/// Part that a person has in a change which the assistant makes for them.
#[derive(Debug, Clone, Default)]
pub struct PersonShare {
    /// Texts that they typed: a new line that is one of them keeps its label.
    pub typed: Vec<Text>,
    /// Their consent.
    pub consent: Consent,
}

/// Consent of a person to a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Consent {
    /// None was needed, or none was given.
    #[default]
    None,
    /// They vouched for all from outside that had a part in it: it may take their lines away.
    Vouched,
    /// They were shown it whole, on a content with one of these digests, of which all but the first are
    /// what they agreed to before: it may, and its lines are theirs.
    Shown(Vec<String>),
}

/// Labels of a changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::memory) enum LabelRule {
    /// Each line keeps its label, and a new one gets that of its author.
    ByLine,
    /// That of the author alone, because the new text is known to be the whole content.
    Whole,
    /// Those of the version that is restored.
    Restored(Passages),
}

impl WritePlan {
    /// Returns the labels of the new content.
    pub(super) fn changed(
        &self,
        new: Option<&str>,
        by: &AuthorLines<'_>,
        rule: &LabelRule,
    ) -> Result<Passages, WriteRefusal> {
        let before = self.current.text.as_deref();
        let old = before.unwrap_or_default();
        let consent = by.consent_to(&self.current.digest);
        let by_person = matches!(by.origin.author, Author::Person | Author::Hand);
        let is_outside = !by_person && !by.origin.label.is_trusted();
        let is_loaded = layout::is_loaded_at(&self.current.real_path) && !by.origin.label.is_trusted();
        if is_outside && consent == &Consent::None && !self.passages.taken_away(old, new.unwrap_or_default()).is_empty()
        {
            let why = WriteRefusal::impossible(says::NOT_TAKEN_FROM_OUTSIDE);
            return Err(if is_loaded && new.is_some() { WriteRefusal::Untrusted } else { why });
        }
        let is_marked = layout::is_untrusted(&self.current.real_path);
        let (passages, is_trusted) = match (rule, new) {
            (LabelRule::Whole, _) => (Passages::whole(by.label.clone()), by.label.is_trusted()),
            (LabelRule::Restored(passages), _) => (passages.clone(), passages.label().is_trusted()),
            // A deleted file leaves its mark on what is written there next.
            (LabelRule::ByLine, None) => return Ok(Passages::whole(self.passages.label().clone())),
            (LabelRule::ByLine, Some(_))
                if is_marked || by.label.is_trusted() && self.passages.label().is_trusted() =>
            {
                let label = before.map_or_else(|| by.label.clone(), |_| self.passages.label().join_with(by.label));
                (Passages::whole(label), by.label.is_trusted())
            }
            (LabelRule::ByLine, Some(new)) => {
                let edited = self.passages.edited(old, new, |line| by.label_of(line, consent));
                (edited.passages, edited.brings_trusted)
            }
        };
        if is_loaded && !is_trusted { Err(WriteRefusal::Untrusted) } else { Ok(passages) }
    }
}

/// Labels of the lines that an author writes.
pub(super) struct AuthorLines<'a> {
    pub(super) origin: &'a ChangeOrigin,
    pub(super) label: &'a Label,
}

impl AuthorLines<'_> {
    /// Returns the consent to a change of the content with that digest.
    fn consent_to(&self, digest: &str) -> &Consent {
        match &self.origin.person.consent {
            Consent::Shown(shown) if !shown.iter().any(|shown| shown == digest) => &Consent::None,
            consent => consent,
        }
    }

    fn label_of(&self, line: &str, consent: &Consent) -> Label {
        let typed = self.origin.person.typed.iter().find(|typed| is_line_of(line, typed));
        match (typed, consent) {
            (Some(typed), _) => typed.label().clone(),
            (None, Consent::Shown(_)) => label::of_agreed(),
            (None, Consent::None | Consent::Vouched) => self.label.clone(),
        }
    }
}
