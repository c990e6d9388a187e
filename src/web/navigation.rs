//! The navigation.

/// An entry of the navigation.
pub struct Entry {
    /// Address.
    pub path: &'static str,
    /// Title.
    pub title: &'static str,
    /// True if only owners see it.
    pub is_owners: bool,
}

/// The navigation, in its order.
pub const NAVIGATION: &[Entry] = &[
    entry("/", "Today"),
    entry("/chat", "Chat"),
    entry("/conversations", "Conversations"),
    entry("/search", "Search"),
    entry("/memory", "Memory"),
    entry("/files", "Files"),
    entry("/schedule", "Schedule"),
    owners("/skills", "Skills"),
    owners("/reflections", "Reflections"),
    entry("/usage", "Usage"),
    owners("/people", "People"),
    owners("/models", "Models"),
    owners("/status", "Status"),
    entry("/me", "Me"),
];

const fn entry(path: &'static str, title: &'static str) -> Entry {
    Entry { path, title, is_owners: false }
}

const fn owners(path: &'static str, title: &'static str) -> Entry {
    Entry { path, title, is_owners: true }
}
