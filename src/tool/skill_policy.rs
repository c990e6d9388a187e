//! Policy of the skills that a conversation has loaded: what leaves goes where they say. A web
//! address goes to its host; a call of an outside tool goes to each of its destinations (`marks`),
//! and to whatever its content names as one. Each of these stands as a whole in a loaded skill, was
//! typed by a person there, or was allowed by a yes; anything else asks first. Without a loaded
//! skill there is no such policy.
//!
//! It is added to the rules about text from outside and replaces none of them, with one exception:
//! what a person typed may be searched for with a tool that the owner accepted as a search. It is
//! read from the journal before each call, so it survives a restart, and it ends with the
//! conversation.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use url::Url;

use super::marks::{ArgumentKind, ArgumentValue};
use super::permit::is_a_place;
use super::web::{addresses_in, host_name, parse};
use super::{Egress, argument};
use crate::id::{ConversationId, PersonId};
use crate::review::effects::{destination, destinations_in};
use crate::store::{Db, GrantKind, MessageKind, TextKind};
use crate::text::tokens::Tokens;
use crate::trust::Label;

/// A skill that a conversation has loaded.
#[derive(Debug, Clone, Default)]
pub struct LoadedSkill {
    /// Hosts and recipients that its files name.
    pub names: BTreeSet<String>,
    /// Labels of the versions that were read.
    pub labels: Vec<Label>,
}

/// The policy of one conversation.
#[derive(Debug, Clone, Default)]
pub struct SkillPolicy {
    /// Loaded skills by name.
    pub skills: BTreeMap<String, LoadedSkill>,
    /// Hosts and recipients that a person typed, and everything that one allowed.
    allowed: BTreeSet<String>,
    /// Texts of the loaded skills, and what people typed.
    texts: Vec<Tokens>,
    /// What the person for whom a search is made typed.
    typed: Vec<Tokens>,
}

impl SkillPolicy {
    /// Reads the policy of a conversation.
    pub fn read(db: Db<'_>, conversation: ConversationId) -> anyhow::Result<Self> {
        let mut policy = Self::default();
        for (version, name, label) in db.skills().loaded_in(conversation)? {
            let skill = policy.skills.entry(name).or_default();
            for (_, bytes) in db.skills().files_of_version(version)? {
                let text = String::from_utf8_lossy(&bytes);
                skill.names.extend(destinations_in(&text));
                policy.texts.push(Tokens::of(&text));
            }
            skill.labels.push(label);
        }
        if policy.skills.is_empty() {
            return Ok(policy);
        }
        let grants = db.grants().grants_in(conversation)?.into_iter();
        policy.allowed =
            grants.filter(|grant| grant.kind == GrantKind::Destination).map(|grant| grant.subject).collect();
        for words in words_of_people(db, conversation, |_| true)? {
            policy.allowed.extend(destinations_in(&words));
            policy.allowed.extend(addresses_in(&words).iter().map(|typed| destination(&host_name(&typed.url))));
            policy.texts.push(Tokens::of(&words));
        }
        Ok(policy)
    }

    /// Adds what that person typed, for a call of a search.
    pub fn with_words_of(
        self,
        db: Db<'_>,
        conversation: ConversationId,
        person: Option<PersonId>,
    ) -> anyhow::Result<Self> {
        let words = words_of_people(db, conversation, |speaker| speaker.is_none() || speaker == person)?;
        Ok(Self { typed: words.iter().map(|words| Tokens::of(words)).collect(), ..self })
    }

    /// Returns whether an address may be opened as far as the loaded skills are concerned.
    pub fn allows(&self, url: &Url) -> bool {
        self.skills.is_empty() || self.knows(&destination(&host_name(url)))
    }

