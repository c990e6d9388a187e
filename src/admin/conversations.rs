//! `/conversations` and `compline conversations list`: the newest conversations, page by page.
//!
//! A row is read from the conversation itself and from its first rows of other tables, so the list
//! costs by its page and not by what was said.

use serde_json::{Value, json};

use super::HistoryAdmin;
use super::answer::{Render, RenderContext, ShownLabel, plain};
use super::conversation_end::ConversationEnds;
use super::paging::{Page, PageRequest};
use crate::id::{ConversationId, PersonId, ReminderId};
use crate::store::{Conversation, ConversationKind, Db, SummaryContent, SummaryInputs};
use crate::text::{one_line, shorten};
use crate::time::{Timestamp, Zone};
use crate::trust::{Labelled, Text};
use crate::wording::why::all_in_words;
use crate::wording::{Language, command as says};

/// Maximum number of characters of a first message that serves as a title.
const TITLE: usize = 60;

/// A conversation, as listed.
#[derive(Debug, Clone)]
pub struct ConversationItem {
    /// The conversation, with the join of the labels of all that was said in it.
    pub conversation: Conversation,
    /// Name of its person or group.
    pub person: String,
    /// End; `None` while it is open.
    pub ended_at: Option<Timestamp>,
    /// Title.
    pub title: ConversationTitle,
    /// Summary, if it has one.
    pub summary: Option<Labelled<SummaryContent>>,
}

/// Title of a conversation.
#[derive(Debug, Clone)]
pub enum ConversationTitle {
    /// Of a chat: the title of its summary, or the first message.
    Chat(Option<Labelled<String>>),
    /// Of a reflection.
    Reflection {
        /// Name of the job.
        job: String,
        /// Period that the run looks back on.
        period: String,
    },
    /// Of a check of `HEARTBEAT.md`: its time.
    Heartbeat(Timestamp),
    /// Of a scheduled task: its number and text.
    Task(String, Option<Labelled<String>>),
}

impl ConversationTitle {
    /// The title in words, with what it was made from added to `shown`.
    pub(super) fn words(&self, language: Language, zone: Zone, shown: &mut ShownLabel) -> String {
        let mut words = |title: &Option<Labelled<String>>| title.as_ref().map(|title| shown.words(title).clone());
        match self {
            Self::Chat(title) => words(title).unwrap_or_default(),
            Self::Reflection { job, period } => says::reflection_on(language, job, period),
            Self::Heartbeat(at) => says::heartbeat_at(language, &language.date_and_time(zone, *at)),
            Self::Task(number, text) => says::run_of_task(language, number, &words(text).unwrap_or_default()),
        }
    }
}

impl HistoryAdmin<'_> {
    /// The newest conversations of a kind, or of all: all people's, or only those of `only`.
    pub async fn conversations(
        &self,
        only: Option<PersonId>,
        kind: Option<ConversationKind>,
        request: PageRequest,
    ) -> anyhow::Result<ConversationsReport> {
        let ends = self.reports().ends();
        let page = self.journal.read_much(move |db| list(db, only, kind, request, ends)).await?;
        Ok(ConversationsReport { kind, page })
    }
}

/// Conversations of a kind, or of all.
#[derive(Debug, Clone)]
pub struct ConversationsReport {
    /// The kind; `None` for all.
    pub kind: Option<ConversationKind>,
    /// The page.
    pub page: Page<ConversationItem>,
}

impl Render for ConversationsReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        if self.page.items.is_empty() {
            return says::NO_CONVERSATIONS.in_language(context.language()).into_string();
        }
        let line = |item: &ConversationItem| {
            let Conversation { id, opened_at, .. } = &item.conversation;
            let (title, opened) = (item.title(context, shown), context.near(*opened_at));
            let ended = item.ended_at.map(|at| context.near(at));
            let head = says::conversation_head(context.language(), id.0, &title, &opened);
            format!("{head}\n{}", item.facts(context.language(), ended.as_deref()))
        };
        let mut blocks: Vec<String> = self.page.items.iter().map(line).collect();
        let command = match self.kind {
            Some(ConversationKind::Chat) => "/conversations".to_owned(),
            kind => format!("/conversations {}", kind.map_or("all", ConversationKind::as_str)),
        };
        blocks.extend(self.page.more(&command, context.surface));
        blocks.join("\n\n")
    }

    fn json(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        self.page.items.iter().map(|item| item_json(item, context, shown)).collect()
    }
}

