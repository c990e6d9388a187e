//! Edits by hand that an editor made of an older version.
//!
//! An editor that was opened before a write of ours, and saves after it, puts an older text in its
//! place. Such an edit lacks every line that was written since, and may still have lines that were
//! removed since. It is recorded as it is, and then merged by lines with what it missed, as one
//! more version. Its labels are those of an edit of the newest version: unchanged lines keep
//! theirs.
//!
//! A person may also remove just those lines on purpose. So nothing is put back if the file is an
//! earlier version, if lines were only removed, if another form of a missing line stands in its place,
//! or if most of the file is new. A line that comes from neither the
//! edit nor the newest version never returns: what was forgotten or removed stays away.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use similar::DiffOp;
use tokio::sync::OwnedMutexGuard;

use super::passages::Passages;
use super::workspace::{FileVersions, WriteError};
use super::write::{Author, ChangeOrigin, CurrentFile, PersonShare, WritePlan};
use super::{label, layout, memory_md};
use crate::id::FileId;
use crate::people::Party;
use crate::store::{Db, FileRow, Node};
use crate::text::merge::{self, ClashRule, line_changes, lines};
use crate::text::words_in;
use crate::time::Timestamp;

/// Cause of the version that merges such an edit.
pub(super) const MERGED: &str = "merge";
/// Number of versions that are examined: the edit and those before it.
const EXAMINED: u32 = 24;
/// Age at which an edit counts as examined.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// An edit with what it missed.
struct StaleEdit {
    text: String,
    passages: Passages,
    newest: FileId,
}

impl FileVersions<'_> {
    /// Merges the present content of a file, if it is an edit by hand of an older version, with what
    /// was written since. Returns whether the file changed. The edit must have been recorded, which
    /// refuses a file of somebody else.
    pub(super) async fn merge_stale_edit(
        &self,
        who: &Party,
        current: &CurrentFile,
        now: Timestamp,
        writing: &Arc<OwnedMutexGuard<()>>,
    ) -> Result<bool, WriteError> {
        let (path, digest) = (current.real_path.clone(), current.digest.clone());
        let Some(text) = current.text.clone().filter(|_| !layout::is_shared(&path)) else { return Ok(false) };
        let find = move |db: Db<'_>| stale_edit(db, &path, &digest, &text, now);
        let Some(stale) = self.0.journal.read(find).await? else { return Ok(false) };
        let origin = ChangeOrigin {
            who: who.clone(),
            label: stale.passages.label().clone(),
            author: Author::Program,
            cause: MERGED,
            from: vec![Node::File(stale.newest.0)],
            person: PersonShare::default(),
            now,
        };
        let plan = WritePlan::to(current.clone(), stale.passages, stale.text);
        let plans = self.announce_all(&origin, vec![plan]).await?;
        Ok(self.place_all(plans, writing).await?.is_some())
    }
}

fn stale_edit(db: Db<'_>, path: &str, digest: &str, text: &str, now: Timestamp) -> anyhow::Result<Option<StaleEdit>> {
    let history = db.file_versions().file_history(path, EXAMINED)?;
    let Some((edit, before)) = history.split_first() else { return Ok(None) };
    let is_hand = |row: &FileRow| row.author == Author::Hand.as_str();
    if !is_hand(edit) || edit.digest != digest || now.since(edit.at) > OLD || before.first().is_none_or(is_hand) {
        return Ok(None);
    }
    // The versions that the editor may have opened: up to the last one by hand.
    let mut versions = Vec::new();
    for row in before {
        let content = db.file_versions().file_content(row.id)?.and_then(|content| String::from_utf8(content).ok());
        let Some(content) = content else { break };
        versions.push((row, content));
        if is_hand(row) {
            break;
        }
    }
    let texts: Vec<&str> = versions.iter().map(|(_, text)| text.as_str()).collect();
    let Some(base) = base_of(&texts, text) else { return Ok(None) };
    let (Some((newest, newest_text)), Some((_, base_text))) = (versions.first(), versions.get(base)) else {
        return Ok(None);
    };
    let merged = merge::merge(base_text, text, newest_text, ClashRule::KeepBoth).text;
    // No line is of an older version alone.
    let passages = label::stored_passages(db, Some(newest.id.0), newest.label.clone())?;
    let passages = passages.edited(newest_text, &merged, |_| label::of_hand()).passages;
    let is_whole = layout::is_untrusted(path) || newest.label.is_trusted();
    let passages = if is_whole { Passages::whole(newest.label.clone()) } else { passages };
    Ok((merged != text).then_some(StaleEdit { text: merged, passages, newest: newest.id }))
}

