//! The log of the home, read backwards: the newest entries first, by level and words, in pages.
//!
//! Lines hold no text of messages. Should the value of a secret have come in with an error of a
//! library, it is left out here as well.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use chrono::NaiveDate;
use secrecy::{ExposeSecret, SecretString};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::ReportsAdmin;
use crate::config::{Config, Mcp, Model, TelegramDelivery};
use crate::text::shorten;
use crate::time::Timestamp;

/// Maximum number of entries of a page.
pub const LISTED: usize = 100;
/// Maximum number of bytes that one page reads.
const MAX_READ: u64 = 2 << 20;
/// Number of bytes read at once.
const CHUNK: u64 = 64 << 10;
/// Maximum number of characters shown of an entry.
const MAX_ENTRY: usize = 500;
/// Shorter secrets are no secrets, and would blank common words.
const SHORTEST_SECRET: usize = 8;

/// Returns the name of the log file of a day in UTC.
pub fn file_name(day: &str) -> String {
    format!("compline-{day}.log")
}

/// Level of an entry, the gravest first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray, serde::Deserialize,
)]
#[strum(serialize_all = "UPPERCASE")]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Something failed.
    Error,
    /// Something to watch.
    Warn,
    /// Completed work.
    Info,
    /// Details.
    Debug,
    /// More details.
    Trace,
}

impl LogLevel {
    /// Returns its name, in capitals.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Place in the log: entries of a page stand before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogPlace {
    day: NaiveDate,
    offset: u64,
}

impl fmt::Display for LogPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.day, self.offset)
    }
}

impl FromStr for LogPlace {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (day, offset) = text.split_once('.').ok_or(())?;
        Ok(Self { day: day.parse().map_err(|_| ())?, offset: offset.parse().map_err(|_| ())? })
    }
}

/// The part of the log that a page shows.
#[derive(Debug, Clone, Default)]
pub struct LogQuery {
    /// Only entries at least as grave.
    pub level: Option<LogLevel>,
    /// Only entries with these words, in upper or lower case.
    pub words: String,
    /// Only entries before this place.
    pub before: Option<LogPlace>,
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Time; `None` for a line that is none of ours.
    pub at: Option<Timestamp>,
    /// Level.
    pub level: Option<LogLevel>,
    /// Words.
    pub text: String,
}

/// A page of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogPage {
    /// Entries, newest first.
    pub entries: Vec<LogEntry>,
    /// Place at which the next page begins, if there is one.
    pub next: Option<LogPlace>,
}

impl ReportsAdmin<'_> {
    /// Reads a page of the log.
    pub async fn log(&self, query: LogQuery) -> anyhow::Result<LogPage> {
        let config = Arc::clone(&self.config);
        let read = move || {
            let mut page = read_page(&config.home.logs(), &query)?;
            let secrets = secrets(&config);
            for entry in &mut page.entries {
                entry.text = shorten(&without(&entry.text, &secrets), MAX_ENTRY);
            }
            anyhow::Ok(page)
        };
        tokio::task::spawn_blocking(read).await?
    }
}

/// Returns the secrets of a configuration.
fn secrets(config: &Config) -> Vec<String> {
    let models = [Some(&config.model), config.fallback.as_ref(), config.background.as_ref(), config.reviewer.as_ref()];
    let models = models.into_iter().flatten().filter_map(|model: &Model| model.api_key.as_ref());
    let webhook = config.telegram.as_ref().and_then(|telegram| match &telegram.delivery {
        TelegramDelivery::Webhook(webhook) => Some(&webhook.secret),
        TelegramDelivery::Polling => None,
    });
    let others = [
        config.transcription.as_ref().and_then(|transcription| transcription.api_key.as_ref()),
        config.embedding.as_ref().and_then(|embedding| embedding.api_key.as_ref()),
        config.telegram.as_ref().map(|telegram| &telegram.token),
        webhook,
    ];
    let servers = config.mcp.iter().flat_map(Mcp::secrets);
    let all = models.chain(others.into_iter().flatten()).chain(servers);
    let all = all.map(|secret: &SecretString| secret.expose_secret().to_owned());
    all.filter(|secret| secret.len() >= SHORTEST_SECRET).collect()
}

