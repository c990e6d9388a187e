//! `compline demo`: the real app with a simulated clock runs through a month on screen.
//!
//! Nothing is faked: messages go through the terminal adapter into a journal, the engine answers,
//! and the shown labels and summaries come from the same source as `compline conversations`. The
//! home is temporary and nothing leaves it.

mod demo_model;
mod demo_phone;
mod demo_app;

use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::Exit;
use super::ephemeral::{TempFolder, until_ended};
use super::print::{CliError, Printer, Screen};
use crate::adapter::terminal::ansi::{self, TerminalStyle};
use crate::markdown::LinkDisplay;
use crate::time::clock::real_sleep;
use crate::time::{Timestamp, Zone};
use crate::wording::cli::demo::{self as says, SCENES, Scene};

use demo_app::{Arrived, DemoApp, Device};

/// Widths in columns that the text is wrapped at.
const WIDTHS: RangeInclusive<usize> = 44..=78;
/// Width of the time and the speaker.
const MARGIN: usize = 18;
/// Reading time per character for a calm reader.
const PER_CHARACTER: Duration = Duration::from_millis(5);
/// Style of the assistant's name: bold and cyan.
const ASSISTANT: &str = "1;36";
/// Pause before a message is typed.
const BREATH: Duration = Duration::from_millis(250);

/// `compline demo …`
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Run without reading pauses
    #[arg(long)]
    fast: bool,
    /// Always on: the demonstration keeps nothing and touches no real memory
    #[arg(long)]
    ephemeral_memory: bool,
}

/// Runs the story.
pub fn run(options: &DemoArgs, printer: Printer) -> Result<Exit, CliError> {
    let home = TempFolder::new("demo")?;
    if options.ephemeral_memory {
        super::print::print_remark(crate::wording::cli::EPHEMERAL);
    }
    super::run::on_threads(until_ended(play(home.path(), options.fast, printer)))
}

async fn play(home: &Path, fast: bool, printer: Printer) -> Result<Exit, CliError> {
    let mut app = DemoApp::open(home).await?;
    let mut output = DemoOutput::new(fast, app.zone);
    output.show_opening().await?;
    for scene in SCENES {
        perform(*scene, &mut app, &mut output).await?;
    }
    app.close().await;
    if !printer.quiet {
        output.show_closing().await?;
    }
    Ok(Exit::Done)
}

async fn perform(scene: Scene, app: &mut DemoApp, output: &mut DemoOutput) -> Result<(), CliError> {
    match scene {
        Scene::Wait(hours, minutes) => app.wait(hours, minutes).await,
        Scene::Until(day, hour, minute) => app.until(day, hour, minute).await,
        Scene::Remark(text) => output.remark(text).await?,
        Scene::Says(text) => exchange(Device::Terminal, text, None, app, output).await?,
        Scene::Pipes(text, page) => exchange(Device::Terminal, text, Some(page), app, output).await?,
        Scene::Command(text) => {
            exchange(Device::Terminal, &text.replace("HASH", &output.hash), None, app, output).await?;
        }
        Scene::OnPhone(text) => {
            exchange(Device::Phone, &text.replace("HASH", &output.hash), None, app, output).await?;
        }
        Scene::Incoming => {
            output.begin_day(app.now()).await?;
            for Arrived { device, words } in app.unsolicited().await? {
                output.hash = hash_in(&words).unwrap_or(std::mem::take(&mut output.hash));
                output.answer(device, app.now(), &app.agent, &words).await?;
            }
        }
        Scene::QuietDays => output.remark(&says::quiet(app.quiet_days().await?)).await?,
        Scene::Labels => output.labels(&app.newest_conversation().await?).await?,
        Scene::Summary => output.summary(&app.last_summary().await?).await?,
    }
    Ok(())
}

