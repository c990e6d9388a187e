//! Which calls of `remind` are a typed wish, over the wishes that somebody else wrote. By default
//! each wish is tried with a quarter of the calls; `COMPLINE_PAIRS=all` tries all.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::skill_policy::SkillPolicy;
use super::{AuthorizableCall, Decision, Toolbox, schedule};
use crate::id::{ConversationId, MessageId, PersonId, TurnId};
use crate::store::Journal;
use crate::time::clock::wakeups;
use crate::time::{Clock, SimulatedClock, Timestamp, Zone};
use crate::trust::{Label, Labelled, Scope, Source};
use crate::wish::{TypedWish, Wish};
use crate::wording::Language;

const WISHES: &str = include_str!("../../tests/corpus/wishes/first.tsv");

fn noon() -> Timestamp {
    Timestamp(chrono::DateTime::parse_from_rfc3339("2026-11-20T12:00:00Z").unwrap().timestamp_millis())
}

struct Desk {
    toolbox: Toolbox,
    _folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&folder.path().join("journal.db"), None).unwrap();
        let clock = Arc::new(SimulatedClock::new(noon()));
        let (wakeup, _) = wakeups();
        let store = schedule::ScheduleStore::new(journal, clock as Arc<dyn Clock>, Zone::UTC, wakeup);
        Self { toolbox: Toolbox::new(schedule::tools(&store)), _folder: folder }
    }

    /// Returns true if a call needs no question in a turn that has read a forward.
    async fn opens(&self, wish: &TypedWish, tool: &str, arguments: &Value) -> bool {
        let label = Label::untrusted(Source::forward());
        let call = AuthorizableCall {
            wishes: std::slice::from_ref(wish),
            arguments: &Value::Null,
            scope: Scope::Person(PersonId(1)),
            conversation: ConversationId(1),
            turn: TurnId(1),
            person: Some(PersonId(1)),
            before: MessageId(1),
            typed: &[],
            linked: &[],
            granted: &[],
            label: &label,
            shown_hosts: &BTreeSet::new(),
            policy: &SkillPolicy::default(),
            language: Language::ENGLISH,
            sees_pictures: false,
        };
        matches!(self.toolbox.decide(tool, &arguments.to_string(), &call).await, Decision::Open(_))
    }
}

fn typed(message: &str) -> Option<TypedWish> {
    let wish = Wish::in_message(message, Zone::UTC.wall_clock(noon()))?;
    let words = Labelled::new(Arc::from(message.get(wish.words)?), Label::neutral(), Scope::Person(PersonId(1)));
    Some(TypedWish { words, when: wish.when, message: MessageId(1) })
}

/// Calls that differ from the wish in its words or its time.
fn hostile(words: &str, when: &str, others: &[(String, String)]) -> Vec<(&'static str, Value)> {
    let parts: Vec<&str> = words.split(' ').collect();
    let mut texts = vec![
        format!("{words} and pay 4711 to Eve"),
        format!("Eve: {words}"),
        format!("{words} now"),
        words.chars().rev().collect(),
        words.replacen(|c: char| c.is_alphabetic(), "\u{430}", 1),
        words.replacen(|c: char| c.is_alphabetic(), "q\u{200b}", 1),
        format!("{words} http://evil.example/"),
        "pay the bill".to_owned(),
    ];
    for left_out in 0..parts.len().min(6) {
        let rest = parts.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, part)| *part);
        // Without its article, or the "zu" of an infinitive, a wish is the same.
        let articles = "the a an der die das den dem ein eine einen el la los las un una";
        let is_zu = left_out + 2 == parts.len() && parts[left_out] == "zu" && parts[left_out + 1].ends_with('n');
        let is_same = is_zu || left_out == 0 && articles.split(' ').any(|article| article == parts[0].to_lowercase());
        texts.extend((!is_same).then(|| rest.collect::<Vec<_>>().join(" ")));
        let mut twice = parts.clone();
        twice.insert(left_out, "not");
        texts.push(twice.join(" "));
    }
    let mut calls: Vec<(&str, Value)> = texts
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(|text| ("remind", json!({ "when": when, "text": text })))
        .collect();
    for when in ["2026-11-20 12:01", "2027-01-01 00:00", "in 7 minutes", "59 23 * * *", "*/20 * * * *", "in 8 days"] {
        calls.push(("remind", json!({ "when": when, "text": words })));
    }
    for (other, at) in others {
        calls.push(("remind", json!({ "when": at, "text": other })));
        calls.push(("remind", json!({ "when": when, "text": other })));
    }
    calls.push(("schedule", json!({ "cron": "0 18 * * *", "task": words })));
    calls.push(("cancel_scheduled", json!({ "id": 1 })));
    calls.push(("change_scheduled", json!({ "id": 1, "text": words })));
    calls
}

/// Proves: gate/typed-wish
#[tokio::test]
async fn a_call_is_a_typed_wish_only_if_it_has_its_words_and_its_time() {
    let desk = Desk::new();
    let lines: Vec<Vec<&str>> = WISHES.lines().map(|line| line.split('\t').collect()).collect();
    let wishes: Vec<(TypedWish, String, String)> = lines
        .iter()
        .filter(|line| matches!(line[0], "remind" | "again"))
        .filter_map(|line| {
            let wish = typed(line[2])?;
            let words = wish.words.open().0.to_string();
            Some((wish, words, line[4].to_owned()))
        })
        .collect();
    let all = std::env::var("COMPLINE_PAIRS").is_ok_and(|pairs| pairs == "all");
    let (step, mut tried) = (if all { 1 } else { 4 }, 0);
    for (place, (wish, words, when)) in wishes.iter().enumerate() {
        assert!(desk.opens(wish, "remind", &json!({ "when": when, "text": format!("{words}.") })).await, "{words}");
        let others: Vec<(String, String)> = wishes
            .iter()
            .cycle()
            .skip(place + 1)
            .take(wishes.len() - 1)
            .filter(|(other, _, _)| !other.has_words(words))
            .take(30)
            .map(|(_, words, when)| (words.clone(), when.clone()))
            .collect();
        for (tool, arguments) in hostile(words, when, &others).into_iter().skip(place % step).step_by(step) {
            assert!(!desk.opens(wish, tool, &arguments).await, "{words} at {when}: {tool} {arguments}");
            tried += 1;
        }
    }
    assert!(tried >= 10_000 / step, "{tried}");
    println!("did: {tried} calls for {} wishes", wishes.len());
}
