//! The journal's data about a person, as files of an archive.

use crate::admin::HistoryAdmin;
use std::io::Write;

use serde_json::{Value, json};

use super::super::answer::{ShownLabel, sources};
use super::super::transcript;
use super::archive::Archive;
use crate::id::{ConversationId, PersonId};
use crate::people::Person;
use crate::store::{Db, SummaryContent, SummaryInputs};
use crate::trust::Labelled;

impl HistoryAdmin<'_> {
    /// Adds conversations, messages, summaries, reflections and reminders.
    pub(super) async fn record<W: Write>(
        &self,
        person: &Person,
        archive: &mut Archive<W>,
        shown: &mut ShownLabel,
    ) -> anyhow::Result<()> {
        let (mut messages, mut summaries) = (Vec::new(), Vec::new());
        for id in self.conversations_of(person.id).await? {
            let (only, ends) = (person.id, self.reports().ends());
            let read = move |db: Db<'_>| Ok((transcript::read(db, id, Some(only), ends)?, summaries_of(db, id)?));
            let (whole, written) = self.journal.read_much(read).await?;
            let Some(whole) = whole else { continue };
            let text = transcript::markdown(&whole, &self.agent, self.zone, shown);
            archive.put(&format!("conversations/{:06}.md", id.0), text.as_bytes())?;
            let said = transcript::messages_json(&whole, &self.agent, shown);
            messages.extend(said.as_array().into_iter().flatten().map(|one| with(one, "conversation", json!(id))));
            summaries.extend(written.iter().map(|summary| summary_json(id, summary, shown)));
        }
        messages.extend(self.group_messages(person, shown).await?);
        archive.put("messages.jsonl", lines(&messages).as_bytes())?;
        archive.put("summaries.jsonl", lines(&summaries).as_bytes())?;
        self.thoughts(person, archive, shown).await?;
        let reminders = self.jobs().reminders(person).await?;
        shown.also(&reminders.label);
        let reminders: Vec<Value> = reminders.json.as_array().cloned().unwrap_or_default();
        archive.put("reminders.jsonl", lines(&reminders).as_bytes())
    }

    async fn conversations_of(&self, person: PersonId) -> anyhow::Result<Vec<ConversationId>> {
        let list = move |db: Db<'_>| {
            let Some(stream) = db.conversations().stream_of(person)? else { return Ok(Vec::new()) };
            let mut ids: Vec<ConversationId> = db
                .conversations()
                .conversations(Some(stream), u32::MAX)?
                .into_iter()
                .map(|conversation| conversation.id)
                .collect();
            ids.sort();
            Ok(ids)
        };
        self.journal.read_much(list).await
    }

    /// The person's own messages in groups, without those of others.
    async fn group_messages(&self, person: &Person, shown: &mut ShownLabel) -> anyhow::Result<Vec<Value>> {
        let id = person.id;
        let read = move |db: Db<'_>| {
            let mut said = Vec::new();
            for message in db.erasure().group_messages(id, u32::MAX)? {
                let Some(message) = db.messages().message(message)? else { continue };
                let texts = db
                    .messages()
                    .texts_of(message.id)?
                    .into_iter()
                    .filter(|text| text.kind == crate::store::TextKind::Said);
                said.push((message, texts.map(|text| text.text).collect::<Vec<_>>()));
            }
            Ok(said)
        };
        let said = self.journal.read_much(read).await?;
        Ok(said
            .iter()
            .map(|(message, texts)| {
                let words: Vec<&str> = texts.iter().map(|text| &**shown.words(text)).collect();
                json!({
                    "id": message.id,
                    "at": message.effective_at.rfc3339(),
                    "from": person.name,
                    "text": words.join("\n\n"),
                    "group": true,
                })
            })
            .collect())
    }

    async fn thoughts<W: Write>(
        &self,
        person: &Person,
        archive: &mut Archive<W>,
        shown: &mut ShownLabel,
    ) -> anyhow::Result<()> {
        let scope = super::scope_of(person);
        let read = move |db: Db<'_>| {
            let mut thoughts = Vec::new();
            for row in db.reflections().reflections(Some(scope), u32::MAX)? {
                thoughts.push((row.id, db.messages().texts_of(row.message)?));
            }
            Ok(thoughts)
        };
        for (id, texts) in self.journal.read_much(read).await? {
            let words: Vec<&str> = texts.iter().map(|text| &**shown.words(&text.text)).collect();
            archive.put(&format!("reflections/{:06}.md", id.0), words.join("\n\n").as_bytes())?;
        }
        Ok(())
    }
}

fn summaries_of(db: Db<'_>, id: ConversationId) -> anyhow::Result<Vec<Labelled<SummaryContent>>> {
    let views =
        [SummaryInputs::Trusted, SummaryInputs::Full].into_iter().map(|view| db.summaries().summary_of(id, view));
    Ok(views.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().map(|summary| summary.content).collect())
}

fn summary_json(id: ConversationId, summary: &Labelled<SummaryContent>, shown: &mut ShownLabel) -> Value {
    let (content, label) = (shown.words(summary), summary.label());
    json!({
        "conversation": id,
        "title": content.title,
        "topics": content.topics,
        "decisions": content.decisions,
        "preferences": content.preferences,
        "pending": content.pending,
        "sources": sources(label),
    })
}

/// Returns the object with one more field.
fn with(object: &Value, name: &str, value: Value) -> Value {
    let mut object = object.clone();
    if let Value::Object(fields) = &mut object {
        fields.insert(name.to_owned(), value);
    }
    object
}

/// One value per line.
fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}
