//! Notices about edits by hand.

use crate::memory::HandEditEffect;
use crate::text::{escape_markdown, shorten};
use crate::trust::{Scope, Text};
use crate::wording::{Language, turn as says};

/// Maximum length of quoted lines, in characters.
const MOST_QUOTED: usize = 200;

/// Returns the notice about an effect of an edit by hand.
pub(super) fn notice(effect: HandEditEffect, language: Language, scope: Scope) -> Text {
    let quoted = |lines: &[String]| escape_markdown(&shorten(&lines.join(" / "), MOST_QUOTED));
    let (words, label) = match effect {
        HandEditEffect::Followed(edit) => {
            let (path, old) = (escape_markdown(&edit.path), escape_markdown(&edit.instead_of.shown));
            (says::followed_by_hand(language, &path, &old), edit.instead_of.label)
        }
        HandEditEffect::Merged { path, lines, label } => {
            (says::edit_merged(language, &escape_markdown(&path), &quoted(&lines)), label)
        }
        HandEditEffect::Unlisted { lines, label } => {
            (says::notes_unlisted(language, lines.len(), &quoted(&lines)), label)
        }
    };
    Text::new(words.into(), label, scope)
}
