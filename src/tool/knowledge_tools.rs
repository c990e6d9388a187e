//! Shared code of the tools that store and change knowledge: the folder's owner, the origin of new
//! text, and the answer to the model.
//!
//! Text of a tainted turn goes where nothing is loaded automatically, and its person is asked
//! whether to keep it; groups and unattended runs are not asked. Every party can access only its
//! own folder.

use std::sync::Arc;

use super::{AuthorizableCall, Output, ToolError, argument};
use crate::memory::{AccessRefusal, Author, ChangeOrigin, StoredNote, Workspace, WriteRefusal, WriteResult};
use crate::people::Party;
use crate::review::Review;
use crate::store::{ConversationKind, Db, Journal, Node};
use crate::time::{Clock, Timestamp, Zone};
use crate::trust::{Labelled, Scope, Text};
use crate::wording::knowledge as says;

/// The number of hash digits displayed.
const SHOWN: usize = 12;

/// The knowledge of all people, as tools change it.
#[derive(Clone)]
pub struct KnowledgeStore {
    pub(super) journal: Journal,
    pub(super) tree: Workspace,
    pub(super) review: Review,
    pub(super) zone: Zone,
    clock: Arc<dyn Clock>,
}

impl KnowledgeStore {
    /// Creates it over this workspace and the gate's live skills; times are displayed in `zone`.
    pub fn new(journal: Journal, tree: Workspace, review: Review, clock: Arc<dyn Clock>, zone: Zone) -> Self {
        Self { journal, tree, review, zone, clock }
    }

    /// Returns the party that owns the folder.
    pub(super) async fn party(&self, call: &AuthorizableCall<'_>) -> Result<Party, ToolError> {
        match call.scope {
            Scope::Group(stream) => Ok(Party::Group(stream)),
            Scope::Person(id) => {
                let person = self.journal.read(move |db| db.people().person(id)).await.map_err(failed)?;
                person.map(Party::One).ok_or_else(|| ToolError::Refused(says::NOBODY.to_owned()))
            }
            Scope::Shared => Err(ToolError::Refused(says::NOBODY.to_owned())),
        }
    }

    /// Returns the origin of a change by this turn.
    pub(super) async fn origin(
        &self,
        call: &AuthorizableCall<'_>,
        cause: &'static str,
    ) -> Result<ChangeOrigin, ToolError> {
        Ok(ChangeOrigin {
            who: self.party(call).await?,
            label: call.label.clone(),
            author: Author::Assistant,
            cause,
            from: vec![Node::Turn(call.turn)],
            now: self.now(),
        })
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the answer to a stored text; `words` are what a person is asked about if it was
    /// redirected.
    pub(super) async fn answer(
        &self,
        call: &AuthorizableCall<'_>,
        kept: anyhow::Result<Result<StoredNote, WriteRefusal>>,
        words: &str,
    ) -> Result<Output, ToolError> {
        let kept = kept.map_err(failed)?.map_err(refused)?;
        if kept.redirected {
            self.request_to_keep(call, &kept, words).await.map_err(failed)?;
        }
        let text = match (kept.redirected, kept.written.version) {
            (true, _) => says::redirected(&kept.path),
            (false, Some(_)) => says::kept(&kept.path),
            (false, None) => says::kept_already(&kept.path),
        };
        Ok(self.output(call, text, &kept.written))
    }

    /// Returns the result of a call that changed a file.
    pub(super) fn output(&self, call: &AuthorizableCall<'_>, text: String, written: &WriteResult) -> Output {
        let from = written.version.map(|version| Node::File(version.0)).into_iter().collect();
        Output { text, label: call.label.clone(), from }
    }

    async fn request_to_keep(&self, call: &AuthorizableCall<'_>, kept: &StoredNote, words: &str) -> anyhow::Result<()> {
        let (turn, conversation, now) = (call.turn, call.conversation, self.now());
        let Scope::Person(person) = call.scope else { return Ok(()) };
        let reads_along = move |db: Db<'_>| {
            Ok(db.conversations().conversation(conversation)?.is_some_and(|talk| talk.kind == ConversationKind::Chat))
        };
        if !self.journal.read(reads_along).await? {
            return Ok(());
        }
        let (path, digest) = (kept.path.clone(), kept.written.digest.clone());
        let words = self.as_filed(call, &path).await?.unwrap_or_else(|| words.to_owned());
        let shown: Text = Labelled::new(Arc::from(words), kept.written.label.clone(), call.scope);
        self.journal
            .write("want to keep something", move |tx| {
                tx.keep_requests().add_keep_request(turn, person, &path, &digest, &shown, now)
            })
            .await
    }
}

