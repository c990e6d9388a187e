//! Edits a memory file in a person's own editor: the file's path before, and a report after.
//!
//! The editor runs at the person's computer, on the real file. The edit becomes the person's own by
//! the rule for every change by hand; this module only records the version and the fill level.

use crate::admin::MemoryAdmin;
use serde_json::json;

use super::name::{self, Name};
use super::overview::INDEX;
use super::{MemoryFile, bytes};
use crate::admin::answer::{Answer, plain};
use crate::memory::{AccessRefusal, Workspace};
use crate::people::{Party, Person};
use crate::wording::memory as says;

impl MemoryAdmin<'_> {
    /// The path of a file to edit: that of the named note, or of a new note with that name;
    /// `MEMORY.md` if none is named. The Markdown is the full path; the JSON adds the digest of the
    /// present content.
    pub async fn place_of_note(&self, person: &Person, typed: &str) -> anyhow::Result<Answer> {
        let who = Party::One(person.clone());
        let (path, digest) = match self.chosen(&who, typed).await? {
            Ok(chosen) => chosen,
            Err(refusal) => return Ok(refusal),
        };
        Ok(match self.tree.versions().disk_path(&who, &path).await? {
            Ok(place) => match place.to_str() {
                Some(place) => Answer::ours(place, json!({ "file": place, "path": path, "digest": digest })),
                None => Answer::refusal(says::UNREADABLE),
            },
            Err(_) => Answer::refusal(says::NO_SUCH_NOTE_HERE),
        })
    }

    /// Reports the file's state after the editor was closed. `digest` is that of the content
    /// before.
    pub async fn note_edited(&self, person: &Person, path: &str, digest: &str) -> anyhow::Result<Answer> {
        let origin = self.theirs(person, "hand");
        if let Err(why) = self.tree.versions().take_note_of(&origin, path).await? {
            return Ok(super::promote::refused(path, why));
        }
        Ok(match self.page(&origin.who, &[path.to_owned()]).await? {
            Ok(page) => edited(&page, digest, self.reads_memory()),
            Err(AccessRefusal::Missing) => Answer::ours(
                says::not_made(&plain(name::seen(path))),
                json!({ "path": path, "changed": !digest.is_empty() }),
            ),
            Err(_) => Answer::refusal(says::UNREADABLE),
        })
    }

    async fn chosen(&self, who: &Party, typed: &str) -> anyhow::Result<Result<(String, String), Answer>> {
        let (paths, new) = match (typed.trim(), Name::read(typed)) {
            ("", _) => (vec![INDEX.to_owned()], INDEX.to_owned()),
            (_, Some(name)) => (name.paths(), name.new_path()),
            (_, None) => return Ok(Err(Answer::refusal(says::NO_NAME))),
        };
        Ok(match self.page(who, &paths).await? {
            Ok(page) => Ok((page.path, page.digest)),
            Err(AccessRefusal::Missing) => Ok((new, String::new())),
            Err(_) => Err(Answer::refusal(says::UNREADABLE)),
        })
    }
}

fn edited(page: &MemoryFile, before: &str, read: bool) -> Answer {
    let (size, most) = (page.size(), bytes(Workspace::size_limit(&page.path)));
    let (path, gauge) = (plain(name::seen(&page.path)), says::gauge(size, most));
    let sentence = match (page.digest == before, size > most) {
        (true, _) => says::unchanged(&path, &gauge),
        (false, true) => says::overfull(&path, &gauge),
        (false, false) => says::edited(&path, &gauge, read),
    };
    Answer::ours(sentence, json!({ "path": page.path, "changed": page.digest != before, "size": size, "limit": most }))
}
