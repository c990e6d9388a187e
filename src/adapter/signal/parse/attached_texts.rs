//! Attached content that the sender did not type: link previews, contact cards, polls.
//!
//! Each becomes a few plain lines, because the model should read what the sender's screen displays.
//! Pictures in them are ignored.

use serde_json::Value;

use crate::adapter::signal::envelope::{field, list, text};
use crate::message::{Attached, AttachedTextKind};

const NAME: [&str; 6] = ["prefix", "given", "middle", "family", "suffix", "nickname"];
const ADDRESS: [&str; 7] = ["street", "pobox", "neighborhood", "postcode", "city", "region", "country"];

/// All attached content in reading order; empty items are left out.
pub(super) fn all(data: &Value) -> Vec<Attached> {
    let previews = list(data, "previews").iter().map(|page| (AttachedTextKind::Preview, preview(page)));
    let contacts = list(data, "contacts").iter().map(|card| (AttachedTextKind::Contact, contact(card)));
    let polls = field(data, "pollCreate").into_iter().map(|asked| (AttachedTextKind::Poll, poll(asked)));
    let all = previews.chain(contacts).chain(polls).map(|(what, lines)| Attached { kind: what, text: lines });
    all.filter(|carried| !carried.text.is_empty()).collect()
}

fn preview(page: &Value) -> String {
    joined(["title", "description", "url"].map(|key| text(page, key)), "\n")
}

fn contact(card: &Value) -> String {
    let name = field(card, "name").map(|name| joined(NAME.map(|key| text(name, key)), " ")).unwrap_or_default();
    let values = |key| list(card, key).iter().map(|entry| text(entry, "value").to_owned());
    let places = list(card, "address").iter().map(|place| joined(ADDRESS.map(|key| text(place, key)), ", "));
    let lines = [name, text(card, "organization").to_owned()].into_iter();
    let lines: Vec<String> = lines.chain(values("phone")).chain(values("email")).chain(places).collect();
    joined(lines.iter().map(String::as_str), "\n")
}

fn poll(asked: &Value) -> String {
    let answers = list(asked, "options").iter().filter_map(Value::as_str).map(|answer| format!("- {answer}"));
    let lines: Vec<String> = [text(asked, "question").to_owned()].into_iter().chain(answers).collect();
    joined(lines.iter().map(String::as_str), "\n")
}

fn joined<'t>(parts: impl IntoIterator<Item = &'t str>, between: &str) -> String {
    let parts: Vec<&str> = parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect();
    parts.join(between)
}
