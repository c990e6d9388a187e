//! Live skills, each scored by the share of the search words that its text contains.

use crate::admin::SearchAdmin;
use std::sync::Arc;

use super::super::snippet::FoldedWords;
use super::{HitSource, SearchKind, SearchQuery, SearchRow};
use crate::review::LiveSkill;
use crate::skill::MAIN;
use crate::store::Node;
use crate::trust::{Labelled, Scope};

impl SearchAdmin<'_> {
    pub(super) async fn of_skills(&self, sought: &SearchQuery) -> anyhow::Result<Vec<SearchRow>> {
        if !sought.wants(SearchKind::Skill) || sought.agent.is_some() || sought.section.is_some() {
            return Ok(Vec::new());
        }
        let (wanted, live) = (FoldedWords::new(&sought.query), self.review.live().await?);
        let mut rows = Vec::new();
        for skill in live.skills.values() {
            let words = words_of(skill);
            let score = wanted.share_in(&words);
            if score > 0.0 && sought.fits(&words) {
                rows.push(self.row_of_skill(skill, words, score).await?);
            }
        }
        rows.sort_by(|one, other| other.score.total_cmp(&one.score));
        rows.truncate(sought.limit);
        Ok(rows)
    }

    async fn row_of_skill(&self, live: &LiveSkill, words: String, score: f64) -> anyhow::Result<SearchRow> {
        let version = live.version;
        let born = self.journal.read(move |db| db.derivations().birth(Node::Version(version))).await?;
        let (label, name) = (live.label.clone(), live.skill.manifest.name.clone());
        Ok(SearchRow {
            kind: SearchKind::Skill,
            id: version.0,
            at: born.map_or_else(|| self.clock.now(), |(at, _)| at),
            by: HitSource::Nobody,
            title: Some(Labelled::new(name, label.clone(), Scope::Shared)),
            text: Labelled::new(Arc::from(words), label, Scope::Shared),
            score,
        })
    }
}

fn words_of(live: &LiveSkill) -> String {
    let manifest = &live.skill.manifest;
    let main = live.skill.content.text(MAIN).unwrap_or_default();
    format!("{}\n{}\n{main}", manifest.name, manifest.description)
}
