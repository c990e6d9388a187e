//! The file as text: the example with every key, and the one that `compline init` writes. Both come
//! from the table of keys.
//!
//! A line that begins with `#` and a key shows a default, or a sample value; all such lines can be
//! uncommented together. A line that begins with `# or` is another notation of the key above it.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};

use super::keys::{Key, SECTIONS, Section, SectionSpelling, Unset, join, numbered};
use super::units::show_money;
use super::{Person, Price, Provider};

/// Answers to the questions of `compline init`.
#[derive(Debug, Clone)]
pub struct Answers {
    /// IANA name of the time zone.
    pub zone: String,
    /// Provider of the model.
    pub provider: Provider,
    /// Name of the model; `None` for the offline model.
    pub model: Option<String>,
    /// Address of a server other than the provider's.
    pub base_url: Option<String>,
    /// Source of the model's API key.
    pub api_key: Option<SecretFrom>,
    /// Context window of the model, if it is not its usual one.
    pub context_window: Option<u64>,
    /// Acceptance of images, if it is not the model's usual one.
    pub images: Option<bool>,
    /// Price of the model, if it is not its usual one.
    pub price: Option<Price>,
    /// Source of the Telegram bot's token; `None` without a bot.
    pub telegram: Option<SecretFrom>,
    /// Signal daemon; `None` without Signal.
    pub signal: Option<SignalAnswers>,
    /// People with access.
    pub people: Vec<Person>,
}

/// Answers for `[signal]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignalAnswers {
    /// Endpoint of the daemon.
    pub endpoint: String,
    /// The assistant's account, if the daemon has several.
    pub account: Option<String>,
    /// Command that starts the daemon, if Compline is to start it.
    pub command: Vec<String>,
}

impl Default for Answers {
    /// Returns the shortest answers: the offline model in UTC, and no people.
    fn default() -> Self {
        Self {
            zone: "UTC".to_owned(),
            provider: Provider::Offline,
            model: None,
            base_url: None,
            api_key: None,
            context_window: None,
            images: None,
            price: None,
            telegram: None,
            signal: None,
            people: Vec::new(),
        }
    }
}

/// Source of a secret.
#[derive(Debug, Clone)]
pub enum SecretFrom {
    /// The configuration itself.
    Inline(SecretString),
    /// The environment variable of this name.
    Environment(String),
    /// The file at this path; a leading `HOME/` means Compline's home.
    File(String),
}

/// Returns the example file: every key with its default and a one-line description.
pub fn example() -> String {
    document(&BTreeMap::new())
}

/// Returns the file that `compline init` writes: the answers, and everything else as in the
/// example.
pub fn commented(answers: &Answers) -> String {
    let mut set = BTreeMap::new();
    let mut set_text = |path: &str, text: &str| set.insert(path.to_owned(), literal(text));
    set_text("timezone", &answers.zone);
    set_text("model.provider", answers.provider.as_str());
    answers.model.as_deref().map(|name| set_text("model.name", name));
    answers.base_url.as_deref().map(|url| set_text("model.base_url", url));
    for (path, from) in [("model.api_key", &answers.api_key), ("telegram.token", &answers.telegram)] {
        match from {
            Some(SecretFrom::Inline(secret)) => set_text(path, secret.expose_secret()),
            Some(SecretFrom::Environment(variable)) => set_text(&format!("{path}_env"), variable),
            Some(SecretFrom::File(file)) => set_text(&format!("{path}_file"), file),
            None => None,
        };
    }
    if let Some(signal) = &answers.signal {
        set_text("signal.endpoint", &signal.endpoint);
        signal.account.as_deref().map(|account| set_text("signal.account", account));
    }
    for (number, person) in (1..).zip(&answers.people) {
        set_text(&format!("people[{number}].name"), &person.name);
        set_text(&format!("people[{number}].role"), person.role.as_str());
        person.signal.as_deref().map(|account| set_text(&format!("people[{number}].signal"), account));
    }
    if let Some(signal) = answers.signal.as_ref().filter(|signal| !signal.command.is_empty()) {
        set.insert("signal.command".to_owned(), toml::Value::from(signal.command.clone()).to_string());
    }
    set.extend(answers.context_window.map(|tokens| ("model.context_window".to_owned(), tokens.to_string())));
    set.extend(answers.images.map(|images| ("model.images".to_owned(), images.to_string())));
    if let Some(Price { input, cached, output }) = answers.price {
        for (key, amount) in [("input", input), ("cached", cached), ("output", output)] {
            set.insert(format!("model.price.{key}"), show_money(amount));
        }
    }
    for (number, person) in (1..).zip(&answers.people) {
        set.extend(person.telegram.map(|id| (format!("people[{number}].telegram"), id.to_string())));
    }
    document(&set)
}

