//! State of the fake, behind one lock: people, chats, the queue of updates, messages in both
//! directions, faults and records. Each change wakes all waiting tasks and threads.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::faults::{Fault, Flood};
use super::observing::Sent;
use super::upload;
use crate::support::fake::{self, Chronicle};

pub type ChatId = i64;
pub type MessageId = i64;
pub type UpdateId = i64;

pub(super) const BOT_ID: i64 = 4_200_000_042;
pub(super) const BOT_USERNAME: &str = "compline_test_bot";

/// A call that a well-behaved bot would not make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub at_ms: i64,
    /// Absent if the call names no chat.
    pub chat: Option<ChatId>,
    pub what: String,
}

/// An accepted `answerCallbackQuery`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallbackAnswer {
    pub callback_id: String,
    pub text: String,
}

/// The shared state with its notifications.
pub(super) type Shared = fake::Shared<State>;

/// State of a new server.
pub(super) fn shared() -> Arc<Shared> {
    Arc::new(Shared::new(State::new(), |_| {}))
}

/// An unconfirmed update.
pub(super) struct Queued {
    pub(super) id: UpdateId,
    pub(super) update: Value,
    /// Delivered once independent of the offset: the copy of a confirmed update.
    pub(super) forced: bool,
    pub(super) delivered: bool,
}

pub(super) struct State {
    pub(super) now: Arc<dyn Fn() -> i64 + Send + Sync>,

    // People and chats.
    pub(super) users: HashMap<i64, Value>,
    pub(super) chats: HashMap<ChatId, Value>,
    pub(super) known: HashSet<ChatId>,
    pub(super) blocked: HashSet<ChatId>,
    pub(super) migrated: HashMap<ChatId, ChatId>,

    // Towards the bot.
    pub(super) next_update: UpdateId,
    pub(super) queue: Vec<Queued>,
    pub(super) history: Vec<(UpdateId, Value)>,
    pub(super) acked: usize,
    pub(super) allowed: Vec<String>,
    pub(super) webhook: String,
    pub(super) webhook_secret: String,
    pub(super) leads_to: Option<SocketAddr>,
    pub(super) called: Vec<(UpdateId, u16)>,
    pub(super) call_failed_secs: Option<i64>,
    pub(super) polls: usize,
    pub(super) parked: usize,
    pub(super) last_offset: Option<i64>,
    pub(super) poll_generation: u64,
    pub(super) next_serial: u64,
    pub(super) callbacks: HashSet<String>,
    pub(super) files: HashMap<String, Vec<u8>>,

    // From the bot.
    next_message: HashMap<ChatId, MessageId>,
    pub(super) received: HashMap<(ChatId, MessageId), Value>,
    pub(super) sent: Vec<Sent>,
    pub(super) chronicle: Chronicle,
    pub(super) calls: Vec<String>,
    pub(super) menus: BTreeMap<String, Vec<(String, String)>>,
    /// Descriptions by code of language; blank for all others.
    pub(super) descriptions: BTreeMap<String, String>,
    pub(super) typing: HashMap<ChatId, Vec<i64>>,
    pub(super) reactions: HashMap<(ChatId, MessageId), Vec<String>>,
    pub(super) callback_answers: Vec<CallbackAnswer>,

    // Faults.
    pub(super) faults: VecDeque<(&'static str, Fault)>,
    pub(super) poison: Vec<(String, Fault)>,
    pub(super) unreachable: Vec<ChatId>,
    pub(super) floods: HashMap<ChatId, Flood>,
    pub(super) hold_sends: bool,
    /// Folder that a local server keeps files in, which it names by their paths.
    pub(super) local_files: Option<PathBuf>,
    /// True once all topics are deleted.
    pub(super) has_no_topics: bool,
    pub(super) hold_answers: bool,
    pub(super) held: usize,
    pub(super) strict: bool,
    pub(super) violations: Vec<Violation>,
}

impl State {
    fn new() -> Self {
        Self {
            now: Arc::new(wall_clock_ms),
            users: HashMap::new(),
            chats: HashMap::new(),
            known: HashSet::new(),
            blocked: HashSet::new(),
            migrated: HashMap::new(),
            next_update: 800_000_000 + wall_clock_ms() % 100_000_000,
            queue: Vec::new(),
            history: Vec::new(),
            acked: 0,
            allowed: Vec::new(),
            webhook: String::new(),
            webhook_secret: String::new(),
            leads_to: None,
            called: Vec::new(),
            call_failed_secs: None,
            polls: 0,
            parked: 0,
            last_offset: None,
            poll_generation: 0,
            next_serial: 0,
            callbacks: HashSet::new(),
            files: HashMap::new(),
            next_message: HashMap::new(),
            received: HashMap::new(),
            sent: Vec::new(),
            chronicle: Chronicle::default(),
            calls: Vec::new(),
            menus: BTreeMap::new(),
            descriptions: BTreeMap::new(),
            typing: HashMap::new(),
            reactions: HashMap::new(),
            callback_answers: Vec::new(),
            faults: VecDeque::new(),
            poison: Vec::new(),
            unreachable: Vec::new(),
            floods: HashMap::new(),
            hold_sends: false,
            local_files: None,
            has_no_topics: false,
            hold_answers: false,
            held: 0,
            strict: false,
            violations: Vec::new(),
        }
    }

