//! The configuration as written: flat key paths, each with its text and its source.
//!
//! The file is checked against the table of keys, so that an unknown key or a value of the wrong
//! type is reported with its location. Values are not interpreted here.
//!
//! The environment overlays the file: `COMPLINE__MODEL__FALLBACK__NAME` is `name` in
//! `[model.fallback]`, `COMPLINE__PEOPLE__1__NAME` the name of the first person, `WORKSPACE_PATH`
//! the workspace. An empty variable counts as not set, because container files cannot omit one. A
//! secret from the environment replaces every notation of that secret in the file.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::{Serialize, Serializer};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::error::{ConfigLocation, Fault, Source, ValueError, position};
use super::keys::{Key, Section, SectionSpelling, ValueKind, join, numbered, section};
use super::units::{self, quoted, unknown};

/// All values written in the file and in the environment.
#[derive(Default)]
pub struct WrittenValues {
    /// Values by key path, as `people[1].name`.
    pub by_path: BTreeMap<String, WrittenValue>,
    /// Number of entries of each repeatable section.
    pub repeated: BTreeMap<&'static str, usize>,
}

/// A written value. It may be a secret, so it does not implement `Debug`.
pub struct WrittenValue {
    /// Text without quotes.
    pub text: String,
    /// Source of the value.
    pub origin: ValueSource,
    /// Position in the file.
    pub span: Option<Range<usize>>,
}

/// Source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueSource {
    /// A line of the file.
    File {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
    },
    /// The environment variable of this name.
    Environment(String),
    /// The default.
    Default,
}

impl fmt::Display for ValueSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line } => write!(f, "{file}:{line}"),
            Self::Environment(variable) => write!(f, "environment variable {variable}"),
            Self::Default => f.write_str("default"),
        }
    }
}

impl Serialize for ValueSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads the file. Invalid parts become faults and the rest is kept, so that all
/// faults are found at once.
pub fn read(source: &Source<'_>) -> (WrittenValues, Vec<Fault>) {
    let mut file = FileReader { source, values: WrittenValues::default(), faults: Vec::new() };
    match DeTable::parse(source.text) {
        Err(error) => {
            let what = format!("This is no TOML: {}", crate::text::one_line(error.message()));
            let fix = "correct this line; a value stands in quotes unless it is a number, true or false";
            file.fault("", &error.span().unwrap_or_default(), ValueError::new(what, fix));
        }
        Ok(table) => {
            if let Some(top) = section("") {
                file.table(top, "", table.get_ref());
            }
        }
    }
    (file.values, file.faults)
}

struct FileReader<'a> {
    source: &'a Source<'a>,
    values: WrittenValues,
    faults: Vec<Fault>,
}

impl FileReader<'_> {
    fn table(&mut self, section: &'static Section, at: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let path = join(at, name.get_ref());
            if let Some(key) = section.key(name.get_ref()) {
                self.value(key, path, value);
            } else if let Some(child) = section.children().find(|child| child.name() == name.get_ref().as_ref()) {
                self.child(child, &path, name.span(), value.get_ref());
            } else {
                let shown = crate::text::shorten(&crate::text::one_line(&path), 80);
                self.fault(&shown, &name.span(), unknown(section, name.get_ref()));
            }
        }
    }

    fn child(&mut self, child: &'static Section, path: &str, span: Range<usize>, value: &DeValue<'_>) {
        match (child.form, value) {
            (SectionSpelling::Repeated, DeValue::Array(items)) => self.repeated(child, path, items),
            (SectionSpelling::Repeated, _) => {
                let what = format!("{path} is written once, but there may be several");
                self.fault(path, &span, ValueError::new(what, format!("write [[{path}]], with two brackets")));
            }
            (_, DeValue::Table(table)) => self.table(child, path, table),
            (SectionSpelling::Inline, _) => {
                let sample: Vec<_> = child.keys.iter().map(|key| format!("{} = {}", key.name, key.sample)).collect();
                let fix = format!("write {} = {{ {} }}", child.name(), sample.join(", "));
                self.fault(path, &span, ValueError::new(format!("{path} must be a group of values"), fix));
            }
            (SectionSpelling::Table | SectionSpelling::Again, _) => {
                let fix = format!("write [{path}] on a line of its own, and its keys below");
                self.fault(path, &span, ValueError::new(format!("{path} is a section"), fix));
            }
        }
    }

    fn repeated(&mut self, child: &'static Section, path: &str, items: &DeArray<'_>) {
        for item in items {
            let count = self.values.repeated.entry(child.path).or_default();
            *count += 1;
            let at = numbered(path, *count);
            match item.get_ref() {
                DeValue::Table(table) => self.table(child, &at, table),
                _ => {
                    let fix = format!("write [[{path}]] on a line of its own, and the keys below");
                    self.fault(&at, &item.span(), ValueError::new(format!("{at} is no section"), fix));
                }
            }
        }
    }

    fn value(&mut self, key: &Key, path: String, value: &Spanned<DeValue<'_>>) {
        let span = value.span();
        match text_of(key.kind, value.get_ref()) {
            Some(text) => {
                let (line, _) = position(self.source.text, span.start);
                let origin = ValueSource::File { file: self.source.file.to_owned(), line };
                self.values.by_path.insert(path, WrittenValue { text, origin, span: Some(span) });
            }
            None => self.fault(&path, &span, wrong_type(key, value.get_ref())),
        }
    }

    fn fault(&mut self, key: &str, span: &Range<usize>, problem: ValueError) {
        let (location, excerpt) = (self.source.location(span), self.source.excerpt(span));
        self.faults.push(Fault::new(location, key, problem, excerpt));
    }
}

