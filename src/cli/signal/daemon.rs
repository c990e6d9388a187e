//! The daemon for the duration of a command: the running one, or the configured one, started and
//! stopped with the command.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::OptionFuture;
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;

use crate::adapter::signal::Signal;
use crate::cli::failure::CliError;
use crate::cli::print;
use crate::cli::probe;
use crate::config::{self, Home};
use crate::time::SystemClock;
use crate::time::clock::real_sleep;
use crate::wording::cli::signal as says;

/// Time within which a daemon must answer: on a slow computer Java starts slowly.
const START_WITHIN: Duration = Duration::from_secs(60);
/// Interval between queries until then.
const ASK_EVERY: Duration = Duration::from_millis(500);

/// Runs `work` with the daemon. Ctrl-c ends it, and stops a daemon that was started for it.
pub async fn with<T>(
    config: &config::Signal,
    home: &Home,
    work: impl AsyncFnOnce(&Signal) -> Result<T, CliError>,
) -> Result<T, CliError> {
    crate::model::install_tls();
    let signal = Signal::new(config, Arc::new(SystemClock::default()))?;
    let stop = CancellationToken::new();
    let is_to_start = !config.command.is_empty() && signal.probe().await.is_err();
    if !is_to_start {
        return or_left(work(&signal)).await;
    }
    // A gateway starts the daemon itself; two daemons would interfere with each other.
    let daemon = if UnixStream::connect(home.socket()).await.is_ok() { None } else { signal.daemon(stop.clone()) };
    if daemon.is_some() {
        print::print_remark(says::STARTING);
        // The socket is in the home, which may not exist yet.
        DirBuilder::new().recursive(true).mode(0o700).create(home.path())?;
    }
    let started = async {
        answers(&signal, config).await?;
        work(&signal).await
    };
    let started = or_left(started).map(|done| {
        stop.cancel();
        done
    });
    let (done, _) = tokio::join!(started, OptionFuture::from(daemon));
    done
}

async fn or_left<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    tokio::select! {
        done = work => done,
        _ = tokio::signal::ctrl_c() => Err(CliError::Failed(says::LEFT.to_owned())),
    }
}

/// Waits until the daemon answers.
async fn answers(signal: &Signal, config: &config::Signal) -> Result<(), CliError> {
    let asking = async {
        while signal.probe().await.is_err() {
            real_sleep(ASK_EVERY).await;
        }
    };
    tokio::select! {
        () = asking => Ok(()),
        () = real_sleep(START_WITHIN) => match probe::of_signal(signal, config).await {
            Ok(_) => Ok(()),
            Err(trouble) => Err(trouble.into()),
        },
    }
}
