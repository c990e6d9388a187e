//! Two ways for the owner to make a skill: from an imported folder, and from a note of their own.
//!
//! Both produce a pending proposal, like every new skill. An imported folder is always untrusted; a
//! note has the label of its text.

use crate::admin::SkillsAdmin;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::answer::{Answer, ShownLabel, plain};
use super::review::{change_of, standing_of};
use crate::id::ProposalId;
use crate::people::Person;
use crate::review::reveal::reveal;
use crate::review::{ProposalOrigin, Refused, Staged};
use crate::skill::{MAIN, SkillFolder, manifest, name as names, note};
use crate::text::shorten;
use crate::trust::{Label, Source};
use crate::wording::review_command as says;

impl SkillsAdmin<'_> {
    /// Proposes the skill in a folder on this computer, given by its full path.
    pub async fn import(&self, path: &str, name: &str) -> anyhow::Result<Answer> {
        let from = Path::new(path).to_owned();
        let read = tokio::task::spawn_blocking(move || SkillFolder::read(&from)).await?;
        let mut shown = ShownLabel::nothing();
        shown.also(&Label::untrusted(Source::new("import", "")));
        match read {
            Ok(content) => self.propose(name, &content, ProposalOrigin::Import, shown).await,
            Err(error) => {
                Ok(failed(shown, &says::cannot_import(&visible_line(path), &visible_line(&error.to_string()))))
            }
        }
    }

    /// Proposes a skill made from a note of that owner.
    pub async fn promote(&self, owner: &Person, note: &str, name: Option<&str>) -> anyhow::Result<Answer> {
        let mut shown = ShownLabel::nothing();
        let cannot = |why: &str| Answer::refusal(says::cannot_use_note(&visible_line(note), why));
        let (text, file) = match self.engine.tree.files().read_note(owner, note).await {
            Ok(read) => read,
            Err(error) => {
                return Ok(Answer::refusal(says::cannot_read_note(
                    &visible_line(note),
                    &visible_line(&format!("{error:#}")),
                )));
            }
        };
        let label = text.label().clone();
        let name = name.map_or_else(|| note::name_for(note), str::to_owned);
        if name.is_empty() {
            return Ok(cannot(says::NAME_NEEDED));
        }
        let words: &Arc<str> = shown.words(&text);
        match note::skill_of(&name, words) {
            Some(main) => {
                let content = SkillFolder::new([(MAIN.to_owned(), Arc::from(main.into_bytes()))]);
                self.propose(&name, &content, ProposalOrigin::Note { label, file }, shown).await
            }
            None => Ok(cannot(says::NOTE_WITHOUT_WORDS)),
        }
    }

    async fn propose(
        &self,
        name: &str,
        content: &SkillFolder,
        origin: ProposalOrigin,
        shown: ShownLabel,
    ) -> anyhow::Result<Answer> {
        if !names::is_valid(name) {
            let why = manifest::ManifestProblem::BadName(shorten(name, 80)).to_string();
            return Ok(failed(shown, &says::not_proposed(&visible_line(&why))));
        }
        let draft = match self.review.draft(name, content, origin).await {
            Ok(draft) => draft,
            Err(error) => {
                return Ok(failed(shown, &says::place_is_taken(&plain(name), &visible_line(&format!("{error:#}")))));
            }
        };
        match self.review.submit(draft).await? {
            Ok(Staged::New(id, _)) => self.staged(id, shown).await,
            Ok(Staged::Known(id)) => Ok(Answer::showing(shown, says::waits_already(id), json!({ "proposal": id }))),
            Err(Refused(why)) => {
                let why: Vec<String> = why.iter().map(|why| format!("- {}", visible_line(why))).collect();
                Ok(failed(shown, &says::not_proposed(&why.join("\n"))))
            }
        }
    }

    async fn staged(&self, id: ProposalId, mut shown: ShownLabel) -> anyhow::Result<Answer> {
        let Some(row) = self.review.proposal(id).await?.map(|proposal| proposal.row) else {
            anyhow::bail!("A new proposal vanished");
        };
        shown.also(&row.label);
        let json = json!({ "proposal": id, "skill": row.skill, "change": row.change, "standing": row.standing });
        Ok(Answer::showing(shown, says::staged(id, &change_of(&row), &standing_of(&row)), json))
    }
}

fn failed(shown: ShownLabel, sentence: &str) -> Answer {
    Answer::refusal_showing(shown, sentence)
}

/// Returns foreign text on one line, with hidden characters made visible.
fn visible_line(words: &str) -> String {
    plain(&reveal(words))
}

#[cfg(test)]
mod tests;
