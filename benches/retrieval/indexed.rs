//! One conversation in its own journal.

use std::collections::HashMap;
use std::sync::Arc;

use compline::config::{Budget, Limit};
use compline::id::MessageId;
use compline::memory::digest;
use compline::model::embed::Embedder;
use compline::people::{Address, Role};
use compline::search::{ConversationQuery, ConversationSearch, MessageHit, VectorParts, Vectors};
use compline::spend::Ledger;
use compline::store::{
    BoundaryReason, ConversationKind, Corpus, Journal, MessageKind, NewConversation, NewMessage, TextKind,
};
use compline::text::question;
use compline::time::{SystemClock, TimeRange, Timestamp, Zone};
use compline::trust::{Label, Labelled, Scope, Text};
use tokio_util::sync::CancellationToken;

use super::set::{Talk, Turn};

/// Number of requested hits: enough to see the sessions behind them.
const DEEP: usize = 100;

/// Answer to a question.
pub struct Found {
    pub turns: Vec<String>,
    pub rejected: Vec<String>,
}

pub struct IndexedConversation {
    journal: Journal,
    scope: Scope,
    names: Vec<String>,
    turns: HashMap<MessageId, String>,
    by_digest: HashMap<String, Vec<String>>,
    lexical: ConversationSearch,
    hybrid: ConversationSearch,
    vectors: Option<Vectors>,
    stop: CancellationToken,
    _folder: tempfile::TempDir,
}

impl IndexedConversation {
    pub async fn of(talk: &Talk, embedder: Option<Arc<dyn Embedder>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal.db"), None).unwrap();
        let (scope, turns) = fill(&journal, talk).await;
        let mut by_digest: HashMap<String, Vec<String>> = HashMap::new();
        for turn in talk.sessions.iter().flat_map(|session| &session.turns) {
            by_digest.entry(digest(turn.text.as_bytes())).or_default().push(turn.id.clone());
        }
        let stop = CancellationToken::new();
        let vectors = embedder.map(|embedder| vectors(&journal, embedder));
        if let Some(vectors) = &vectors {
            tokio::spawn(vectors.clone().run(stop.clone()));
            while !vectors.health().await.unwrap().is_complete {
                let away = vectors.health().await.unwrap().away;
                assert!(away.is_none(), "The server computes no vectors: {away:?}");
                tokio::task::yield_now().await;
            }
            vectors.read(Corpus::Said, scope).await.unwrap();
        }
        let speakers = journal.read(move |db| db.message_search().speakers(scope, "")).await.unwrap();
        Self {
            names: speakers.into_iter().map(|(_, name)| name).collect(),
            lexical: ConversationSearch::new(journal.clone(), None, ""),
            hybrid: ConversationSearch::new(journal.clone(), vectors.clone(), ""),
            journal,
            scope,
            turns,
            by_digest,
            vectors,
            stop,
            _folder: folder,
        }
    }

    /// The found turns, best first, and those that are rejected as saying nothing.
    pub async fn search(&self, words: &str, way: &str) -> Found {
        let recollection = match way {
            "lexical" => &self.lexical,
            "hybrid" => &self.hybrid,
            _ => return self.nearest(words).await,
        };
        let asked = ConversationQuery {
            words: text(words, self.scope),
            untrusted_too: false,
            limit: DEEP,
            before: None,
            time: TimeRange::ALL,
        };
        let found = recollection.search(&asked, |_, found| Ok(found)).await.unwrap();
        let turns = |hits: &[MessageHit]| hits.iter().map(|hit| self.turns[&hit.message].clone()).collect();
        Found { turns: turns(&found.hits), rejected: turns(&found.rejected) }
    }

    /// Searches by meaning alone.
    async fn nearest(&self, words: &str) -> Found {
        let bare = text(&question::without_names(words, &self.names), self.scope);
        let vectors = self.vectors.as_ref().unwrap();
        let near = vectors.nearest_messages(self.scope, &bare, false, DEEP).await.unwrap();
        Found {
            turns: near.near.iter().flat_map(|near| self.by_digest[&near.digest].clone()).collect(),
            rejected: Vec::new(),
        }
    }

    pub async fn close(self) {
        self.stop.cancel();
        self.journal.close().await;
    }
}

fn vectors(journal: &Journal, embedder: Arc<dyn Embedder>) -> Vectors {
    let clock = Arc::new(SystemClock::default());
    let endless = Limit { micros: u64::MAX / 4, tokens: u64::MAX / 4 };
    let budget = Budget {
        daily: endless,
        per_person_daily: endless,
        per_group_daily: endless,
        background_daily: endless,
        owner_reserve: 0,
        tool_rounds: 1,
    };
    let ledger = Arc::new(Ledger::new(journal.clone(), clock.clone(), Zone::UTC, budget));
    Vectors::new(VectorParts { journal: journal.clone(), clock, ledger, embedder })
}

fn text(words: &str, scope: Scope) -> Text {
    Labelled::new(Arc::from(words), Label::trusted(), scope)
}

/// Stores all messages: each session is a conversation of the group, each speaker a person.
async fn fill(journal: &Journal, talk: &Talk) -> (Scope, HashMap<MessageId, String>) {
    let sessions: Vec<Vec<(String, String, Timestamp, String)>> = talk
        .sessions
        .iter()
        .map(|session| {
            let turn = |turn: &Turn| {
                let at = chrono::DateTime::parse_from_rfc3339(&turn.at).expect("times are as in RFC 3339");
                (turn.id.clone(), turn.speaker.clone(), Timestamp(at.timestamp_millis()), turn.text.clone())
            };
            session.turns.iter().map(turn).collect()
        })
        .collect();
    let write = move |tx: compline::store::Tx<'_>| {
        let mut turns = HashMap::new();
        let (stream, address) = tx.groups().stream_for_group(&Address::new("telegram", "1", "-1"), Timestamp(0))?;
        let scope = Scope::Group(stream);
        for session in sessions.iter().filter(|session| !session.is_empty()) {
            let at = session[0].2;
            let conversation = tx.conversations().open_conversation(&NewConversation {
                stream,
                kind: ConversationKind::Chat,
                scope,
                because: BoundaryReason::First,
                at,
            })?;
            for (id, speaker, at, words) in session {
                let person = tx.people().allow(speaker, Role::Member, "config", *at)?;
                let message = tx.messages().add_message(&NewMessage {
                    stream,
                    conversation: Some(conversation),
                    inbox: None,
                    address: Some(address),
                    person: Some(person.id),
                    guest: None,
                    kind: MessageKind::Said,
                    scope,
                    external_id: "",
                    album: "",
                    received_at: *at,
                    server_at: None,
                    effective_at: *at,
                    turn: None,
                })?;
                tx.messages().add_text(message, TextKind::Said, &text(words, scope))?;
                tx.conversations().count_message(conversation, message, *at)?;
                turns.insert(message, id.clone());
            }
        }
        Ok((scope, turns))
    };
    journal.write("fill", write).await.unwrap()
}
