//! The app of the demonstration: a home in a temporary folder, a simulated clock that only moves
//! when advanced, one person at the terminal.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;
use tokio_util::task::TaskTracker;

use crate::adapter::Adapter;
use crate::adapter::terminal::protocol::{FromClient, FromGateway};
use crate::adapter::terminal::{Connection, Frame};
use crate::app::{App, Overrides};
use crate::config::{self, Home};
use crate::model::Model;
use crate::store::SlotState;
use crate::time::{Clock, SimulatedClock, Timestamp, Zone};
use crate::wording::cli::demo as says;

use super::demo_model::DemoModel;
use super::demo_phone::{self, Handset};

/// Monday, 2 November 2026, 08:10 in Vienna.
const START: Timestamp = Timestamp(1_793_603_400_000);
/// Time between `START` and the midnight before the first of the month.
const START_IN_MONTH: Duration = Duration::from_mins((24 + 8) * 60 + 10);
/// Step of the clock, shorter than the time in which messages are joined.
const STEP: Duration = Duration::from_millis(200);
/// Steps without output after which nothing more is expected.
const QUIET_STEPS: usize = 4;
/// Steps without an answer after which none is expected.
const MAX_STEPS: usize = 1_000;
const BUFFER_SIZE: usize = 64 * 1024;

/// A device of the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// The terminal.
    Terminal,
    /// The telephone.
    Phone,
}

/// An unrequested message.
pub struct Arrived {
    /// Device on which it arrived.
    pub device: Device,
    /// Markdown text.
    pub words: String,
}

/// The app and the person's ends of its channels.
pub struct DemoApp {
    /// Name of the person at the terminal.
    pub person: String,
    /// Name of the assistant.
    pub agent: String,
    /// Time zone of the story.
    pub zone: Zone,
    app: App,
    clock: Arc<SimulatedClock>,
    connection: Connection,
    server: TaskTracker,
    handset: Handset,
    messages: usize,
    unsolicited_messages: Vec<Arrived>,
}

impl DemoApp {
    /// Builds the app in this folder and connects to its terminal.
    pub async fn open(home: &Path) -> anyhow::Result<Self> {
        let config = config(home)?;
        let (person, agent, zone) = ("you".to_owned(), config.agent.name.clone(), config.zone);
        let clock = Arc::new(SimulatedClock::new(START));
        let model: Arc<dyn Model> = Arc::new(DemoModel::new());
        let (phone, handset) = demo_phone::pair();
        let overrides = Overrides {
            clock: Some(Arc::clone(&clock) as Arc<dyn Clock>),
            chat: vec![Arc::clone(&model)],
            background: vec![model],
            adapters: Some(Arc::new(move |_| Arc::clone(&phone) as Arc<dyn Adapter>)),
            ..Overrides::default()
        };
        let app = App::build(config, overrides).await?;
        app.start().await?;
        let (near, far) = tokio::io::duplex(BUFFER_SIZE);
        let (local, server) = (Arc::clone(&app.local), TaskTracker::new());
        server.spawn(async move { local.serve_client(far).await });
        let mut demo = Self {
            person,
            agent,
            zone,
            app,
            clock,
            connection: Connection::of_client(near),
            server,
            handset,
            messages: 0,
            unsolicited_messages: Vec::new(),
        };
        demo.connection.writer.write(&FromClient::Hello { person: None, once: false }).await?;
        match demo.next_frame().await? {
            FromGateway::Welcome { .. } => Ok(demo),
            _ => bail!("The demonstration was not let in"),
        }
    }

    /// Returns the simulated time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Advances the clock.
    pub async fn wait(&self, hours: u64, minutes: u64) {
        self.clock.advance(Duration::from_secs((hours * 60 + minutes) * 60)).await;
    }

    /// Advances the clock to a day of November and a local time.
    pub async fn until(&self, day: u32, hour: u32, minute: u32) {
        let into = Duration::from_mins(u64::from((day.saturating_sub(1) * 24 + hour) * 60 + minute));
        let at = START.minus(START_IN_MONTH).plus(into);
        self.clock.advance(at.since(self.clock.now())).await;
    }

    /// Returns the unsolicited messages since the last call.
    pub async fn unsolicited(&mut self) -> anyhow::Result<Vec<Arrived>> {
        self.listen().await?;
        Ok(std::mem::take(&mut self.unsolicited_messages))
    }

    /// Returns the number of days that were skipped without a model call.
    pub async fn quiet_days(&self) -> anyhow::Result<usize> {
        let slots = self.app.journal.read(|db| db.slots().newest_slots(1_000)).await?;
        Ok(slots.iter().filter(|slot| slot.job == "daily" && slot.state == SlotState::Quiet).count())
    }

    fn collect_unsolicited(&mut self, device: Device, words: String) {
        self.unsolicited_messages.push(Arrived { device, words });
    }

