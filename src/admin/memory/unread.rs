//! Unreadable files that are loaded automatically or lie among the notes, each with the reason, so
//! that the person can fix it.

use crate::admin::MemoryAdmin;
use serde_json::{Value, json};

use super::{listed, name};
use crate::admin::answer::{ShownLabel, plain};
use crate::memory::{AccessRefusal, UnreadNote};
use crate::people::Party;
use crate::wording::memory as says;

/// Files that are loaded automatically and appear in no list while they are readable.
const ELSE: [&str; 6] =
    ["USER.md", "AGENTS.md", "SOUL.md", "HEARTBEAT.md", "learnings/errors.md", "learnings/corrections.md"];

/// Files, each with the reason.
pub(super) struct Unread(Vec<(String, AccessRefusal)>);

impl Unread {
    /// The unreadable notes; their names are shown.
    pub(super) fn of(notes: Vec<UnreadNote>, shown: &mut ShownLabel) -> Self {
        let named = notes.into_iter().map(|note| {
            shown.also(&note.label);
            (note.path, note.why)
        });
        Self(named.collect())
    }

    /// Adds a file, unless it is merely missing.
    pub(super) fn note(&mut self, path: &str, why: AccessRefusal) {
        if why != AccessRefusal::Missing {
            self.0.push((path.to_owned(), why));
        }
    }

    /// One line per file; `None` without any.
    pub(super) fn block(&self) -> Option<String> {
        let line = |(path, why): &(String, AccessRefusal)| says::unread(&plain(&name::short(path)), reason(*why));
        (!self.0.is_empty()).then(|| listed(says::UNREAD.to_owned(), &self.0, line))
    }

    /// The same for a program.
    pub(super) fn json(&self) -> Value {
        let one = |(path, why): &(String, AccessRefusal)| json!({ "note": name::short(path), "path": path, "why": reason(*why) });
        self.0.iter().map(one).collect()
    }
}

impl MemoryAdmin<'_> {
    /// Adds the files that appear in no list.
    pub(super) async fn note_what_else(&self, who: &Party, unread: &mut Unread) -> anyhow::Result<()> {
        for path in ELSE {
            if let Err(why) = self.page(who, &[path.to_owned()]).await? {
                unread.note(path, why);
            }
        }
        Ok(())
    }
}

/// The reason in words.
pub(super) fn reason(why: AccessRefusal) -> &'static str {
    match why {
        AccessRefusal::NoText => says::NOT_TEXT,
        AccessRefusal::TooLarge => says::TOO_LARGE,
        AccessRefusal::BadPath | AccessRefusal::Missing | AccessRefusal::Elsewhere => says::NOT_OPENED,
    }
}
