//! The environment overlay: `COMPLINE__MODEL__FALLBACK__NAME` is `name` in `[model.fallback]`,
//! `COMPLINE__PEOPLE__1__NAME` the name of the first person, `WORKSPACE_PATH` the workspace.
//!
//! An empty variable counts as not set, because container files cannot omit one. A secret from the
//! environment replaces every notation of that secret in the file.

use std::collections::BTreeMap;

use super::error::{ConfigLocation, Fault, ValueError};
use super::keys::{Key, Section, SectionSpelling, join, numbered, section};
use super::sheet::{ValueSource, WrittenValue, WrittenValues};
use super::suggest;

/// Prefix of all variables.
const PREFIX: &str = "COMPLINE__";

/// Overlays the sheet with the environment.
pub fn lay(sheet: &mut WrittenValues, env: &BTreeMap<String, String>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut laid = BTreeMap::new();
    if let Some(workspace) = env.get("WORKSPACE_PATH").filter(|path| !path.is_empty()) {
        laid.insert("workspace".to_owned(), written("WORKSPACE_PATH", workspace));
    }
    for (variable, text) in env.iter().filter(|(_, text)| !text.is_empty()) {
        let Some(rest) = variable.strip_prefix(PREFIX) else {
            continue;
        };
        match resolve(rest, &mut sheet.repeated) {
            Ok((at, key)) => {
                insert_entry(sheet, &at, key);
                laid.insert(join(&at, key.name), written(variable, text));
            }
            Err(ValueError { what, fix }) => {
                let place = ConfigLocation::Environment { variable: variable.clone() };
                faults.push(Fault { place, key: String::new(), what, fix, excerpt: None });
            }
        }
    }
    sheet.written.extend(laid);
    faults
}

fn written(variable: &str, text: &str) -> WrittenValue {
    WrittenValue { text: text.to_owned(), origin: ValueSource::Environment(variable.to_owned()), span: None }
}

/// Resolves a variable to its section, numbered if repeated, and its key.
fn resolve(rest: &str, repeated: &mut BTreeMap<&'static str, usize>) -> Result<(String, &'static Key), ValueError> {
    let lower = rest.to_lowercase();
    let mut words: Vec<&str> = lower.split("__").collect();
    let name = words.pop().unwrap_or_default();
    let mut at = String::new();
    let mut here = section("").ok_or_else(|| no_key(rest))?;
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        here = child(here, word)?;
        at = join(&at, word);
        if here.form == SectionSpelling::Repeated {
            at = numbered(&at, number(here, words.next(), repeated.entry(here.path).or_default())?);
        }
    }
    here.key(name).map(|key| (at, key)).ok_or_else(|| suggest::unknown(here, name))
}

fn child(here: &'static Section, word: &str) -> Result<&'static Section, ValueError> {
    here.children().find(|child| child.name() == word).ok_or_else(|| suggest::unknown(here, word))
}

/// Parses the number of a repeated section. Entries are numbered from 1; the next number adds one.
fn number(here: &Section, word: Option<&str>, count: &mut usize) -> Result<usize, ValueError> {
    let next = *count + 1;
    let number = word.and_then(|word| word.parse().ok()).filter(|number| (1..=next).contains(number));
    let number = number.ok_or_else(|| {
        ValueError::new(
            format!("It does not say which of [[{}]] it is about", here.path),
            format!("write {PREFIX}{}__1__NAME with a number from 1 to {next}", here.path.to_uppercase()),
        )
    })?;
    *count = number.max(*count);
    Ok(number)
}

fn no_key(rest: &str) -> ValueError {
    ValueError::new(format!("There is no key {rest}"), "unset it")
}

fn insert_entry(sheet: &mut WrittenValues, at: &str, key: &Key) {
    if !key.kind.is_delicate() {
        return;
    }
    let base = key.name.trim_end_matches("_env").trim_end_matches("_file");
    for way in ["", "_env", "_file"] {
        sheet.written.remove(&join(at, &format!("{base}{way}")));
    }
}
