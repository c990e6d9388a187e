//! Trust as a type: where a text came from ([`Label`]), whose it is ([`Scope`]), and the two glued to it ([`Labelled`]).
//!
//! A label is a set of sources; the empty set is *trusted*; joining is union, so nothing made from untrusted text can
//! ever become trusted by being rewritten. The bare value comes out only through [`Labelled::open`]; a test scans the
//! tree for its callers, and for the few files that may call [`Label::trusted`]. Whatever cannot be read back exactly
//! (an unknown column value, an invalid source) is untrusted: the lattice fails closed.

use std::collections::BTreeSet;
use std::fmt;

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::id::{PersonId, StreamId};

/// The longest source kept; a longer one is cut, which still leaves it untrusted.
const MAX_SOURCE: usize = 120;

/// One origin of untrusted text: a kind and, for some kinds, an id or a validated host (`web:example.org`).
///
/// Sources are printed in prompts and in chat, so they hold only visible ASCII without spaces.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source(String);

impl Source {
    /// A source from its kind and detail; anything outside visible ASCII becomes `_`.
    pub fn new(kind: &str, detail: &str) -> Self {
        let joined = if detail.is_empty() { kind.to_owned() } else { format!("{kind}:{detail}") };
        let clean: String =
            joined.chars().map(|c| if c.is_ascii_graphic() { c } else { '_' }).take(MAX_SOURCE).collect();
        // A source that read back as the word for "none" would be a way to launder text.
        Self(if clean.is_empty() || clean == "trusted" { "unknown".to_owned() } else { clean })
    }

    /// A page or file of the web, by its validated host.
    pub fn web(host: &str) -> Self {
        Self::new("web", host)
    }

    /// A file that came with a message, by its id.
    pub fn file(id: impl fmt::Display) -> Self {
        Self::new("file", &id.to_string())
    }

    /// Words that somebody passed on.
    pub fn forward() -> Self {
        Self::new("forward", "")
    }

    /// A quote of somebody else's message.
    pub fn quote() -> Self {
        Self::new("quote", "")
    }

    /// A guest of a group, by the group's stream and their number in it.
    pub fn guest(stream: StreamId, number: u32) -> Self {
        Self::new("guest", &format!("{stream}.{number}"))
    }

    /// Text piped into the program.
    pub fn stdin() -> Self {
        Self::new("stdin", "")
    }

    /// Something of which we do not know where it came from.
    pub fn unknown() -> Self {
        Self::new("unknown", "")
    }

    /// The source as it is stored and shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a text came from: the set of its untrusted sources. No source at all means trusted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Label(BTreeSet<Source>);

impl Label {
    /// The label of what a person typed, of the program's own words and of files that a person wrote by hand.
    ///
    /// Only the files on the list in `tests/house.rs` may call this.
    pub fn trusted() -> Self {
        Self(BTreeSet::new())
    }

    /// The label of text from one untrusted source.
    pub fn untrusted(source: Source) -> Self {
        Self(BTreeSet::from([source]))
    }

    /// The join of any number of labels. Of none it is the neutral label, which only says that nothing was read yet.
    pub fn join_of<'a>(labels: impl IntoIterator<Item = &'a Self>) -> Self {
        Self(labels.into_iter().flat_map(|label| label.0.iter().cloned()).collect())
    }

    /// Whether no untrusted source had a part in it.
    pub fn is_trusted(&self) -> bool {
        self.0.is_empty()
    }

