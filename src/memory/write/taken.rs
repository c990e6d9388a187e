//! The notice to a person of whose own lines a change takes some away.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Author, ChangeOrigin, Consent, WritePlan};
use crate::memory::listing::UNLISTED;
use crate::memory::stale_edits::MERGED;
use crate::memory::{label, layout, memory_md};
use crate::people::Party;
use crate::store::{Cause, FileRow, NewOutbox, Tx};
use crate::text::{escape_markdown, one_line, shorten};
use crate::trust::{Labelled, Scope};
use crate::wording::memory as says;

/// Number of earlier versions in which lines by hand are looked for.
const EXAMINED: u32 = 100;
/// Maximum length of quoted lines, in characters.
const QUOTED: usize = 200;

/// Causes of changes of which the person is told otherwise: a value that follows theirs, a merge, a line
/// of a note that is gone.
const TOLD_ELSEWHERE: [&str; 4] = ["follow", MERGED, UNLISTED, "mend"];

/// Tells the person which lines of their own hand a change of the assistant or of the program takes
/// away, in the transaction that announces it. What they did themselves or agreed to is not told, nor
/// what the program tells in words of its own, nor lines of the index, which are the program's.
pub(super) fn tell(tx: Tx<'_>, origin: &ChangeOrigin, plans: &[WritePlan], folder: &str) -> anyhow::Result<()> {
    let is_told = matches!(origin.author, Author::Person | Author::Hand)
        || origin.person.consent != Consent::None
        || TOLD_ELSEWHERE.contains(&origin.cause);
    let Party::One(person) = &origin.who else { return Ok(()) };
    if is_told || plans.iter().all(|plan| plan.taken.is_empty()) {
        return Ok(());
    }
    let Some(address) = tx.addresses().reached_at(person.id)? else { return Ok(()) };
    let language = tx.people().language_of(person.id)?;
    let new: HashSet<&str> =
        plans.iter().filter_map(|plan| plan.next.as_ref()?.text.as_deref()).flat_map(trimmed).collect();
    for plan in plans {
        let mut taken: Vec<&str> = plan.taken.iter().map(|line| line.trim()).collect();
        taken.retain(|line| !new.contains(line) && memory_md::parse_index_line(line).is_none());
        if taken.is_empty() {
            continue;
        }
        let history = tx.file_versions().file_history(&plan.current.real_path, EXAMINED)?;
        let by_hand = lines_by_hand(tx, &history)?;
        taken.retain(|line| by_hand.contains(*line));
        let last = history.iter().find(|row| row.digest == plan.current.digest).filter(|_| !taken.is_empty());
        let Some((last, path)) = last.zip(layout::own(folder, &plan.current.real_path)) else { continue };
        let words = shorten(&taken.iter().map(|line| one_line(line)).collect::<Vec<_>>().join(" / "), QUOTED);
        let words = says::took_lines(language, &path, &escape_markdown(&words), last.id);
        let text = Labelled::new(Arc::from(words), label::of_hand(), Scope::Person(person.id));
        // A change is announced again if a person saves the file at the same moment.
        if !tx.outbox().says_soon(address, &text)? {
            tx.outbox().post(&NewOutbox::about(Cause::NOTICE, address, &text, origin.now))?;
        }
    }
    Ok(())
}

fn trimmed(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim)
}

/// Returns the lines that versions by hand brought in: what they share with the version before was
/// there already.
fn lines_by_hand(tx: Tx<'_>, history: &[FileRow]) -> anyhow::Result<HashSet<String>> {
    let (mut lines, mut newer): (HashSet<String>, Option<HashSet<String>>) = Default::default();
    for row in history {
        let content = tx.file_versions().file_content(row.id)?.unwrap_or_default();
        let own: HashSet<String> = trimmed(&String::from_utf8_lossy(&content)).map(str::to_owned).collect();
        lines.extend(newer.take().into_iter().flatten().filter(|line| !own.contains(line)));
        newer = (row.author == Author::Hand.as_str()).then_some(own);
    }
    lines.extend(newer.into_iter().flatten());
    Ok(lines)
}
