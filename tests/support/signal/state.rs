//! State of the daemon, behind one lock: people, groups, messages on Signal's server, subscribers,
//! sent messages, faults and records. Each change delivers pending messages and wakes all waiting
//! tasks and threads.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::faults::{Failure, Fault, Flood};
use super::observing::Sent;
use crate::support::fake::{self, Chronicle};

pub type ChatId = i64;
/// Timestamp that names a message.
pub type MessageId = i64;
/// Number of an envelope.
pub type UpdateId = i64;
pub(super) type ConnectionId = u64;

/// Our own number.
pub const OWN_NUMBER: &str = "+15550000042";
/// Our own account identifier.
pub const OWN_UUID: &str = "c0ffee00-0000-4000-8000-000000000042";
/// The pack of all stickers.
pub const STICKER_PACK: &str = "ab54bd3c3f11ad0bcb4ae44ec9e5e1bf";

/// The account identifier of a person.
pub fn uuid(person: i64) -> String {
    format!("{person:08x}-0000-4000-8000-{person:012x}")
}

/// The number of a person.
pub fn number(person: i64) -> String {
    format!("+1555{person:07}")
}

/// The identifier of a group: 32 bytes in base64, with a slash and a plus sign in it as real ones
/// often have.
pub fn group_id(group: ChatId) -> String {
    let mut bytes = [0xfb; 32];
    bytes[24..].copy_from_slice(&group.to_be_bytes());
    STANDARD.encode(bytes)
}

/// A request that a well-behaved client would not make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub at_ms: i64,
    /// Absent if the request names no chat.
    pub chat: Option<ChatId>,
    pub what: String,
}

/// The shared state with its notifications.
pub(super) type Shared = fake::Shared<State>;

/// State of a new daemon.
pub(super) fn shared(attachments: PathBuf) -> Arc<Shared> {
    Arc::new(Shared::new(State::new(attachments), State::hand_over))
}

/// A person with an account.
#[derive(Clone)]
pub(super) struct Human {
    pub(super) name: String,
    /// Hides the number from everyone.
    pub(super) is_hidden: bool,
}

pub(super) struct Group {
    pub(super) title: String,
    pub(super) members: BTreeSet<i64>,
    pub(super) has_us: bool,
}

/// An envelope on Signal's server.
#[derive(Clone)]
pub(super) struct Queued {
    pub(super) id: UpdateId,
    /// `{account, envelope, exception?}`
    pub(super) body: Value,
}

/// A line connection or a stream of events.
pub(super) struct Connection {
    pub(super) writer: UnboundedSender<Vec<u8>>,
    /// Cancelled to close it.
    pub(super) cut: CancellationToken,
    /// Withholds all further output.
    pub(super) is_deaf: bool,
    pub(super) is_stream: bool,
}

pub(super) struct Subscription {
    pub(super) connection: ConnectionId,
    /// Account of the subscription; all accounts if absent.
    pub(super) account: Option<String>,
    /// True if the request was answered: messages come only after that, unless the test asks
    /// otherwise.
    pub(super) is_answered: bool,
}

/// Answers held for reordering.
#[derive(Default)]
pub(super) struct Shuffle {
    pub(super) size: usize,
    pub(super) kept: Vec<(ConnectionId, Vec<u8>)>,
}

pub(super) struct State {
    pub(super) now: Arc<dyn Fn() -> i64 + Send + Sync>,
    pub(super) version: String,

    // Accounts, people and groups.
    pub(super) accounts: Vec<String>,
    pub(super) is_single: bool,
    pub(super) humans: BTreeMap<i64, Human>,
    pub(super) groups: BTreeMap<ChatId, Group>,
    pub(super) links: BTreeMap<String, bool>,
    pub(super) profile: serde_json::Map<String, Value>,
    /// Emojis of the stickers by their number.
    pub(super) stickers: Vec<String>,

