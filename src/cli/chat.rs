//! `compline chat`: a conversation in the terminal, or one question from a script.
//!
//! This is an ordinary client: it speaks the local protocol over a stream, either with the running
//! gateway or with one in this process, for this terminal alone. Typed and piped text are never
//! mixed, and a message that was not stored is printed back.

mod conversation;
mod editor;
mod stream;
mod question;

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

use super::client::{self, Answered, Needs};
use super::config::CliPaths;
use super::ephemeral::{self, TempFolder, until_ended};
use super::print::{CliError, Screen};
use super::{Exit, block_on, init, log};
use crate::adapter::terminal::Connection;
use crate::config::{Config, Home};
use crate::markdown::LinkDisplay;
use crate::time::{Clock, SystemClock};
use crate::wording::chat as words;

use conversation::{Companion, Reconnect};
use question::Input;
use stream::{GatewayLink, Welcome};

/// Interval at which a lost gateway is looked for.
const RECONNECT_INTERVAL: Duration = Duration::from_secs(1);
/// Buffer size in bytes of the connection within this process.
const BUFFER_SIZE: usize = 64 * 1024;

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

/// Runs a conversation over a new stream to a gateway until the person leaves, or the one question
/// is answered. `reconnect` finds the gateway again, if it can be found.
async fn run(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    input: Input,
    options: ChatOptions,
    run_command: &RunCommand,
    reconnect: Option<&Reconnect>,
) -> anyhow::Result<Exit> {
    let once = matches!(input, Input::ChatInput(_));
    let connection = Connection { once, ..Connection::of_client(stream) };
    let (link, Welcome { person, assistant, model }) = match GatewayLink::greet(connection, options.person).await {
        Ok(connected) => connected,
        Err(why) => {
            let why = why.as_deref().unwrap_or(words::GONE);
            writeln!(std::io::stderr(), "{why}").context("Could not say why")?;
            return Ok(Exit::Failed);
        }
    };
    let screen = Screen::of_stdout();
    match input {
        Input::Interactive => {
            let greeting = screen.remark(&words::greeting(&assistant, model.as_deref()));
            std::io::stdout().write_all(greeting.as_bytes()).context("Could not print the greeting")?;
            let editor = editor::open(&words::prompt(&person), &options.history, screen)?;
            let companion = Companion { person, assistant, run_command, reconnect };
            Ok(conversation::converse(link, editor, &companion, screen, &mut std::io::stdout()).await)
        }
        Input::ChatInput(question) => {
            // What goes to a program has no marks of Markdown.
            let screen = Screen { marks: screen.live, ..screen };
            question::ask(link, question, screen, &mut std::io::stdout(), &mut std::io::stderr()).await
        }
    }
}

fn links_of(trusted: bool) -> LinkDisplay {
    if trusted { LinkDisplay::Embedded } else { LinkDisplay::SpelledOut }
}

/// `compline chat …`
#[derive(Debug, Args)]
pub struct ChatArgs {
    /// One question; without it, a conversation begins. Piped input is sent along as text that was
    /// not typed, in a conversation of its own that ends with the answer
    words: Vec<String>,
    /// Send piped input to the ongoing conversation instead
    #[arg(long)]
    join: bool,
    /// Name of the person to talk as [default: the owner]
    #[arg(long = "as", value_name = "NAME")]
    person: Option<String>,
    /// Delete everything at the end, without touching the real memory or asking a running gateway
    #[arg(long)]
    ephemeral_memory: bool,
}

/// Runs the conversation.
pub fn command(options: ChatArgs, paths: &CliPaths, verbose: bool) -> Result<Exit, CliError> {
    let ChatArgs { words, join, person, ephemeral_memory } = options;
    if !ephemeral_memory && let Ok(gateway) = UnixStream::connect(paths.home.socket()) {
        let input = Input::gather(&words, join)?;
        let options = ChatOptions { person, history: paths.home.path().join("history") };
        return block_on(attached(gateway, input, options, paths.home.clone()));
    }
    if !ephemeral_memory && !paths.config.exists() {
        init::offer_offline(paths)?;
    }
    // Configuration errors are reported before anything is typed.
    let mut config = paths.load()?.config;
    let input = Input::gather(&words, join)?;
    let folder = if ephemeral_memory { Some(ephemeral::begin(&mut config)?) } else { None };
    log::begin(&config, verbose);
    let home = folder.as_ref().map_or(paths.home.path(), TempFolder::path);
    let conversation = alone(config, input, ChatOptions { person, history: home.join("history") });
    match &folder {
        Some(_) => super::run::on_threads(until_ended(conversation)),
        None => super::run::on_threads(conversation),
    }
}

async fn attached(stream: UnixStream, input: Input, options: ChatOptions, home: Home) -> Result<Exit, CliError> {
    stream.set_nonblocking(true)?;
    let (socket, person) = (home.socket(), options.person.clone());
    let reconnect: Reconnect = Box::new(move || connect_again(socket.clone(), person.clone()).boxed());
    let run_command: RunCommand = Box::new(move |line, json| {
        let home = home.clone();
        async move { client::ask_gateway(&line, &home, json).await.ok().flatten() }.boxed()
    });
    let stream = tokio::net::UnixStream::from_std(stream)?;
    Ok(run(stream, input, options, &run_command, Some(&reconnect)).await?)
}

/// Connects to the gateway of that socket as soon as it answers.
async fn connect_again(socket: PathBuf, person: Option<String>) -> Result<GatewayLink, String> {
    let clock = SystemClock::default();
    loop {
        let _busy = clock.after(RECONNECT_INTERVAL).await;
        let Ok(stream) = tokio::net::UnixStream::connect(&socket).await else { continue };
        match GatewayLink::greet(Connection::of_client(stream), person.clone()).await {
            Ok((link, _)) => return Ok(link),
            Err(Some(why)) => return Err(why),
            Err(None) => {}
        }
    }
}

async fn alone(config: Config, input: Input, options: ChatOptions) -> Result<Exit, CliError> {
    super::run::mention_empty_journal(&config.home);
    let app = client::build_app(config, Needs::Work).await?;
    app.start().await?;
    let (near, far) = tokio::io::duplex(BUFFER_SIZE);
    let admin = Arc::clone(&app.admin);
    let run_command: RunCommand = Box::new(move |line, json| {
        let admin = Arc::clone(&admin);
        async move {
            let answer = admin.command_line(&line).await;
            let text = if json { answer.json.to_string() } else { answer.markdown };
            Some(Answered { text, failed: answer.failed })
        }
        .boxed()
    });
    let conversation_end = run(near, input, options, &run_command, None);
    let server = app.local.serve_client(far);
    tokio::pin!(conversation_end);
    let ending = tokio::select! {
        ending = &mut conversation_end => ending,
        // The server closed first: the client notices and says goodbye.
        _ = server => conversation_end.await,
    };
    app.stop().await;
    Ok(ending?)
}
