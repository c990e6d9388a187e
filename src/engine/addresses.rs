//! Web addresses of a conversation by first source, and the redaction of unknown ones in answers.
//!
//! An address that a person typed may be opened, unless an untrusted text or a tainted answer held
//! it before: then it may be a copy, and counts as coming from that text. Turns are compared in
//! order, and within a turn messages come before tool results. In doubt an address does not count
//! as typed.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;
use url::Url;

use super::old_results::ShortenedResults;
use super::record::{TurnRecord, calls_of, shown_calls};
use crate::model::{Request, RequestPart, Role};
use crate::store::{MessageKind, QuestionRow, StepKind, StepRow, TextKind};
use crate::text::links;
use crate::tool::web::{self, WrittenAddress, addresses_in, links_within};
use crate::trust::{Labelled, Text};
use crate::wording::{self, Language};

/// Addresses of the turns so far.
#[derive(Debug, Default)]
pub struct Addresses {
    typed: Vec<WrittenAddress>,
    /// Addresses from untrusted texts and tainted answers, in the form in which copies are
    /// compared.
    outside: HashSet<String>,
}

impl Addresses {
    /// Adds a finished turn.
    pub fn add(&mut self, record: &TurnRecord) {
        let (typed, outside) = self.of_messages(record);
        self.typed.extend(typed);
        self.outside.extend(outside);
        for step in record.steps.iter().filter(|step| step.text.label().asks_before_leaving()) {
            self.outside.extend(copies(step.text.open().0));
            calls_in(step).for_each(|words| self.outside.extend(copies(&words)));
        }
    }

    /// Addresses that people typed so far, including the messages of that turn.
    pub fn typed_with(&self, record: &TurnRecord) -> Vec<WrittenAddress> {
        self.typed.iter().cloned().chain(self.of_messages(record).0).collect()
    }

    /// Addresses typed in the messages of a turn, and those that came with them in untrusted text.
    fn of_messages(&self, record: &TurnRecord) -> (Vec<WrittenAddress>, HashSet<String>) {
        let edits = record.edits.iter().filter(|edit| !edit.text.label().is_trusted());
        let mut outside: HashSet<String> = edits.flat_map(|edit| copies(edit.text.open().0)).collect();
        let mut typed = Vec::new();
        for message in record.messages.iter().filter(|message| message.kind == MessageKind::Said) {
            let texts = || record.texts.iter().filter(|text| text.message == message.id);
            for text in texts().filter(|text| !text.text.label().is_trusted()) {
                outside.extend(copies(text.text.open().0));
            }
            for text in texts().filter(|text| is_typed(text.kind) && text.text.label().is_trusted()) {
                let is_copy = |form: &String| outside.contains(form) || self.outside.contains(form);
                let found = addresses_in(text.text.open().0).into_iter();
                typed.extend(found.filter(|written| !is_copy(&links::loose(&links::key(written.url.as_str())))));
            }
        }
        (typed, outside)
    }
}

/// Returns true if a text of a message is its sender's own. A quote was typed by another person, or
/// earlier, and an edit may have been made after the answer was read.
fn is_typed(kind: TextKind) -> bool {
    !matches!(kind, TextKind::Quote | TextKind::Edit)
}

/// Same-host addresses in the pages that this turn has read, for hosts of which a person typed an
/// address or approved one for this turn. A host that only a redirect led to does not count.
pub fn linked_in(record: &TurnRecord, typed: &[WrittenAddress]) -> Vec<Url> {
    let approved = record.agreed_to().into_iter().flat_map(strings_shown);
    let approved = approved.filter_map(|words| web::parse(&words).ok());
    let hosts: HashSet<String> =
        approved.chain(typed.iter().map(|written| written.url.clone())).map(|url| web::host_name(&url)).collect();
    let pages = record.steps.iter().filter(|step| step.done && step.tool == "web_fetch");
    let links = pages.flat_map(|page| links_within(page.text.open().0));
    links.filter(|link| hosts.contains(&web::host_name(link))).collect()
}