    // Towards us.
    pub(super) queue: VecDeque<Queued>,
    pub(super) history: Vec<Queued>,
    pub(super) is_holding: bool,
    pub(super) on_wire: Vec<(UpdateId, BTreeSet<ConnectionId>)>,
    pub(super) lost: Vec<UpdateId>,
    pub(super) is_noisy: bool,
    pub(super) is_chatty: bool,
    pub(super) files: HashMap<String, Vec<u8>>,
    pub(super) attachments: PathBuf,
    pub(super) received: HashMap<(ChatId, MessageId), (i64, String)>,
    used_stamps: HashSet<(i64, MessageId)>,
    next_serial: u64,

    // Connections and subscriptions.
    pub(super) connections: BTreeMap<ConnectionId, Connection>,
    pub(super) subscriptions: BTreeMap<u64, Subscription>,
    pub(super) next_subscription: u64,
    next_connection: ConnectionId,
    pub(super) is_eager: bool,
    pub(super) has_late_headers: bool,
    pub(super) keep_alive: Option<Duration>,

    // From us.
    pub(super) sent: Vec<Sent>,
    pub(super) chronicle: Chronicle,
    pub(super) calls: Vec<String>,
    pub(super) ignored: Vec<(String, String)>,
    pub(super) typing: HashMap<ChatId, Vec<(i64, bool)>>,
    pub(super) reactions: HashMap<(ChatId, MessageId), String>,
    pub(super) receipts: HashMap<i64, Vec<(String, MessageId)>>,
    pub(super) flights: HashMap<ChatId, usize>,

    // Faults.
    pub(super) faults: VecDeque<(&'static str, Fault)>,
    pub(super) poison: Vec<(String, Fault)>,
    pub(super) floods: HashMap<ChatId, Flood>,
    pub(super) refusals: HashMap<i64, Failure>,
    pub(super) refuse_next: VecDeque<(i64, Failure)>,
    pub(super) holds_sends: bool,
    pub(super) holds_answers: bool,
    pub(super) held: usize,
    pub(super) is_stalled: bool,
    pub(super) is_deaf: bool,
    pub(super) shuffle: Option<Shuffle>,
    pub(super) before_answer: VecDeque<Vec<u8>>,
    pub(super) is_strict: bool,
    pub(super) violations: Vec<Violation>,
}

impl State {
    fn new(attachments: PathBuf) -> Self {
        Self {
            now: Arc::new(wall_clock_ms),
            version: "0.13.19".to_owned(),
            accounts: vec![OWN_NUMBER.to_owned()],
            is_single: false,
            humans: BTreeMap::new(),
            groups: BTreeMap::new(),
            links: BTreeMap::new(),
            profile: serde_json::Map::new(),
            stickers: Vec::new(),
            queue: VecDeque::new(),
            history: Vec::new(),
            is_holding: false,
            on_wire: Vec::new(),
            lost: Vec::new(),
            is_noisy: false,
            is_chatty: false,
            files: HashMap::new(),
            attachments,
            received: HashMap::new(),
            used_stamps: HashSet::new(),
            next_serial: 0,
            connections: BTreeMap::new(),
            subscriptions: BTreeMap::new(),
            next_subscription: 0,
            next_connection: 0,
            is_eager: false,
            has_late_headers: true,
            keep_alive: None,
            sent: Vec::new(),
            chronicle: Chronicle::default(),
            calls: Vec::new(),
            ignored: Vec::new(),
            typing: HashMap::new(),
            reactions: HashMap::new(),
            receipts: HashMap::new(),
            flights: HashMap::new(),
            faults: VecDeque::new(),
            poison: Vec::new(),
            floods: HashMap::new(),
            refusals: HashMap::new(),
            refuse_next: VecDeque::new(),
            holds_sends: false,
            holds_answers: false,
            held: 0,
            is_stalled: false,
            is_deaf: false,
            shuffle: None,
            before_answer: VecDeque::new(),
            is_strict: false,
            violations: Vec::new(),
        }
    }

    pub(super) fn now_ms(&self) -> i64 {
        (self.now)()
    }

    /// Current time as the timestamp of a message, unique per sender. We are sender 0.
    pub(super) fn stamp(&mut self, author: i64) -> MessageId {
        let mut stamp = self.now_ms();
        while !self.used_stamps.insert((author, stamp)) {
            stamp += 1;
        }
        stamp
    }

