//! `/search`: full-text search over what was said, in the scope of the person who asks and no other.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::Admin;
use super::answer::{Answer, Shown, plain, sources_in_words};
use super::conversations::title_of;
use super::snippet::{Snippet, Wanted};
use crate::id::ConversationId;
use crate::people::Person;
use crate::store::{Db, Hit};
use crate::trust::{Labelled, Scope};
use crate::wording::command as says;

/// What can be searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Single messages.
    Message,
    /// Conversations, by their best message.
    Conversation,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Message, Self::Conversation];

    /// The kind of a word of `--in`.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "messages" => Some(Self::Message),
            "conversations" => Some(Self::Conversation),
            _ => None,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Conversation => "conversation",
        }
    }
}

/// The most hits that are shown, whatever is asked for.
const MOST: usize = 200;

/// One line of the result.
struct Found {
    kind: Kind,
    id: i64,
    hit: Hit,
    title: Option<Labelled<String>>,
}

impl Admin {
    /// What matches among a person's own texts, best first; untrusted texts are marked as such.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub async fn search(&self, person: &Person, query: &str, limit: usize, kinds: &[Kind]) -> anyhow::Result<Answer> {
        let (scope, asked, kinds) = (Scope::Person(person.id), query.to_owned(), kinds.to_vec());
        let limit = limit.clamp(1, MOST);
        let found = self.parts.journal.read_much(move |db| find(db, scope, &asked, limit, &kinds)).await?;
        let (wanted, mut shown) = (Wanted::new(query), Shown::nothing());
        let (mut lines, mut json) = (Vec::new(), Vec::new());
        for one in &found {
            let words = shown.words(&one.hit.text);
            let snippet = Snippet::new(words, &wanted);
            let title = one.title.as_ref().map(|title| shown.words(title).as_str()).unwrap_or_default();
            lines.push(self.line(person, one, title, &snippet));
            json.push(found_json(one, title, &snippet));
        }
        if lines.is_empty() {
            lines.push(says::NOTHING_FOUND.to_owned());
        }
        Ok(Answer::showing(shown, lines.join("\n\n"), Value::from(json)))
    }

    fn line(&self, person: &Person, found: &Found, title: &str, snippet: &Snippet) -> String {
        let at = self.parts.zone.show_short(found.hit.at);
        let who = if found.hit.person.is_some() { &person.name } else { &self.parts.agent };
        let head = match found.kind {
            Kind::Message => says::hit(&at, who, &sources_in_words(found.hit.text.label())),
            Kind::Conversation => says::conversation_head(found.id, &plain(title), &at),
        };
        format!("{head}\n{}", snippet.markdown())
    }
}

fn find(db: Db<'_>, scope: Scope, query: &str, limit: usize, kinds: &[Kind]) -> anyhow::Result<Vec<Found>> {
    // A conversation is found by its messages, so it takes more of them to find as many conversations.
    let hits =
        db.recall(scope, query, true, if kinds.contains(&Kind::Conversation) { MOST } else { limit }, None)?.hits;
    let mut titles: HashMap<ConversationId, Option<Labelled<String>>> = HashMap::new();
    let (mut messages, mut conversations): (Vec<Found>, Vec<Found>) = (Vec::new(), Vec::new());
    for hit in hits {
        let mut title = None;
        if let Some(conversation) = hit.conversation {
            let known = titles.get(&conversation).cloned();
            title = match &known {
                Some(known) => known.clone(),
                None => title_of(db, conversation)?,
            };
            titles.insert(conversation, title.clone());
            if known.is_none() && kinds.contains(&Kind::Conversation) {
                let (id, hit, title) = (conversation.0, hit.clone(), title.clone());
                conversations.push(Found { kind: Kind::Conversation, id, hit, title });
            }
        }
        if kinds.contains(&Kind::Message) {
            messages.push(Found { kind: Kind::Message, id: hit.message.0, hit, title });
        }
    }
    messages.extend(conversations);
    messages.sort_by(|one, other| other.hit.score.total_cmp(&one.hit.score));
    messages.truncate(limit);
    Ok(messages)
}

