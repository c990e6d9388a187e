//! Trust as a type: the provenance of a text ([`Label`]), its owner ([`Scope`]), and a value bound
//! to both ([`Labelled`]).
//!
//! A label has two axes. *Integrity* is the set of sources from outside. A text with an empty set is
//! *trusted* and may become memory. *Origin* is the set of approved third-party skills. Such a text
//! may be read, but the person is still asked before anything leaves
//! ([`Label::asks_before_leaving`]).
//!
//! A join is the union of all sets, so nothing made from untrusted text can become trusted by being
//! rewritten, and nothing loses its origin. A stored grant of a person marks a source as vouched for
//! in one conversation ([`Label::vouched_for`]). There it counts as trusted
//! ([`Label::is_trusted_here`]); whatever outlives the conversation treats it as from outside. The
//! bare value
//! comes out only through [`Labelled::open`]; a test scans the tree for its callers, and for the
//! few files that may call [`Label::trusted`]. Anything that cannot be read back exactly (an
//! unknown column value, an invalid source) is untrusted: the lattice fails closed.
//!
//! Each place that mints *untrusted*, joins labels or compares scopes goes through a function
//! marked `#[track_caller]`, so that tests can make every such place permissive in turn
//! ([`mutation`]). No release build can: there the switch is compiled as `false`.

pub mod mutation;

use std::collections::BTreeSet;
use std::fmt;

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::id::{ImportId, PersonId, StrangerId, StreamId, VersionId};

/// The maximum length of a source. A longer one is truncated, and stays untrusted.
const MAX_SOURCE: usize = 120;
/// The stored form of a label without sources and origins, and the first word of one with origins
/// only.
const TRUSTED: &str = "trusted";
/// The prefix of a stored approved skill. No source starts with it.
const APPROVED: &str = "approved:";
/// The prefix of a stored source that a person has vouched for. No source starts with it.
const VOUCHED: &str = "vouched:";

/// One source of untrusted text: a kind and, for some kinds, an id or a validated host
/// (`web:example.org`).
///
/// Sources are printed in prompts and in chat, so they contain only visible ASCII without spaces.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source(String);

impl Source {
    /// Creates a source from its kind and detail. Characters outside visible ASCII become `_`.
    pub fn new(kind: &str, detail: &str) -> Self {
        let joined = if detail.is_empty() { kind.to_owned() } else { format!("{kind}:{detail}") };
        let clean: String =
            joined.chars().map(|c| if c.is_ascii_graphic() { c } else { '_' }).take(MAX_SOURCE).collect();
        // A source that read back as `trusted`, or as an origin, could be used to launder text.
        let is_ours = clean == TRUSTED || clean.starts_with(APPROVED) || clean.starts_with(VOUCHED);
        Self(if clean.is_empty() || is_ours { "unknown".to_owned() } else { clean })
    }

    /// A web page or file, by its validated host.
    pub fn web(host: &str) -> Self {
        Self::new("web", host)
    }

    /// A file received with a message, by its id.
    pub fn file(id: impl fmt::Display) -> Self {
        Self::new("file", &id.to_string())
    }

    /// A forwarded text.
    pub fn forward() -> Self {
        Self::new("forward", "")
    }

    /// A quote of another person's message.
    pub fn quote() -> Self {
        Self::new("quote", "")
    }

    /// A guest of a group, by the group's stream and the guest's number in it.
    pub fn guest(stream: StreamId, number: u32) -> Self {
        Self::new("guest", &format!("{stream}.{number}"))
    }

    /// The name that a channel tells of a sender without access.
    pub fn stranger(id: StrangerId) -> Self {
        Self::new("stranger", &id.to_string())
    }

    /// Text piped into the program, by the raw item that brought it.
    pub fn stdin(item: impl fmt::Display) -> Self {
        Self::new("stdin", &item.to_string())
    }

    /// Text of an archive that was imported from another program.
    pub fn import(id: ImportId) -> Self {
        Self::new("import", &id.to_string())
    }

    /// What a model's server says of a request.
    pub fn model_server() -> Self {
        Self::new("model-server", "")
    }

    /// Text of unknown origin.
    pub fn unknown() -> Self {
        Self::new("unknown", "")
    }

    /// Returns whether a person may vouch for it: a file that they sent, or text that they piped
    /// in.
    pub fn can_be_vouched_for(&self) -> bool {
        ["file:", "stdin:"].iter().any(|kind| self.0.starts_with(kind))
    }

    /// The source as stored and shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The provenance of a text: the set of its untrusted sources, and its origins. No sources means
/// trusted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Label {
    sources: BTreeSet<Source>,
    origins: BTreeSet<VersionId>,
    vouched: BTreeSet<Source>,
}

impl Label {
    /// The neutral element of the join: the label before any text contributed. A join starts with
    /// it.
    ///
    /// Only the files on the list in `tests/structure` may call this.
    pub fn neutral() -> Self {
        Self { sources: BTreeSet::new(), origins: BTreeSet::new(), vouched: BTreeSet::new() }
    }