impl KnowledgeStore {
    /// Returns the complete text that an approval would make trusted: the title for the index, and
    /// the body.
    async fn as_filed(&self, call: &AuthorizableCall<'_>, path: &str) -> anyhow::Result<Option<String>> {
        let Ok(party) = self.party(call).await else { return Ok(None) };
        let Ok((text, _, _)) = self.tree.files().read_text(&party, path).await? else { return Ok(None) };
        let note = crate::memory::note::read(text.open().0);
        let titled = note.name.is_empty() || note.body.trim_start().starts_with(&note.name);
        Ok(Some(if titled { note.body } else { format!("{}\n\n{}", note.name, note.body) }))
    }
}

/// Returns a path for display, without `.` and `..` steps.
pub(super) fn shown_path(path: &str) -> String {
    crate::memory::normal_path(path.trim()).unwrap_or_else(|| path.trim().to_owned())
}

/// Returns the hash digits displayed before a file.
pub(super) fn short(digest: &str) -> &str {
    digest.get(..SHOWN).unwrap_or(digest)
}

/// Returns the path relative to the skills folder; `None` if the path is outside of it.
pub(super) fn skill_way(path: &str) -> Option<&str> {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    first.eq_ignore_ascii_case("skills").then_some(rest)
}

/// Refuses paths of skills, which are outside the workspace and are changed only by their gate.
pub(super) fn no_skill(path: &str) -> Result<(), ToolError> {
    let is_skill = skill_way(path).is_some();
    if is_skill { Err(ToolError::Refused(says::SKILLS_ARE_ONLY_READ.to_owned())) } else { Ok(()) }
}

/// Returns a text argument.
pub(super) fn text_of<'c>(call: &'c AuthorizableCall<'_>, name: &str) -> &'c str {
    argument::text(call.arguments, name)
}

pub(super) fn not_given(why: AccessRefusal) -> ToolError {
    ToolError::Arguments(
        match why {
            AccessRefusal::BadPath => says::BAD_PATH,
            AccessRefusal::Missing => says::NO_SUCH_FILE,
            AccessRefusal::Elsewhere => says::NOT_THEIRS,
            AccessRefusal::NoText => says::NO_TEXT,
            AccessRefusal::TooLarge => says::TOO_LARGE_TO_READ,
        }
        .to_owned(),
    )
}

pub(super) fn refused(why: WriteRefusal) -> ToolError {
    ToolError::Refused(match why {
        WriteRefusal::Elsewhere => says::BAD_PATH.to_owned(),
        WriteRefusal::Foreign => says::NOT_THEIRS.to_owned(),
        WriteRefusal::OwnersHand => says::OWNERS_HAND.to_owned(),
        WriteRefusal::Untrusted => says::NOT_FROM_OUTSIDE.to_owned(),
        WriteRefusal::TooLarge(most) => says::too_large(most),
        WriteRefusal::NoText => says::NO_TEXT.to_owned(),
        WriteRefusal::Unreadable(path) => says::broken_file(&path),
        WriteRefusal::Impossible(why) => why,
    })
}

pub(super) fn failed(error: anyhow::Error) -> ToolError {
    tracing::error!("A file of the workspace cannot be used: {error:#}");
    ToolError::Failed(says::FAILED.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_among_the_skills_is_one() {
        for (path, meant) in
            [("skills", Some("")), ("skills/tea/SKILL.md", Some("tea/SKILL.md")), ("SKILLS/tea", Some("tea"))]
        {
            assert_eq!(skill_way(path), meant, "{path}");
        }
        for path in ["", "skillset/tea", "memory/skills/tea.md", "skills.md"] {
            assert_eq!(skill_way(path), None, "{path}");
        }
    }
}
