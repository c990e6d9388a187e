//! Search in past messages, by words and by meaning.
//!
//! The names of the participants are removed from a query before the comparison by meaning: with a
//! name in it, the nearest messages are greetings. Without vectors, full-text search alone decides.

use std::sync::Arc;

use super::vectors::Vectors;
use crate::id::MessageId;
use crate::store::{Db, Journal, Matches, MessageQuery};
use crate::text::question;
use crate::time::Zone;
use crate::trust::{Labelled, Scope, Text};

/// Number of candidates by meaning.
const NEAR: usize = 100;

/// Message search. Clones share the same state.
#[derive(Clone)]
pub struct Recollection {
    journal: Journal,
    vectors: Option<Vectors>,
    agent: Arc<str>,
    zone: Zone,
}

/// A search in past messages.
#[derive(Debug, Clone)]
pub struct RecallQuery {
    /// Query text; its scope is the one searched.
    pub words: Text,
    /// Include untrusted texts.
    pub untrusted_too: bool,
    /// Maximum number of hits.
    pub limit: usize,
    /// Only messages before this one.
    pub before: Option<MessageId>,
}

impl Recollection {
    /// Creates a search over that journal, also by meaning if there are vectors. `agent` is the
    /// assistant's name.
    pub fn new(journal: Journal, vectors: Option<Vectors>, agent: &str) -> Self {
        Self { journal, vectors, agent: Arc::from(agent), zone: Zone::UTC }
    }

    /// Sets the time zone for a month or a year in a query.
    #[must_use]
    pub fn in_zone(self, zone: Zone) -> Self {
        Self { zone, ..self }
    }

    /// Returns the best matches; `and` reads more in the same snapshot of the journal.
    ///
    /// # Errors
    /// If `and` fails. An unusable query is not an error.
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
                    MessageQuery { scope, words, untrusted_too, limit, before, agent, with_company: true, zone, near };
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
        let near = vectors.nearest_messages(scope, &bare, asked.untrusted_too, NEAR).await;
        Ok(near.unwrap_or_default().into_iter().map(|near| (near.digest, near.similarity)).collect())
    }

    async fn names(&self, scope: Scope) -> anyhow::Result<Vec<String>> {
        let agent = Arc::clone(&self.agent);
        self.journal.read(move |db| db.message_search().names_of(scope, &agent)).await
    }
}
