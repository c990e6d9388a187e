//! A search query: words, kinds and limits.

use crate::text::question::MOST_WORDS;
use crate::time::{TimeRange, Zone};

/// A kind of searchable data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SearchKind {
    /// Single messages.
    Message,
    /// Conversations, by their best message and by their summary.
    Conversation,
    /// Reflections by the assistant.
    Reflection,
    /// Memory: facts, notes, daily notes, and identity files.
    Note,
    /// All other files of the workspace.
    File,
    /// Live skills.
    Skill,
}

impl SearchKind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Message, Self::Conversation, Self::Reflection, Self::Note, Self::File, Self::Skill];

    /// Parses a value of `--in`.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| word.strip_suffix('s') == Some(kind.as_str()))
    }

    /// The word for it in JSON; with an s, the value of `--in`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Conversation => "conversation",
            Self::Reflection => "reflection",
            Self::Note => "note",
            Self::File => "file",
            Self::Skill => "skill",
        }
    }
}

/// Default number of hits.
const USUAL: usize = 50;

/// A search query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// The words.
    pub words: String,
    /// Maximum number of hits.
    pub limit: usize,
    /// Number of hits to pass over: those of the pages before.
    pub after: usize,
    /// Kinds to search; empty for all.
    pub kinds: Vec<SearchKind>,
    /// Match the exact spelling only.
    pub case: bool,
    /// Number of context lines above and below a hit in a file.
    pub context: usize,
    /// Search only this agent's memory.
    pub agent: Option<String>,
    /// Search only under this heading.
    pub section: Option<String>,
    /// Search only in this category.
    pub category: Option<String>,
    /// First day or time, as typed.
    pub since: Option<String>,
    /// Last day or time, as typed.
    pub until: Option<String>,
}

impl SearchQuery {
    /// A search for the words in all kinds, without options.
    pub fn of(words: &str) -> Self {
        Self {
            words: words.to_owned(),
            limit: USUAL,
            after: 0,
            kinds: Vec::new(),
            case: false,
            context: 0,
            agent: None,
            section: None,
            category: None,
            since: None,
            until: None,
        }
    }

    /// Parses `[--limit N] [--after N] [--in KIND]… [--case] [--context N] [--agent A] [--section
    /// S] -- WORDS`.
    pub(in crate::admin) fn read(mut arguments: &[&str]) -> Option<Self> {
        let mut query = Self::of("");
        loop {
            match arguments {
                ["--", words @ ..] if !words.is_empty() => return Some(Self { words: words.join(" "), ..query }),
                ["--case", rest @ ..] => {
                    query.case = true;
                    arguments = rest;
                }
                [flag, value, rest @ ..] => {
                    query.set(flag.strip_prefix("--")?, value)?;
                    arguments = rest;
                }
                _ => return None,
            }
        }
    }

    /// Sets the value of a flag; `None` if the flag is unknown or the value is invalid.
    pub fn set(&mut self, flag: &str, value: &str) -> Option<()> {
        match flag {
            "limit" => self.limit = value.parse().ok()?,
            "after" => self.after = value.parse().ok()?,
            "context" => self.context = value.parse().ok()?,
            "agent" => self.agent = Some(value.to_owned()),
            "section" => self.section = Some(value.to_owned()),
            "category" => self.category = Some(value.trim().to_lowercase()),
            "since" | "until" => {
                Zone::UTC.parse_local(value)?;
                *(if flag == "since" { &mut self.since } else { &mut self.until }) = Some(value.to_owned());
            }
            "in" => self.kinds.push(SearchKind::parse(value)?),
            _ => return None,
        }
        Some(())
    }

    /// The arguments of the chat command that shows the hits after those.
    pub(super) fn typed_after(&self, after: usize) -> String {
        let mut words: Vec<String> = Vec::new();
        if !self.kinds.is_empty() {
            let kinds: Vec<String> = self.kinds.iter().map(|kind| format!("{}s", kind.as_str())).collect();
            words.push(format!("--in {}", kinds.join(",")));
        }
        words.extend(self.case.then(|| "--case".to_owned()));
        words.extend((self.context > 0).then(|| format!("--context {}", self.context)));
        let values = [
            ("agent", &self.agent),
            ("section", &self.section),
            ("category", &self.category),
            ("since", &self.since),
            ("until", &self.until),
        ];
        for (flag, value) in values {
            words.extend(value.as_ref().map(|value| format!("--{flag} \"{value}\"")));
        }
        words.push(format!("--limit {} --after {after} -- {}", self.limit, self.words));
        words.join(" ")
    }

    /// Returns the time to search; the day named by `until` is included.
    pub(super) fn time(&self, zone: Zone) -> TimeRange {
        let read = |value: &Option<String>| value.as_deref().and_then(|value| zone.parse_local(value));
        TimeRange {
            since: read(&self.since).map_or(TimeRange::ALL.since, |range| range.since),
            until: read(&self.until).map_or(TimeRange::ALL.until, |range| range.until),
        }
    }

    /// Returns whether the flags exclude everything but entries.
    pub(super) fn is_for_entries(&self) -> bool {
        self.agent.is_some() || self.section.is_some() || self.category.is_some()
    }

    pub(super) fn wants(&self, kind: SearchKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Returns whether a text has the words in the required spelling.
    pub(super) fn fits(&self, text: &str) -> bool {
        !self.case || self.words.split_whitespace().take(MOST_WORDS).all(|word| text.contains(word))
    }
}
