//! Values that a person changes by hand in a file of the memory.
//!
//! Before each message of a chat, edits are recorded as versions ([`Index::record_hand_edits`]).
//! Each version by hand since the last look is then compared with the one before it. Where a key
//! got a new value there, the other places of its old value follow as after `/remember`, and the
//! person is told once. What was replaced stays in the history of the file that it was in.
//!
//! An edit that an editor made of an older version is merged with what it missed, and the index
//! loses the line of a note that a person deleted: of both the person is told here as well.
//!
//! [`Index::record_hand_edits`]: super::Index::record_hand_edits
//!
//! A list of facts may give any key its value. A note or `USER.md` uses its keys for its own
//! subject ("phone" of the dentist), so only places with just the old value follow it. Only trusted
//! text counts, and only a value that is still there. Repeating all of it changes nothing; if the
//! power goes between the change and the notice, the notice is lost.

use std::collections::{HashMap, HashSet};

use super::layout;
use super::listing::UNLISTED;
use super::memory_md;
use super::notes::Replaced;
use super::stale_edits::MERGED;
use super::workspace::Workspace;
use super::write::{Author, ChangeOrigin, PersonShare};
use crate::id::FileId;
use crate::people::Party;
use crate::store::{Db, FileChange, Node, Tx};
use crate::text::one_line;
use crate::time::Timestamp;
use crate::time::task::lock;
use crate::trust::Label;

/// The file about the person.
const USER: &str = "USER.md";
/// Maximum number of versions examined at one time.
const AT_ONCE: u32 = 100;

/// Effect of an edit by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandEditEffect {
    /// Other places followed it.
    Followed(FollowedEdit),
    /// It was merged with what was written since its editor was opened.
    Merged {
        /// Path of the file as its owner sees it.
        path: String,
        /// Lines that were put back.
        lines: Vec<String>,
        /// Label of the file.
        label: Label,
    },
    /// Notes that are gone lost their index lines.
    Unlisted {
        /// The lines.
        lines: Vec<String>,
        /// Label of the file that held them.
        label: Label,
    },
}

/// An edit by hand that other places followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowedEdit {
    /// Path of the edited file as its owner sees it.
    pub path: String,
    /// Texts that the new value replaced elsewhere.
    pub instead_of: Replaced,
}

