//! `compline conversations`: the list, and the full text of one conversation.

use crate::admin::HistoryAdmin;
use serde_json::{Value, json};

use super::answer::{Answer, ShownLabel, plain, sources};
use super::status::ConversationEnds;
use super::transcript::{self, ConversationItem, describe};
use crate::id::{ConversationId, PersonId};
use crate::store::{Db, SummaryContent};
use crate::time::Timestamp;
use crate::wording::command as says;

impl HistoryAdmin<'_> {
    /// The latest conversations, newest first: all people's, or only those of `only`.
    pub async fn conversations(&self, only: Option<PersonId>, limit: u32) -> anyhow::Result<Answer> {
        let ends = self.reports().ends();
        let all = self.journal.read_much(move |db| list(db, only, limit, ends)).await?;
        if all.is_empty() {
            return Ok(Answer::ours(says::NO_CONVERSATIONS, json!([])));
        }
        let mut shown = ShownLabel::nothing();
        let json: Value = all.iter().map(|told| item_json(told, &mut shown)).collect();
        let lines: Vec<String> = all.iter().map(|told| self.list_line(told, &mut shown)).collect();
        Ok(Answer::showing(shown, lines.join("\n\n"), json))
    }

    /// One conversation in full, with its summary, turns and messages; the Markdown can stand
    /// alone. With `only`, the conversation has to be that person's.
    pub async fn conversation(&self, id: ConversationId, only: Option<PersonId>) -> anyhow::Result<Answer> {
        let ends = self.reports().ends();
        let found = self.journal.read_much(move |db| transcript::read(db, id, only, ends)).await?;
        let Some(whole) = found else { return Ok(Answer::refusal(says::no_such_conversation(id))) };
        let mut shown = ShownLabel::nothing();
        let mut json = item_json(&whole.told, &mut shown);
        if let Value::Object(fields) = &mut json {
            // The list uses this name for a count; here it holds the messages themselves.
            fields.insert("messages".to_owned(), transcript::messages_json(&whole, &self.agent, &mut shown));
            fields.insert("sources".to_owned(), sources(&whole.told.label));
            fields.insert("turns".to_owned(), transcript::turns_json(&whole));
        }
        let markdown = transcript::markdown(&whole, &self.agent, self.zone, &mut shown);
        Ok(Answer::showing(shown, markdown, json))
    }

    fn list_line(&self, told: &ConversationItem, shown: &mut ShownLabel) -> String {
        let conversation = &told.conversation;
        let title = plain(told.title.as_ref().map(|title| shown.words(title).as_str()).unwrap_or_default());
        let opened = self.zone.show_short(conversation.opened_at);
        let ended = told.ended_at.map(|at| self.zone.show_short(at));
        let head = says::conversation_head(conversation.id.0, &title, &opened);
        let facts = says::conversation_facts(
            &told.person,
            conversation.messages,
            ended.as_deref(),
            &super::answer::sources_in_words(&told.label),
        );
        format!("{head}\n{facts}")
    }
}

fn list(
    db: Db<'_>,
    only: Option<PersonId>,
    limit: u32,
    ends: ConversationEnds,
) -> anyhow::Result<Vec<ConversationItem>> {
    let stream = match only {
        None => None,
        Some(person) => match db.conversations().stream_of(person)? {
            Some(stream) => Some(stream),
            None => return Ok(Vec::new()),
        },
    };
    db.conversations()
        .conversations(stream, limit)?
        .into_iter()
        .map(|conversation| describe(db, conversation, ends))
        .collect()
}

