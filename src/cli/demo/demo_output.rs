//! Output of the demonstration: a rule for each day, the simulated time in the margin, and pauses
//! for reading.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use serde_json::Value;

use super::super::failure::CliError;
use crate::adapter::markdown::LinkDisplay;
use crate::adapter::terminal::ansi::{self, TerminalStyle};
use crate::time::clock::real_sleep;
use crate::time::{Timestamp, Zone};
use crate::wording::cli::demo as says;

/// Width in columns.
const WIDTH: usize = 78;
/// Width of the time and the speaker.
const MARGIN: usize = 18;
/// Reading time per character for a calm reader.
const PER_CHARACTER: Duration = Duration::from_millis(5);
/// Pause before a message is typed.
const BREATH: Duration = Duration::from_millis(250);

/// Output of the demonstration.
pub struct Stage {
    color: bool,
    fast: bool,
    day: String,
    signed: bool,
    /// The hash that was shown last.
    pub hash: String,
}

impl Stage {
    /// Creates an output to standard output. Colours and pauses are for people only.
    pub fn new(fast: bool) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty());
        Self { color: is_terminal && !plain, fast, day: String::new(), signed: false, hash: String::new() }
    }

    /// Shows the introduction.
    pub async fn begin(&mut self) -> Result<(), CliError> {
        let text = self.wrapped(says::OPENING, WIDTH, 0);
        self.show(&format!("\n{text}\n")).await
    }

    /// Shows a message of the person, with any piped text.
    pub async fn spoken(
        &mut self,
        at: Timestamp,
        zone: Zone,
        who: &str,
        text: &str,
        piped: &str,
    ) -> Result<(), CliError> {
        self.turn_page(at, zone).await?;
        let mut shown = self.line(at, zone, who, text);
        if !piped.is_empty() {
            shown.push_str(&self.block(says::PIPED, piped));
        }
        self.show(&format!("{shown}\n")).await
    }

    /// Shows an answer of the assistant. The signature of the offline model, which ends each of its
    /// answers, is shown once.
    pub async fn answered(&mut self, at: Timestamp, zone: Zone, who: &str, markdown: &str) -> Result<(), CliError> {
        let unsigned = markdown.rsplit_once(says::SIGNATURE).map(|(words, _)| words);
        match unsigned {
            Some(words) if self.signed => self.show(&format!("{}\n", self.line(at, zone, who, words))).await,
            Some(_) => {
                self.signed = true;
                self.show(&format!("{}\n", self.line(at, zone, who, markdown))).await?;
                self.remark(says::SIGNED).await
            }
            None => self.show(&format!("{}\n", self.line(at, zone, who, markdown))).await,
        }
    }

    /// Shows a remark about the story.
    pub async fn remark(&mut self, text: &str) -> Result<(), CliError> {
        let text = self.wrapped(text, WIDTH - 4, 4);
        let text = self.dim(&text);
        self.show(&format!("{text}\n")).await
    }

    /// Shows each message of a conversation with its label.
    pub async fn marks(&mut self, conversation: &Value) -> Result<(), CliError> {
        let mut shown = format!("    {}\n", self.bold(says::MARKED));
        for message in conversation.get("messages").and_then(Value::as_array).into_iter().flatten() {
            let text = |key| message.get(key).and_then(Value::as_str).unwrap_or_default();
            let sources: Vec<&str> = message
                .get("sources")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let mark = if sources.is_empty() { says::TYPED.to_owned() } else { says::untrusted(&sources.join(", ")) };
            let words = crate::text::shorten(&crate::text::one_line(text("text")), 42);
            shown.push_str(&format!("      {mark:18} {:9} {words}\n", text("from")));
        }
        self.show(&format!("{shown}\n")).await
    }

    /// Shows the summary of a conversation.
    pub async fn summary(&mut self, conversation: &Value) -> Result<(), CliError> {
        let mut shown = format!("    {}\n", self.bold(says::WRITTEN_DOWN));
        for (key, name) in says::PARTS {
            let part = conversation.pointer(&format!("/summary/{key}")).and_then(Value::as_array);
            let lines: Vec<&str> = part.into_iter().flatten().filter_map(Value::as_str).collect();
            let topics = lines.join(", ");
            let lines = match (key, lines.is_empty()) {
                (_, true) => vec![says::NOTHING],
                ("topics", false) => vec![topics.as_str()],
                (_, false) => lines,
            };
            for (number, line) in lines.into_iter().enumerate() {
                let text = self.wrapped(line, WIDTH - 19, 19);
                let head = if number == 0 { name } else { "" };
                shown.push_str(&format!("      {head:13}{}\n", text.trim_start().trim_end()));
            }
        }
        self.show(&format!("{shown}\n")).await
    }

    /// Shows the closing remarks.
    pub async fn close(&mut self) -> Result<(), CliError> {
        let mut text = format!("{}\n\n", self.wrapped(says::CLOSING, WIDTH, 0).trim_end());
        for (command, does) in says::NEXT {
            text.push_str(&format!("  {:15} {does}\n", self.bold(&format!("{command:15}"))));
        }
        self.show(&text).await
    }

    /// Shows a rule when a new day has begun.
    pub async fn turn_page(&mut self, at: Timestamp, zone: Zone) -> Result<(), CliError> {
        let day = zone.show_day(at);
        if day == self.day {
            return Ok(());
        }
        let rule = "─".repeat(WIDTH.saturating_sub(day.chars().count() + 4));
        let head = self.bold(&format!("── {day} {rule}"));
        self.day = day;
        self.show(&format!("\n{head}\n\n")).await
    }

    fn line(&self, at: Timestamp, zone: Zone, who: &str, markdown: &str) -> String {
        let text = self.wrapped(markdown, WIDTH - MARGIN, MARGIN);
        let time = self.dim(&zone.time_of_day(at));
        let who = self.bold(&format!("{who:9}"));
        format!(" {time}  {who} {}", text.trim_start())
    }

    /// Formats piped text, behind a bar.
    fn block(&self, head: &str, text: &str) -> String {
        let indent = " ".repeat(MARGIN);
        let lines: String = text.lines().map(|line| self.wrapped(line, WIDTH - MARGIN - 2, 0)).collect();
        let lines: String = lines.lines().map(|line| format!("{indent}│ {line}\n")).collect();
        format!("{indent}{}\n{}", self.dim(head), self.dim(&lines))
    }

    /// Formats Markdown in lines of this width, indented.
    fn wrapped(&self, markdown: &str, width: usize, indent: usize) -> String {
        let shown = ansi::render(markdown, LinkDisplay::SpelledOut, &TerminalStyle { color: self.color, width });
        let indent = " ".repeat(indent);
        let indented = |line: String| if line.is_empty() { "\n".to_owned() } else { format!("{indent}{line}\n") };
        shown.lines().flat_map(|line| broken(line, width)).map(indented).collect()
    }

    fn bold(&self, text: &str) -> String {
        if self.color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn dim(&self, text: &str) -> String {
        if self.color { format!("\u{1b}[2m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Prints, then pauses for reading.
    async fn show(&self, text: &str) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        drop(out);
        if !self.fast {
            let characters = u32::try_from(text.chars().filter(|c| c.is_alphanumeric()).count()).unwrap_or(u32::MAX);
            real_sleep(BREATH + PER_CHARACTER.saturating_mul(characters)).await;
        }
        Ok(())
    }
}

/// Splits a line at this width. Lines of code blocks are not wrapped at any length, and coloured
/// text is left alone.
fn broken(line: &str, width: usize) -> Vec<String> {
    if line.contains('\u{1b}') || line.is_empty() {
        return vec![line.to_owned()];
    }
    let letters: Vec<char> = line.chars().collect();
    letters.chunks(width.max(1)).map(|piece| piece.iter().collect()).collect()
}
