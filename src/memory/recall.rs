//! What was said, found by words and meaning.
//!
//! The names of those who talk are cut from the question before it is compared by meaning: with a
//! name in it, it is nearest to greetings. Where nobody computes vectors, or nobody does at the
//! moment, words alone decide.

use std::sync::Arc;

use super::vectors::Vectors;
use crate::id::MessageId;
use crate::store::{Db, Journal, Looked, Matches};
use crate::text::question;
use crate::time::Zone;
use crate::trust::{Labelled, Scope, Text};

/// So many texts that are near in meaning are candidates.
const NEAR: usize = 100;

/// Searches what was said. Cloning gives another handle on the same.
#[derive(Clone)]
pub struct Recollection {
    journal: Journal,
    vectors: Option<Vectors>,
    agent: Arc<str>,
    zone: Zone,
}

/// What is looked for.
#[derive(Debug, Clone)]
pub struct RecallQuery {
    /// The words; their scope is the one that is looked into.
    pub words: Text,
    /// Untrusted texts as well.
    pub untrusted_too: bool,
    /// At most so many hits.
    pub limit: usize,
    /// Only what was said before this message.
    pub before: Option<MessageId>,
}

impl Recollection {
    /// Over that journal, by meaning too if there are vectors. `agent` is what the assistant is
    /// called.
    pub fn new(journal: Journal, vectors: Option<Vectors>, agent: &str) -> Self {
        Self { journal, vectors, agent: Arc::from(agent), zone: Zone::UTC }
    }

    /// The same, where a month or a year in a question is one of that zone.
    #[must_use]
    pub fn in_zone(self, zone: Zone) -> Self {
        Self { zone, ..self }
    }

    /// The best matches; `and` looks at them in the same moment of the journal.
    ///
    /// # Errors
    /// If the journal cannot be read, or what `and` returned. No question is an error.
    pub async fn search<T: Send + 'static>(
        &self,
        asked: &RecallQuery,
        and: impl FnOnce(Db<'_>, Matches) -> anyhow::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let near = self.near(asked).await?;
        let (asked, agent, zone) = (asked.clone(), Arc::clone(&self.agent), self.zone);
        self.journal
            .read_much(move |db| {
                let (words, _, scope) = asked.words.open();
                let RecallQuery { untrusted_too, limit, before, .. } = asked;
                let (agent, near) = (&*agent, near.as_slice());
                let looked =
                    Looked { scope, words, untrusted_too, limit, before, agent, with_company: true, zone, near };
                let found = db.message_search().recall_by(&looked)?;
                and(db, found)
            })
            .await
    }

    async fn near(&self, asked: &RecallQuery) -> anyhow::Result<Vec<(String, f64)>> {
        let Some(vectors) = &self.vectors else { return Ok(Vec::new()) };
        let (words, label, scope) = asked.words.open();
        let names = self.names(scope).await?;
        let bare = Labelled::new(Arc::from(question::without_names(words, &names)), label.clone(), scope);
        let near = vectors.said(scope, &bare, asked.untrusted_too, NEAR).await;
        Ok(near.unwrap_or_default().into_iter().map(|near| (near.digest, near.similarity)).collect())
    }

    async fn names(&self, scope: Scope) -> anyhow::Result<Vec<String>> {
        let agent = Arc::clone(&self.agent);
        self.journal.read(move |db| db.message_search().names_of(scope, &agent)).await
    }
}
