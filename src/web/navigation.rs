//! The navigation.

/// An entry of the navigation.
pub struct Entry {
    /// Address.
    pub path: &'static str,
    /// Title.
    pub title: &'static str,
    /// Key that follows `g` to open it.
    pub key: char,
    /// True if only owners see it.
    pub is_owners: bool,
}

/// The pages that always stand in the navigation: as many as fit on a telephone.
pub const FIRST: &[Entry] = &[
    entry('t', "/", "Today"),
    entry('c', "/chat", "Chat"),
    entry('v', "/conversations", "Conversations"),
    entry('m', "/memory", "Memory"),
    entry('f', "/search", "Search"),
];

/// The pages below *More*.
pub const MORE: &[Entry] = &[
    entry('l', "/files", "Files"),
    owners('k', "/skills", "Skills and proposals"),
    owners('r', "/reflections", "Reflections"),
    entry('s', "/schedule", "Schedule"),
    entry('u', "/usage", "Usage"),
    owners('p', "/people", "People"),
    owners('o', "/models", "Tools and models"),
    owners('h', "/status", "Status"),
    entry('e', "/me", "Me"),
    entry('?', "/help", "Help"),
];

const fn entry(key: char, path: &'static str, title: &'static str) -> Entry {
    Entry { path, title, key, is_owners: false }
}

const fn owners(key: char, path: &'static str, title: &'static str) -> Entry {
    Entry { is_owners: true, ..entry(key, path, title) }
}