/// Shows a message of the person, sends it and shows the answer.
async fn exchange(
    device: Device,
    text: &str,
    piped: Option<&str>,
    app: &mut DemoApp,
    output: &mut DemoOutput,
) -> Result<(), CliError> {
    output.message(device, app.now(), &app.person, text, piped).await?;
    let answer = match device {
        Device::Terminal => app.say(text, piped).await?,
        Device::Phone => app.say_on_phone(text).await?,
    };
    let shown = code_in(&answer).or_else(|| hash_in(&answer));
    output.hash = shown.unwrap_or(std::mem::take(&mut output.hash));
    output.answer(device, app.now(), &app.agent, &answer).await
}

/// Returns the hash at the end of a proposal.
fn hash_in(shown: &str) -> Option<String> {
    let (_, hash) = shown.rsplit_once("Hash: ")?;
    Some(hash.split_whitespace().next()?.trim_matches('`').to_owned())
}

/// Returns the code in the command that carries out a deletion.
fn code_in(shown: &str) -> Option<String> {
    let (before, _) = shown.split_once(crate::wording::erasure_plan::FOR_GOOD)?;
    let command = before.trim_end_matches('`').trim_end_matches(" messages");
    command.rsplit(' ').next().map(str::to_owned)
}

/// Output of the demonstration.
struct DemoOutput {
    color: bool,
    width: usize,
    fast: bool,
    zone: Zone,
    day: String,
    /// `true` once the signature of the offline model was shown.
    is_signed: bool,
    /// The hash or code that was shown last.
    hash: String,
}

impl DemoOutput {
    /// Creates an output to standard output. Colours and pauses are for people only.
    fn new(fast: bool, zone: Zone) -> Self {
        let Screen { width, color, .. } = Screen::of_stdout();
        let width = width.clamp(*WIDTHS.start(), *WIDTHS.end());
        Self { color, width, fast, zone, day: String::new(), is_signed: false, hash: String::new() }
    }

    /// Shows the introduction.
    async fn show_opening(&mut self) -> Result<(), CliError> {
        let text = self.wrapped(says::OPENING, self.width, 0);
        self.show(&format!("\n{text}\n")).await
    }

    /// Shows a message of the person, with any piped text.
    async fn message(
        &mut self,
        device: Device,
        at: Timestamp,
        who: &str,
        text: &str,
        piped: Option<&str>,
    ) -> Result<(), CliError> {
        self.begin_day(at).await?;
        let mut shown = self.line(device, at, &self.bold(&format!("{who:9}")), text);
        if let Some(piped) = piped {
            shown.push_str(&self.block(says::PIPED, piped));
        }
        self.show(&format!("{shown}\n")).await
    }

    /// Shows an answer of the assistant. The signature of the offline model, which ends each of its
    /// answers, is shown once.
    async fn answer(&mut self, device: Device, at: Timestamp, who: &str, markdown: &str) -> Result<(), CliError> {
        let unsigned = markdown.rsplit_once(says::SIGNATURE).map(|(words, _)| words);
        let words = unsigned.filter(|_| self.is_signed).unwrap_or(markdown);
        let name = self.styled(ASSISTANT, &format!("{who:9}"));
        self.show(&format!("{}\n", self.line(device, at, &name, words))).await?;
        if unsigned.is_some() && !std::mem::replace(&mut self.is_signed, true) {
            self.remark(says::SIGNED).await?;
        }
        Ok(())
    }

    /// Shows a remark about the story.
    async fn remark(&mut self, text: &str) -> Result<(), CliError> {
        let text = self.wrapped(text, self.width - 4, 4);
        let text = self.dim(&text);
        self.show(&format!("{text}\n")).await
    }

    /// Shows each message of a conversation with its label.
    async fn labels(&mut self, conversation: &Value) -> Result<(), CliError> {
        let mut shown = format!("    {}\n", self.bold(says::MARKED));
        for message in conversation.get("messages").and_then(Value::as_array).into_iter().flatten() {
            let text = |key| message.get(key).and_then(Value::as_str).unwrap_or_default();
            let is_trusted = message.get("sources").and_then(Value::as_array).is_none_or(Vec::is_empty);
            let label = if is_trusted { says::TYPED } else { says::UNTRUSTED };
            let words = crate::text::shorten(&crate::text::one_line(text("text")), self.width - 29);
            shown.push_str(&format!("      {label:9}  {:9} {words}\n", text("from")));
        }
        self.show(&format!("{shown}\n")).await
    }