    /// The label of something made from both.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0).cloned().collect())
    }

    /// Adds the sources of another label to this one.
    pub fn absorb(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }

    /// The untrusted sources, sorted.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.0.iter()
    }

    /// The stored form: `trusted`, or the sources separated by spaces.
    pub fn encode(&self) -> String {
        if self.0.is_empty() {
            return "trusted".to_owned();
        }
        self.0.iter().map(Source::as_str).collect::<Vec<_>>().join(" ")
    }

    /// Reads the stored form back. Only the exact word `trusted` is trusted; an empty text is of unknown origin.
    pub fn decode(stored: &str) -> Self {
        if stored == "trusted" {
            return Self(BTreeSet::new());
        }
        let sources: BTreeSet<Source> = stored.split_ascii_whitespace().map(|s| Source::new(s, "")).collect();
        if sources.is_empty() { Self::untrusted(Source::unknown()) } else { Self(sources) }
    }
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

/// Whose text it is. A prompt is built for one scope and refuses text of another, but for what is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// One person's own.
    Person(PersonId),
    /// One group's own.
    Group(StreamId),
    /// Everybody's: built-in prompts, agents, skills.
    Shared,
}

impl Scope {
    /// Whether text of this scope may stand in a prompt that is built for `prompt`.
    pub fn fits(self, prompt: Self) -> bool {
        self == prompt || self == Self::Shared
    }

    /// The stored form, which is also its token in the search index: `person:3`, `group:4`, `shared`.
    pub fn encode(self) -> String {
        match self {
            Self::Person(id) => format!("person:{id}"),
            Self::Group(id) => format!("group:{id}"),
            Self::Shared => "shared".to_owned(),
        }
    }

    /// Reads the stored form back.
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

/// A value with its label and scope. There is no way to change either, and one way to the bare value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled<T> {
    value: T,
    label: Label,
    scope: Scope,
}

impl<T> Labelled<T> {
    /// Glues a label and a scope to a value.
    pub fn new(value: T, label: Label, scope: Scope) -> Self {
        Self { value, label, scope }
    }

    /// The bare value, together with what must travel on with it. The list of files that may call this is tested.
    pub fn open(&self) -> (&T, &Label, Scope) {
        (&self.value, &self.label, self.scope)
    }

    /// Where it came from.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// Whose it is.
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
    /// Whose text it is.
    pub found: Scope,
    /// For whom the prompt is built.
    pub prompt: Scope,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn label() -> impl Strategy<Value = Label> {
        prop::collection::btree_set("[a-z]{1,6}(:[a-z0-9.]{1,8})?", 0..4)
            .prop_map(|set| Label(set.into_iter().map(|s| Source::new(&s, "")).collect()))
    }

    proptest! {
        #[test]
        fn join_is_a_semilattice(a in label(), b in label(), c in label()) {
            prop_assert_eq!(a.join(&b), b.join(&a));
            prop_assert_eq!(a.join(&b).join(&c), a.join(&b.join(&c)));
            prop_assert_eq!(a.join(&a), a.clone());
            prop_assert_eq!(a.join(&b).is_trusted(), a.is_trusted() && b.is_trusted());
        }

        #[test]
        fn labels_survive_storing(a in label()) {
            prop_assert_eq!(Label::decode(&a.encode()), a);
        }

        #[test]
        fn only_the_exact_word_is_trusted(stored in ".*") {
            prop_assert_eq!(Label::decode(&stored).is_trusted(), stored == "trusted");
        }

        #[test]
        fn a_source_never_reads_back_as_trusted(kind in ".{0,200}", detail in ".{0,200}") {
            let label = Label::untrusted(Source::new(&kind, &detail));
            prop_assert!(!Label::decode(&label.encode()).is_trusted());
        }
    }

    #[test]
    fn scopes_keep_people_apart() {
        let (ada, ben) = (Scope::Person(PersonId(1)), Scope::Person(PersonId(2)));
        assert!(ada.fits(ada) && Scope::Shared.fits(ada));
        assert!(!ben.fits(ada) && !ada.fits(Scope::Shared));
        for scope in [ada, Scope::Group(StreamId(4)), Scope::Shared] {
            assert_eq!(Scope::decode(&scope.encode()), Some(scope));
        }
        assert_eq!(Scope::decode("person:x"), None);
    }
}
