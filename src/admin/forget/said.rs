//! Deletion of text that exists only in messages, not in a note or fact. The person types the
//! words, sees how many messages contain them and on which days, and deletes exactly those with the
//! code shown.
//!
//! The code is computed from the words and from the messages that contain them, so it deletes only
//! the messages that were shown: if another one has arrived since, they are shown again. A message
//! matches if it contains all the words in sequence on one line, in any case; near matches do not
//! count.

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

/// Messages that contain the words, with their times, oldest first.
type MatchingMessages = Vec<(MessageId, Timestamp)>;

impl ErasureAdmin<'_> {
    /// Shows how many messages of a party contain the words, or deletes those messages if the code
    /// follows the words.
    pub(super) async fn forget_messages_with(
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
        // A number of ten digits may itself be the text to delete.
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
        // A row as if the deletion had begun, so that the preview uses the same search as the
        // deletion.
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

/// The words without an outdated code.
fn without_code(typed: &str) -> &str {
    let is_code =
        |word: &str| word.len() == crate::admin::memory::CODE && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    match typed.trim().rsplit_once(char::is_whitespace) {
        Some((words, last)) if is_code(last) => words.trim_end(),
        _ => typed.trim(),
    }
}
