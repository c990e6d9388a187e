//! Locations of the secrets, as the configuration file names them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use serde::Serialize;

use super::Home;
use super::error::Source;
use super::keys::{Key, SECTIONS, ValueKind, join, section};
use super::reader::absolute;
use super::written_values;

/// A setting that names the location of a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedSecret {
    /// Path of the key, as `telegram.token_file`.
    pub key: String,
    /// Location of the secret.
    #[serde(flatten)]
    pub location: SecretLocation,
}

/// Location of a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretLocation {
    /// A file.
    File(PathBuf),
    /// An environment variable.
    Variable(String),
}

impl NamedSecret {
    /// Returns the file.
    pub fn file(&self) -> Option<&PathBuf> {
        match &self.location {
            SecretLocation::File(path) => Some(path),
            SecretLocation::Variable(_) => None,
        }
    }

    /// Returns whether the secret is on this computer.
    pub fn is_there(&self, env: &BTreeMap<String, String>) -> bool {
        match &self.location {
            SecretLocation::File(path) => std::fs::File::open(path).is_ok(),
            SecretLocation::Variable(name) => env.contains_key(name),
        }
    }
}

/// Returns the secrets that a configuration names, by key. `HOME/` means that home.
pub fn named_secrets(text: &str, home: &Home) -> Vec<NamedSecret> {
    let (values, _) = written_values::read(&Source { file: "", text: text.trim_start_matches('\u{feff}') });
    let named = values.by_path.into_iter().filter_map(|(key, written)| {
        let location = match key_of(&key)?.kind {
            ValueKind::SecretFile => SecretLocation::File(absolute(&written.text, home)?),
            ValueKind::SecretEnv => SecretLocation::Variable(written.text),
            _ => return None,
        };
        Some(NamedSecret { key, location })
    });
    named.collect()
}

/// Place of a secret in the configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretPlace {
    /// In the file itself; the span of its value.
    Inline(Range<usize>),
    /// Elsewhere.
    Outside(SecretLocation),
    /// Nowhere.
    Unset,
}

/// Returns the place of the secret with this key; `None` if no secret has that key.
pub fn secret_place(text: &str, home: &Home, key: &str) -> Option<SecretPlace> {
    key_of(key).filter(|key| key.kind == ValueKind::Secret)?;
    let (mut values, _) = written_values::read(&Source { file: "", text });
    if let Some(span) = values.by_path.remove(key).and_then(|written| written.span) {
        return Some(SecretPlace::Inline(span));
    }
    let is_of_key =
        |named: &NamedSecret| named.key.strip_prefix(key).is_some_and(|rest| matches!(rest, "_file" | "_env"));
    let outside = named_secrets(text, home).into_iter().find(is_of_key);
    Some(outside.map_or(SecretPlace::Unset, |named| SecretPlace::Outside(named.location)))
}

/// Returns the keys of all secrets.
pub fn secret_keys() -> Vec<String> {
    let keys = SECTIONS.iter().flat_map(|section| section.keys.iter().map(|key| (section.path, key)));
    keys.filter(|(_, key)| key.kind == ValueKind::Secret).map(|(at, key)| join(at, key.name)).collect()
}

fn key_of(path: &str) -> Option<&'static Key> {
    let (at, name) = path.rsplit_once('.')?;
    section(at.split_once('[').map_or(at, |(at, _)| at))?.key(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_variables_are_named_with_their_keys() {
        let text = "[telegram]\ntoken_file = \"HOME/telegram.token\"\n[model]\napi_key = \"k\"\n\
            [model.fallback]\napi_key_env = \"OTHER_KEY\"\n[embedding]\napi_key_file = \"/run/key\"\n";
        let named = named_secrets(text, &Home::at("/srv/home"));
        let shown: Vec<String> = named.iter().map(|one| format!("{} {:?}", one.key, one.location)).collect();
        assert_eq!(
            shown,
            [
                "embedding.api_key_file File(\"/run/key\")",
                "model.fallback.api_key_env Variable(\"OTHER_KEY\")",
                "telegram.token_file File(\"/srv/home/telegram.token\")",
            ]
        );
        let place = |key| secret_place(text, &Home::at("/srv/home"), key);
        let Some(SecretPlace::Inline(span)) = place("model.api_key") else { panic!("it is in the file") };
        assert_eq!(text.get(span), Some("\"k\""));
        assert_eq!(
            place("telegram.token"),
            Some(SecretPlace::Outside(SecretLocation::File("/srv/home/telegram.token".into())))
        );
        assert_eq!((place("transcription.api_key"), place("model.name")), (Some(SecretPlace::Unset), None));
        assert!(secret_keys().contains(&"model.fallback.api_key".to_owned()));
        let set = BTreeMap::from([("OTHER_KEY".to_owned(), "k".to_owned())]);
        assert_eq!(named.iter().map(|one| one.is_there(&set)).collect::<Vec<_>>(), [false, true, false]);
    }
}