const HEAD: &str = "# Compline's configuration. Lines that begin with # show defaults, or values to put in.
# Any key can also be set in the environment: COMPLINE__MODEL__NAME is name in [model], COMPLINE__PEOPLE__1__NAME
# the name of the first person. Durations are written as \"6h\", \"10m\" or \"600ms\".
";

/// Renders the file. `set` holds TOML literals by path.
fn document(set: &BTreeMap<String, String>) -> String {
    let mut text = HEAD.to_owned();
    for section in SECTIONS {
        match section.form {
            SectionSpelling::Inline => {}
            SectionSpelling::Repeated => repeated(&mut text, section, set),
            SectionSpelling::Table | SectionSpelling::Again => table(&mut text, section, set),
        }
    }
    text
}

fn table(text: &mut String, section: &Section, set: &BTreeMap<String, String>) {
    text.push('\n');
    if !section.path.is_empty() {
        let more = if section.form == SectionSpelling::Again { " The keys are those of [model]." } else { "" };
        text.push_str(&comment(&format!("{}{more}", section.about)));
        text.push_str(&format!("[{}]\n", section.path));
    }
    keys(text, section, section.path, set);
    for inline in section.children().filter(|child| child.form == SectionSpelling::Inline) {
        if section.form != SectionSpelling::Again {
            text.push_str(&comment(&format!("{} Without cached, that is as much as input.", inline.about)));
        }
        let given = |key: &Key| set.get(&join(inline.path, key.name)).map(String::as_str);
        let parts: Vec<_> =
            inline.keys.iter().map(|key| format!("{} = {}", key.name, given(key).unwrap_or(key.sample))).collect();
        let mark = if inline.keys.iter().any(|key| given(key).is_some()) { "" } else { "#" };
        text.push_str(&format!("{mark}{} = {{ {} }}\n", inline.name(), parts.join(", ")));
    }
}

/// Renders the entries that are set, or one commented-out entry.
fn repeated(text: &mut String, section: &Section, set: &BTreeMap<String, String>) {
    text.push_str(&format!("\n{}", comment(section.about)));
    let is_set = |at: &String| set.keys().any(|path| path.starts_with(&format!("{at}.")));
    let written: Vec<String> = (1..).map(|number| numbered(section.path, number)).take_while(is_set).collect();
    for at in &written {
        text.push_str(&format!("[[{}]]\n", section.path));
        keys(text, section, at, set);
    }
    if written.is_empty() {
        text.push_str(&format!("#[[{}]]\n", section.path));
        keys(text, section, section.path, set);
    }
}

fn keys(text: &mut String, section: &Section, at: &str, set: &BTreeMap<String, String>) {
    for key in section.keys {
        let is_explained = section.form != SectionSpelling::Again && key.unset != Unset::Instead;
        if is_explained {
            text.push_str(&comment(&format!("{}{}", key.about, default_of(key))));
        }
        text.push_str(&line(key, set.get(&join(at, key.name))));
    }
}

/// Formats the text as comment lines that fit a screen.
fn comment(words: &str) -> String {
    let mut text = String::new();
    let mut width = usize::MAX;
    for word in words.split(' ') {
        let length = word.chars().count();
        if width.saturating_add(length) >= 100 {
            text.push_str(if text.is_empty() { "#" } else { "\n#" });
            width = 1;
        }
        text.push(' ');
        text.push_str(word);
        width += 1 + length;
    }
    text.push('\n');
    text
}

fn default_of(key: &Key) -> String {
    match key.unset {
        Unset::Depends(description) => format!(" Default: {description}."),
        Unset::Is(text) if text != key.sample => format!(" Default: {}.", written(key, text)),
        Unset::Is(_) | Unset::Nothing | Unset::Instead => String::new(),
    }
}

fn line(key: &Key, set: Option<&String>) -> String {
    match (set, key.unset) {
        (Some(value), _) => format!("{} = {value}\n", key.name),
        (None, Unset::Instead) => format!("# or {} = {}\n", key.name, written(key, key.sample)),
        (None, _) => format!("#{} = {}\n", key.name, written(key, key.sample)),
    }
}

fn written(key: &Key, text: &str) -> String {
    if key.kind.is_quoted() { literal(text) } else { text.to_owned() }
}

fn literal(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