impl ConversationItem {
    /// The title, as Markdown.
    pub(super) fn title(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        plain(&self.title.words(context.language(), context.zone, shown))
    }

    /// Returns the title, with the label of what it was made from.
    pub fn title_text(&self, zone: Zone) -> Text {
        let mut shown = ShownLabel::nothing();
        let title = self.title.words(Language::ENGLISH, zone, &mut shown);
        shown.text(title, self.conversation.scope)
    }

    /// The number of messages, and true if only those of the person count, as in chats.
    pub fn count(&self) -> (i64, bool) {
        let is_chat = matches!(self.conversation.kind, ConversationKind::Chat | ConversationKind::Piped);
        (self.conversation.messages, is_chat)
    }

    /// Person, number of messages, end and sources, for a person.
    pub(super) fn facts(&self, language: Language, ended: Option<&str>) -> String {
        let sources = plain(&all_in_words(language, &self.conversation.label));
        says::conversation_facts(language, &self.person, self.count(), ended, &sources)
    }
}

fn list(
    db: Db<'_>,
    only: Option<PersonId>,
    kind: Option<ConversationKind>,
    request: PageRequest,
    ends: ConversationEnds,
) -> anyhow::Result<Page<ConversationItem>> {
    let read = |before, limit| db.conversations().conversations(only, kind, before, limit);
    let page = request.read(|found: &Conversation| found.id.0, read)?;
    page.try_map(|conversation| describe(db, conversation, ends))
}

/// The fields that `conversations list` promises.
pub(super) fn item_json(item: &ConversationItem, context: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
    let conversation = &item.conversation;
    let nothing = SummaryContent::default();
    let summary = item.summary.as_ref().map_or(&nothing, |summary| shown.words(summary));
    let title = item.title.words(context.language(), context.zone, shown);
    json!({
        "id": conversation.id,
        "person": item.person,
        "kind": conversation.kind.as_str(),
        "opened_at": conversation.opened_at.rfc3339(),
        "ended_at": item.ended_at.map(Timestamp::rfc3339),
        "messages": conversation.messages,
        "title": title,
        "tainted": !item.conversation.label.is_trusted(),
        "summary": {
            "topics": summary.topics,
            "decisions": summary.decisions,
            "preferences": summary.preferences,
            "pending": summary.pending,
        },
    })
}

/// Reads what the list shows of a conversation.
pub(super) fn describe(
    db: Db<'_>,
    conversation: Conversation,
    ends: ConversationEnds,
) -> anyhow::Result<ConversationItem> {
    let summary = summary_of(db, conversation.id)?;
    let title = match run_title(db, &conversation)? {
        Some(title) => title,
        None => ConversationTitle::Chat(chat_title(db, conversation.id, summary.as_ref())?),
    };
    Ok(ConversationItem {
        person: person_of(db, &conversation)?,
        ended_at: ends.of(&conversation),
        title,
        summary,
        conversation,
    })
}

/// The title of a conversation; of a run, what it was for.
pub(super) fn title_of(db: Db<'_>, conversation: &Conversation) -> anyhow::Result<ConversationTitle> {
    if let Some(title) = run_title(db, conversation)? {
        return Ok(title);
    }
    let summary = summary_of(db, conversation.id)?;
    Ok(ConversationTitle::Chat(chat_title(db, conversation.id, summary.as_ref())?))
}

/// The title of a run: what it was for. `None` for a chat.
fn run_title(db: Db<'_>, conversation: &Conversation) -> anyhow::Result<Option<ConversationTitle>> {
    if conversation.kind == ConversationKind::Heartbeat {
        return Ok(Some(ConversationTitle::Heartbeat(conversation.opened_at)));
    }
    let slot = if conversation.kind.is_run() { db.slots().slot_of(conversation.id)? } else { None };
    let Some(slot) = slot else { return Ok(None) };
    let Some((_, number)) = slot.job.split_once(':') else {
        return Ok(Some(ConversationTitle::Reflection { job: slot.job, period: slot.period }));
    };
    let task = number.parse().ok().map(|id| db.reminders().reminder(ReminderId(id))).transpose()?.flatten();
    let text = task.map(|task| map_labelled(&task.text, |words| shorten(&one_line(words), TITLE)));
    Ok(Some(ConversationTitle::Task(number.to_owned(), text)))
}

