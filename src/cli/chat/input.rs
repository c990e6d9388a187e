//! Input of the command: none (a conversation begins), arguments, piped text, or both.

use std::io::{IsTerminal, Read, Write};

use crate::wording::chat as words;

/// Maximum size of piped text in bytes.
const MOST: usize = 256 * 1024;

/// Mode of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Line by line.
    Interactive,
    /// One question, then the answer.
    ChatInput(ChatInput),
}

/// A question of two parts, at least one of which is present.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatInput {
    /// Text typed as arguments.
    pub typed: Option<String>,
    /// Piped text, which is not the person's own words.
    pub piped: Option<String>,
}

/// Reason why there is nothing to send, as a sentence for the person. Counts as wrong usage.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct NoInput(pub String);

impl Input {
    /// Takes the arguments and reads standard input to its end, unless it is a terminal. Blocks.
    pub fn gather(words: &[String]) -> Result<Self, NoInput> {
        let stdin = std::io::stdin();
        if stdin.is_terminal() {
            return Ok(Self::without_pipe(words));
        }
        Self::from_pipe(words, stdin.lock(), &mut std::io::stderr())
    }

    fn without_pipe(words: &[String]) -> Self {
        match typed(words) {
            None => Self::Interactive,
            typed => Self::ChatInput(ChatInput { typed, piped: None }),
        }
    }

    fn from_pipe(words: &[String], pipe: impl Read, notes: &mut impl Write) -> Result<Self, NoInput> {
        let question = ChatInput { typed: typed(words), piped: piped(pipe, notes)? };
        if question == ChatInput::default() {
            return Err(NoInput(words::NOTHING_SAID.to_owned()));
        }
        Ok(Self::ChatInput(question))
    }
}

fn typed(words: &[String]) -> Option<String> {
    Some(words.join(" ")).filter(|text| !text.trim().is_empty())
}

fn piped(pipe: impl Read, notes: &mut impl Write) -> Result<Option<String>, NoInput> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MOST).unwrap_or(u64::MAX).saturating_add(1);
    pipe.take(limit).read_to_end(&mut bytes).map_err(|error| NoInput(words::pipe_broken(&error.to_string())))?;
    if bytes.len() > MOST {
        return Err(NoInput(words::pipe_too_long(MOST)));
    }
    let text = String::from_utf8(bytes).unwrap_or_else(|broken| {
        // Standard error may be closed; the text is still usable.
        let _ = writeln!(notes, "{}", words::REPLACED_INVALID);
        String::from_utf8_lossy(broken.as_bytes()).into_owned()
    });
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(arguments: &[&str], pipe: &[u8]) -> (Result<Input, NoInput>, String) {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let mut notes = Vec::new();
        let input = Input::from_pipe(&arguments, pipe, &mut notes);
        (input, String::from_utf8(notes).unwrap())
    }

    fn question(typed: Option<&str>, piped: Option<&str>) -> Result<Input, NoInput> {
        Ok(Input::ChatInput(ChatInput { typed: typed.map(Into::into), piped: piped.map(Into::into) }))
    }

    #[test]
    fn arguments_and_pipe_are_kept_apart() {
        assert_eq!(gathered(&["sum", "this up"], b"a page\n").0, question(Some("sum this up"), Some("a page\n")));
        assert_eq!(gathered(&[], b"a page\n").0, question(None, Some("a page\n")));
        assert_eq!(gathered(&["hello"], b" \n").0, question(Some("hello"), None));
        assert_eq!(Input::without_pipe(&[]), Input::Interactive);
    }

    #[test]
    fn what_cannot_be_sent_is_said() {
        assert_eq!(gathered(&[" "], b"\n").0, Err(NoInput(words::NOTHING_SAID.into())));
        assert_eq!(gathered(&["x"], &vec![b'a'; MOST + 1]).0, Err(NoInput(words::pipe_too_long(MOST))));
        assert!(gathered(&["x"], &vec![b'a'; MOST]).0.is_ok());
    }

    #[test]
    fn broken_text_is_mended_and_that_is_said() {
        let (input, notes) = gathered(&[], b"a\xff");
        assert_eq!(input, question(None, Some("a\u{fffd}")));
        assert!(notes.contains(words::REPLACED_INVALID));
    }
}
