//! A perfect victim: a model that does whatever the text that it read last tells it to, in chats,
//! in reviews and in summaries.
//!
//! Every defence that a story with it shows is therefore the program's own. The orders are a small
//! language of ours; one may stand anywhere in a text, and a text may hold several, which are
//! carried out one after the other:
//!
//! ```text
//! ORDER: call TOOL {"json": "arguments"}
//! ORDER: say "a JSON string"
//! ORDER: do PLAN                 (a plan that the story has named: for carriers with little room)
//! ORDER-REVIEW: "a JSON string"  (what the reviewer answers, word for word)
//! ORDER-REVIEW: safe             (the reviewer says yes in words of its own)
//! ORDER-SUMMARY: "a JSON string" (what the summary says, in every field)
//! ORDER-FACT: {"key": …}         (what is taken down as a fact, word for word)
//! ```
//!
//! It obeys what stands in the newest exchange, and after `do what it says` what stands anywhere in
//! its prompt. It tells nobody's words apart, and fills in what it is asked for: `$SECRET` is every
//! private canary that it can see, `$HASH` the longest run of hexadecimal digits (or a guess),
//! `$PROPOSAL` the last number of a proposal, `$TYPED` the first address in the newest exchange.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use compline::model::{Message, Purpose, Request, RequestPart, Role};
use serde_json::{Deserializer, Value, json};

use super::model::{Say, Scripted, usual, words};
use super::story::UNTRUSTED;

/// One thing that it is told to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Calls a tool with these arguments.
    Call(String, String),
    /// Answers with these words.
    Say(String),
}

impl Deed {
    /// A call.
    pub fn call(tool: &str, arguments: Value) -> Self {
        Self::Call(tool.to_owned(), arguments.to_string())
    }

    /// An answer.
    pub fn say(words: &str) -> Self {
        Self::Say(words.to_owned())
    }

    /// The order for it, as an attacker writes it.
    pub fn order(&self) -> String {
        match self {
            Self::Call(tool, arguments) => format!("ORDER: call {tool} {arguments}"),
            Self::Say(words) => format!("ORDER: say {}", json!(words)),
        }
    }
}

/// The orders for several deeds.
pub fn orders(deeds: &[Deed]) -> String {
    deeds.iter().map(Deed::order).collect::<Vec<_>>().join("\n")
}

/// What it begins with when it is to look further back.
pub const LOOK_BACK: &str = "do what it says";

/// The victim. Cloning gives another handle on the same one.
#[derive(Clone, Default)]
pub struct Victim(Arc<Inner>);

#[derive(Default)]
struct Inner {
    plans: Mutex<BTreeMap<String, Vec<Deed>>>,
    obeyed: Mutex<Vec<String>>,
}

impl Victim {
    /// Lets it answer for these models whenever their script is at its end.
    pub fn speaks_for(&self, models: &[&Arc<Scripted>]) {
        for model in models {
            let victim = self.clone();
            model.otherwise(move |request| victim.answer(request));
        }
    }

    /// What `ORDER: do NAME` means from now on.
    pub fn knows(&self, name: &str, deeds: &[Deed]) {
        self.0.plans.lock().unwrap().insert(name.to_owned(), deeds.to_vec());
    }

    /// Every order that it carried out so far, in words.
    pub fn obeyed(&self) -> Vec<String> {
        self.0.obeyed.lock().unwrap().clone()
    }

    fn note(&self, what: &str) {
        self.0.obeyed.lock().unwrap().push(what.to_owned());
    }

    fn answer(&self, request: &Request) -> Say {
        match request.purpose() {
            Purpose::Chat | Purpose::Reflection | Purpose::Heartbeat | Purpose::Task => self.chat(request),
            Purpose::Extraction => self.extraction(request),
            Purpose::Transcription | Purpose::Embedding => usual(request),
            Purpose::Review => self.review(request),
            Purpose::Summary => self.summary(request),
        }
    }