    /// Receives the pending messages.
    async fn listen(&mut self) -> anyhow::Result<()> {
        let mut silent = 0;
        while silent < QUIET_STEPS {
            let clock = Arc::clone(&self.clock);
            tokio::select! {
                biased;
                message = self.arrives() => {
                    let Arrived { device, words } = message?;
                    self.collect_unsolicited(device, words);
                }
                () = clock.advance(STEP) => silent += 1,
            }
        }
        Ok(())
    }

    /// Sends a message, optionally with piped text, and returns the answer.
    pub async fn say(&mut self, text: &str, piped: Option<&str>) -> anyhow::Result<String> {
        self.listen().await?;
        let parts = [(Some(text), false), (piped, true)];
        for (text, piped) in parts.into_iter().filter_map(|(text, piped)| Some((text?, piped))) {
            self.messages += 1;
            let id = format!("demo-{}", self.messages);
            let say = FromClient::Say { id: id.clone(), text: text.to_owned(), piped, thread: None };
            self.connection.writer.write(&say).await?;
            while !matches!(self.next_frame().await?, FromGateway::Stored { id: stored } if stored == id) {}
        }
        self.answer_on(Device::Terminal, text).await
    }

    /// Sends a message from the telephone and returns the answer.
    pub async fn say_on_phone(&mut self, text: &str) -> anyhow::Result<String> {
        self.listen().await?;
        self.handset.typed.send(text.to_owned()).await.context("The telephone is gone")?;
        self.handset.stored.recv().await.context("The telephone is gone")?;
        self.answer_on(Device::Phone, text).await
    }

    async fn answer_on(&mut self, device: Device, text: &str) -> anyhow::Result<String> {
        for _ in 0..MAX_STEPS {
            let clock = Arc::clone(&self.clock);
            tokio::select! {
                biased;
                message = self.arrives() => {
                    let message = message?;
                    // A proposal is no answer, unless it was requested by a command.
                    let is_answer = text.starts_with('/') || !message.words.starts_with(says::ABOUT_A_PROPOSAL);
                    if message.device == device && is_answer {
                        return Ok(message.words);
                    }
                    self.collect_unsolicited(message.device, message.words);
                }
                () = clock.advance(STEP) => {}
            }
        }
        bail!("The demonstration got no answer")
    }

    /// Returns the newest conversation as `compline conversations show --json` prints it.
    pub async fn newest_conversation(&self) -> anyhow::Result<Value> {
        let list = self.ask(&["conversations", "list", "--limit", "1"]).await?;
        let id = list.pointer("/0/id").context("There is no conversation")?.to_string();
        self.ask(&["conversations", "show", &id]).await
    }

    /// Returns the summary of the conversation before the newest.
    pub async fn last_summary(&self) -> anyhow::Result<Value> {
        let list = self.ask(&["conversations", "list", "--limit", "2"]).await?;
        list.get(1).cloned().context("There is no conversation before this one")
    }

    /// Stops everything.
    pub async fn close(self) {
        drop(self.connection);
        self.server.close();
        self.server.wait().await;
        self.app.stop().await;
    }

    async fn ask(&self, line: &[&str]) -> anyhow::Result<Value> {
        let line: Vec<String> = line.iter().map(|&word| word.to_owned()).collect();
        let answer = self.app.admin.command_line(&line).await;
        if answer.failed { bail!(answer.markdown) } else { Ok(answer.json) }
    }

    /// Returns the next message on either device.
    async fn arrives(&mut self) -> anyhow::Result<Arrived> {
        loop {
            let frame = tokio::select! {
                biased;
                words = self.handset.shown.recv() => {
                    return Ok(Arrived { device: Device::Phone, words: words.context("The telephone is gone")? });
                }
                frame = next_frame(&mut self.connection) => frame?,
            };
            if let FromGateway::Message { markdown, .. } = frame {
                return Ok(Arrived { device: Device::Terminal, words: markdown });
            }
        }
    }

    async fn next_frame(&mut self) -> anyhow::Result<FromGateway> {
        next_frame(&mut self.connection).await
    }
}

async fn next_frame(connection: &mut Connection) -> anyhow::Result<FromGateway> {
    loop {
        match connection.reader.next().await? {
            Frame::Message(FromGateway::Refused { why } | FromGateway::Bye { why }) => bail!(why),
            Frame::Message(frame) => return Ok(frame),
            Frame::Skipped(_) => {}
            Frame::End => bail!("The demonstration was cut off"),
        }
    }
}

/// Returns the configuration of the story, independent of the environment.
fn config(home: &Path) -> anyhow::Result<config::Config> {
    let zone = says::ZONE;
    let text = format!(
        "timezone = \"{zone}\"\n[tools]\nweb_fetch = false\n[web]\nenabled = false\n[reflection]\nmin_messages = 1\n[telegram]\ntoken = \"1:demonstration\"\n\
         [[people]]\nname = \"you\"\nrole = \"owner\"\ntelegram = {}\nprefer = \"telegram\"\n",
        demo_phone::NUMBER
    );
    Ok(config::parse(&text, "demo", &BTreeMap::new(), Home::at(home))?.config)
}
