//! `compline demo`: the real app with a simulated clock runs through a month on screen.
//!
//! Nothing is faked: messages go through the terminal adapter into a journal, the engine answers,
//! and the shown labels and summaries come from the same source as `compline conversations`. The
//! home is temporary and nothing leaves it.

mod demo_model;
mod demo_output;
mod demo_app;

use clap::Args;

use super::Exit;
use super::ephemeral::{TempFolder, until_ended};
use super::failure::CliError;
use super::print::Printer;
use crate::wording::cli::demo::{self as says, SCENES, Scene};
use demo_app::DemoApp;
use demo_output::Stage;

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
    super::run::on_threads(until_ended(play(home.path(), Stage::new(options.fast), printer)))
}

async fn play(home: &std::path::Path, mut stage: Stage, printer: Printer) -> Result<Exit, CliError> {
    let mut theatre = DemoApp::open(home).await?;
    stage.begin().await?;
    for scene in SCENES {
        perform(*scene, &mut theatre, &mut stage).await?;
    }
    theatre.close().await;
    if !printer.quiet {
        stage.close().await?;
    }
    Ok(Exit::Done)
}

async fn perform(scene: Scene, theatre: &mut DemoApp, stage: &mut Stage) -> Result<(), CliError> {
    match scene {
        Scene::Wait(hours, minutes) => theatre.wait(hours, minutes).await,
        Scene::Remark(text) => stage.remark(text).await?,
        Scene::Says(text) => {
            stage.spoken(theatre.now(), theatre.zone, &theatre.person, text, "").await?;
            let answer = theatre.say(text, None).await?;
            stage.answered(theatre.now(), theatre.zone, &theatre.agent, &answer).await?;
        }
        Scene::Pipes(text, page) => {
            stage.spoken(theatre.now(), theatre.zone, &theatre.person, text, page).await?;
            let answer = theatre.say(text, Some(page)).await?;
            stage.answered(theatre.now(), theatre.zone, &theatre.agent, &answer).await?;
        }
        Scene::Until(day, hour, minute) => theatre.until(day, hour, minute).await,
        Scene::Types(text) => {
            let text = text.replace("HASH", &stage.hash);
            stage.spoken(theatre.now(), theatre.zone, &theatre.person, &text, "").await?;
            let answer = theatre.say(&text, None).await?;
            stage.answered(theatre.now(), theatre.zone, &theatre.agent, &answer).await?;
        }
        Scene::Came => {
            stage.turn_page(theatre.now(), theatre.zone).await?;
            for words in theatre.came().await? {
                stage.hash = hash_in(&words).unwrap_or(std::mem::take(&mut stage.hash));
                stage.answered(theatre.now(), theatre.zone, &theatre.agent, &words).await?;
            }
        }
        Scene::Quiet => stage.remark(&says::quiet(theatre.quiet_days().await?)).await?,
        Scene::Marks => stage.marks(&theatre.newest_conversation().await?).await?,
        Scene::Summary => stage.summary(&theatre.last_summary().await?).await?,
    }
    Ok(())
}

/// Returns the hash in the approval command.
fn hash_in(shown: &str) -> Option<String> {
    let (_, command) = shown.rsplit_once("/approve ")?;
    Some(command.split_whitespace().nth(1)?.trim_matches('`').to_owned())
}