/// Returns a tainted answer with every address defanged that was not in anything the turn was
/// shown, and is not one of these names of files. An address that first appeared in a tainted reply
/// or call of the model is the model's own, even if a tool repeated it. A shortened result counts as
/// what it stands for.
pub fn without_strange_links(
    answer: Text,
    request: &Request,
    shortened: &ShortenedResults,
    agreed_to: Option<&QuestionRow>,
    files: &HashSet<String>,
    language: Language,
) -> Text {
    let (words, label, scope) = answer.open();
    if !label.asks_before_leaving() || links::defang(words, &|_| false).is_none() {
        return answer;
    }
    let mut known: HashSet<String> = HashSet::new();
    if let Some(question) = agreed_to {
        known.extend(strings_shown(question).iter().flat_map(|words| links::keys(words)));
    }
    let mut own: HashSet<String> = HashSet::new();
    for message in request.messages() {
        for part in message.parts() {
            let (part, of, _) = part.open();
            let is_own = message.role() == Role::Assistant && of.asks_before_leaving();
            let whole = if let RequestPart::Result { text, .. } = part { shortened.get(text) } else { None };
            let whole = whole.into_iter().flatten().map(|text| text.to_string());
            for words in words_of(part).into_iter().chain(whole) {
                if is_own {
                    own.extend(links::written(&words).into_iter().filter(|key| !known.contains(key)));
                } else {
                    known.extend(links::keys(&words).into_iter().filter(|key| !own.contains(key)));
                }
            }
        }
    }
    let printed = links::defang(words, &|address| files.contains(address) || known.contains(&links::key(address)));
    printed.map_or_else(
        || answer.clone(),
        |printed| {
            let printed = format!("{printed}\n\n{}", &*wording::turn::STRANGE_ADDRESS.in_language(language));
            Labelled::new(Arc::from(printed), label.clone(), scope)
        },
    )
}

/// Returns the file names in a text that a messenger would link.
pub fn names_in(words: &str) -> HashSet<String> {
    let places = links::linked_names(words).into_iter();
    let names = places.filter_map(|place| words.get(place)?.rsplit('/').next().map(str::to_owned));
    names.collect()
}

fn words_of(part: &RequestPart) -> Vec<String> {
    match part {
        RequestPart::Text(text) | RequestPart::Result { text, .. } => vec![text.to_string()],
        RequestPart::Call { name, arguments, .. } => [vec![name.to_string()], strings_in(arguments)].concat(),
        RequestPart::Image { .. } => Vec::new(),
    }
}

/// Addresses in a text, in the form in which copies are compared.
fn copies(words: &str) -> impl Iterator<Item = String> {
    links::keys(words).into_iter().map(|key| links::loose(&key))
}

/// Strings in the calls of a step: a person may be shown them, and asked about them.
fn calls_in(step: &StepRow) -> impl Iterator<Item = String> {
    let calls = if step.kind == StepKind::Model { calls_of(step) } else { Vec::new() };
    calls.into_iter().flat_map(|call| strings_in(&call.arguments))
}

/// Strings in the arguments that the person of a question was shown.
fn strings_shown(question: &QuestionRow) -> Vec<String> {
    shown_calls(question).iter().flat_map(|call| strings_in(&call.arguments)).collect()
}

/// All strings in a JSON text, including keys; the text itself if it is not JSON.
fn strings_in(json: &str) -> Vec<String> {
    let Ok(value) = serde_json::from_str::<Value>(json) else { return vec![json.to_owned()] };
    let (mut found, mut left) = (Vec::new(), vec![value]);
    while let Some(value) = left.pop() {
        match value {
            Value::String(words) => found.push(words),
            Value::Array(values) => left.extend(values),
            Value::Object(fields) => {
                for (name, value) in fields {
                    found.push(name);
                    left.push(value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}