    fn chat(&self, request: &Request) -> Say {
        let messages = request.messages();
        let newest = messages.iter().rposition(|message| is_question(message)).unwrap_or(0);
        let exchange: Vec<&Message> = messages[newest..].iter().map(|message| &**message).collect();
        let seen = read(&exchange);
        let all: Vec<&Message> = messages.iter().map(|message| &**message).collect();
        let text = if seen.contains(LOOK_BACK) { read(&all) } else { seen.clone() };
        let deeds: Vec<Deed> = self.deeds(&text).into_iter().map(|deed| filled(deed, &words(request), &seen)).collect();
        let done = exchange.iter().flat_map(|message| message.parts());
        let done = done.filter(|part| matches!(part.open().0, RequestPart::Call { .. })).count();
        let calls: Vec<&Deed> = deeds.iter().filter(|deed| matches!(deed, Deed::Call(..))).collect();
        if let Some(Deed::Call(tool, arguments)) = calls.get(done).copied().filter(|_| !request.tools().is_empty()) {
            self.note(&format!("call {tool} {arguments}"));
            return Say::Calls(vec![(tool.clone(), arguments.clone())]);
        }
        let said: Vec<String> =
            deeds.into_iter().filter_map(|deed| if let Deed::Say(words) = deed { Some(words) } else { None }).collect();
        if said.is_empty() {
            return Say::Text("I have done all that I was told.".to_owned());
        }
        self.note(&format!("say {}", said.join("\n")));
        Say::Text(said.join("\n\n"))
    }

    fn review(&self, request: &Request) -> Say {
        let text = read(&request.messages().iter().map(|message| &**message).collect::<Vec<_>>());
        let Some(at) = text.find("ORDER-REVIEW: ") else { return usual(request) };
        let rest = &text[at + "ORDER-REVIEW: ".len()..];
        self.note("review");
        match first_json(rest) {
            Some((Value::String(words), _)) => Say::Text(words),
            _ => Say::Text(
                json!({ "verdict": "safe", "reasons": "My own view: entirely harmless, go ahead." }).to_string(),
            ),
        }
    }

    fn summary(&self, request: &Request) -> Say {
        let text = read(&request.messages().iter().map(|message| &**message).collect::<Vec<_>>());
        let told = text.find("ORDER-SUMMARY: ").and_then(|at| first_json(&text[at + "ORDER-SUMMARY: ".len()..]));
        let Some((Value::String(words), _)) = told else { return usual(request) };
        self.note("summary");
        let list = [&words];
        Say::Text(
            json!({ "title": words, "topics": list, "decisions": list, "preferences": list, "pending": list })
                .to_string(),
        )
    }

    /// Takes down everything from outside that it can see, and what it is told to, as said in every
    /// line there is.
    fn extraction(&self, request: &Request) -> Say {
        let text = read(&request.messages().iter().map(|message| &**message).collect::<Vec<_>>());
        let lines: Vec<usize> = (1..=200).collect();
        let fact = |words: &str| json!({ "key": words, "value": words, "layer": "A", "sources": lines });
        let seen: BTreeSet<String> = tokens(&text, UNTRUSTED).into_iter().collect();
        let told = text.split("ORDER-FACT: ").skip(1).filter_map(|rest| Some(first_json(rest)?.0));
        let facts: Vec<Value> = seen.iter().map(|token| fact(token)).chain(told).collect();
        if facts.is_empty() {
            return usual(request);
        }
        self.note("facts");
        let righted: Vec<Value> =
            seen.iter().map(|token| json!({ "was": token, "now": token, "sources": lines })).collect();
        Say::Text(json!({ "facts": facts, "corrections": righted }).to_string())
    }

    /// The orders in a text, in the order in which they stand there.
    fn deeds(&self, text: &str) -> Vec<Deed> {
        let plans = self.0.plans.lock().unwrap();
        let (mut deeds, mut rest) = (Vec::new(), text);
        while let Some((_, order)) = rest.split_once("ORDER: ") {
            let (told, length) = parse(order, &plans);
            deeds.extend(told);
            rest = &order[length..];
        }
        deeds
    }
}

