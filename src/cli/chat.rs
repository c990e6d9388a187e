//! `compline chat`: a conversation in the terminal, or one question from a script.
//!
//! This is a client like any other: it talks the local protocol over a stream, whether that leads
//! to the running gateway or to one in this process. What is typed and what is piped are never
//! mixed; nothing that was said is lost without being printed back.

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

/// What the command line says about the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatOptions {
    /// As whom to talk; the owner if nobody is named.
    pub person: Option<String>,
    /// Where the lines that were typed are kept.
    pub history: PathBuf,
}

/// Has a command of the command line run beside the conversation, with its answer as Markdown or as
/// JSON; `None` if nobody is there any more.
pub type Errand = Box<dyn Fn(Vec<String>, bool) -> BoxFuture<'static, Option<Answered>> + Send + Sync>;

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// As it should.
    Done,
    /// Without an answer, or because the gateway went away.
    Failed,
}

/// Talks over a fresh stream to a gateway until the person leaves, or the one question is answered.
pub async fn run(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    input: Input,
    options: ChatOptions,
    errand: &Errand,
) -> anyhow::Result<Ending> {
    let (link, welcome) = match GatewayLink::greet(Connection::of_client(stream), options.person).await {
        Ok(greeted) => greeted,
        Err(why) => {
            let why = why.as_deref().unwrap_or(words::GONE);
            writeln!(std::io::stderr(), "{why}").context("Could not say why")?;
            return Ok(Ending::Failed);
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

/// Whoever reads our output may stop at any time, as `head` does.
fn forgive_closed_pipe(error: anyhow::Error) -> anyhow::Result<Ending> {
    let closed = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    match closed.map(std::io::Error::kind).any(|kind| kind == std::io::ErrorKind::BrokenPipe) {
        true => Ok(Ending::Done),
        false => Err(error),
    }
}

fn links_of(trusted: bool) -> LinkDisplay {
    if trusted { LinkDisplay::Embedded } else { LinkDisplay::SpelledOut }
}