    /// The label of a person's typed text, of the program's own words and of files that a person
    /// wrote by hand.
    ///
    /// Only the files on the list in `tests/structure` may call this.
    pub fn trusted() -> Self {
        Self::neutral()
    }

    /// The label of a third-party skill that the owner accepted in that version: trusted, with an
    /// origin.
    ///
    /// Only the files on the list in `tests/structure` may call this.
    pub fn approved(version: VersionId) -> Self {
        Self { origins: BTreeSet::from([version]), ..Self::neutral() }
    }

    /// The label of text from one untrusted source.
    #[track_caller]
    pub fn untrusted(source: Source) -> Self {
        if mutation::is_permissive() {
            return Self::trusted();
        }
        Self { sources: BTreeSet::from([source]), ..Self::neutral() }
    }

    /// Joins any number of labels. The join of none is the neutral label, which means only that
    /// nothing was read yet.
    #[track_caller]
    pub fn join_of<'a>(labels: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = Self::neutral();
        if !mutation::is_permissive() {
            labels.into_iter().for_each(|label| all.add(label));
        }
        all
    }

    /// Returns whether no source from outside contributed, vouched for or not. A trusted text may
    /// outlive its conversation: become memory, a summary, a title.
    pub fn is_trusted(&self) -> bool {
        self.sources.is_empty() && self.vouched.is_empty()
    }

    /// Returns whether it counts as trusted in the conversation that it belongs to: its person
    /// vouched there for all that came from outside.
    pub fn is_trusted_here(&self) -> bool {
        self.sources.is_empty()
    }

    /// Returns whether a person is asked before anything made from this text leaves: the label has
    /// an untrusted source or an origin.
    pub fn asks_before_leaving(&self) -> bool {
        !self.sources.is_empty() || !self.origins.is_empty() || !self.vouched.is_empty()
    }

    /// Returns whether a third party had a part in the text: the label has an untrusted source or
    /// an approved skill.
    pub fn is_of_third_party(&self) -> bool {
        !self.sources.is_empty() || !self.origins.is_empty()
    }

    /// Returns whether the label has no other origin or source than approved skills.
    pub fn is_of_skills_alone(&self) -> bool {
        self.sources.is_empty() && self.vouched.is_empty()
    }

    /// The same label as it counts in a conversation in which a person vouched for these sources, and
    /// for no others.
    ///
    /// Only the files on the list in `tests/structure` may call this.
    #[must_use]
    pub fn vouched_for(&self, vouched: &BTreeSet<Source>) -> Self {
        let (vouched, sources) = self.sources().cloned().partition(|source| vouched.contains(source));
        Self { sources, origins: self.origins.clone(), vouched }
    }

    /// The label of a text made from both.
    #[must_use]
    #[track_caller]
    pub fn join_with(&self, other: &Self) -> Self {
        let mut all = self.clone();
        if !mutation::is_permissive() {
            all.add(other);
        }
        all
    }

    /// Adds the sources and origins of another label to this one.
    #[track_caller]
    pub fn absorb(&mut self, other: &Self) {
        if !mutation::is_permissive() {
            self.add(other);
        }
    }

    fn add(&mut self, other: &Self) {
        self.sources.extend(other.sources.iter().cloned());
        self.origins.extend(other.origins.iter().copied());
        self.vouched.extend(other.vouched.iter().cloned());
    }

    /// Returns whether a request with this label holds all that the other label names, and nobody
    /// vouched for any of it.
    pub fn bears(&self, other: &Self) -> bool {
        other.sources().all(|source| self.sources.contains(source)) && other.origins.is_subset(&self.origins)
    }

    /// The same label without the approved skills among its origins.
    ///
    /// Only the files on the list in `tests/structure` may call this.
    #[must_use]
    pub fn without_origins(&self) -> Self {
        Self { origins: BTreeSet::new(), ..self.clone() }
    }

    /// The sources from outside, vouched for or not, sorted.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.sources.union(&self.vouched)
    }

    /// The contributing versions of approved third-party skills, sorted.
    pub fn origins(&self) -> impl Iterator<Item = VersionId> {
        self.origins.iter().copied()
    }

    /// The sources that their person vouched for, sorted.
    pub fn vouched(&self) -> impl Iterator<Item = &Source> {
        self.vouched.iter()
    }

    /// The stored form: `trusted` or the sources, then the origins, separated by spaces.
    pub fn encode(&self) -> String {
        let mut words: Vec<String> = self.sources.iter().map(|source| source.as_str().to_owned()).collect();
        if words.is_empty() {
            words.push(TRUSTED.to_owned());
        }
        words.extend(self.origins.iter().map(|version| format!("{APPROVED}{version}")));
        words.extend(self.vouched.iter().map(|source| format!("{VOUCHED}{source}")));
        words.join(" ")
    }

    /// Parses the stored form. Only the exact word `trusted`, alone or before approved skills, is
    /// trusted; an empty text is of unknown origin.
    pub fn decode(stored: &str) -> Self {
        if let Some(label) = origins_alone(stored) {
            return label;
        }
        let mut label = Self::neutral();
        for word in stored.split_ascii_whitespace() {
            if !label.add_origin(word) {
                label.sources.insert(Source::new(word, ""));
            }
        }
        if label.sources.is_empty() {
            label.sources.insert(Source::unknown());
        }
        label
    }

    /// Adds a stored origin. Only the exact stored spelling counts; returns false for anything
    /// else.
    fn add_origin(&mut self, word: &str) -> bool {
        if let Some(source) = word.strip_prefix(VOUCHED) {
            let known = Some(Source::new(source, "")).filter(|known| known.as_str() == source);
            self.vouched.extend(known.clone());
            return known.is_some();
        }
        let version = word.strip_prefix(APPROVED).and_then(|number| number.parse().ok()).map(VersionId);
        let version = version.filter(|version| word == format!("{APPROVED}{version}"));
        self.origins.extend(version);
        version.is_some()
    }

    /// The SQL condition for a trusted label in that column. It agrees with [`Label::is_trusted`]
    /// for every stored value.
    pub fn is_trusted_sql(column: &str) -> String {
        format!(
            "({column} = '{TRUSTED}' OR {column} GLOB '{TRUSTED} {APPROVED}*' AND {column} NOT GLOB '* {VOUCHED}*')"
        )
    }
}