fn without(text: &str, secrets: &[String]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "\u{2026}"))
}

/// Returns the days that have a log, newest first.
fn days(logs: &Path) -> anyhow::Result<Vec<NaiveDate>> {
    let mut days = Vec::new();
    if !logs.is_dir() {
        return Ok(days);
    }
    for entry in std::fs::read_dir(logs)? {
        let name = entry?.file_name();
        let day = name.to_str().and_then(|name| name.strip_prefix("compline-")?.strip_suffix(".log"));
        days.extend(day.and_then(|day| day.parse::<NaiveDate>().ok()));
    }
    days.sort_unstable_by(|left, right| right.cmp(left));
    Ok(days)
}

fn read_page(logs: &Path, query: &LogQuery) -> anyhow::Result<LogPage> {
    let words = query.words.trim().to_lowercase();
    let fits = |entry: &LogEntry| {
        query.level.is_none_or(|least| entry.level.is_some_and(|level| level <= least))
            && (words.is_empty() || entry.text.to_lowercase().contains(&words))
    };
    let (mut page, mut left) = (LogPage::default(), MAX_READ);
    let days = days(logs)?.into_iter().filter(|day| query.before.is_none_or(|before| *day <= before.day));
    for day in days {
        let mut file = File::open(logs.join(file_name(&day.to_string())))?;
        let size = file.metadata()?.len();
        let mut end = query.before.filter(|before| before.day == day).map_or(size, |before| before.offset.min(size));
        while end > 0 {
            let (entries, begin) = read_chunk(&mut file, end)?;
            left = left.saturating_sub(CHUNK);
            for (at, entry) in entries.into_iter().rev().filter(|(_, entry)| fits(entry)) {
                page.entries.push(entry);
                if page.entries.len() == LISTED {
                    page.next = Some(LogPlace { day, offset: at });
                    return Ok(page);
                }
            }
            end = begin;
            if left == 0 {
                page.next = Some(LogPlace { day, offset: end });
                return Ok(page);
            }
        }
    }
    Ok(page)
}

/// Reads whole entries that end at `end`, each with its place, and returns where they begin.
fn read_chunk(file: &mut File, end: u64) -> anyhow::Result<(Vec<(u64, LogEntry)>, u64)> {
    let begin = end.saturating_sub(CHUNK);
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(end - begin).read_to_end(&mut bytes)?;
    let (mut entries, mut place): (Vec<(u64, LogEntry)>, u64) = (Vec::new(), begin);
    let mut first = begin;
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let at = place;
        place += u64::try_from(line.len())?;
        let text = String::from_utf8_lossy(line);
        let entry = entry(text.trim_end());
        // The first line may lack its beginning. If it is all that there is, it is taken as it is.
        let is_cut = begin > 0 && entries.is_empty() && entry.at.is_none() && place < end;
        match entries.last_mut() {
            _ if is_cut || (begin > 0 && number == 0 && place < end) => first = place,
            Some((_, last)) if entry.at.is_none() => {
                last.text.push('\n');
                last.text.push_str(&entry.text);
            }
            _ => entries.push((at, entry)),
        }
    }
    Ok((entries, first))
}

