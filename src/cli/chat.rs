//! `compline chat`: a conversation in the terminal, or one question from a script.
//!
//! This is an ordinary client: it speaks the local protocol over a stream, either with the running
//! gateway or with one in this process. Typed and piped text are never mixed, and a message that
//! was not stored is printed back.

mod by_hand;
mod editor;
mod growth;
mod input;
mod link;
mod once;
mod screen;
mod talk;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

use super::client::Answered;
use crate::adapter::markdown::LinkDisplay;
use crate::adapter::terminal::Connection;
use crate::wording::chat as words;

use by_hand::ByHand;
pub use input::{ChatInput, Input, NoInput};
use link::GatewayLink;
pub use screen::Screen;

/// Options of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatOptions {
    /// Name of the person; `None` for the owner.
    pub person: Option<String>,
    /// File of the typed lines.
    pub history: PathBuf,
}

/// Runs an operator command during the conversation. The answer is Markdown or JSON; `None` if the
/// gateway is gone.
pub type RunCommand = Box<dyn Fn(Vec<String>, bool) -> BoxFuture<'static, Option<Answered>> + Send + Sync>;

/// Outcome of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatOutcome {
    /// Regular end.
    Done,
    /// No answer, or the gateway went away.
    Failed,
}

/// Runs a conversation over a new stream to a gateway until the person leaves, or the one question
/// is answered.
pub async fn run(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    input: Input,
    options: ChatOptions,
    errand: &RunCommand,
) -> anyhow::Result<ChatOutcome> {
    let (link, welcome) = match GatewayLink::greet(Connection::of_client(stream), options.person).await {
        Ok(greeted) => greeted,
        Err(why) => {
            let why = why.as_deref().unwrap_or(words::GONE);
            writeln!(std::io::stderr(), "{why}").context("Could not say why")?;
            return Ok(ChatOutcome::Failed);
        }
    };
    let screen = Screen::of_stdout();
    match input {
        Input::Interactive => {
            let editor = editor::open(&words::prompt(&welcome.person), &options.history, screen)?;
            let by_hand = ByHand { whose: welcome.person, errand };
            Ok(talk::talk(link, editor, &by_hand, screen, &mut std::io::stdout()).await)
        }
        Input::ChatInput(question) => {
            let asked = once::ask(link, question, screen, &mut std::io::stdout(), &mut std::io::stderr()).await;
            asked.or_else(forgive_closed_pipe)
        }
    }
}

/// Ignores a closed output pipe, as with `head`.
fn forgive_closed_pipe(error: anyhow::Error) -> anyhow::Result<ChatOutcome> {
    let closed = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    match closed.map(std::io::Error::kind).any(|kind| kind == std::io::ErrorKind::BrokenPipe) {
        true => Ok(ChatOutcome::Done),
        false => Err(error),
    }
}

fn links_of(trusted: bool) -> LinkDisplay {
    if trusted { LinkDisplay::Embedded } else { LinkDisplay::SpelledOut }
}
