//! Policy of the skills that a conversation has loaded: what leaves goes to the hosts and
//! recipients that they name. Those that a person typed there, or allowed by a yes, count as well;
//! anything else asks first. Without a loaded skill there is no policy.
//!
//! It is added to the rules about text from outside and replaces none of them. It is read from the
//! journal before each call, so it survives a restart, and it ends with the conversation.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use url::Url;

use super::permit::pinned_values;
use super::web::{addresses_in, host_name, parse};
use super::{Egress, argument};
use crate::id::ConversationId;
use crate::review::effects::{destination, destinations_in};
use crate::store::{Db, GrantKind, MessageKind, TextKind};
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
    /// Hosts and recipients that a person typed or allowed.
    allowed: BTreeSet<String>,
}

impl SkillPolicy {
    /// Reads the policy of a conversation.
    pub fn read(db: Db<'_>, conversation: ConversationId) -> anyhow::Result<Self> {
        let mut policy = Self::default();
        for (version, name, label) in db.skills().loaded_in(conversation)? {
            let skill = policy.skills.entry(name).or_default();
            for (_, bytes) in db.skills().files_of_version(version)? {
                skill.names.extend(destinations_in(&String::from_utf8_lossy(&bytes)));
            }
            skill.labels.push(label);
        }
        if policy.skills.is_empty() {
            return Ok(policy);
        }
        let grants = db.grants().grants_in(conversation)?.into_iter();
        policy.allowed =
            grants.filter(|grant| grant.kind == GrantKind::Destination).map(|grant| grant.subject).collect();
        for words in words_of_people(db, conversation)? {
            policy.allowed.extend(destinations_in(&words));
            policy.allowed.extend(addresses_in(&words).iter().map(|typed| destination(&host_name(&typed.url))));
        }
        Ok(policy)
    }

    /// Returns whether an address may be opened as far as the loaded skills are concerned.
    pub fn allows(&self, url: &Url) -> bool {
        self.allows_destination(&destination(&host_name(url)))
    }

    /// Returns the names of the loaded skills.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.skills.keys().map(String::as_str)
    }

    fn allows_destination(&self, name: &str) -> bool {
        self.skills.is_empty()
            || self.allowed.contains(name)
            || self.skills.values().any(|skill| skill.names.contains(name))
    }

    /// Returns the destinations of a call that nothing names.
    pub fn unnamed(&self, egress: &Egress, arguments: &Value) -> BTreeSet<String> {
        let mut found: BTreeSet<String> = match egress {
            Egress::Inside | Egress::Later => BTreeSet::new(),
            Egress::Address(name) => {
                let url = parse(argument::text(arguments, name)).ok();
                url.map(|url| destination(&host_name(&url))).into_iter().collect()
            }
            // A name such as `@ben` is read as one only after a word like "to".
            Egress::Outside { .. } => {
                pinned_values(arguments).iter().flat_map(|value| destinations_in(&format!("to {value}"))).collect()
            }
        };
        found.retain(|name| !self.allows_destination(name));
        found
    }
}

/// Returns what people typed in a conversation, and the request of a run.
fn words_of_people(db: Db<'_>, conversation: ConversationId) -> anyhow::Result<Vec<String>> {
    let mut words = Vec::new();
    for message in db.messages().messages_of(conversation)? {
        let texts = db.messages().texts_of(message.id)?.into_iter();
        // The first text of a task describes the run, the third is what models said in earlier
        // ones.
        let (skipped, most) = match message.kind {
            MessageKind::Said => (0, usize::MAX),
            MessageKind::Task => (1, 1),
            _ => continue,
        };
        let typed = texts.skip(skipped).take(most).filter(|text| {
            text.text.label().is_trusted() && matches!(text.kind, TextKind::Said | TextKind::Transcript)
        });
        words.extend(typed.map(|text| text.text.open().0.to_string()));
    }
    Ok(words)
}
