//! `compline chat`: connects to the running gateway; without one, this process is the gateway, for
//! this terminal alone.

use std::os::unix::net::UnixStream;
use std::sync::Arc;

use clap::Args;
use futures::FutureExt;

use super::chat::{self, ChatOutcome, Input, NoInput, RunCommand};
use super::client::{self, Answered};
use super::failure::CliError;
use super::paths::CliPaths;
use super::{Exit, block_on, ephemeral, log};
use crate::app::{App, BuildError, Overrides};
use crate::config::{Config, Home};
use crate::wording::cli as says;

/// Buffer size in bytes of the connection within this process.
const PIPE: usize = 64 * 1024;

/// `compline chat …`
#[derive(Debug, Args)]
pub struct ChatArgs {
    /// One question; without it, a conversation begins. Piped input is sent along as text that was
    /// not typed
    words: Vec<String>,
    /// Name of the person to talk as [default: the owner]
    #[arg(long = "as", value_name = "NAME")]
    person: Option<String>,
    /// Delete everything at the end, without touching the real memory or asking a running gateway
    #[arg(long)]
    ephemeral_memory: bool,
}

impl From<NoInput> for CliError {
    fn from(none: NoInput) -> Self {
        Self::Wrong(none.to_string())
    }
}

/// Runs the conversation.
pub fn run(options: ChatArgs, place: &CliPaths, verbose: bool) -> Result<Exit, CliError> {
    if options.ephemeral_memory {
        return ephemeral(options, place, verbose);
    }
    let running = UnixStream::connect(place.home.socket());
    // Configuration errors are reported before anything is typed.
    let config = match running {
        Ok(_) => None,
        Err(_) => Some(place.load()?.config),
    };
    let input = Input::gather(&options.words)?;
    let options = chat::ChatOptions { person: options.person, history: place.home.path().join("history") };
    let ending = match (running, config) {
        (Ok(stream), _) => block_on(attached(stream, input, options, place.home.clone()))?,
        (Err(_), Some(config)) => {
            log::begin(&config, verbose);
            super::run::on_threads(alone(config, input, options))?
        }
        (Err(error), None) => return Err(error.into()),
    };
    Ok(exit(ending))
}

/// Runs the conversation in a temporary home.
fn ephemeral(options: ChatArgs, place: &CliPaths, verbose: bool) -> Result<Exit, CliError> {
    let mut config = place.load()?.config;
    let input = Input::gather(&options.words)?;
    let folder = ephemeral::begin(&mut config)?;
    log::begin(&config, verbose);
    let options = chat::ChatOptions { person: options.person, history: folder.path().join("history") };
    super::run::on_threads(ephemeral::until_ended(alone(config, input, options))).map(exit)
}

fn exit(ending: ChatOutcome) -> Exit {
    match ending {
        ChatOutcome::Done => Exit::Done,
        ChatOutcome::Failed => Exit::Failed,
    }
}

async fn attached(
    stream: UnixStream,
    input: Input,
    options: chat::ChatOptions,
    home: Home,
) -> Result<ChatOutcome, CliError> {
    stream.set_nonblocking(true)?;
    let errand: RunCommand = Box::new(move |line, json| {
        let home = home.clone();
        async move { client::of_gateway(&line, &home, json).await.ok().flatten() }.boxed()
    });
    Ok(chat::run(tokio::net::UnixStream::from_std(stream)?, input, options, &errand).await?)
}

async fn alone(config: Config, input: Input, options: chat::ChatOptions) -> Result<ChatOutcome, CliError> {
    super::run::mention_empty_journal(&config.home);
    let app =
        App::build(config, Overrides { terminal_only: true, ..Overrides::default() }).await.map_err(
            |error| match error {
                BuildError::Held(home) => CliError::Failed(says::held_and_silent(&home)),
                other => other.into(),
            },
        )?;
    app.start().await?;
    let (near, far) = tokio::io::duplex(PIPE);
    let admin = Arc::clone(&app.admin);
    let errand: RunCommand = Box::new(move |line, json| {
        let admin = Arc::clone(&admin);
        async move {
            let answer = admin.command_line(&line).await;
            let text = if json { answer.json.to_string() } else { answer.markdown };
            Some(Answered { text, failed: answer.failed })
        }
        .boxed()
    });
    let talking = chat::run(near, input, options, &errand);
    let serving = app.local.serve_client(far);
    tokio::pin!(talking);
    let ending = tokio::select! {
        ending = &mut talking => ending,
        // The server closed first: the client notices and says goodbye.
        _ = serving => talking.await,
    };
    app.stop().await;
    Ok(ending?)
}
