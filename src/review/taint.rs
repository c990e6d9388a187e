//! First stage: where do the words come from?
//!
//! The journal is asked, not the caller: a turn that does not exist, belongs to another conversation or to somebody else counts as tainted, and
//! the label is the join of what the caller says and what the journal says. Clean is only what the owner's own turn made of trusted text, and even that waits for the
//! owner when the turn held a quote, a code block or a long text: pasting looks like typing.

use super::proposal::Origin;
use crate::people::Role;
use crate::store::{Db, StoredText, TextKind, TurnRow};
use crate::trust::{Label, Scope, Source};
use crate::wording::proposal as says;

/// More typed characters than this in one turn are more than a request.
const LONG: usize = 1_000;

/// What may happen to a proposal without its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A reviewer may approve it, if the owner's policy says so.
    Clean,
    /// It is made of trusted text, and still waits for the owner.
    Careful,
    /// Untrusted text had a part in it: the owner decides, whatever the policy.
    Tainted,
}

impl Standing {
    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Careful => "careful",
            Self::Tainted => "tainted",
        }
    }

    /// The standing of that word; whatever it never wrote is tainted.
    pub fn read(word: &str) -> Self {
        match word {
            "clean" => Self::Clean,
            "careful" => Self::Careful,
            _ => Self::Tainted,
        }
    }
}

/// What the stage says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Judged {
    pub standing: Standing,
    pub label: Label,
    pub scope: Scope,
    /// Why it is not clean; blank if it is.
    pub note: String,
}

/// Judges where a draft comes from.
pub(super) fn judge(db: Db<'_>, origin: &Origin) -> anyhow::Result<Judged> {
    match origin {
        Origin::Turn { turn, conversation, person, label } => {
            let row = db.turn(*turn)?.filter(|row| row.conversation == *conversation && row.person == *person);
            match row {
                Some(row) => judge_turn(db, &row, label),
                None => Ok(tainted(label.join(&Label::untrusted(Source::unknown())), Scope::Shared)),
            }
        }
        Origin::Note { label, .. } if label.is_trusted() => Ok(careful(label, Scope::Shared, says::FROM_A_NOTE)),
        Origin::Note { label, .. } => Ok(tainted(label.clone(), Scope::Shared)),
        Origin::Import => Ok(tainted(Label::untrusted(Source::new("import", "")), Scope::Shared)),
        Origin::Folder => Ok(tainted(Label::untrusted(Source::new("folder", "")), Scope::Shared)),
        Origin::Shipped => Ok(careful(&super::label::of_the_program(), Scope::Shared, says::SHIPPED)),
    }
}

fn judge_turn(db: Db<'_>, row: &TurnRow, claimed: &Label) -> anyhow::Result<Judged> {
    let mut label = row.label.join(claimed);
    let mut texts = Vec::new();
    for message in db.messages_of_turn(row.id)? {
        texts.extend(db.texts_of(message.id)?);
    }
    for text in &texts {
        label.absorb(text.text.label());
    }
    if !label.is_trusted() {
        return Ok(tainted(label, row.scope));
    }
    let owner = row.person.map(|id| db.person(id)).transpose()?.flatten();
    if owner.is_none_or(|person| person.role != Role::Owner) {
        return Ok(careful(&label, row.scope, says::NOT_THE_OWNERS));
    }
    match looks_pasted(&texts) {
        Some(why) => Ok(careful(&label, row.scope, why)),
        None => Ok(Judged { standing: Standing::Clean, label, scope: row.scope, note: String::new() }),
    }
}

/// Why what was typed in a turn may not be its person's own words. A turn in which nobody typed anything is no request of anybody.
fn looks_pasted(texts: &[StoredText]) -> Option<&'static str> {
    let said: Vec<&str> =
        texts.iter().filter(|text| text.kind != TextKind::Quote).map(|text| &**text.text.open().0).collect();
    if texts.iter().any(|text| text.kind == TextKind::Quote) {
        Some(says::HAS_A_QUOTE)
    } else if said.is_empty() {
        Some(says::NOTHING_TYPED)
    } else if said.iter().any(|words| words.contains("```") || words.contains("~~~") || has_quoted_line(words)) {
        Some(says::HAS_A_BLOCK)
    } else if said.iter().map(|words| words.chars().count()).sum::<usize>() > LONG {
        Some(says::IS_LONG)
    } else {
        None
    }
}

/// A line that begins like a quote or like indented code.
fn has_quoted_line(words: &str) -> bool {
    words.lines().any(|line| line.starts_with('>') || line.starts_with("    ") || line.starts_with('\t'))
}

fn tainted(label: Label, scope: Scope) -> Judged {
    let note = says::tainted(&label);
    Judged { standing: Standing::Tainted, label, scope, note }
}

fn careful(label: &Label, scope: Scope, why: &str) -> Judged {
    Judged { standing: Standing::Careful, label: label.clone(), scope, note: why.to_owned() }
}