/// Returns which of the versions, newest first, an edit was made of; `None` if it was made of the
/// newest, or if that cannot be told.
fn base_of(versions: &[&str], edit: &str) -> Option<usize> {
    if versions.contains(&edit) {
        return None;
    }
    let newest = versions.first()?;
    let mut base = None;
    for (at, version) in versions.iter().enumerate().skip(1) {
        match evidence(version, newest, edit) {
            Evidence::ForIt => base = Some(at),
            Evidence::None => {}
            Evidence::Against => break,
        }
    }
    base
}

/// Evidence that an edit was made of an older version.
enum Evidence {
    ForIt,
    None,
    Against,
}

fn evidence(base: &str, newest: &str, edit: &str) -> Evidence {
    let [in_base, in_newest, in_edit] = [base, newest, edit].map(spoken_lines);
    let mut added = in_newest.difference(&in_base).peekable();
    let mut removed = in_base.difference(&in_newest).peekable();
    if added.peek().is_none() && removed.peek().is_none() {
        return Evidence::None;
    }
    let common: Vec<_> = in_base.intersection(&in_newest).collect();
    let is_most_there = common.iter().filter(|line| in_edit.contains(**line)).count() * 2 >= common.len();
    if common.is_empty() || !is_most_there || added.any(|line| in_edit.contains(line)) {
        return Evidence::Against;
    }
    if removed.any(|line| in_edit.contains(line)) {
        return Evidence::ForIt;
    }
    let is_only_shorter = in_edit.is_subset(&in_newest);
    if is_only_shorter || is_reworded(newest, edit, &in_base) { Evidence::Against } else { Evidence::ForIt }
}

/// Returns whether another form of a line that is not in the base stands in its place.
fn is_reworded(newest: &str, edit: &str, in_base: &HashSet<&str>) -> bool {
    let (before, after) = (lines(newest), lines(edit));
    line_changes(&before, &after).iter().any(|change| {
        let olds = before.get(change.old_range()).unwrap_or_default();
        let news = after.get(change.new_range()).unwrap_or_default();
        let mut missing = olds.iter().filter(|line| !line.trim().is_empty() && !in_base.contains(line.trim()));
        let is_changed = !matches!(change, DiffOp::Equal { .. });
        is_changed && missing.any(|old| news.iter().any(|new| is_form_of(new, old)))
    })
}

/// Returns whether a line states a fact of the same key, or shares half of the words.
fn is_form_of(new: &str, old: &str) -> bool {
    if let (Some(old), Some(new)) = (memory_md::parse_fact(old), memory_md::parse_fact(new)) {
        return memory_md::is_same_key(&old.key, &new.key);
    }
    let [old, new] = [old, new].map(|line| words_in(line).map(str::to_lowercase).collect::<HashSet<String>>());
    !old.is_empty() && old.intersection(&new).count() * 2 >= old.len()
}

fn spoken_lines(text: &str) -> HashSet<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "# Memory\n\n- **Tea**: green\n- **Cup**: blue\n";

    fn base(versions: &[&str], edit: &str) -> Option<usize> {
        base_of(versions, edit)
    }

    /// Proves: memory/editor-merge
    #[test]
    fn an_edit_that_lacks_what_was_written_since_was_made_of_an_older_version() {
        let one = format!("{BASE}- **Meanwhile**: heliotrope (2026-11-28)\n");
        let two = format!("{one}- **Later**: orchid (2026-11-28)\n");
        let versions = [two.as_str(), &one, BASE];
        for (edit, found) in [
            (format!("{BASE}- **Rabbit**: Hops\n"), Some(2)),
            (format!("{one}- **Rabbit**: Hops\n"), Some(1)),
            (format!("{two}- **Rabbit**: Hops\n"), None),
            (BASE.replace("green", "black"), Some(2)),
        ] {
            assert_eq!(base(&versions, &edit), found, "{edit}");
        }
    }

    /// Proves: memory/editor-merge
    #[test]
    fn what_a_person_removed_or_reworded_is_explained() {
        let newest = format!("{BASE}- **Meanwhile**: heliotrope (2026-11-28)\n");
        let versions = [newest.as_str(), BASE];
        for edit in [
            BASE.to_owned(),
            BASE.replace("- **Cup**: blue\n", ""),
            format!("{BASE}- **Meanwhile**: violet\n"),
            "# Memory\n\nAll of it is new.\n".to_owned(),
            String::new(),
        ] {
            assert_eq!(base(&versions, &edit), None, "{edit}");
        }
    }

    /// Proves: memory/editor-merge
    #[test]
    fn an_edit_that_still_has_a_replaced_line_was_made_of_an_older_version() {
        let newest = BASE.replace("green", "white");
        assert_eq!(base(&[newest.as_str(), BASE], &format!("{BASE}- **Rabbit**: Hops\n")), Some(1));
        assert_eq!(base(&[newest.as_str(), BASE], &newest.replace("white", "green tea")), None);
    }
}