impl Workspace {
    /// Brings the index of notes up to date with their folder, and lets other places follow the values
    /// that a person changed by hand, in the versions recorded since the last look. Does nothing while something is being forgotten.
    pub async fn follow_hand_edits(&self, who: &Party, now: Timestamp) -> anyhow::Result<Vec<HandEditEffect>> {
        if !self.1.memory.enabled {
            return Ok(Vec::new());
        }
        let folder = self.folder_of(who).await?;
        self.list_new_notes(who, &folder, now).await?;
        let Ok(_alone) = self.0.erasure.try_lock() else { return Ok(Vec::new()) };
        let scope = who.scope();
        let after = lock(&self.0.looked_at).get(&scope.encode()).copied().unwrap_or(FileId(0));
        let read = move |db: Db<'_>| {
            let versions = db.file_versions();
            Ok((versions.hand_edits(scope, after, AT_ONCE)?, versions.newest_version()?))
        };
        let (edits, newest) = self.0.journal.read(read).await?;
        let Some(last) = edits.last().map(|edit| edit.id) else {
            lock(&self.0.looked_at).insert(scope.encode(), newest);
            return Ok(Vec::new());
        };
        let mut followed = Vec::new();
        for edit in edits {
            let Some(path) = layout::own(&folder, &edit.path) else { continue };
            match edit.cause.as_str() {
                MERGED => {
                    let (lines, label) = (new_lines(&edit.before, &edit.after), edit.label);
                    followed.push(HandEditEffect::Merged { path, lines, label });
                }
                UNLISTED => {
                    let (lines, label) = (new_lines(&edit.after, &edit.before), edit.label);
                    followed.push(HandEditEffect::Unlisted { lines, label });
                }
                _ if self.may_change_values(&path) => {
                    let edits = self.follow(who, path, &edit, now).await?;
                    followed.extend(edits.into_iter().map(HandEditEffect::Followed));
                }
                _ => {}
            }
        }
        let seen = move |tx: Tx<'_>| tx.file_versions().hand_edits_seen(scope, last);
        self.0.journal.write("look at changes by hand", seen).await?;
        Ok(followed)
    }

    /// Returns true for lists of facts, notes and `USER.md`. Notes of days are history.
    pub(super) fn may_change_values(&self, path: &str) -> bool {
        let note = path.strip_prefix("memory/").and_then(|name| name.strip_suffix(".md"));
        let is_note =
            note.is_some_and(|name| !name.contains('/') && !memory_md::is_day(name) && !memory_md::is_overflow(name));
        is_note || path == USER || self.1.fact_lists().iter().any(|list| list.path == path)
    }

    /// Lets other places follow the new values of one version.
    async fn follow(
        &self,
        who: &Party,
        path: String,
        edit: &FileChange,
        now: Timestamp,
    ) -> anyhow::Result<Vec<FollowedEdit>> {
        let Some(file) = self.files().readable(who, &path).await? else { return Ok(Vec::new()) };
        if !file.label.is_trusted() || !edit.label.is_trusted() {
            return Ok(Vec::new());
        }
        let (before, present) = (by_key(values_in(&edit.before)), by_key(values_in(&file.text)));
        let is_in = |values: &Values, one: &KeyValue| values_of(values, &one.key).contains(&one.value);
        let is_new = |one: &KeyValue| !is_in(&before, one) && is_in(&present, one);
        let new: Vec<KeyValue> = values_in(&edit.after).into_iter().filter(is_new).collect();
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.notes().known_values(who).await?;
        let mut followed = Vec::new();
        for KeyValue { key, value } in new {
            let old = values_of(&before, &key);
            let origin = ChangeOrigin {
                who: who.clone(),
                label: edit.label.clone(),
                author: Author::Program,
                cause: "follow",
                from: vec![Node::File(edit.id.0)],
                person: PersonShare::default(),
                now,
            };
            let replaced = self.notes().follow_value(&origin, &path, (&key, &value), old, &known).await?;
            followed.extend(replaced.map(|instead_of| FollowedEdit { path: path.clone(), instead_of }));
        }
        Ok(followed)
    }
}

/// Returns the lines that only the second text has.
fn new_lines(before: &str, after: &str) -> Vec<String> {
    let known: HashSet<&str> = before.lines().map(str::trim).collect();
    let new = after.lines().map(str::trim).filter(|line| !line.is_empty() && !known.contains(line));
    new.map(str::to_owned).collect()
}

/// A key with its value.
struct KeyValue {
    key: String,
    value: String,
}

/// The values of each key, by its normal form.
type Values = HashMap<String, Vec<String>>;

fn by_key(values: Vec<KeyValue>) -> Values {
    let mut of_keys = Values::new();
    for KeyValue { key, value } in values {
        of_keys.entry(memory_md::normal_key(&key)).or_default().push(value);
    }
    of_keys
}

/// Returns the values of a key, in any spelling.
fn values_of<'v>(values: &'v Values, key: &str) -> &'v [String] {
    values.get(&memory_md::normal_key(key)).map_or(&[], Vec::as_slice)
}

/// Returns the values that a text gives to keys, in lists of facts and in lines of their own.
fn values_in(text: &str) -> Vec<KeyValue> {
    let value = |line: &str| {
        if let Some(fact) = memory_md::parse_fact(line) {
            return Some(KeyValue { key: fact.key, value: one_line(&fact.value) });
        }
        let words = memory_md::item_text(line).unwrap_or_else(|| line.trim());
        let (key, value) = memory_md::split_key(words)?;
        Some(KeyValue { key: key.to_owned(), value: one_line(value) })
    };
    text.lines().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_lists_and_in_lines_of_their_own() {
        let text = "# Pets\n\n- **Cat**: Bruno (2026-11-20)\n- Dog: Rex\nBird: Kiki\nWe have three of them.\n";
        let found: Vec<String> = values_in(text).iter().map(|one| format!("{}={}", one.key, one.value)).collect();
        assert_eq!(found, ["Cat=Bruno", "Dog=Rex", "Bird=Kiki"]);
    }
}