fn found_json(found: &Found, title: &str, snippet: &Snippet) -> Value {
    json!({
        "kind": found.kind.as_str(),
        "id": found.id,
        "at": found.hit.at.rfc3339(),
        "title": title,
        "snippet": snippet.text(),
        "score": found.hit.score,
        "tainted": !found.hit.text.label().is_trusted(),
        "conversation": found.hit.conversation,
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{House, START, keys};
    use super::*;
    use crate::trust::{Label, Source};

    #[tokio::test]
    async fn hits_have_the_promised_shape() {
        let house = House::new().await;
        let said = house.says("Ada", "The red shoes are at the cobbler").await;
        let answer = house.admin.search(&house.ada().person, "shoe", 10, &Kind::ALL).await.unwrap();
        assert_eq!(answer.json.as_array().unwrap().len(), 2);
        assert_eq!(keys(&answer.json[0]), ["kind", "id", "at", "title", "snippet", "score", "tainted", "conversation"],);
        let message = answer.json.as_array().unwrap().iter().find(|hit| hit["kind"] == "message").unwrap();
        assert_eq!((&message["id"], &message["at"]), (&json!(said.message), &json!(START.rfc3339())));
        assert_eq!(
            (&message["snippet"], &message["tainted"]),
            (&json!("The red **shoes** are at the cobbler"), &json!(false))
        );
        assert!(message["score"].as_f64().unwrap() > 0.0);
        let conversation = answer.json.as_array().unwrap().iter().find(|hit| hit["kind"] == "conversation").unwrap();
        assert_eq!(conversation["id"], json!(said.conversation));
        assert!(answer.markdown.contains("**shoes**") && answer.label.is_trusted());
    }

    #[tokio::test]
    async fn a_search_never_shows_another_persons_text() {
        let house = House::new().await;
        house.says("Ben", "canary ben-7f3a").await;
        house.says("Ada", "canary ada-19c0").await;
        for (mine, theirs, caller) in
            [("ada-19c0", "ben-7f3a", house.ada().person), ("ben-7f3a", "ada-19c0", house.ben().person)]
        {
            let answer = house.admin.search(&caller, "canary", 50, &Kind::ALL).await.unwrap();
            let all = format!("{}{}", answer.markdown, answer.json).replace("**", "");
            assert!(all.contains("canary") && !all.contains(theirs), "{mine}: {all}");
        }
        let owner = house.admin.chat(&house.ada(), "/search canary").await;
        assert!(!owner.markdown.contains("7f3a"), "{}", owner.markdown);
    }

    #[tokio::test]
    async fn untrusted_hits_are_marked_and_label_the_answer() {
        let house = House::new().await;
        house.says("Ada", "about lighthouses").await;
        house.hears("Ada", "lighthouses, see [here](http://evil.example)", Source::web("example.org")).await;
        let answer = house.admin.chat(&house.ada(), "/search lighthouses").await;
        let tainted: Vec<bool> = answer.json.as_array().unwrap().iter().map(|hit| hit["tainted"] == true).collect();
        assert_eq!(tainted.iter().filter(|tainted| **tainted).count(), 1);
        assert!(
            answer.markdown.contains("web:example.org") && !answer.markdown.contains("[here]("),
            "{}",
            answer.markdown
        );
        assert_eq!(answer.label, Label::untrusted(Source::web("example.org")));
    }

    #[tokio::test]
    async fn nothing_found_is_said() {
        let house = House::new().await;
        let answer = house.admin.chat(&house.ada(), "/search ???").await;
        assert_eq!((answer.markdown.as_str(), answer.json, answer.failed), (says::NOTHING_FOUND, json!([]), false));
    }
}