    /// Shows the summary of a conversation.
    async fn summary(&mut self, conversation: &Value) -> Result<(), CliError> {
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
                let text = self.wrapped(line, self.width - 19, 19);
                let head = if number == 0 { name } else { "" };
                shown.push_str(&format!("      {head:13}{}\n", text.trim_start().trim_end()));
            }
        }
        self.show(&format!("{shown}\n")).await
    }

    /// Shows the closing remarks.
    async fn show_closing(&mut self) -> Result<(), CliError> {
        let mut text = format!("{}\n\n", self.wrapped(says::CLOSING, self.width, 0).trim_end());
        for (command, does) in says::NEXT {
            text.push_str(&format!("  {:15} {does}\n", self.bold(&format!("{command:15}"))));
        }
        self.show(&text).await
    }

    /// Shows a rule when a new day has begun.
    async fn begin_day(&mut self, at: Timestamp) -> Result<(), CliError> {
        let day = self.zone.show_day(at);
        if day == self.day {
            return Ok(());
        }
        let rule = "─".repeat(self.width.saturating_sub(day.chars().count() + 4));
        let head = self.bold(&format!("── {day} {rule}"));
        self.day = day;
        self.show(&format!("\n{head}\n\n")).await
    }

    fn line(&self, device: Device, at: Timestamp, name: &str, markdown: &str) -> String {
        let text = self.wrapped(markdown, self.width - MARGIN, MARGIN);
        let time = self.dim(&self.zone.time_of_day(at));
        let mark = if device == Device::Phone { says::PHONE } else { " " };
        format!(" {time} {mark}{name} {}", text.trim_start())
    }

    /// Formats piped text, behind a bar.
    fn block(&self, head: &str, text: &str) -> String {
        let indent = " ".repeat(MARGIN);
        let lines: String = text.lines().map(|line| self.wrapped(line, self.width - MARGIN - 2, 0)).collect();
        let lines: String = lines.lines().map(|line| format!("{indent}│ {line}\n")).collect();
        format!("{indent}{}\n{}", self.dim(head), self.dim(&lines))
    }

    /// Formats Markdown in lines of this width, indented.
    fn wrapped(&self, markdown: &str, width: usize, indent: usize) -> String {
        let shown =
            ansi::render(markdown, LinkDisplay::SpelledOut, &TerminalStyle { color: self.color, width, marks: true });
        let indent = " ".repeat(indent);
        let indented = |line: String| if line.is_empty() { "\n".to_owned() } else { format!("{indent}{line}\n") };
        shown.lines().flat_map(|line| split_line(line, width)).map(indented).collect()
    }

    fn bold(&self, text: &str) -> String {
        self.styled("1", text)
    }

    fn dim(&self, text: &str) -> String {
        self.styled("2", text)
    }

    /// Returns the text in this style (SGR codes), or plain without colour.
    fn styled(&self, codes: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{codes}m{text}\u{1b}[0m") } else { text.to_owned() }
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

/// Splits a line at this width, between words where possible. Lines of code blocks are not wrapped
/// at any length, and coloured text is left alone.
fn split_line(line: &str, width: usize) -> Vec<String> {
    if line.contains('\u{1b}') || line.is_empty() {
        return vec![line.to_owned()];
    }
    let mut pieces = Vec::new();
    let mut rest: Vec<char> = line.chars().collect();
    while rest.len() > width {
        let end = rest.iter().take(width).rposition(|c| *c == ' ').filter(|end| *end > width / 2);
        let next = rest.split_off(end.map_or(width, |end| end + 1));
        pieces.push(rest.iter().collect::<String>().trim_end().to_owned());
        rest = next;
    }
    pieces.push(rest.iter().collect());
    pieces
}