fn text_of(kind: ValueKind, value: &DeValue<'_>) -> Option<String> {
    match (kind, value) {
        (ValueKind::Flag | ValueKind::FlagOrText, DeValue::Boolean(flag)) => Some(flag.to_string()),
        (ValueKind::Count | ValueKind::Decimal | ValueKind::Money, DeValue::Integer(number)) => {
            Some(number.to_string())
        }
        (ValueKind::Count | ValueKind::Decimal | ValueKind::Money, DeValue::Float(number)) => Some(number.to_string()),
        (ValueKind::List, DeValue::Array(items)) => {
            let texts = items.iter().map(|item| item.get_ref().as_str().map(str::to_owned));
            Some(units::show_list(&texts.collect::<Option<Vec<String>>>()?))
        }
        (kind, DeValue::String(text)) if kind.is_quoted() => Some(text.to_string()),
        _ => None,
    }
}

fn wrong_type(key: &Key, value: &DeValue<'_>) -> ValueError {
    let found = match value {
        DeValue::String(_) => "text in quotes",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) if key.kind == ValueKind::List => "a list of something else",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a group of values",
    };
    let wanted = match key.kind {
        ValueKind::Flag => "true or false, without quotes",
        ValueKind::Count | ValueKind::Decimal | ValueKind::Money => "a number, without quotes",
        ValueKind::List => "a list of texts in quotes",
        _ => "text in quotes",
    };
    let sample = if key.kind.is_quoted() { quoted(key.sample) } else { key.sample.to_owned() };
    ValueError::new(format!("It must be {wanted}, and is {found}"), format!("write it as {} = {sample}", key.name))
}

/// Prefix of all variables.
const PREFIX: &str = "COMPLINE__";

/// Overlays the values with the environment.
pub fn overlay(values: &mut WrittenValues, env: &BTreeMap<String, String>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut overlaid = BTreeMap::new();
    if let Some(workspace) = env.get("WORKSPACE_PATH").filter(|path| !path.is_empty()) {
        overlaid.insert("workspace".to_owned(), written("WORKSPACE_PATH", workspace));
    }
    for (variable, text) in env.iter().filter(|(_, text)| !text.is_empty()) {
        let Some(rest) = variable.strip_prefix(PREFIX) else {
            continue;
        };
        match resolve(rest, &mut values.repeated) {
            Ok((at, key)) => {
                remove_other_spellings(values, &at, key);
                overlaid.insert(join(&at, key.name), written(variable, text));
            }
            Err(problem) => {
                let location = ConfigLocation::Environment { variable: variable.clone() };
                faults.push(Fault::new(location, "", problem, None));
            }
        }
    }
    values.by_path.extend(overlaid);
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
    let mut here = section("").ok_or_else(|| ValueError::new(format!("There is no key {rest}"), "unset it"))?;
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        here = child(here, word)?;
        at = join(&at, word);
        if here.form == SectionSpelling::Repeated {
            at = numbered(&at, number(here, words.next(), repeated.entry(here.path).or_default())?);
        }
    }
    here.key(name).map(|key| (at, key)).ok_or_else(|| unknown(here, name))
}

fn child(here: &'static Section, word: &str) -> Result<&'static Section, ValueError> {
    here.children().find(|child| child.name() == word).ok_or_else(|| unknown(here, word))
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

fn remove_other_spellings(values: &mut WrittenValues, at: &str, key: &Key) {
    if !key.kind.is_delicate() {
        return;
    }
    let base = key.name.trim_end_matches("_env").trim_end_matches("_file");
    for suffix in ["", "_env", "_file"] {
        values.by_path.remove(&join(at, &format!("{base}{suffix}")));
    }
}