/// Parses a line: time, level, words.
fn entry(line: &str) -> LogEntry {
    let parsed = || {
        let (time, rest) = line.split_once(' ')?;
        let (level, text) = rest.trim_start().split_once(' ')?;
        Some((Timestamp::of_rfc3339(time)?, level.parse().ok()?, text.trim_start()))
    };
    match parsed() {
        Some((at, level, text)) => LogEntry { at: Some(at), level: Some(level), text: text.to_owned() },
        None => LogEntry { at: None, level: None, text: line.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Home;

    fn logs(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (day, text) in files {
            std::fs::write(folder.path().join(file_name(day)), text).unwrap();
        }
        folder
    }

    fn line(minute: usize, level: &str, text: &str) -> String {
        format!("2026-11-26T{:02}:{:02}:00.000000Z {level:>5} compline::app: {text}\n", minute / 60, minute % 60)
    }

    #[test]
    fn pages_show_every_entry_once_newest_first_and_across_files() {
        let old: String =
            (0..700).map(|minute| line(minute, "INFO", &format!("old {minute} {}", "x".repeat(150)))).collect();
        let new: String = (0..700).map(|minute| line(minute, "WARN", &format!("new {minute}"))).collect();
        let folder = logs(&[("2026-11-25", &old), ("2026-11-26", &new), ("notes", "no log of ours")]);
        let (mut query, mut seen) = (LogQuery::default(), Vec::new());
        loop {
            let page = read_page(folder.path(), &query).unwrap();
            seen.extend(page.entries.into_iter().map(|entry| entry.text));
            match page.next {
                Some(next) => query.before = Some(next.to_string().parse().unwrap()),
                None => break,
            }
        }
        let number = |text: &str| text.split(' ').nth(2).unwrap().to_owned();
        let wanted: Vec<String> =
            (0..700).rev().chain((0..700).rev()).map(|number: usize| number.to_string()).collect();
        assert_eq!(seen.iter().map(|text| number(text)).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn level_and_words_choose_and_a_broken_line_belongs_to_the_one_before() {
        let text = [
            line(1, "INFO", "Compline has started"),
            line(2, "ERROR", "A page failed: first"),
            "second line\n".to_owned(),
            line(3, "DEBUG", "a detail"),
        ];
        let folder = logs(&[("2026-11-26", &text.concat())]);
        let texts = |level, words: &str| -> Vec<String> {
            let query = LogQuery { level, words: words.to_owned(), before: None };
            read_page(folder.path(), &query).unwrap().entries.into_iter().map(|entry| entry.text).collect()
        };
        assert_eq!(texts(Some(LogLevel::Warn), ""), ["compline::app: A page failed: first\nsecond line"]);
        assert_eq!(texts(None, "HAS STARTED"), ["compline::app: Compline has started"]);
        assert_eq!(texts(None, "").len(), 3);
        assert_eq!(texts(None, "nowhere"), Vec::<String>::new());
        assert_eq!(read_page(&folder.path().join("none"), &LogQuery::default()).unwrap(), LogPage::default());
    }

    #[test]
    fn a_line_without_end_is_read_and_a_place_is_no_path() {
        let folder = logs(&[("2026-11-26", &"x".repeat(300_000))]);
        assert!(!read_page(folder.path(), &LogQuery::default()).unwrap().entries.is_empty());
        for text in ["", "2026-11-26", "../x.1", "2026-11-26.-1", "2026-13-26.1"] {
            assert!(text.parse::<LogPlace>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_secret_of_the_configuration_is_known() {
        let text = "[telegram]\ntoken = \"12345:AAAA-token\"\nmode = \"webhook\"\n\
            webhook_url = \"https://bot.example.org/t\"\nwebhook_secret = \"a-long-random-word-for-calls\"\n\
            [[mcp]]\nname = \"look\"\ncommand = [\"/bin/look\"]\npass_env = [\"LOOK_KEY\"]\n";
        let env = [("LOOK_KEY", "look-key-4711"), ("HOME", "the-home-of-robin")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let folder = tempfile::tempdir().unwrap();
        let loaded = crate::config::parse(text, "test.toml", &env.into(), Home::at(folder.path())).unwrap();
        let found = secrets(&loaded.config);
        for secret in ["12345:AAAA-token", "a-long-random-word-for-calls", "look-key-4711"] {
            assert!(found.iter().any(|found| found == secret), "{secret}");
        }
        assert!(!found.iter().any(|found| found == "the-home-of-robin"), "where a home is, is no secret");
    }

    #[test]
    fn secrets_are_left_out() {
        let secrets = vec!["12345:AAAA-token".to_owned()];
        assert_eq!(without("GET /bot12345:AAAA-token/getMe", &secrets), "GET /bot\u{2026}/getMe");
    }
}
