//! The client's end of a connection to the gateway: greeting, messages and frames, and the view of
//! a streamed answer.
//!
//! An answer is shown block by block: a block is ready when a blank line has ended it and the next
//! one has begun. A blank line within a code fence ends nothing, nor does one before an indented
//! line, which may belong to a list. The emitted blocks, joined with the output of
//! [`StreamedAnswer::finish`], are the final text, character for character except for white space
//! at both ends of a block. If the final text differs, it is emitted in full.

use crate::adapter::markdown::{LinkDisplay, is_blank, strip_control};
use crate::adapter::terminal::protocol::{FromClient, FromGateway};
use crate::adapter::terminal::{ClientReader, ClientWriter, Connection, Frame};
use crate::cli::print::Screen;
use crate::wording::chat::RULE;

/// Returns `true` for a command to the program, which is answered at once and on its own.
pub(super) fn is_command(text: &str) -> bool {
    text.starts_with('/')
}

/// Returns an id for a message.
pub(super) fn new_id() -> String {
    format!("{:032x}", rand::random::<u128>())
}

/// A greeted connection.
pub(super) struct GatewayLink {
    reader: ClientReader,
    writer: ClientWriter,
    unstored: Vec<(String, String)>,
}

impl GatewayLink {
    /// Sends the greeting and returns the name of the person who is talking. The error is the
    /// gateway's sentence, or `None` if it just disconnected.
    pub async fn greet(connection: Connection, person: Option<String>) -> Result<(Self, String), Option<String>> {
        let Connection { reader, writer, once } = connection;
        let mut link = Self { reader, writer, unstored: Vec::new() };
        link.write(&FromClient::Hello { person, once }).await;
        while let Some(frame) = link.next_frame().await {
            match frame {
                FromGateway::Welcome { person, .. } => return Ok((link, person)),
                FromGateway::Refused { why } | FromGateway::Bye { why } => return Err(Some(why)),
                _ => {}
            }
        }
        Err(None)
    }

    /// Sends a typed message to the ongoing conversation and returns its id. It counts as unstored
    /// until the gateway confirms it.
    pub async fn say(&mut self, text: &str) -> String {
        let id = new_id();
        self.say_under(&id, text, false, None).await;
        id
    }

    /// Sends a message under that id, to the conversation that began with the message `thread` or
    /// to the ongoing one.
    pub async fn say_under(&mut self, id: &str, text: &str, piped: bool, thread: Option<&str>) {
        self.unstored.push((id.to_owned(), text.to_owned()));
        let (id, text, thread) = (id.to_owned(), text.to_owned(), thread.map(str::to_owned));
        self.write(&FromClient::Say { id, text, piped, thread }).await;
    }

    /// Returns the next frame from the gateway. Confirmations are recorded and skipped. `None`
    /// means that the gateway is gone. Cancel-safe.
    pub async fn next_frame(&mut self) -> Option<FromGateway> {
        loop {
            match self.reader.next().await {
                Ok(Frame::Message(FromGateway::Stored { id })) => self.unstored.retain(|(said, _)| *said != id),
                Ok(Frame::Message(frame)) => return Some(frame),
                // A newer gateway may send unknown frames.
                Ok(Frame::Skipped(_)) => {}
                Ok(Frame::End) | Err(_) => return None,
            }
        }
    }

    /// Unconfirmed messages, oldest first.
    pub fn unstored(&self) -> Vec<&str> {
        self.unstored.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// Sends a frame. Errors are ignored: the end of the input reports a gateway that is gone, and
    /// earlier frames from it still count.
    async fn write(&mut self, frame: &FromClient) {
        let _ = self.writer.write(frame).await;
    }
}

/// State of a streamed answer.
#[derive(Debug, Default)]
pub(super) struct StreamedAnswer {
    /// Emitted blocks.
    shown: String,
    /// Complete lines that were not emitted, cleaned.
    lines: String,
    /// The incomplete line as received: a control sequence in it may be truncated.
    line: String,
    fence: Option<Fence>,
    after_blank: bool,
}

/// An open code fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
}

/// Text that remains to be shown of a complete answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RemainingText {
    /// The rest after the emitted blocks; empty if nothing remains.
    More(String),
    /// The whole text, because the emitted blocks differ from it.
    Whole(String),
}

impl RemainingText {
    /// Renders the text; a whole one is separated from the emitted blocks.
    pub fn render(self, screen: Screen, links: LinkDisplay) -> String {
        match self {
            Self::More(rest) => screen.show(&rest, links),
            Self::Whole(markdown) => screen.remark(RULE) + &screen.show(&markdown, links),
        }
    }
}

impl StreamedAnswer {
    /// Takes the next piece and returns the blocks that it completed.
    pub fn push(&mut self, delta: &str) -> Option<String> {
        let mut ready = String::new();
        for piece in delta.split_inclusive('\n') {
            self.line.push_str(piece);
            if self.begins_a_block() {
                ready.push_str(&std::mem::take(&mut self.lines));
                self.after_blank = false;
            }
            if self.line.ends_with('\n') {
                self.end_line();
            }
        }
        self.shown.push_str(&ready);
        Some(ready).filter(|ready| !is_blank(ready))
    }

    /// Discards the answer. Returns `true` if a part of it was shown.
    pub fn restart(&mut self) -> bool {
        !std::mem::take(self).shown.is_empty()
    }

    /// Returns `true` if nothing of the answer was shown.
    pub fn is_unseen(&self) -> bool {
        self.shown.is_empty()
    }

