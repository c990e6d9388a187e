//! The client's end of a connection to the gateway: greeting, messages and frames, and the view of
//! a streamed answer.
//!
//! An answer is shown line by line, as wrapped on the screen: a line is ready when the next one has
//! begun and no mark is open in it. A block is complete when a blank line has ended it and the next
//! one has begun. A blank line within a code fence ends nothing, nor does one before an indented
//! line, which may belong to a list. If the complete block or the final text looks otherwise than
//! what was shown, it is shown in full below a rule.

use crate::adapter::terminal::protocol::{FromClient, FromGateway};
use crate::adapter::terminal::{ClientReader, ClientWriter, Connection, Frame};
use crate::cli::print::Screen;
use crate::markdown::{LinkDisplay, is_blank, strip_control};
use crate::wording::chat::RULE;

/// Returns an id for a message.
pub(super) fn new_id() -> String {
    format!("{:032x}", rand::random::<u128>())
}

/// The two who are talking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Welcome {
    /// Name of the person.
    pub person: String,
    /// Name of the assistant.
    pub assistant: String,
    /// Model that answers; `None` if the gateway is too old to say.
    pub model: Option<String>,
}

/// A greeted connection.
pub(super) struct GatewayLink {
    reader: ClientReader,
    writer: ClientWriter,
    unstored: Vec<(String, String)>,
}