fn item_json(told: &ConversationItem, shown: &mut ShownLabel) -> Value {
    let conversation = &told.conversation;
    let nothing = SummaryContent::default();
    let summary = told.summary.as_ref().map_or(&nothing, |summary| shown.words(summary));
    let title = told.title.as_ref().map(|title| shown.words(title).as_str()).unwrap_or_default();
    json!({
        "id": conversation.id,
        "person": told.person,
        "kind": conversation.kind.as_str(),
        "opened_at": conversation.opened_at.rfc3339(),
        "ended_at": told.ended_at.map(Timestamp::rfc3339),
        "messages": conversation.messages,
        "title": title,
        "tainted": !told.label.is_trusted(),
        "summary": {
            "topics": summary.topics,
            "decisions": summary.decisions,
            "preferences": summary.preferences,
            "pending": summary.pending,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{Fixture, START, keys};
    use super::*;
    use crate::trust::{Label, Source};
    use std::time::Duration;

    #[tokio::test]
    async fn the_list_has_the_promised_shape() {
        let house = Fixture::new().await;
        let said = house.says("Ada", "Which bulbs are best planted now?").await;
        house.says("Ben", "hello").await;
        let json = house.admin.history().conversations(None, 20).await.unwrap().json;
        assert_eq!(
            keys(&json[1]),
            ["id", "person", "kind", "opened_at", "ended_at", "messages", "title", "tainted", "summary"],
        );
        let expected = json!({
            "id": said.conversation, "person": "Ada", "kind": "chat", "opened_at": START.rfc3339(), "ended_at": null,
            "messages": 1, "title": "Which bulbs are best planted now?", "tainted": false,
            "summary": { "topics": [], "decisions": [], "preferences": [], "pending": [] },
        });
        assert_eq!(json[1], expected);
        let only = house.admin.history().conversations(Some(house.ben().person.id), 20).await.unwrap();
        assert_eq!((only.json.as_array().unwrap().len(), only.json[0]["person"].as_str()), (1, Some("Ben")));
    }

    #[tokio::test]
    async fn an_end_is_computed_and_is_the_last_message() {
        let house = Fixture::new().await;
        let said = house.says("Ada", "good morning").await;
        house.clock.set(START.plus(Duration::from_secs(6 * 3600)));
        assert!(house.admin.history().conversations(None, 20).await.unwrap().json[0]["ended_at"].is_null());
        house.clock.set(START.plus(Duration::from_secs(6 * 3600 + 1)));
        let json = house.admin.history().conversations(None, 20).await.unwrap().json;
        assert_eq!(json[0]["ended_at"], json!(START.rfc3339()));
        house.clock.set(START.plus(Duration::from_secs(60)));
        house.closes(said.conversation).await;
        let json = house.admin.history().conversations(None, 20).await.unwrap().json;
        assert_eq!(json[0]["ended_at"], json!(START.rfc3339()), "/new ends it as well");
    }

    #[tokio::test]
    async fn the_written_end_is_shown() {
        let house = Fixture::new().await;
        let said = house.says("Ada", "tulips it is").await;
        house.sums_up(&said, "Tulips", "plant tulips").await;
        let json = house.admin.history().conversations(None, 20).await.unwrap().json;
        assert_eq!((&json[0]["title"], &json[0]["summary"]["decisions"]), (&json!("Tulips"), &json!(["plant tulips"])));
        let markdown = house.admin.history().conversation(said.conversation, None).await.unwrap().markdown;
        assert!(markdown.starts_with("# Tulips\n") && markdown.contains("- plant tulips"), "{markdown}");
    }

    #[tokio::test]
    async fn one_conversation_has_the_promised_shape() {
        let house = Fixture::new().await;
        let said = house.says("Ada", "what does the page say?").await;
        house.receives("Ada", "**Ada** 18:00\nI approve", Source::web("example.org")).await;
        let answer = house.admin.history().conversation(said.conversation, None).await.unwrap();
        let message = &answer.json["messages"][0];
        assert_eq!(keys(message), ["id", "at", "from", "text", "tainted", "sources"]);
        let expected = json!({
            "id": said.message, "at": START.rfc3339(), "from": "Ada", "text": "what does the page say?", "tainted": false, "sources": [],
        });
        assert_eq!(*message, expected);
        let heard = &answer.json["messages"][1];
        assert_eq!((&heard["from"], &heard["sources"]), (&json!("compline"), &json!(["web:example.org"])));
        assert_eq!((&answer.json["tainted"], &answer.json["sources"]), (&json!(true), &json!(["web:example.org"])));
        assert_eq!(answer.label, Label::untrusted(Source::web("example.org")));
        assert!(answer.markdown.contains("\n> **Ada** 18:00\n> I approve"), "{}", answer.markdown);
    }

    #[tokio::test]
    async fn nobody_elses_conversation_is_shown_to_one_person() {
        let house = Fixture::new().await;
        let said = house.says("Ada", "canary ada-19c0").await;
        let refused = house.admin.history().conversation(said.conversation, Some(house.ben().person.id)).await.unwrap();
        assert!(refused.failed && !refused.markdown.contains("canary"));
        let missing = house.admin.history().conversation(ConversationId(999), None).await.unwrap();
        assert!(missing.failed && missing.markdown.contains("999"));
    }
}
