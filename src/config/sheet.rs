//! The configuration as written: a flat sheet of key paths, each with its text and its source.
//!
//! The file is checked against the table of keys, so that an unknown key or a value of the wrong
//! type is reported with its location. Values are not interpreted here.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::{Serialize, Serializer};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::error::{Fault, ValueError};
use super::keys::{Key, Section, SectionSpelling, ValueKind, join, numbered, section};
use super::source::Source;
use super::suggest;
use super::units::{self, quoted};

/// All values written in the file and in the environment.
#[derive(Default)]
pub struct WrittenValues {
    /// Values by key path, as `people[1].name`.
    pub written: BTreeMap<String, WrittenValue>,
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

/// Reads the file into a sheet. Invalid parts become faults and the rest is kept, so that all
/// faults are found at once.
pub fn read(source: &Source<'_>) -> (WrittenValues, Vec<Fault>) {
    let mut reading = SheetReader { source, sheet: WrittenValues::default(), faults: Vec::new() };
    match DeTable::parse(source.text) {
        Err(error) => reading.broken(&error),
        Ok(table) => {
            if let Some(top) = section("") {
                reading.table(top, "", table.get_ref());
            }
        }
    }
    (reading.sheet, reading.faults)
}

struct SheetReader<'a> {
    source: &'a Source<'a>,
    sheet: WrittenValues,
    faults: Vec<Fault>,
}

impl SheetReader<'_> {
    fn broken(&mut self, error: &toml::de::Error) {
        let what = format!("This is no TOML: {}", crate::text::one_line(error.message()));
        let fix = "correct this line; a value stands in quotes unless it is a number, true or false";
        self.fault("", &error.span().unwrap_or_default(), ValueError::new(what, fix));
    }

    fn table(&mut self, section: &'static Section, at: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let path = join(at, name.get_ref());
            if let Some(key) = section.key(name.get_ref()) {
                self.value(key, path, value);
            } else if let Some(child) = section.children().find(|child| child.name() == name.get_ref().as_ref()) {
                self.child(child, &path, name.span(), value.get_ref());
            } else {
                let shown = crate::text::shorten(&crate::text::one_line(&path), 80);
                self.fault(&shown, &name.span(), suggest::unknown(section, name.get_ref()));
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
            let count = self.sheet.repeated.entry(child.path).or_default();
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
                let (line, _) = super::source::position(self.source.text, span.start);
                let origin = ValueSource::File { file: self.source.file.to_owned(), line };
                self.sheet.written.insert(path, WrittenValue { text, origin, span: Some(span) });
            }
            None => self.fault(&path, &span, wrong_type(key, value.get_ref())),
        }
    }

    fn fault(&mut self, key: &str, span: &Range<usize>, trouble: ValueError) {
        let ValueError { what, fix } = trouble;
        let (place, excerpt) = (self.source.place(span), self.source.excerpt(span));
        self.faults.push(Fault { place, key: key.to_owned(), what, fix, excerpt });
    }
}

fn text_of(kind: ValueKind, value: &DeValue<'_>) -> Option<String> {
    match (kind, value) {
        (ValueKind::Flag, DeValue::Boolean(flag)) => Some(flag.to_string()),
        (ValueKind::Count | ValueKind::Decimal | ValueKind::Money, DeValue::Integer(number)) => {
            Some(number.to_string())
        }
        (ValueKind::Count | ValueKind::Decimal | ValueKind::Money, DeValue::Float(number)) => Some(number.to_string()),
        (ValueKind::List, DeValue::Array(items)) => list_of(items),
        (kind, DeValue::String(text)) if kind.is_quoted() => Some(text.to_string()),
        _ => None,
    }
}

fn list_of(items: &DeArray<'_>) -> Option<String> {
    let texts = items.iter().map(|item| match item.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    });
    Some(units::show_list(&texts.collect::<Option<Vec<String>>>()?))
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