    /// Returns the names of the loaded skills.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.skills.keys().map(String::as_str)
    }

    /// Returns whether the person typed everything that a search would pass on.
    pub fn are_typed(&self, values: &[ArgumentValue]) -> bool {
        values.iter().all(|value| match value.kind {
            ArgumentKind::Choice => true,
            ArgumentKind::Content => Tokens::hold_each_of(&self.typed, &value.text()),
            ArgumentKind::Destination => self.typed.iter().any(|typed| typed.hold(&value.text())),
        })
    }

    /// Returns the destinations of a call that nothing names; `values` are those of a call of a
    /// tool of another program.
    pub fn unnamed(&self, egress: &Egress, arguments: &Value, values: &[ArgumentValue]) -> BTreeSet<String> {
        let mut unnamed = BTreeSet::new();
        if self.skills.is_empty() {
            return unnamed;
        }
        match egress {
            Egress::Inside | Egress::Later | Egress::ToPerson => {}
            Egress::Address(name) => {
                let url = parse(argument::text(arguments, name)).ok();
                unnamed.extend(url.map(|url| destination(&host_name(&url))).filter(|host| !self.knows(host)));
            }
            Egress::Outside { .. } => values.iter().for_each(|value| self.add_unnamed(value, &mut unnamed)),
        }
        unnamed
    }

    fn add_unnamed(&self, value: &ArgumentValue, unnamed: &mut BTreeSet<String>) {
        let text = value.text();
        match value.kind {
            ArgumentKind::Choice => {}
            ArgumentKind::Content if !is_a_place(&text) => {
                // A name such as `@ben` is read as one only after a word like "to".
                let named = destinations_in(&format!("to {text}"));
                unnamed.extend(named.into_iter().filter(|name| !self.knows(name)));
            }
            ArgumentKind::Content | ArgumentKind::Destination if self.names_whole(&text) => {}
            ArgumentKind::Content | ArgumentKind::Destination => drop(unnamed.insert(text)),
        }
    }

    /// Returns whether a host or recipient is named or allowed, in the form in which these are
    /// compared.
    fn knows(&self, name: &str) -> bool {
        self.allowed.contains(name) || self.skills.values().any(|skill| skill.names.contains(name))
    }

    /// Returns whether a value stands as a whole in a skill, was typed or allowed, or is an address
    /// of a host that was.
    fn names_whole(&self, value: &str) -> bool {
        self.allowed.contains(value)
            || self.texts.iter().any(|text| text.hold(value))
            || self.knows(&destination(value)) && is_plain_name(value)
            || is_plain_address(value) && parse(value).is_ok_and(|url| self.knows(&destination(&host_name(&url))))
    }
}

/// Returns whether the compared form of a host or recipient stands for nothing but this value.
fn is_plain_name(value: &str) -> bool {
    match value.trim().strip_prefix('+') {
        Some(number) => number.chars().all(|c| c.is_ascii_digit() || " -()./".contains(c)),
        None => value.is_ascii() && !value.contains(|c: char| c.is_whitespace() || c.is_control()),
    }
}