    /// A unique number for envelopes and files.
    pub(super) fn serial(&mut self) -> u64 {
        self.next_serial += 1;
        self.next_serial
    }

    pub(super) fn human(&self, id: i64) -> Human {
        self.humans.get(&id).cloned().unwrap_or_else(|| panic!("nobody has the id {id}: call person() first"))
    }

    /// Resolves an address: a number, an account identifier, one with the prefix `PNI:`, or a user
    /// name.
    pub(super) fn who(&self, address: &str) -> Option<i64> {
        let name = address.strip_prefix("u:");
        let is_meant = |(id, human): &(&i64, &Human)| match name {
            Some(name) => human.name == name,
            None => number(**id) == address || uuid(**id).eq_ignore_ascii_case(address.trim_start_matches("PNI:")),
        };
        self.humans.iter().find(is_meant).map(|(id, _)| *id)
    }

    pub(super) fn group_named(&self, id: &str) -> Option<ChatId> {
        self.groups.keys().copied().find(|group| group_id(*group) == id)
    }

    /// A person as named in results.
    pub(super) fn recipient_address(&self, person: i64) -> Value {
        let is_hidden = self.humans.get(&person).is_none_or(|human| human.is_hidden);
        let number = (!is_hidden).then(|| number(person));
        json!({ "uuid": uuid(person), "number": number, "username": null })
    }

    pub(super) fn open_connection(
        &mut self,
        writer: UnboundedSender<Vec<u8>>,
        is_stream: bool,
    ) -> (ConnectionId, CancellationToken) {
        self.next_connection += 1;
        let cut = CancellationToken::new();
        let connection = Connection { writer, cut: cut.clone(), is_deaf: false, is_stream };
        self.connections.insert(self.next_connection, connection);
        (self.next_connection, cut)
    }

    /// Closes a connection; messages in flight over it alone are lost.
    pub(super) fn close_connection(&mut self, id: ConnectionId) {
        self.connections.remove(&id);
        self.end_subscriptions(id);
    }

    pub(super) fn end_subscriptions(&mut self, id: ConnectionId) {
        self.subscriptions.retain(|_, subscription| subscription.connection != id);
        for (_, ways) in &mut self.on_wire {
            ways.remove(&id);
        }
        self.lost.extend(self.on_wire.iter().filter(|(_, ways)| ways.is_empty()).map(|(id, _)| *id));
        self.on_wire.retain(|(_, ways)| !ways.is_empty());
    }

    pub(super) fn forget_connections(&mut self) {
        let all: Vec<ConnectionId> = self.connections.keys().copied().collect();
        all.into_iter().for_each(|id| self.close_connection(id));
    }

    pub(super) fn violate(&mut self, chat: Option<ChatId>, what: impl Into<String>) {
        let at_ms = self.now_ms();
        self.violations.push(Violation { at_ms, chat, what: what.into() });
    }

    /// Puts an envelope on Signal's server.
    pub(super) fn enqueue(&mut self, mut body: Value) -> UpdateId {
        let id = i64::try_from(self.serial()).unwrap_or(i64::MAX);
        body["fakeNumber"] = json!(id);
        self.history.push(Queued { id, body: body.clone() });
        self.queue.push_back(Queued { id, body });
        id
    }

    pub(super) fn subscribe(&mut self, subscription: Subscription) -> u64 {
        let id = self.next_subscription;
        self.next_subscription += 1;
        self.subscriptions.insert(id, subscription);
        id
    }

    /// Returns whether an account is ours: by number, and by identifier in daemons that support it.
    pub(super) fn has_account(&self, account: &str) -> bool {
        let is_own = account.eq_ignore_ascii_case(OWN_UUID) && !self.version.starts_with("0.13");
        self.accounts.iter().any(|number| number == account) || (is_own && self.has_account(OWN_NUMBER))
    }

    pub(super) fn is_subscriber(&self, connection: ConnectionId) -> bool {
        self.subscriptions.values().any(|subscription| subscription.connection == connection)
    }
}

fn wall_clock_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    i64::try_from(since.as_millis()).expect("a clock before the year 292 million")
}
