//! Isolation under changes to people: no private text reaches another person.
//!
//! Two owners, Ada and Carl, and a member, Ben, each have a canary in every kind of stored data:
//! memory files, messages, summaries, facts, reminders, received files, open questions. Then one
//! thing about people changes. Afterwards everyone with access uses every reader, with a model that
//! fetches and repeats all that it can reach, and every prompt, message and sent file is searched
//! for the canaries of others. The name of a leaked canary shows its origin. Every change runs over
//! Telegram, and one of each kind over Signal.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use compline::model::{Purpose, Request, Role};
use serde_json::json;

use crate::backup::{back_up, begins_anew, goes_back, shelf};
use crate::support::channel::{Channel, Start};
use crate::support::model::{Say, usual, words};
use crate::support::story::{ADA, BEN, EVE, StoryOver};
use crate::support::telegram::FakeTelegram;

#[path = "people_matrix/changes.rs"]
mod changes;
#[path = "people_matrix/over_signal.rs"]
mod over_signal;

const CARL: i64 = 1003;
/// Later newcomer.
const DORA: i64 = 1004;
/// Ben's second telephone.
const BEN_AT_WORK: i64 = 1005;
/// People who try the codes of others.
const THIEVES: std::ops::Range<i64> = 7001..7020;

const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);
const DAYS: Duration = Duration::from_secs(4 * 24 * 3600);
const SETTINGS: &str = "[heartbeat]\ninterval = \"5h\"\nquiet_hours = \"\"\n[budget]\ndaily_tokens = 2000000000\n";
const TALK: &str = "We went for a long walk along the river with the children, and in the evening we sat in the garden and talked until it was dark.";
/// Makes the model use every reading tool.
const LOOK: &str = "look everywhere";

/// Configured person.
#[derive(Clone, Copy)]
struct Entry {
    name: &'static str,
    role: &'static str,
    address: i64,
}

/// Home over Telegram.
type Home = HomeOver<FakeTelegram>;

/// Home in which people change.
struct HomeOver<C: Channel> {
    story: StoryOver<C>,
    people: Vec<Entry>,
    /// Addresses that may see a person's canaries.
    may_see: BTreeMap<&'static str, BTreeSet<i64>>,
    /// Row of each person before the change.
    ids: BTreeMap<&'static str, i64>,
    /// Open codes, by issuer and purpose.
    codes: BTreeMap<(&'static str, &'static str), String>,
    thieves: std::ops::Range<i64>,
    /// People who can still write, by address.
    present: BTreeMap<i64, &'static str>,
    /// Broken promises.
    problems: BTreeSet<String>,
}

const WHO: [(&str, i64); 3] = [("ada", ADA), ("ben", BEN), ("carl", CARL)];

/// Places that hold a canary of each person.
const CARRIERS: [&str; 9] = ["memory", "user", "note", "heartbeat", "talk", "reminder", "file", "keep", "open"];

fn token(who: &str, carrier: &str) -> String {
    format!("private-{who}-{carrier}")
}

/// All canaries in a text, except truncated ones in snippets.
fn canaries(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let is_whole = |word: &&str| CARRIERS.iter().any(|carrier| word.ends_with(&format!("-{carrier}")));
    let found = text.split(|c| !is_part(c)).filter(|word| word.starts_with("private-")).filter(is_whole);
    found.map(str::to_owned).collect()
}

/// Model that reads everything in reach and repeats every canary.
fn repeats(request: &Request) -> Say {
    let all = words(request);
    let seen: Vec<String> = canaries(&all).into_iter().collect();
    let last = request.messages().last().unwrap();
    let asked = last.parts().iter().any(|part| format!("{:?}", part.open().0).contains(LOOK));
    match request.purpose() {
        Purpose::Summary => Say::Text(json!({ "title": seen.join(" "), "topics": seen }).to_string()),
        Purpose::Extraction if seen.is_empty() => usual(request),
        Purpose::Extraction => {
            let fact = |layer| json!({ "key": format!("fact {layer}"), "value": seen.join(" "), "category": "fact", "layer": layer, "sources": [1] });
            Say::Text(json!({ "facts": [fact("A"), fact("B")], "corrections": [] }).to_string())
        }
        Purpose::Chat if asked && last.role() == Role::User => Say::Calls(every_reader()),
        Purpose::Chat | Purpose::Task | Purpose::Heartbeat => Say::Text(format!("I know: {}", seen.join(" "))),
        _ => usual(request),
    }
}

