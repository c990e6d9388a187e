//! The committed table of mutants and their killers.

use std::collections::{BTreeMap, BTreeSet};

use super::sites::Site;
use super::tree;

const PATH: &str = "tests/stories/trust/mutation/sites.txt";
const HEADER: &str = "\
# Each place that mints *untrusted*, joins labels or checks a scope, and the story that turns red when it is permissive.
# How this is checked and brought up to date: tests/stories/trust/mutation.rs.
";

/// Fate of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// This story fails.
    Killer(String),
    /// Behaves like the original, for this reason.
    Equivalent(String),
    /// No known story fails.
    Open,
}

/// The mutants by the keys of their places, in the order of the sources.
pub struct Table(BTreeMap<String, Entry>);

impl Table {
    /// Reads the committed table.
    pub fn read() -> Self {
        Self::parse(&tree::read(PATH))
    }

    fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let entries = lines.map(|line| {
            let (key, end) = line.split_once(" = ").unwrap_or_else(|| panic!("{PATH} has no ` = ` in: {line}"));
            let entry = match (end, end.strip_prefix("equivalent: ")) {
                ("OPEN", _) => Entry::Open,
                (_, Some(reason)) => Entry::Equivalent(reason.to_owned()),
                (story, None) => Entry::Killer(story.to_owned()),
            };
            (key.to_owned(), entry)
        });
        Self(entries.collect())
    }

    /// Writes the committed table.
    pub fn write(&self) {
        std::fs::write(tree::root().join(PATH), self.to_text()).unwrap();
    }

    fn to_text(&self) -> String {
        let lines = self.0.iter().map(|(key, entry)| match entry {
            Entry::Killer(story) => format!("{key} = {story}\n"),
            Entry::Equivalent(reason) => format!("{key} = equivalent: {reason}\n"),
            Entry::Open => format!("{key} = OPEN\n"),
        });
        HEADER.to_owned() + &lines.collect::<String>()
    }

    /// Entry of a place.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.0.get(key)
    }

    /// Stories named in the table.
    pub fn stories(&self) -> impl Iterator<Item = &str> {
        self.0.values().filter_map(|entry| if let Entry::Killer(story) = entry { Some(story.as_str()) } else { None })
    }

    /// Mutants without a known killer.
    pub fn open(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, entry)| **entry == Entry::Open).map(|(key, _)| key.as_str())
    }

    /// Places without a line, and lines without a place.
    pub fn differences(&self, sites: &[Site]) -> Vec<String> {
        let places: BTreeSet<&str> = sites.iter().map(|site| site.key.as_str()).collect();
        let missing =
            places.iter().filter(|key| !self.0.contains_key(**key)).map(|key| format!("{key} is not in {PATH}"));
        let gone = self.0.keys().filter(|key| !places.contains(key.as_str()));
        let gone = gone.map(|key| format!("{key} is in {PATH}, and not in the sources"));
        missing.chain(gone).collect()
    }
}

impl FromIterator<(String, Entry)> for Table {
    fn from_iter<I: IntoIterator<Item = (String, Entry)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

#[test]
fn a_table_is_read_as_it_was_written() {
    let text = "src/a.rs f join_of 1 = b::c\nsrc/a.rs f sql 1 = equivalent: of no use\nsrc/a.rs g fits 1 = OPEN\n";
    let table = Table::parse(text);
    assert_eq!(table.to_text(), format!("{HEADER}{text}"));
    let site = |key: &str| Site { key: key.to_owned(), place: String::new() };
    let sites = [site("src/a.rs f join_of 1"), site("src/a.rs g fits 1"), site("src/b.rs f fits 1")];
    let differences = table.differences(&sites);
    assert_eq!(differences.len(), 2, "one is missing, one superfluous: {differences:?}");
    assert_eq!(table.open().collect::<Vec<_>>(), ["src/a.rs g fits 1"]);
}