    pub(super) fn now_ms(&self) -> i64 {
        (self.now)()
    }

    pub(super) fn now_secs(&self) -> i64 {
        self.now_ms().div_euclid(1000)
    }

    /// Private chats share one sequence, each group has its own; all have the same first id, so ids
    /// repeat across chats.
    pub(super) fn new_message_id(&mut self, chat: ChatId) -> MessageId {
        let sequence = if chat < 0 { chat } else { 0 };
        let next = self.next_message.entry(sequence).or_insert(101);
        *next += 1;
        *next - 1
    }

    /// A unique number for callbacks, files and albums.
    pub(super) fn serial(&mut self) -> u64 {
        self.next_serial += 1;
        self.next_serial
    }

    pub(super) fn user(&self, id: i64) -> Value {
        self.users.get(&id).cloned().unwrap_or_else(|| panic!("nobody has the id {id}: call person() first"))
    }

    pub(super) fn chat(&self, id: ChatId) -> Value {
        self.chats.get(&id).cloned().unwrap_or_else(|| panic!("no chat {id}: call person() or group() first"))
    }

    /// A message of either side as shown inside a reply or under a button.
    pub(super) fn shown(&self, chat: ChatId, message: MessageId) -> Option<Value> {
        let named = |sent: &&Sent| sent.chat == chat && sent.message_id == message && !sent.deleted;
        let ours = self.sent.iter().find(named);
        ours.map(|sent| self.message_of(sent)).or_else(|| self.received.get(&(chat, message)).cloned())
    }

    /// One of the bot's messages as returned by the API.
    pub(super) fn message_of(&self, sent: &Sent) -> Value {
        let mut message = json!({
            "message_id": sent.message_id,
            "from": bot(),
            "chat": self.chat(sent.chat),
            "date": sent.at_ms.div_euclid(1000),
            "text": sent.text,
        });
        let mut set = |key: &str, value: Option<Value>| value.map(|value| message[key] = value);
        if let Some(file) = &sent.file {
            set(file.kind, Some(upload::shown(file, sent.message_id)));
        }
        set("edit_date", sent.edits.last().map(|edit| json!(edit.at_ms.div_euclid(1000))));
        set("entities", (!sent.entities.is_empty()).then(|| json!(sent.entities)));
        set("message_thread_id", sent.thread_id.map(|id| json!(id)));
        set("reply_markup", sent.reply_markup.clone());
        set("reply_to_message", sent.reply_to.and_then(|id| self.shown(sent.chat, id)).map(without_reply));
        message
    }

    pub(super) fn violate(&mut self, chat: Option<ChatId>, what: impl Into<String>) {
        let at_ms = self.now_ms();
        self.violations.push(Violation { at_ms, chat, what: what.into() });
    }
}

/// The bot as a user.
pub(super) fn bot() -> Value {
    json!({ "id": BOT_ID, "is_bot": true, "first_name": "Compline", "username": BOT_USERNAME })
}

/// Replies are shown one level deep.
pub(super) fn without_reply(mut message: Value) -> Value {
    if let Some(fields) = message.as_object_mut() {
        fields.remove("reply_to_message");
    }
    message
}

fn wall_clock_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    i64::try_from(since.as_millis()).expect("a clock before the year 292 million")
}
