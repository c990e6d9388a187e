//! Differences between two configurations as written, key by key.
//!
//! They are shown before an imported configuration takes effect. A repeatable section is therefore
//! identified by its name and not by its position, and for a secret only the fact of a difference
//! is shown.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::error::{HIDDEN, Source};
use super::keys::{Key, ValueKind, section};
use super::written_values;

/// Subject of a key, in display order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// People with access.
    People,
    /// Programs to run and servers to reach.
    Programs,
    /// API keys and tokens.
    Secrets,
    /// All other settings.
    Settings,
}

/// A key with different values in two configurations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Subject of the key.
    pub subject: Subject,
    /// Path of the key; a repeatable section is identified by its name.
    pub key: String,
    /// Old value; `None` if it was not set.
    pub before: Option<String>,
    /// New value; `None` if it is not set.
    pub after: Option<String>,
}

/// Returns the differences between two configurations, by subject and key.
pub fn difference(before: &str, after: &str) -> Vec<Changed> {
    let (before, after) = (values(before), values(after));
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed =
        keys.into_iter().filter(|key| before.get(*key).map(|one| &one.1) != after.get(*key).map(|one| &one.1));
    let mut changed: Vec<Changed> = changed
        .filter_map(|key| {
            let (known, _) = before.get(key).or_else(|| after.get(key))?;
            let shown = |values: &Values| values.get(key).map(|(known, text)| shown(known, text));
            let (before, after) = (shown(&before), shown(&after));
            Some(Changed { subject: subject(key, known), key: key.clone(), before, after })
        })
        .collect();
    changed.sort_by(|one, other| (one.subject, &one.key).cmp(&(other.subject, &other.key)));
    changed
}

type Values = BTreeMap<String, (&'static Key, String)>;

fn values(text: &str) -> Values {
    let (file, _) = written_values::read(&Source { file: "", text: text.trim_start_matches('\u{feff}') });
    let names: BTreeMap<String, String> = file
        .by_path
        .iter()
        .filter_map(|(path, written)| Some((path.strip_suffix(".name")?.to_owned(), written.text.clone())))
        .filter(|(at, _)| at.ends_with(']'))
        .collect();
    let mut values = Values::new();
    for (path, written) in file.by_path {
        let (at, name) = path.rsplit_once('.').unwrap_or(("", &path));
        let (kind, number) = at.split_once('[').map_or((at, ""), |(kind, number)| (kind, number));
        let Some(key) = section(kind).and_then(|section| section.key(name)) else { continue };
        let mut path = path.clone();
        if let Some(named) = names.get(at).filter(|_| !number.is_empty()) {
            path = format!("{kind}[{named}].{name}");
        }
        // Two entries of one name are invalid, but neither may hide the other.
        while values.contains_key(&path) {
            path.push('\'');
        }
        values.insert(path, (key, written.text));
    }
    values
}

fn subject(path: &str, key: &Key) -> Subject {
    let section = path.split(['.', '[']).next().unwrap_or_default();
    match (section, key.kind) {
        (_, ValueKind::Secret | ValueKind::SecretEnv | ValueKind::SecretFile) => Subject::Secrets,
        ("people" | "groups", _) => Subject::People,
        ("mcp" | "signal" | "tools", _) | (_, ValueKind::Url) => Subject::Programs,
        _ if matches!(key.name, "provider" | "mode" | "webhook_listen") => Subject::Programs,
        _ => Subject::Settings,
    }
}

fn shown(key: &Key, text: &str) -> String {
    match key.kind {
        ValueKind::Secret => HIDDEN.to_owned(),
        ValueKind::Url => without_password(text),
        _ => text.to_owned(),
    }
}

fn without_password(address: &str) -> String {
    let Ok(mut url) = url::Url::parse(address) else { return address.to_owned() };
    if url.password().is_none() {
        return address.to_owned();
    }
    match url.set_password(Some("hidden")) {
        Ok(()) => url.to_string(),
        Err(()) => HIDDEN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_go_by_their_names_and_secrets_are_not_shown() {
        let before =
            "timezone = \"UTC\"\n[telegram]\ntoken = \"1:old\"\n[[people]]\nname = \"Ada\"\nrole = \"owner\"\n";
        let after = "[telegram]\ntoken = \"1:new\"\napi_url = \"http://me:word@evil.example/\"\n\
            [[people]]\nname = \"Mallory\"\nrole = \"owner\"\n[[people]]\nname = \"Ada\"\nrole = \"owner\"\n\
            [[mcp]]\nname = \"a\"\ncommand = [\"sh\", \"-c\", \"evil\\n\"]\n";
        let told: Vec<String> = difference(before, after)
            .into_iter()
            .map(|one| format!("{:?} {} {:?} {:?}", one.subject, one.key, one.before, one.after))
            .collect();
        assert_eq!(
            told,
            [
                "People people[Mallory].name None Some(\"Mallory\")",
                "People people[Mallory].role None Some(\"owner\")",
                "Programs mcp[a].command None Some(\"[\\\"sh\\\",\\\"-c\\\",\\\"evil\\\\n\\\"]\")",
                "Programs mcp[a].name None Some(\"a\")",
                "Programs telegram.api_url None Some(\"http://me:hidden@evil.example/\")",
                "Secrets telegram.token Some(\"(hidden)\") Some(\"(hidden)\")",
                "Settings timezone Some(\"UTC\") None",
            ]
        );
        assert!(difference(before, before).is_empty());
    }
}
