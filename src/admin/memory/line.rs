//! `compline memory …`, as received by the process that holds the home. Without a name it concerns
//! the first owner's memory; an editor opened from a chat names its person.

use crate::admin::MemoryAdmin;
use crate::admin::answer::Answer;
use crate::id::FileId;
use crate::people::Person;
use crate::wording::review_command::Surface;

impl MemoryAdmin<'_> {
    /// Runs the words after `memory`; `None` if they are invalid.
    pub(in crate::admin) async fn memory_line(&self, words: &[&str]) -> Option<anyhow::Result<Answer>> {
        let way = Surface::CommandLine;
        Some(match words {
            [] => self.of_the_owner(async |owner| self.overview(owner, way).await).await,
            ["show", note] => self.of_the_owner(async |owner| self.note(owner, note, way).await).await,
            ["history", note] => self.of_the_owner(async |owner| self.past_of(owner, note, way).await).await,
            ["restore", note, version] => {
                let version = FileId(version.parse().ok()?);
                self.of_the_owner(async |owner| self.restore_note(owner, note, version, way).await).await
            }
            ["promote", note] => self.of_the_owner(async |owner| self.promote_note(owner, note, "", way).await).await,
            ["promote", note, code] => {
                self.of_the_owner(async |owner| self.promote_note(owner, note, code, way).await).await
            }
            ["place", whose, note] => self.of(whose, async |person| self.place_of_note(person, note).await).await,
            ["edited", whose, path, digest] => {
                self.of(whose, async |person| self.note_edited(person, path, digest).await).await
            }
            _ => return None,
        })
    }

    /// Runs a command for the named person, or for the first owner if the name is blank.
    async fn of(
        &self,
        name: &str,
        command: impl AsyncFnOnce(&Person) -> anyhow::Result<Answer>,
    ) -> anyhow::Result<Answer> {
        if name.is_empty() {
            return self.of_the_owner(command).await;
        }
        let wanted = name.to_owned();
        match self.journal.read(move |db| db.people().person_named(&wanted)).await? {
            Some(person) => command(&person).await,
            None => Ok(Answer::refusal(crate::wording::gate::no_such_person(Some(name)))),
        }
    }
}