/// Returns whether every program reads the same host from a web address.
fn is_plain_address(value: &str) -> bool {
    let has_scheme = ["http://", "https://"]
        .iter()
        .any(|scheme| value.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    has_scheme
        && value.is_ascii()
        && !value.contains(|c: char| c.is_whitespace() || c.is_control() || "\\@".contains(c))
}

/// Returns what people typed in a conversation, and the request of a run, as far as their speakers
/// are wanted; a run has none.
fn words_of_people(
    db: Db<'_>,
    conversation: ConversationId,
    is_wanted: impl Fn(Option<PersonId>) -> bool,
) -> anyhow::Result<Vec<String>> {
    let mut words = Vec::new();
    for message in db.messages().messages_of(conversation)? {
        let texts = db.messages().texts_of(message.id)?.into_iter();
        // The first text of a task describes the run, the third is what models said in earlier
        // ones.
        let (speaker, skipped, most) = match message.kind {
            MessageKind::Said => (message.person, 0, usize::MAX),
            MessageKind::Task => (None, 1, 1),
            _ => continue,
        };
        if message.kind == MessageKind::Said && speaker.is_none() || !is_wanted(speaker) {
            continue;
        }
        let typed = texts.skip(skipped).take(most).filter(|text| {
            text.text.label().is_trusted() && matches!(text.kind, TextKind::Said | TextKind::Transcript)
        });
        words.extend(typed.map(|text| text.text.open().0.to_string()));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::marks::{ArgumentMarks, WantedMarks};

    const SKILL: &str = "Post to #results or C0EVIL99, write to leaf@tea.example or +44 7700 900123, or to Ben Miller. Read \
                         https://tea.example/list.";

    fn policy(skill: &str, typed: &str) -> SkillPolicy {
        let names = destinations_in(skill);
        let skills = BTreeMap::from([("tea".to_owned(), LoadedSkill { names, labels: Vec::new() })]);
        let texts = [skill, typed].map(Tokens::of).to_vec();
        SkillPolicy { skills, allowed: destinations_in(typed), texts, typed: vec![Tokens::of(typed)] }
    }

    fn schema() -> Value {
        json!({ "properties": {
            "to": {}, "text": { "type": "string" }, "count": { "type": "integer" },
            "mode": { "anyOf": [{ "enum": ["plain", "loud"] }, { "type": "null" }] }, "silent": { "type": "boolean" },
        } })
    }

    fn unnamed(policy: &SkillPolicy, arguments: &Value) -> Vec<String> {
        let marks = ArgumentMarks::proposed(&schema());
        let values = marks.values(&schema(), arguments);
        let egress = Egress::Outside { server: "s".to_owned(), tool: "t".to_owned(), marks: marks.into() };
        policy.unnamed(&egress, arguments, &values).into_iter().collect()
    }

    /// Promise (skills/every-recipient): With a loaded skill every value that an outside tool reads
    /// as a destination is asked about in any form and anywhere in the call, unless it stands there
    /// as a whole, or you typed it.
    #[test]
    fn a_recipient_in_any_form_is_asked_about_wherever_it_stands() {
        let policy = policy(SKILL, "Tell Eva, and take 7.");
        for value in [
            "#leaks",
            "C0EVIL9",
            "C0EVIL999",
            "0EVIL99",
            "-1001234567890",
            "Eve Mallory",
            "eve(at)evil(dot)com",
            "\u{435}vil.com",
            "evil.solutions",
            "//evil.solutions/x",
            "@eve:evil.host",
            "eve@evilhost",
            "\\\\evil\\share",
            "DE89 3704 0044 0532 0130 00",
            "drop.zip",
            "0x08080404",
            "tg:evil",
            "eve@evil.example",
            "+44 7700 900124",
            "https://evil.example",
            "leaf@tea.example.evil.example",
            "l\u{435}af@tea.example",
            "C0\u{415}VIL99",
            "\u{ff43}0evil99",
            "C0EVIL99\u{200b}",
            "results",
            "#result",
            "Ben",
            "Miller Ben",
            "Эвелина",
            "小明",
            "*",
            "/",
            ".",
            "1",
            "https://tea.example@evil.example/",
            "https://tea.example\\@evil.example/",
            "https://tea.example.evil.example/",
            "//tea.example/list",
            "https://tea.example\n.evil.example",
            "+44 7700 900123 evil",
            "+44evil7700900123",
            "leaf@tea.example,eve@evil.example",
            "leaf@tea.example?cc=eve",
            "{\"to\": \"eve\"}",
        ] {
            let nothing_named = self::policy("Ask where they want to go.", "");
            for arguments in [
                json!({ "to": value }),
                json!({ "to": ["#results", value] }),
                json!({ "to": { "C0EVIL99": [{ "Eva": value }] } }),
                json!({ "to": [[value]] }),
                json!({ "to": { value: true } }),
                json!({ "cc": value }),
                json!({ "mode": value }),
                json!({ "text": { "Eva": value } }),
            ] {
                // One that is a word of the skill, or part of one, alone.
                let is_word = ["Ben"].contains(&value);
                assert_eq!(
                    unnamed(&policy, &arguments).iter().any(|name| name == value),
                    !is_word,
                    "{value}: {arguments}"
                );
                assert!(unnamed(&nothing_named, &arguments).iter().any(|name| name == value), "{value}: {arguments}");
            }
        }
        for (arguments, asked) in [
            (json!({ "to": -1_001_234_567_890_i64 }), "-1001234567890"),
            (json!({ "count": 900 }), "900"),
            (json!({ "count": 1.5 }), "1.5"),
            (json!({ "text": "eve@evil.example" }), "eve@evil.example"),
            (json!({ "text": "write to eve@evil.example" }), "eve@evil.example"),
            (json!({ "text": "#leaks" }), "#leaks"),
            (json!({ "text": "evil.solutions/x" }), "evil.solutions/x"),
        ] {
            assert!(unnamed(&policy, &arguments).contains(&asked.to_owned()), "{arguments}");
        }
    }

    /// Proves: skills/every-recipient
    #[test]
    fn what_a_skill_names_or_a_person_typed_is_not_asked_about() {
        let policy = policy(SKILL, "Tell Eva, and take 7.");
        for arguments in [
            json!({ "to": ["#results", "c0evil99", "Leaf@Tea.example", "Ben Miller", "eva", "+447700900123"] }),
            json!({ "to": ["tea.example", "www.tea.example", "https://tea.example/list", "HTTPS://tea.example/other?a=b"] }),
            json!({ "to": null, "count": 7, "mode": "loud", "silent": true, "text": "We meet at noon, all 12 of us." }),
            json!({ "mode": null, "to": [], "text": "" }),
            json!({}),
        ] {
            assert_eq!(unnamed(&policy, &arguments), Vec::<String>::new(), "{arguments}");
        }
        assert_eq!(unnamed(&SkillPolicy::default(), &json!({ "to": "eve" })), Vec::<String>::new());
    }

    /// Proves: tools/search
    #[test]
    fn a_search_passes_on_what_its_person_typed_and_nothing_else() {
        let policy = policy("Search for the salary.", "What is the weather in Graz tomorrow? Take 7.");
        let typed = |arguments: &Value| {
            let wanted = WantedMarks { arguments: Vec::new(), search: true };
            let marks = ArgumentMarks::with(&schema(), &wanted).unwrap();
            policy.are_typed(&marks.values(&schema(), arguments))
        };
        for arguments in [
            json!({ "text": "weather Graz" }),
            json!({ "text": "\"graz\" TOMORROW", "mode": "loud", "silent": false, "count": 7 }),
            json!({ "text": "the weather in Graz tomorrow", "to": "Graz" }),
        ] {
            assert!(typed(&arguments), "{arguments}");
        }
        for arguments in [
            json!({ "text": "weather Graz 4711" }),
            json!({ "text": "salary" }),
            json!({ "text": "weath" }),
            json!({ "text": "weather", "count": 8 }),
            json!({ "text": "weather", "to": "evil" }),
            json!({ "text": "weather", "evil": true }),
            json!({ "text": "gr\u{430}z" }),
            json!({ "text": "site:graz" }),
        ] {
            assert!(!typed(&arguments), "{arguments}");
        }
    }
}
