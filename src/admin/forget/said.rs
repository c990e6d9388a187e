//! What was only said, in no note and no fact: a person names its words, is shown in how many
//! messages of which days they stand, and deletes exactly those with the code under that.
//!
//! The code is made of the words and of the messages that hold them. So whoever types it deletes
//! what they were told of: if one more has come since, they are shown anew. Messages count that
//! hold all the words one after the other on one line, in whatever letters; nothing that is only
//! near to it.

use crate::admin::ErasureAdmin;
use serde_json::json;

use super::{Answer, Messages};
use crate::admin::answer::plain;
use crate::id::{ForgettingId, MessageId, PersonId};
use crate::memory::Forgettable;
use crate::store::{Counts, Db, ForgettingRow, Forgotten};
use crate::text::needle::ErasureQuery;
use crate::time::Timestamp;
use crate::trust::{Label, Scope};
use crate::wording::forget as says;
use crate::wording::review_command::Surface;

/// Messages that hold the words, with their times, oldest first.
type MatchingMessages = Vec<(MessageId, Timestamp)>;

impl ErasureAdmin<'_> {
    /// Shows in how many messages of a party words stand, or deletes those if the code under that
    /// is typed behind the words.
    pub(super) async fn forget_said(
        &self,
        scope: Scope,
        asks: PersonId,
        typed: &str,
        way: Surface,
    ) -> anyhow::Result<Answer> {
        if let Some((words, code)) = typed.trim().rsplit_once(char::is_whitespace) {
            let said = self.messages_with(scope, asks, words).await?;
            if !said.is_empty() && self.code_of_messages(words, &said).await? == code {
                let words = ErasureQuery::words_of(words);
                let found = Forgettable {
                    what: Forgotten::Said,
                    needles: ErasureQuery::of_words(&words),
                    target: words,
                    label: Label::neutral(),
                };
                return self.forget_found(scope, asks, found, Messages::Go, way).await;
            }
        }
        // A number of ten digits may be what is to go.
        let whole = typed.trim();
        let is_said =
            !ErasureQuery::of_words(whole).is_empty() && !self.messages_with(scope, asks, whole).await?.is_empty();
        let words = if is_said { whole } else { without_code(whole) };
        if ErasureQuery::of_words(words).is_empty() {
            return Ok(Answer::refusal(says::too_few(&plain(words))));
        }
        let said = self.messages_with(scope, asks, words).await?;
        if said.is_empty() {
            return Ok(Answer::refusal(says::none_said(&plain(words))));
        }
        let code = self.code_of_messages(words, &said).await?;
        let mut days: Vec<String> = said.iter().map(|(_, at)| self.zone.day(*at)).collect();
        days.dedup();
        let told = says::to_be_deleted(said.len(), &says::on_days(&days), &ErasureQuery::words_of(words), &code, way);
        Ok(Answer::ours(told, json!({ "messages": said.len(), "days": days, "code": code })))
    }

    async fn messages_with(&self, scope: Scope, asks: PersonId, words: &str) -> anyhow::Result<MatchingMessages> {
        let needles = ErasureQuery::of_words(words);
        if needles.is_empty() {
            return Ok(Vec::new());
        }
        // As if it were begun: what is shown is found by the same look as what goes.
        let row = ForgettingRow {
            id: ForgettingId(0),
            person: Some(asks),
            what: Forgotten::Said,
            target: ErasureQuery::words_of(words),
            needles,
            messages: true,
            counts: Counts::default(),
            scope,
            is_left: false,
            is_readable: true,
        };
        let look = move |db: Db<'_>| {
            let mut said = Vec::new();
            for id in db.erasure().left(&row)?.messages {
                said.extend(db.messages().message(id)?.map(|message| (id, message.effective_at)));
            }
            said.sort_by_key(|(id, at)| (*at, *id));
            Ok(said)
        };
        self.journal.read_much(look).await
    }

    async fn code_of_messages(&self, words: &str, said: &MatchingMessages) -> anyhow::Result<String> {
        let ids: Vec<String> = said.iter().map(|(id, _)| id.to_string()).collect();
        self.memory_files().code_under(&format!("forget\n{}\n{}", ErasureQuery::words_of(words), ids.join(" "))).await
    }
}

/// The words without a code that does not count any more.
fn without_code(typed: &str) -> &str {
    let is_code =
        |word: &str| word.len() == crate::admin::memory::CODE && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    match typed.trim().rsplit_once(char::is_whitespace) {
        Some((words, last)) if is_code(last) => words.trim_end(),
        _ => typed.trim(),
    }
}