impl GatewayLink {
    /// Sends the greeting and returns who is talking. The error is the gateway's sentence, or
    /// `None` if it just disconnected.
    pub async fn greet(connection: Connection, person: Option<String>) -> Result<(Self, Welcome), Option<String>> {
        let Connection { reader, writer, once } = connection;
        let mut link = Self { reader, writer, unstored: Vec::new() };
        link.write(&FromClient::Hello { person, once }).await;
        while let Some(frame) = link.next_frame().await {
            match frame {
                FromGateway::Welcome { person, assistant, model, .. } => {
                    return Ok((link, Welcome { person, assistant, model }));
                }
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

    /// Sends again what a lost connection has not seen stored. A message counts once under its id.
    pub async fn take_over(&mut self, lost: &mut Self) {
        for (id, text) in std::mem::take(&mut lost.unstored) {
            self.say_under(&id, &text, false, None).await;
        }
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
    /// Finished blocks, which are on the screen.
    blocks: String,
    /// Complete lines of the current block, cleaned.
    lines: String,
    /// The incomplete line as received: a control sequence in it may be truncated.
    line: String,
    fence: Option<Fence>,
    after_blank: bool,
    /// Lines of the current block that are on the screen.
    printed: Vec<String>,
    /// Width for which they were wrapped.
    width: Option<usize>,
}

/// An open code fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
}

impl StreamedAnswer {
    /// Takes the next piece and returns what can be printed now.
    pub fn push(&mut self, delta: &str, screen: Screen) -> String {
        let mut ready = String::new();
        for piece in delta.split_inclusive('\n') {
            self.line.push_str(piece);
            if self.begins_a_block() {
                ready.push_str(&self.end_block(screen));
            }
            if self.line.ends_with('\n') {
                self.end_line();
            }
        }
        ready + &self.new_lines(screen)
    }

    /// Discards the answer. Returns `true` if a part of it was shown.
    pub fn restart(&mut self) -> bool {
        !std::mem::take(self).is_unseen()
    }

    /// Returns `true` if nothing of the answer was shown.
    pub fn is_unseen(&self) -> bool {
        self.blocks.is_empty() && self.printed.is_empty()
    }

    /// Returns `true` if the text continues what was shown.
    pub fn continues_in(&self, markdown: &str, screen: Screen) -> bool {
        self.rest_of(markdown, screen, LinkDisplay::Embedded).is_some()
    }

    /// Returns what remains to be printed of the complete answer: all of it if what was shown
    /// differs.
    pub fn finish(&mut self, markdown: &str, screen: Screen, links: LinkDisplay) -> String {
        let rest = self.rest_of(markdown, screen, links);
        self.restart();
        rest.unwrap_or_else(|| screen.remark(RULE) + &screen.show(markdown, links))
    }

    fn rest_of(&self, markdown: &str, screen: Screen, links: LinkDisplay) -> Option<String> {
        let shown = self.blocks.trim();
        let rest = if shown.is_empty() {
            markdown
        } else {
            let rest = markdown.trim_start().strip_prefix(shown)?;
            Some(rest).filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))?
        };
        let rest = rest.trim_start_matches('\n');
        self.after_printed(rest, screen, links).or_else(|| self.after_printed(rest, screen, LinkDisplay::SpelledOut))
    }

    /// Returns the rendered block without the lines that are on the screen; `None` if they are not
    /// its first lines.
    fn after_printed(&self, block: &str, screen: Screen, links: LinkDisplay) -> Option<String> {
        if self.printed.is_empty() {
            return Some(screen.show(block, links));
        }
        let lines = self.as_printed(screen).lines(block, links);
        lines.strip_prefix(self.printed.as_slice()).map(|rest| rest.join("\n") + "\n\n")
    }

    /// The screen as it was when the first line of the block was printed.
    fn as_printed(&self, screen: Screen) -> Screen {
        Screen { width: self.width.unwrap_or(screen.width), ..screen }
    }

    fn end_block(&mut self, screen: Screen) -> String {
        let block = std::mem::take(&mut self.lines);
        let rest = self.after_printed(&block, screen, LinkDisplay::SpelledOut);
        let rest = rest.unwrap_or_else(|| screen.remark(RULE) + &screen.show(&block, LinkDisplay::SpelledOut));
        self.blocks.push_str(&block);
        (self.after_blank, self.printed, self.width) = (false, Vec::new(), None);
        rest
    }

    /// Returns the lines of the current block that are complete and not yet printed. The last line
    /// may still grow.
    fn new_lines(&mut self, screen: Screen) -> String {
        let is_cut = self.line.chars().any(|c| c.is_control() && c != '\t');
        let incomplete = if is_cut { String::new() } else { strip_control(&self.line) };
        let block = format!("{}{incomplete}", self.lines);
        let part = if self.fence.is_some() { &block } else { settled_part(&block) };
        let mut lines = self.as_printed(screen).lines(part, LinkDisplay::SpelledOut);
        lines.pop();
        let Some(new) = lines.strip_prefix(self.printed.as_slice()).filter(|new| !new.is_empty()) else {
            return String::new();
        };
        let new = new.join("\n") + "\n";
        self.width.get_or_insert(screen.width);
        self.printed = lines;
        new
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

/// Returns the part of a block whose lines look the same with any continuation: up to the first
/// line with an open mark. Tables are shown whole, because their columns depend on all rows.
fn settled_part(block: &str) -> &str {
    if block.lines().any(|line| line.trim_start().starts_with('|')) {
        return "";
    }
    let mut part = block;
    while has_open_mark(part) {
        part = part.trim_end_matches('\n').rsplit_once('\n').map_or("", |(before, _)| before);
    }
    part
}

/// Returns `true` if an emphasis, a code span or a link may be open at the end.
fn has_open_mark(text: &str) -> bool {
    let is_open = |mark: char| {
        let marks = |line: &str| runs(line.trim_start().trim_start_matches("* "), mark);
        !text.lines().map(marks).sum::<usize>().is_multiple_of(2)
    };
    let link = text.rsplit_once('[').is_some_and(|(_, after)| !after.contains(')') && !after.contains("] "));
    link || ['`', '*', '_'].into_iter().any(is_open) || text.matches("~~").count() % 2 == 1
}

/// Number of runs of a mark. An underscore within a word is none.
fn runs(line: &str, mark: char) -> usize {
    let (mut count, mut before, mut chars) = (0, ' ', line.chars().peekable());
    while let Some(c) = chars.next() {
        let is_in_word = c == '_' && before.is_alphanumeric() && chars.peek().is_none_or(|next| next.is_alphanumeric());
        count += usize::from(c == mark && before != mark && !is_in_word);
        before = c;
    }
    count
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

    const SCREEN: Screen = Screen { live: true, width: 20, color: false, marks: true };

    /// Everything that is printed for an answer that grows in pieces of these sizes.
    fn printed(text: &str, cuts: &[usize]) -> String {
        let mut growth = StreamedAnswer::default();
        let chars: Vec<char> = text.chars().collect();
        let mut sizes = cuts.iter().copied().cycle();
        let (mut out, mut at) = (String::new(), 0);
        while at < chars.len() {
            let end = (at + sizes.next().unwrap_or(1)).min(chars.len());
            out.push_str(&growth.push(&chars[at..end].iter().collect::<String>(), SCREEN));
            at = end;
        }
        out + &growth.finish(strip_control(text).trim(), SCREEN, LinkDisplay::SpelledOut)
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
            "([a-z]{1,9} ){0,12}",
        ];
        prop::collection::vec(line, 0..30).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #[test]
        fn what_is_shown_does_not_depend_on_how_the_text_was_cut(
            text in markdown(), cuts in prop::collection::vec(1usize..9, 1..8),
        ) {
            let (once, many) = (printed(&text, &[text.len().max(1)]), printed(&text, &cuts));
            if !many.contains(RULE) && !once.contains(RULE) {
                prop_assert_eq!(without_space(&many), without_space(&once));
            }
        }

        #[test]
        fn plain_paragraphs_are_shown_once_and_in_full(
            text in prop::collection::vec("([a-z]{1,12}[.,]? ){1,20}", 1..6).prop_map(|all| all.join("\n\n")),
            cuts in prop::collection::vec(1usize..9, 1..8),
        ) {
            let text = text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
            prop_assert_eq!(printed(&text, &cuts), SCREEN.show(&text, LinkDisplay::SpelledOut));
        }
    }

    #[test]
    fn a_line_is_shown_when_the_next_one_begins() {
        let mut growth = StreamedAnswer::default();
        assert_eq!(growth.push("This line is full and", SCREEN), "This line is full\n");
        assert_eq!(growth.push(" the next one too", SCREEN), "");
        assert_eq!(growth.push(" now.", SCREEN), "and the next one too\n");
        assert_eq!(growth.push("\n\nSecond", SCREEN), "now.\n\n");
        let whole = "This line is full and the next one too now.\n\nSecond.";
        assert!(growth.continues_in(whole, SCREEN) && !growth.continues_in("Another.", SCREEN));
        assert_eq!(growth.finish(whole, SCREEN, LinkDisplay::SpelledOut), "Second.\n\n");
        assert!(growth.is_unseen());
    }

    #[test]
    fn an_open_mark_holds_its_line_and_a_table_is_shown_whole() {
        let mut growth = StreamedAnswer::default();
        assert_eq!(growth.push("**All of this is important", SCREEN), "");
        assert_eq!(growth.push(", and this.** So", SCREEN), "All of this is\nimportant, and this.\n");
        growth.restart();
        assert_eq!(growth.push("| a | b |\n|---|---|\n| 1 | 2 |\n| 3", SCREEN), "");
        assert!(!growth.restart());
    }

    #[test]
    fn items_and_code_are_shown_line_by_line() {
        let mut growth = StreamedAnswer::default();
        assert_eq!(growth.push("- one\n- two\n- snake_cas", SCREEN), "• one\n• two\n");
        growth.restart();
        assert_eq!(growth.push("```sh\nls\n\npwd\nc", SCREEN), "    ls\n\n    pwd\n");
    }

    #[test]
    fn another_text_comes_whole() {
        let links = LinkDisplay::SpelledOut;
        let mut growth = StreamedAnswer::default();
        growth.push("One.\n\nT", SCREEN);
        assert!(!growth.continues_in("One.more", SCREEN));
        assert_eq!(growth.finish("Two.", SCREEN, links), format!("{RULE}\nTwo.\n\n"));
        growth.push("One.\n\nT", SCREEN);
        assert!(growth.restart());
        assert_eq!(growth.finish("Two.", SCREEN, links), "Two.\n\n");
        assert!(!growth.restart());
    }
}