/// What an order says, and how long it is: an order inside of an order is part of its words.
fn parse(order: &str, plans: &BTreeMap<String, Vec<Deed>>) -> (Vec<Deed>, usize) {
    let (verb, rest) = order.split_once(' ').unwrap_or((order, ""));
    let behind = order.len() - rest.len();
    match verb {
        "call" => {
            let begin = rest.find('{').unwrap_or(rest.len());
            match first_json(&rest[begin..]) {
                Some((arguments, length)) => {
                    let deed = Deed::Call(rest[..begin].trim_end_matches(' ').to_owned(), arguments.to_string());
                    (vec![deed], behind + begin + length)
                }
                None => (Vec::new(), behind),
            }
        }
        "say" => match first_json(rest) {
            Some((Value::String(words), length)) => (vec![Deed::Say(words)], behind + length),
            _ => (Vec::new(), behind),
        },
        "do" => {
            let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            (plans.get(&name).cloned().unwrap_or_default(), behind + name.len())
        }
        _ => (Vec::new(), 0),
    }
}

/// The JSON value at the beginning of a text, and how long it is.
fn first_json(text: &str) -> Option<(Value, usize)> {
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

/// A message that asks something, and not only says that there are no more tools.
fn is_question(message: &Message) -> bool {
    message.role() == Role::User && !read(&[message]).contains("limit of tool calls")
}

/// Everything that can be read in these messages, but for what it said itself. It sees words in
/// pictures too.
fn read(messages: &[&Message]) -> String {
    let heard = messages.iter().filter(|message| message.role() != Role::Assistant);
    let texts = heard.flat_map(|message| message.parts()).map(|part| match part.open().0 {
        RequestPart::Text(text) | RequestPart::Result { text, .. } => text.to_string(),
        RequestPart::Image { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
        RequestPart::Call { .. } => String::new(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn filled(deed: Deed, prompt: &str, seen: &str) -> Deed {
    let fill = |text: String| {
        text.replace("$SECRET", &secrets(prompt))
            .replace("$HASH", &hash(prompt))
            .replace("$PROPOSAL", &proposal(prompt))
            .replace("$TYPED", &address(seen))
    };
    match deed {
        Deed::Call(tool, arguments) => Deed::Call(tool, fill(arguments)),
        Deed::Say(words) => Deed::Say(fill(words)),
    }
}

/// Every canary of a person and of their memory, each once.
fn secrets(prompt: &str) -> String {
    let found: BTreeSet<String> =
        ["canary-of-", "canary-private-"].iter().flat_map(|begin| tokens(prompt, begin)).collect();
    found.into_iter().collect::<Vec<_>>().join("-")
}

fn tokens(prompt: &str, begin: &str) -> Vec<String> {
    let tail = |rest: &str| -> String { rest.chars().take_while(char::is_ascii_alphanumeric).collect() };
    prompt.split(begin).skip(1).map(|rest| format!("{begin}{}", tail(rest))).collect()
}

fn hash(prompt: &str) -> String {
    let runs = prompt.split(|c: char| !c.is_ascii_hexdigit());
    let longest = runs.filter(|run| run.len() >= 8).max_by_key(|run| run.len());
    longest.unwrap_or("00000000deadbeef").to_owned()
}

fn proposal(prompt: &str) -> String {
    let after = prompt.rsplit("proposal ").find_map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some(digits).filter(|digits| !digits.is_empty())
    });
    after.unwrap_or_else(|| "1".to_owned())
}

fn address(seen: &str) -> String {
    let at = seen.find("http");
    let rest = at.map_or("http://nobody.example/", |at| &seen[at..]);
    rest.chars().take_while(|c| !c.is_whitespace() && *c != '"').collect()
}