/// A stored label that has no sources; `None` for any other.
fn origins_alone(stored: &str) -> Option<Label> {
    let (mut words, mut label) = (stored.split(' '), Label::neutral());
    (words.next() == Some(TRUSTED) && words.all(|word| label.add_origin(word))).then_some(label)
}

impl ToSql for Label {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.encode()))
    }
}

impl FromSql for Label {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str().map(Self::decode)
    }
}

/// The owner of a text. A prompt is built for one scope and refuses text of any other, except
/// shared text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// One person's own text.
    Person(PersonId),
    /// One group's own text.
    Group(StreamId),
    /// Text for everyone: built-in prompts, agents, skills.
    Shared,
}

impl Scope {
    /// Returns whether text of this scope may appear in a prompt built for `prompt`.
    #[track_caller]
    pub fn fits(self, prompt: Self) -> bool {
        self == prompt || self == Self::Shared || mutation::is_permissive()
    }

    /// Returns whether the scopes are equal. Checks use this instead of `==`, which tests cannot
    /// make permissive.
    #[track_caller]
    pub fn equals(self, other: Self) -> bool {
        self == other || mutation::is_permissive()
    }

    /// The stored form, which is also the scope's token in the search index: `person:3`, `group:4`,
    /// `shared`.
    pub fn encode(self) -> String {
        match self {
            Self::Person(id) => format!("person:{id}"),
            Self::Group(id) => format!("group:{id}"),
            Self::Shared => "shared".to_owned(),
        }
    }

    /// Parses the stored form.
    pub fn decode(stored: &str) -> Option<Self> {
        match stored.split_once(':') {
            None if stored == "shared" => Some(Self::Shared),
            Some(("person", id)) => id.parse().ok().map(|id| Self::Person(PersonId(id))),
            Some(("group", id)) => id.parse().ok().map(|id| Self::Group(StreamId(id))),
            _ => None,
        }
    }
}

impl ToSql for Scope {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.encode()))
    }
}

impl FromSql for Scope {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let stored = value.as_str()?;
        Self::decode(stored).ok_or(rusqlite::types::FromSqlError::InvalidType)
    }
}

/// A value with its label and scope. Neither can be changed, and the bare value comes out only
/// through [`Labelled::open`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled<T> {
    value: T,
    label: Label,
    scope: Scope,
}

impl<T> Labelled<T> {
    /// Binds a label and a scope to a value.
    pub fn new(value: T, label: Label, scope: Scope) -> Self {
        Self { value, label, scope }
    }

    /// The bare value, with the label and scope that must travel on with it. A test holds the list
    /// of files that may call this.
    pub fn open(&self) -> (&T, &Label, Scope) {
        (&self.value, &self.label, self.scope)
    }

    /// The provenance of the value.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// The owner of the value.
    pub fn scope(&self) -> Scope {
        self.scope
    }
}

/// Labelled text, cheap to clone.
pub type Text = Labelled<std::sync::Arc<str>>;

/// Text of one scope was offered to a prompt of another.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("Text of {} may not stand in a prompt for {}", found.encode(), prompt.encode())]
pub struct WrongScope {
    /// The scope of the text.
    pub found: Scope,
    /// The scope of the prompt.
    pub prompt: Scope,
}

#[cfg(test)]
mod tests;
