//! The model's answer as it is stored: readable, without addresses from nowhere, with what was wished
//! and not done, and with what was done under an earlier yes.

use std::collections::HashSet;
use std::sync::Arc;

use super::Turn;
use super::reply::readable;
use crate::engine::addresses;
use crate::engine::record::TurnRecord;
use crate::model::{Reply, Request};
use crate::store::Db;
use crate::trust::{Labelled, Text};
use crate::wish::TypedWish;
use crate::wording;

/// Channels whose clients link by the words alone, also within code.
const LINKS_IN_CODE: &[&str] = &["signal"];

impl Turn<'_> {
    /// Returns the answer of a chat or a run.
    pub(super) async fn checked_answer(
        &self,
        reply: &Reply,
        request: &Request,
        record: &TurnRecord,
    ) -> anyhow::Result<Text> {
        let text = readable(reply, self.inputs.language);
        let files = self.own_files(&text).await?;
        let (language, shortened) = (self.inputs.language, &self.history.shortened);
        let text = addresses::without_strange_links(text, request, shortened, record.agreed_to(), &files, language);
        let text = self.with_unset_wishes(record, text).await?;
        self.with_uses(text).await
    }

    /// Returns the answer with a line for each tool that the turn used under an earlier yes.
    async fn with_uses(&self, text: Text) -> anyhow::Result<Text> {
        let (turn, language) = (self.row.id, self.inputs.language);
        let uses = self.engine.journal.read(move |db| db.grants().uses_told(turn, language)).await?;
        if uses.is_empty() {
            return Ok(text);
        }
        let (words, label, scope) = text.open();
        // The name of a tool comes from its server, whose result the answer was made after.
        Ok(Labelled::new(Arc::from(format!("{words}\n\n_({})_", uses.join(" "))), label.clone(), scope))
    }

    /// Returns the answer with a line for each reminder that the person typed in these messages and
    /// that was not set.
    async fn with_unset_wishes(&self, record: &TurnRecord, text: Text) -> anyhow::Result<Text> {
        let (wishes, person) = (self.wishes(record), self.row.person);
        let wished: Vec<_> = wishes.into_iter().filter(|wish| wish.when.is_some()).collect();
        let Some(person) = person.filter(|_| !wished.is_empty()) else { return Ok(text) };
        let turn = self.row.id;
        let known = self.engine.journal.read(move |db| db.reminders().waiting_or_set_by(person, turn)).await?;
        let is_unset =
            |wish: &&TypedWish| !known.iter().any(|row| row.turn == Some(turn) || wish.has_words(row.text.open().0));
        let mut all = text;
        for wish in wished.iter().filter(is_unset) {
            let (words, label, scope) = all.open();
            let line = wording::reminder::not_set(self.inputs.language, wish.words.open().0);
            // What she typed is trusted, and adds no origin.
            all = Labelled::new(Arc::from(format!("{words}\n\n{line}")), label.clone(), scope);
        }
        Ok(all)
    }

    /// Returns the file names in a text that were chosen without any text from outside. None where
    /// the client links them in spite of their style.
    async fn own_files(&self, text: &Text) -> anyhow::Result<HashSet<String>> {
        let (words, label, scope) = text.open();
        if !label.asks_before_leaving() || LINKS_IN_CODE.contains(&self.inputs.channel.as_str()) {
            return Ok(HashSet::new());
        }
        let names = addresses::names_in(words);
        let is_own = move |db: Db<'_>| {
            let mut own = HashSet::new();
            for name in names {
                let labels = db.file_versions().first_labels_of(&name, scope)?;
                if labels.iter().any(|label| !label.asks_before_leaving()) {
                    own.insert(name);
                }
            }
            Ok(own)
        };
        self.engine.journal.read(is_own).await
    }
}