/// The name of the conversation's person or group.
pub(super) fn person_of(db: Db<'_>, conversation: &Conversation) -> anyhow::Result<String> {
    if let Some((_, group)) = db.groups().group_of(conversation.stream)? {
        return Ok(says::group(&group));
    }
    let person = db.conversations().person_of(conversation.stream)?;
    let person = person.map_or(Ok(None), |person| db.people().person(person))?;
    Ok(person.map_or_else(|| says::REMOVED_PERSON.to_owned(), |person| person.name))
}

/// The summary: the trusted view unless it is missing, else the full one.
pub(super) fn summary_of(db: Db<'_>, id: ConversationId) -> anyhow::Result<Option<Labelled<SummaryContent>>> {
    for view in [SummaryInputs::Trusted, SummaryInputs::Full] {
        if let Some(summary) = db.summaries().summary_of(id, view)? {
            return Ok(Some(summary.content));
        }
    }
    Ok(None)
}

/// The title of the summary, or else the person's first message.
pub(super) fn chat_title(
    db: Db<'_>,
    id: ConversationId,
    summary: Option<&Labelled<SummaryContent>>,
) -> anyhow::Result<Option<Labelled<String>>> {
    if let Some(summary) = summary {
        return Ok(Some(map_labelled(summary, |content| content.title.clone())));
    }
    let first = db.messages().first_said_in(id)?;
    Ok(first.map(|text| map_labelled(&text, |words| shorten(&one_line(words), TITLE))))
}