    /// Returns `true` if the text continues the emitted blocks.
    pub fn continues_in(&self, markdown: &str) -> bool {
        self.rest_of(markdown).is_some()
    }

    /// Returns the text that remains to be shown of the complete answer.
    pub fn finish(&mut self, markdown: &str) -> RemainingText {
        let rest = self.rest_of(markdown).map(|rest| rest.trim_start_matches('\n').to_owned());
        self.restart();
        rest.map_or_else(|| RemainingText::Whole(markdown.to_owned()), RemainingText::More)
    }

    fn rest_of<'t>(&self, markdown: &'t str) -> Option<&'t str> {
        let shown = self.shown.trim();
        if shown.is_empty() {
            return Some(markdown);
        }
        let rest = markdown.trim_start().strip_prefix(shown)?;
        Some(rest).filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    }

    fn begins_a_block(&self) -> bool {
        let visible = self.line.chars().next().is_some_and(|c| !c.is_whitespace() && !c.is_control());
        visible && self.after_blank && self.fence.is_none() && !is_blank(&self.lines)
    }

    fn end_line(&mut self) {
        // Complete lines can be cleaned one by one: no removed sequence extends over the end of a
        // line.
        let line = strip_control(&std::mem::take(&mut self.line));
        self.fence = after(self.fence, &line);
        self.after_blank = line.trim().is_empty();
        self.lines.push_str(&line);
    }
}

/// Returns the fence that is open after a line.
fn after(open: Option<Fence>, line: &str) -> Option<Fence> {
    let found = fence_of(line);
    match (open, found) {
        (None, Some((fence, _))) => Some(fence),
        (Some(open), Some((fence, bare))) if bare && fence.mark == open.mark && fence.length >= open.length => None,
        _ => open,
    }
}

/// Returns the fence on a line, and `true` if nothing follows it.
fn fence_of(line: &str) -> Option<(Fence, bool)> {
    let line = line.trim();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    // Backticks after backticks are inline code.
    let fence = length >= 3 && !(mark == '`' && rest.contains('`'));
    fence.then_some((Fence { mark, length }, rest.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn new_blocks(growth: &mut StreamedAnswer, text: &str, cuts: &[usize]) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        let mut sizes = cuts.iter().copied().cycle();
        let mut blocks = Vec::new();
        let mut at = 0;
        while at < chars.len() {
            let end = (at + sizes.next().unwrap_or(1)).min(chars.len());
            blocks.extend(growth.push(&chars[at..end].iter().collect::<String>()));
            at = end;
        }
        blocks
    }

    fn without_space(text: &str) -> String {
        text.chars().filter(|c| !c.is_whitespace()).collect()
    }

    fn markdown() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            Just(String::new()),
            Just("```".to_owned()),
            Just("~~~~ rust".to_owned()),
            "[ ]{0,4}[-a-z0-9.`*\u{1b}\u{9b}\u{200d}é\r]{0,12}",
            ".{0,10}",
        ];
        prop::collection::vec(line, 0..30).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #[test]
        fn shown_blocks_and_the_rest_are_the_final_text(
            text in markdown(), cuts in prop::collection::vec(1usize..9, 1..8),
        ) {
            let mut growth = StreamedAnswer::default();
            let mut seen = new_blocks(&mut growth, &text, &cuts).concat();
            let whole = strip_control(&text);
            let RemainingText::More(rest) = growth.finish(whole.trim()) else {
                return Err(TestCaseError::fail("the final text was not recognised"));
            };
            seen.push_str(&rest);
            prop_assert_eq!(without_space(&seen), without_space(&whole));
        }

        #[test]
        fn blocks_do_not_depend_on_how_the_text_was_cut(
            text in markdown(), cuts in prop::collection::vec(1usize..9, 1..8),
        ) {
            let once = new_blocks(&mut StreamedAnswer::default(), &text, &[text.len().max(1)]).concat();
            prop_assert_eq!(new_blocks(&mut StreamedAnswer::default(), &text, &cuts).concat(), once);
        }
    }

    #[test]
    fn a_block_is_ready_when_the_next_one_begins() {
        let mut growth = StreamedAnswer::default();
        assert_eq!(growth.push("First.\n\n"), None);
        assert_eq!(growth.push("S"), Some("First.\n\n".into()));
        assert_eq!(growth.push("econd\n\n  indented\n\n"), None);
        assert_eq!(growth.finish("First.\n\nSecond\n\n  indented"), RemainingText::More("Second\n\n  indented".into()));
        assert!(growth.is_unseen());
    }

    #[test]
    fn a_fence_is_shown_whole() {
        let mut growth = StreamedAnswer::default();
        assert_eq!(growth.push("```sh\na\n\nb\n``\n~~~\n\nc\n"), None);
        assert_eq!(growth.push("```\n\nd"), Some("```sh\na\n\nb\n``\n~~~\n\nc\n```\n\n".into()));
    }

    #[test]
    fn another_text_comes_whole() {
        let mut growth = StreamedAnswer::default();
        growth.push("One.\n\nT");
        assert!(!growth.continues_in("One.more"));
        assert_eq!(growth.finish("Two."), RemainingText::Whole("Two.".into()));
        growth.push("One.\n\nT");
        assert!(growth.restart());
        assert_eq!(growth.finish("Two."), RemainingText::More("Two.".into()));
        assert!(!growth.restart());
    }
}