fn every_reader() -> Vec<(String, String)> {
    let call = |tool: &str, arguments: serde_json::Value| (tool.to_owned(), arguments.to_string());
    let mut calls = vec![
        call("memory_search", json!({ "in": "conversations", "query": "private", "include_untrusted": true })),
        call("memory_search", json!({ "query": "private" })),
        call("memory_recall", json!({ "query": "private" })),
        call("list_scheduled", json!({})),
    ];
    for path in ["USER.md", "HEARTBEAT.md", "memory/MEMORY.md", "memory/own-note.md", "people/2-ben/USER.md"] {
        calls.push(call("read_file", json!({ "path": path })));
    }
    calls
}

impl<C: Start> HomeOver<C> {
    /// Starts with Ada, Carl and Ben, each with a canary in every kind of stored data.
    async fn lived_in() -> Self {
        let mut story = StoryOver::<C>::prepared(SETTINGS).await;
        for (id, name) in [(CARL, "Carl"), (DORA, "Dora"), (BEN_AT_WORK, "Ben")] {
            story.fake.meet(id, name);
        }
        for model in [&story.model, &story.background] {
            model.otherwise(repeats);
        }
        let people = vec![
            Entry { name: "Ada", role: "owner", address: ADA },
            Entry { name: "Carl", role: "owner", address: CARL },
            Entry { name: "Ben", role: "member", address: BEN },
        ];
        name(&mut story, &people);
        story.start().await;
        let may_see = WHO.into_iter().map(|(who, address)| (who, BTreeSet::from([address]))).collect();
        let present = WHO.into_iter().map(|(who, address)| (address, who)).collect();
        let (ids, codes) = (BTreeMap::new(), BTreeMap::new());
        let mut home =
            Self { story, people, may_see, ids, codes, thieves: THIEVES, present, problems: BTreeSet::new() };
        for (who, address) in WHO {
            home.plant(who, address).await;
        }
        home.story.pass(NEXT_CONVERSATION).await;
        for (who, address) in WHO {
            home.open(who, address).await;
        }
        home.story.answered().await;
        home
    }

    /// Plants the lasting canaries: memory, files, a reminder, messages.
    async fn plant(&mut self, who: &'static str, address: i64) {
        let story = &self.story;
        story.say(address, &format!("/remember Thing of mine: {}", token(who, "memory"))).await;
        let at = "2026-11-23T12:00:00Z";
        story.model.calls("remind", json!({ "when": at, "text": token(who, "reminder") })).says("I will.");
        story.say(address, "Remind me").await;
        story.say(address, &format!("{} {TALK}", token(who, "talk"))).await;
        story.fake.sends_file(address, "letter.txt", &token(who, "file"));
        story.answered().await;
        let folder = self.folder_with(&token(who, "memory"));
        for (file, carrier) in [("USER.md", "user"), ("memory/own-note.md", "note")] {
            std::fs::write(folder.join(file), format!("# Mine\n\n{}\n", token(who, carrier))).unwrap();
        }
        std::fs::write(folder.join("HEARTBEAT.md"), format!("- [ ] {}\n", token(who, "heartbeat"))).unwrap();
        self.ids.insert(who, self.id_at(address));
    }

    /// Row of the person at an address.
    fn id_at(&self, address: i64) -> i64 {
        self.story.count(&format!("SELECT person_id FROM addresses WHERE peer = '{}'", self.story.fake.peer(address)))
    }