/// Derives a value from a labelled one, under the same label and scope.
pub(super) fn map_labelled<T, U>(from: &Labelled<T>, make: impl FnOnce(&T) -> U) -> Labelled<U> {
    let made = make(ShownLabel::nothing().words(from));
    Labelled::new(made, from.label().clone(), from.scope())
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{Fixture, START, keys};
    use super::super::transcript::{self, TranscriptPart};
    use super::*;
    use crate::id::{MessageId, StreamId};
    use crate::people::Role;
    use crate::store::{BoundaryReason, MessageKind, NewConversation, NewMessage, TextKind, Tx, effort};
    use crate::time::TimeRange;
    use crate::trust::{Label, Scope, Source, Text};
    use std::sync::Arc;
    use std::time::Duration;

    fn posts(tx: Tx<'_>, stream: StreamId, id: ConversationId, text: &Text) -> anyhow::Result<MessageId> {
        let message = tx.messages().add_message(&NewMessage {
            stream,
            conversation: Some(id),
            inbox: None,
            address: None,
            person: None,
            guest: None,
            kind: MessageKind::Said,
            scope: text.scope(),
            external_id: "",
            album: "",
            received_at: START,
            server_at: None,
            effective_at: START,
            turn: None,
        })?;
        tx.messages().add_text(message, TextKind::Said, text)?;
        Ok(message)
    }

    /// Opens conversations of a person, each with that many messages, every second of them about
    /// something from outside. Returns them, oldest first.
    async fn talk(
        fixture: &Fixture,
        person: PersonId,
        kind: ConversationKind,
        count: usize,
        messages: usize,
    ) -> Vec<ConversationId> {
        let fill = move |tx: Tx<'_>| {
            let (stream, scope) = (tx.conversations().stream_for(person)?, Scope::Person(person));
            let new = NewConversation { stream, kind, scope, because: BoundaryReason::New, at: START };
            let labels = [Label::trusted(), Label::untrusted(Source::web("example.org"))];
            let texts = labels.map(|label| Text::new(Arc::from("a word"), label, scope));
            let mut opened = Vec::new();
            for _ in 0..count {
                let id = tx.conversations().open_conversation(&new)?;
                for text in texts.iter().cycle().take(messages) {
                    posts(tx, stream, id, text)?;
                }
                opened.push(id);
            }
            Ok(opened)
        };
        fixture.admin.journal.write("talk", fill).await.unwrap()
    }

    fn numbers(page: &Page<ConversationItem>) -> Vec<ConversationId> {
        page.items.iter().map(|item| item.conversation.id).collect()
    }

    /// Promise (operation/list-cost): A list of conversations, and the messages around a place,
    /// cost by what is shown, not by what was ever said.
    #[tokio::test]
    async fn the_list_costs_by_its_page_and_not_by_what_was_said() {
        let mut efforts = Vec::new();
        for (count, messages) in [(4, 60), (90, 300)] {
            let fixture = Fixture::new().await;
            let (ada, ben) = (fixture.ada().person.id, fixture.ben().person.id);
            for kind in [ConversationKind::Imported, ConversationKind::Chat] {
                talk(&fixture, ben, kind, count, 2).await;
                talk(&fixture, ada, kind, count, 2).await;
            }
            let long = talk(&fixture, ada, ConversationKind::Chat, 4, messages).await;
            talk(&fixture, ben, ConversationKind::Imported, count, 2).await;
            let (journal, ends) = (&fixture.admin.journal, fixture.admin.reports().ends());
            for (only, kind) in [(Some(ada), Some(ConversationKind::Chat)), (Some(ada), None), (None, None)] {
                let request = PageRequest::newest(3);
                let (effort, page) = effort::of(|| journal.read_now(|db| list(db, only, kind, request, ends)).unwrap());
                assert_eq!((page.items.len(), page.next.is_some()), (3, true));
                efforts.push((format!("{only:?} {kind:?}"), effort));
            }
            let read = |db: Db<'_>| {
                let middle = db.messages().messages_of(long[0])?[30].id;
                let part = TranscriptPart::Around(middle);
                Ok(effort::of(|| transcript::read(db, long[0], Some(ada), part, ends)))
            };
            let (effort, read) = journal.read_now(read).unwrap();
            assert_eq!(read.unwrap().unwrap().entries.len(), 20);
            efforts.push(("around".to_owned(), effort));
        }
        let (small, large) = efforts.split_at(4);
        assert_eq!(small, large);
        assert!(small.iter().all(|(_, effort)| *effort > 100), "{small:?}");
    }

    /// Proves: operation/list-cost
    #[tokio::test]
    async fn the_year_costs_by_its_conversations_and_not_by_what_was_said() {
        let mut efforts = Vec::new();
        for (others, messages) in [(2, 2), (90, 60)] {
            let fixture = Fixture::new().await;
            let (ada, ben) = (fixture.ada().person.id, fixture.ben().person.id);
            talk(&fixture, ben, ConversationKind::Chat, others, 2).await;
            talk(&fixture, ada, ConversationKind::Imported, others, 2).await;
            talk(&fixture, ada, ConversationKind::Chat, 5, messages).await;
            let read = |db: Db<'_>| db.conversations().openings(ada, ConversationKind::Chat, TimeRange::ALL);
            let (effort, openings) = effort::of(|| fixture.admin.journal.read_now(read).unwrap());
            assert_eq!(openings.len(), 5);
            efforts.push(effort);
        }
        assert!(efforts[0] > 10 && efforts[0] == efforts[1], "{efforts:?}");
    }

    /// Promise (operation/next-page): A long list ends with the command for its next page. Going on
    /// from page to page shows each item once, also while new ones come in.
    #[tokio::test]
    async fn pages_follow_one_another_without_a_gap() {
        let fixture = Fixture::new().await;
        let ada = fixture.ada().person.id;
        let mut opened = Vec::new();
        for kind in [ConversationKind::Chat, ConversationKind::Piped, ConversationKind::Imported].repeat(3) {
            opened.extend(talk(&fixture, ada, kind, 1, 1).await);
        }
        opened.reverse();
        let (mut shown, mut request) = (Vec::new(), PageRequest::newest(4));
        let history = fixture.admin.history();
        loop {
            let page = history.conversations(Some(ada), None, request).await.unwrap().page;
            shown.extend(numbers(&page));
            let Some(next) = page.next else { break };
            request.before = Some(next);
        }
        assert_eq!(shown, opened);
        let chats = history.conversations(Some(ada), Some(ConversationKind::Chat), PageRequest::newest(20)).await;
        assert_eq!(numbers(&chats.unwrap().page).len(), 6, "with the piped ones");
    }

    /// Promise (trust/conversation-label): What a conversation is listed to have read from outside
    /// never gets less, even when the texts themselves are deleted.
    #[tokio::test]
    async fn the_stored_label_is_the_join_of_all_texts_and_stays_it() {
        let fixture = Fixture::new().await;
        let ada = fixture.ada().person.id;
        let id = talk(&fixture, ada, ConversationKind::Chat, 1, 2).await[0];
        let label = async || {
            let read = move |db: Db<'_>| Ok(db.conversations().conversation(id)?.unwrap().label);
            fixture.admin.journal.read(read).await.unwrap()
        };
        let web = Label::untrusted(Source::web("example.org"));
        assert_eq!(label().await, web);
        let forget = move |tx: Tx<'_>| {
            for message in tx.messages().messages_of(id)? {
                tx.redaction().redact_message(message.id, START)?;
            }
            Ok(())
        };
        fixture.admin.journal.write("forget", forget).await.unwrap();
        assert_eq!(label().await, web);
        let posts = move |tx: Tx<'_>| {
            let stream = tx.conversations().stream_for(ada)?;
            let file = Label::untrusted(Source::file(7));
            posts(tx, stream, id, &Text::new(Arc::from("a file"), file, Scope::Person(ada)))
        };
        fixture.admin.journal.write("post", posts).await.unwrap();
        assert_eq!(label().await, web.join_with(&Label::untrusted(Source::file(7))));
    }

    /// Promise (privacy/conversation-list): `/conversations` lists your own conversations only, and
    /// shows no other, to members and owners alike.
    #[tokio::test]
    async fn nobody_is_listed_the_conversations_of_another() {
        let fixture = Fixture::new().await;
        fixture.pairs("Cat", Role::Owner).await;
        let theirs = fixture.says("Ben", "canary ben-7f3a").await;
        let mine = fixture.says("Ada", "canary ada-19c0").await;
        for (caller, own, other, canary) in
            [(fixture.ada(), &mine, &theirs, "7f3a"), (fixture.ben(), &theirs, &mine, "19c0")]
        {
            for command in ["/conversations", "/conversations all", "/conversations before 999"] {
                let answer = fixture.admin.chat(&caller, command).await;
                assert_eq!(answer.json[0]["id"], json!(own.conversation), "{command}");
                assert_eq!(answer.json.as_array().unwrap().len(), 1, "{command}");
                assert!(!answer.markdown.contains(canary), "{command}: {}", answer.markdown);
            }
            let place = format!("/conversations {} {}", other.conversation, other.message);
            for command in [format!("/conversations {}", other.conversation), place] {
                let answer = fixture.admin.chat(&caller, &command).await;
                assert!(answer.failed && !answer.markdown.contains("canary"), "{command}: {}", answer.markdown);
            }
            let answer =
                fixture.admin.chat(&caller, &format!("/conversations {} {}", own.conversation, own.message)).await;
            assert!(answer.markdown.contains("canary"), "{}", answer.markdown);
        }
    }

    #[tokio::test]
    async fn the_list_has_the_promised_shape() {
        let fixture = Fixture::new().await;
        let said = fixture.says("Ada", "Which bulbs are best planted now?").await;
        fixture.says("Ben", "hello").await;
        let json = fixture
            .rendering(&fixture.admin.history().conversations(None, None, PageRequest::newest(20)).await.unwrap())
            .json;
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
        let only = fixture.rendering(
            &fixture
                .admin
                .history()
                .conversations(Some(fixture.ben().person.id), None, PageRequest::newest(20))
                .await
                .unwrap(),
        );
        assert_eq!((only.json.as_array().unwrap().len(), only.json[0]["person"].as_str()), (1, Some("Ben")));
    }

    #[tokio::test]
    async fn an_end_is_computed_and_is_the_last_message() {
        let fixture = Fixture::new().await;
        let said = fixture.says("Ada", "good morning").await;
        fixture.clock.set(START.plus(Duration::from_secs(6 * 3600)));
        assert!(
            fixture
                .rendering(&fixture.admin.history().conversations(None, None, PageRequest::newest(20)).await.unwrap())
                .json[0]["ended_at"]
                .is_null()
        );
        fixture.clock.set(START.plus(Duration::from_secs(6 * 3600 + 1)));
        let json = fixture
            .rendering(&fixture.admin.history().conversations(None, None, PageRequest::newest(20)).await.unwrap())
            .json;
        assert_eq!(json[0]["ended_at"], json!(START.rfc3339()));
        fixture.clock.set(START.plus(Duration::from_secs(60)));
        fixture.closes(said.conversation).await;
        let json = fixture
            .rendering(&fixture.admin.history().conversations(None, None, PageRequest::newest(20)).await.unwrap())
            .json;
        assert_eq!(json[0]["ended_at"], json!(START.rfc3339()), "/new ends it as well");
    }
}