    /// Leaves a conversation, a question and codes open.
    async fn open(&mut self, who: &'static str, address: i64) {
        let story = &self.story;
        let note = json!({ "title": token(who, "keep"), "content": token(who, "keep"), "kind": "reference" });
        story.model.calls("remember", note).says("Noted.");
        story.fake.passes_on(address, EVE, "a letter");
        story.answered().await;
        story.say(address, &format!("{} {TALK}", token(who, "open"))).await;
        for (what, command) in [("link", "/link"), ("pair", "/pair Zoe owner")] {
            story.say(address, command).await;
            if let Some(code) = code_in(&story.last_received_by(address)) {
                self.codes.insert((who, what), code);
            }
        }
    }

    /// Folder whose `MEMORY.md` contains the token.
    fn folder_with(&self, token: &str) -> PathBuf {
        let root = self.story.home.join("workspace");
        let others = std::fs::read_dir(root.join("people")).into_iter().flatten().map(|entry| entry.unwrap().path());
        let holds = |folder: &PathBuf| {
            std::fs::read_to_string(folder.join("memory/MEMORY.md")).is_ok_and(|text| text.contains(token))
        };
        others.chain([root.clone()]).find(holds).unwrap_or_else(|| panic!("{token} is in no memory"))
    }

    /// Changes the configured people and restarts the program.
    async fn configure(&mut self, change: impl FnOnce(&mut Vec<Entry>)) {
        change(&mut self.people);
        name(&mut self.story, &self.people);
        self.story.restart().await;
    }

    /// Marks a person as without access.
    fn is_gone(&mut self, who: &str) {
        self.present.retain(|_, present| *present != who);
    }

    /// Lets everyone with access use every reader, at once and in the following days.
    async fn everybody_looks(&mut self) {
        for round in [NEXT_CONVERSATION, DAYS] {
            for address in self.present.keys().copied().collect::<Vec<_>>() {
                self.looks(address).await;
            }
            self.story.pass(round).await;
        }
    }

    async fn looks(&self, address: i64) {
        let lines = [
            "/memory",
            "/memory search private",
            "/search private",
            "/reminders",
            "/pending",
            "/export",
            "/why",
            "/why memory",
            LOOK,
            "/new",
        ];
        for line in lines {
            self.story.say(address, line).await;
        }
        // Tries the questions of others as well as the person's own.
        for question in 1..=4 {
            self.story.say(address, &format!("/yes {question}")).await;
        }
        self.story.say(address, LOOK).await;
    }

    /// Checks that the command line answers as this owner only.
    async fn the_command_line_is_that_of(&mut self, who: &str) {
        for line in
            [vec!["memory"], vec!["memory", "search", "private"], vec!["search", "private"], vec!["reminders", "list"]]
        {
            let answer = self.story.command_line(&line).await;
            let told = format!("{} {}", answer.markdown, answer.json);
            let theirs = |token: &String| self.present.iter().any(|(at, other)| *other == who && self.may(*at, token));
            let strange: Vec<String> = canaries(&told).into_iter().filter(|token| !theirs(token)).collect();
            self.problems
                .extend(strange.into_iter().map(|token| format!("{token} was shown by compline {}", line.join(" "))));
        }
    }

    /// Checks that a code admits no one.
    async fn is_void(&mut self, whose: &'static str, what: &'static str) {
        let thief = self.thieves.next().unwrap();
        let code = self.codes.get(&(whose, what)).unwrap_or_else(|| panic!("{whose} made no code to {what}")).clone();
        self.story.fake.meet(thief, "Thief");
        self.story.say(thief, &format!("/start {code}")).await;
        let welcome = self.story.last_received_by(thief);
        if welcome.starts_with("Welcome") {
            self.problems.insert(format!("a code of {whose} to {what} still counts: {welcome}"));
        }
    }

    /// Checks that a former member is treated as a stranger.
    async fn is_a_stranger(&mut self, address: i64) {
        let (asked, heard) = (self.story.model.asked(), self.story.received_by(address).len());
        for line in ["/memory", "/yes 1", "/yes 2", "/yes 3", LOOK] {
            self.story.say(address, line).await;
        }
        if self.story.model.asked() > asked {
            self.problems.insert(format!("{address} is still answered"));
        }
        for token in self.story.received_by(address).iter().skip(heard).flat_map(|text| canaries(text)) {
            self.problems.insert(format!("{token} was sent to {address}, a stranger"));
        }
    }

    /// Checks that everyone who is still present can read their own data.
    async fn everybody_has_their_own(&mut self) {
        for (address, who) in self.present.clone() {
            let before = self.story.model.asked();
            self.story.say(address, "/new").await;
            self.story.say(address, LOOK).await;
            let prompts: String = self.story.model.requests_since(before).iter().map(words).collect();
            for carrier in ["memory", "user", "note", "talk"] {
                if !prompts.contains(&token(who, carrier)) {
                    self.problems.insert(format!("{} is lost to {who}", token(who, carrier)));
                }
            }
        }
    }

    /// Canaries found outside their owner's reach.
    fn crossed(&self) -> BTreeSet<String> {
        let mut crossed = BTreeSet::new();
        for address in everybody() {
            let strange = |text: &str, how: &str| {
                let strange = canaries(text).into_iter().filter(|token| !self.may(address, token));
                strange.map(|token| format!("{token} was sent to {address} {how}")).collect::<Vec<_>>()
            };
            for text in self.story.received_by(address) {
                crossed.extend(strange(&text, "in a message"));
            }
            for file in self.story.fake.files(address) {
                crossed.extend(strange(&String::from_utf8_lossy(&file), "in a file"));
            }
        }
        let requests = [self.story.model.requests(), self.story.background.requests()].concat();
        for request in &requests {
            let whose = self.readers_of(&request.scope().encode());
            for token in canaries(&words(request)) {
                for reader in whose.iter().filter(|reader| !self.may(**reader, &token)) {
                    crossed.insert(format!("{token} was in a prompt for {reader} ({:?})", request.purpose()));
                }
            }
        }
        crossed
    }

    fn may(&self, address: i64, token: &str) -> bool {
        self.may_see.iter().any(|(who, addresses)| is_of(token, who) && addresses.contains(&address))
    }

    /// Addresses of the current owner of a scope.
    fn readers_of(&self, scope: &str) -> Vec<i64> {
        let Some(id) = scope.strip_prefix("person:") else { return Vec::new() };
        let list =
            "SELECT coalesce(group_concat(peer, ' '), '') FROM addresses WHERE adapter <> 'terminal' AND person_id =";
        let peers = self.story.text(&format!("{list} {id}"));
        let at = |peer: &str| everybody().find(|address| self.story.fake.peer(*address) == peer);
        peers.split_whitespace().map(|peer| at(peer).unwrap_or_else(|| panic!("{peer} is nobody's"))).collect()
    }

    /// Records the leaks so far, before a change widens what a person may see.
    fn note_what_crossed(&mut self) {
        let crossed = self.crossed();
        self.problems.extend(crossed);
    }

    /// Records that a person writes from an address and may see their data there from now on.
    fn is_at(&mut self, who: &'static str, address: i64) {
        self.may_see.entry(who).or_default().insert(address);
        self.present.insert(address, who);
    }

    async fn end(mut self) {
        self.note_what_crossed();
        let (count, all) = (self.problems.len(), self.problems.iter().cloned().collect::<Vec<_>>());
        self.story.stop_here().await;
        assert!(all.is_empty(), "{count} cells are red:\n{}", all.join("\n"));
    }
}

/// Every address in use.
fn everybody() -> impl Iterator<Item = i64> {
    WHO.iter().map(|(_, address)| *address).chain([DORA, BEN_AT_WORK, EVE]).chain(THIEVES)
}

fn is_of(token: &str, who: &str) -> bool {
    token.starts_with(&format!("private-{who}-"))
}

fn name(story: &mut StoryOver<impl Channel>, people: &[Entry]) {
    let people: Vec<_> = people.iter().map(|entry| (entry.name, entry.role, entry.address)).collect();
    story.name(&people);
}

/// Pairing code in a message.
fn code_in(told: &str) -> Option<String> {
    let is_code = |word: &&str| word.len() == 9 && word.as_bytes()[4] == b'-' && word.to_uppercase() == **word;
    let mut words = told.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.find(is_code).map(str::to_owned)
}
