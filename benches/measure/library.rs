//! The library in this process: cost of a turn and of a search.

use std::sync::Arc;
use std::time::{Duration, Instant};

use compline::adapter::terminal::protocol::{FromClient, FromGateway};
use compline::adapter::terminal::{Connection, Frame};
use compline::app::{App, Overrides};
use compline::config::{Config, Home};
use compline::id::PersonId;
use compline::model::{Model, ModelInfo};
use compline::people::Party;
use compline::store::{
    BoundaryReason, ConversationKind, Journal, MessageKind, MessageState, NewConversation, NewMessage, NewStep,
    NewTurn, StepKind, TextKind, TurnState,
};
use compline::time::{Clock, SystemClock, Timestamp};
use compline::trust::{Label, Labelled, Scope, Text};

use crate::support::model::Scripted;
use crate::{Scale, cpu, figure, line};

/// Time without a message before now: no reflection on a day is caught up with while one measures.
pub const QUIET: Duration = Duration::from_hours(8 * 24);
/// The page is off but where it is measured.
const OFF: &str = "[web]\nenabled = false\n";

pub fn measure(asked: &dyn Fn(&str) -> bool, scale: Scale) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        for history in scale.of(vec![0, 100, 1_000, 5_000], vec![0, 100]) {
            if asked("turns") {
                turns(history, scale.of(200, 3)).await;
            }
        }
        if asked("crowd") {
            crowd(scale.of(30, 3), scale.of(20, 2)).await;
            crowd(scale.of(1_000, 10), scale.of(3, 1)).await;
        }
        if asked("memory") {
            turns_with_memory(scale.of(10_000, 20), scale.of(1_000_000, 1_000), scale.of(100, 3)).await;
        }
        for messages in scale.of(vec![1_000, 10_000, 100_000], vec![1_000]) {
            if asked("recall") {
                recall(messages, scale.of(200, 3)).await;
            }
        }
        if asked("entries") {
            crate::entries::measure(scale).await;
        }
        if asked("search") {
            crate::search::measure(scale).await;
        }
        if asked("web") {
            crate::page::measure(scale).await;
        }
    });
}

fn config(home: &std::path::Path, people: usize) -> Config {
    with_settings(home, people, OFF)
}

fn with_settings(home: &std::path::Path, people: usize, settings: &str) -> Config {
    let people: String = (1..=people)
        .map(|n| format!("[[people]]\nname = \"P{n}\"\nrole = \"{}\"\n", if n == 1 { "owner" } else { "member" }))
        .collect();
    let text = format!(
        "timezone = \"UTC\"\n{settings}[conversation]\njoin_within = \"0ms\"\n[budget]\ndaily_tokens = 2000000000\nper_person_daily_tokens = 2000000000\n{people}"
    );
    compline::config::parse(&text, "bench.toml", &Default::default(), Home::at(home)).unwrap().config
}

fn scripted(clock: &Arc<SystemClock>) -> Arc<Scripted> {
    let info = ModelInfo {
        provider: "offline".to_owned(),
        name: "scripted".to_owned(),
        context_window: 1_000_000,
        max_output: 1_000,
        images: false,
        price: None,
    };
    Scripted::with_card(clock.clone(), info)
}

fn seams(clock: &Arc<SystemClock>) -> Overrides {
    with_model(clock, scripted(clock))
}

fn with_model(clock: &Arc<SystemClock>, model: Arc<Scripted>) -> Overrides {
    Overrides {
        clock: Some(clock.clone()),
        chat: vec![model.clone()],
        background: vec![model],
        terminal_only: true,
        ..Overrides::default()
    }
}

/// A terminal client within the process.
struct Seat {
    connection: Connection,
}

impl Seat {
    async fn take(app: &App, person: &str) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let local = Arc::clone(&app.local);
        tokio::spawn(async move { local.serve_client(theirs).await });
        let mut connection = Connection::of_client(ours);
        connection.writer.write(&FromClient::Hello { person: Some(person.to_owned()), once: false }).await.unwrap();
        let mut seat = Self { connection };
        seat.until(|frame| matches!(frame, FromGateway::Welcome { .. })).await;
        seat
    }

    async fn until(&mut self, wanted: impl Fn(&FromGateway) -> bool) {
        while let Frame::Message(frame) = self.connection.reader.next::<FromGateway>().await.unwrap() {
            if wanted(&frame) {
                return;
            }
        }
        panic!("the gateway hung up");
    }

    async fn ask(&mut self, id: String) -> Duration {
        let began = Instant::now();
        self.connection
            .writer
            .write(&FromClient::Say { id, text: "ping".to_owned(), piped: false, thread: None })
            .await
            .unwrap();
        self.until(|frame| matches!(frame, FromGateway::Message { .. })).await;
        began.elapsed()
    }
}

async fn turns(history: usize, rounds: u32) {
    let home = tempfile::tempdir().unwrap();
    let clock = Arc::new(SystemClock::default());
    let app = App::build(config(home.path(), 1), seams(&clock)).await.unwrap();
    remember(&app.journal, history, clock.now(), Duration::ZERO, usize::MAX).await;
    app.start().await.unwrap();
    let mut seat = Seat::take(&app, "P1").await;
    for n in 0..5 {
        seat.ask(format!("warm-{n}")).await;
    }
    let before = cpu();
    let mut times = Vec::new();
    for n in 0..rounds {
        times.push(seat.ask(format!("turn-{n}")).await);
    }
    let each = (cpu() - before) / rounds;
    line(&format!("turn at {history} messages of history"), times, Some(each));
    drop(seat);
    app.stop().await;
}

/// A gateway with the folder of its home, its configuration and its model.
pub struct LargeHome {
    pub folder: tempfile::TempDir,
    pub app: App,
    pub config: Config,
    pub model: Arc<Scripted>,
}

impl LargeHome {
    /// Changes the journal by a statement of its own.
    pub fn edit(&self, statement: &str) {
        edit(self.folder.path(), statement);
    }
}

fn edit(home: &std::path::Path, statement: &str) {
    let db = rusqlite::Connection::open(home.join("compline.db")).unwrap();
    db.busy_timeout(Duration::from_secs(10)).unwrap();
    db.execute(statement, []).unwrap();
}

/// Starts the gateway of a person with a year of messages, which ended [`QUIET`] ago, and many
/// notes.
pub async fn large_home(notes: usize, messages: usize, settings: &str) -> LargeHome {
    let home = tempfile::tempdir().unwrap();
    let clock = Arc::new(SystemClock::default());
    let folder = home.path().join("workspace/memory");
    std::fs::create_dir_all(&folder).unwrap();
    let scope = Scope::Person(PersonId(1));
    for note in 0..notes {
        let body: String =
            (0..8).map(|line| format!("{}\n", sentence((note * 8 + line) as u64, scope).open().0)).collect();
        let head = format!("---\nname: Note {note}\ndescription: {}\ntype: fact\n---\n\n", word(note as u64 % 5_000));
        std::fs::write(folder.join(format!("note-{note}.md")), format!("{head}{body}")).unwrap();
    }
    let config = with_settings(home.path(), 1, settings);
    let model = scripted(&clock);
    // Work in the background takes none of the answers that are made ready for the chat.
    let background = vec![scripted(&clock) as Arc<dyn Model>];
    let seams = Overrides { terminal_only: config.web.is_none(), background, ..with_model(&clock, Arc::clone(&model)) };
    let app = App::build(config.clone(), seams).await.unwrap();
    let year = Duration::from_hours(365 * 24) - QUIET;
    let apart = year / u32::try_from(messages / 2).unwrap();
    remember(&app.journal, messages, clock.now().minus(QUIET + year), apart, 200).await;
    // Closes the conversations and marks them as written down, as such old ones are.
    edit(home.path(), "UPDATE conversations SET written_down = 1, closed_at = last_at");
    app.start().await.unwrap();
    // The index is built in the background; what anything costs meanwhile is another figure.
    let owner = app.journal.read(|db| db.people().person(PersonId(1))).await.unwrap().unwrap();
    app.index.refresh(&Party::One(owner)).await.unwrap();
    LargeHome { folder: home, app, config, model }
}

async fn turns_with_memory(notes: usize, messages: usize, rounds: u32) {
    let home = large_home(notes, messages, OFF).await;
    let mut seat = Seat::take(&home.app, "P1").await;
    for n in 0..rounds.min(20) {
        seat.ask(format!("warm-{n}")).await;
    }
    let before = cpu();
    let mut times = Vec::new();
    for n in 0..rounds {
        times.push(seat.ask(format!("turn-{n}")).await);
    }
    let each = (cpu() - before) / rounds;
    line(&format!("turn at {notes} notes and {messages} messages (aim 5 ms CPU)"), times, Some(each));
    drop(seat);
    home.app.stop().await;
}

async fn crowd(people: usize, rounds: usize) {
    let home = tempfile::tempdir().unwrap();
    let clock = Arc::new(SystemClock::default());
    let app = App::build(config(home.path(), people), seams(&clock)).await.unwrap();
    app.start().await.unwrap();
    let mut seats = Vec::new();
    for n in 1..=people {
        seats.push(Seat::take(&app, &format!("P{n}")).await);
    }
    let count = seats.len();
    let (began, before) = (Instant::now(), cpu());
    let asking = seats.into_iter().enumerate().map(|(n, mut seat)| async move {
        for round in 0..rounds {
            seat.ask(format!("{n}-{round}")).await;
        }
    });
    futures::future::join_all(asking).await;
    let rate = (count * rounds) as f64 / began.elapsed().as_secs_f64();
    figure(&format!("turns per second, {count} streams"), format!("{rate:.0}"));
    let each = (cpu() - before) / u32::try_from(count * rounds).unwrap();
    figure("  CPU of each, client and all", format!("{:.1} ms", each.as_secs_f64() * 1000.0));
    app.stop().await;
}

async fn recall(messages: usize, questions: u32) {
    let home = tempfile::tempdir().unwrap();
    let clock = Arc::new(SystemClock::default());
    let app = App::build(config(home.path(), 1), seams(&clock)).await.unwrap();
    remember(&app.journal, messages, clock.now(), Duration::ZERO, usize::MAX).await;
    let mut times = Vec::new();
    let before = cpu();
    for n in 0..u64::from(questions) {
        let question = format!("{} {} {}", word(n * 7919 % 400), word(500 + n * 104_729 % 4_000), word(n * 31 % 9_000));
        let began = Instant::now();
        app.journal
            .read(move |db| crate::support::search::find(db, Scope::Person(PersonId(1)), &question, false, 6))
            .await
            .unwrap();
        times.push(began.elapsed());
    }
    line(&format!("recall at {messages} stored messages"), times, Some((cpu() - before) / questions));
    app.stop().await;
}

/// Past turns of the owner since a time, with that time between them, and `each` messages per
/// conversation: half of them theirs, half answers.
async fn remember(journal: &Journal, messages: usize, since: Timestamp, apart: Duration, each: usize) {
    let scope = Scope::Person(PersonId(1));
    for block in 0..messages.div_ceil(2).div_ceil(500) {
        let first = block * 500;
        let last = (first + 500).min(messages / 2);
        journal
            .write("prepare", move |tx| {
                let stream = tx.conversations().stream_for(PersonId(1))?;
                let address = tx.addresses().link(
                    &compline::people::Address::new("terminal", "local", "person-1"),
                    Some(PersonId(1)),
                    since,
                )?;
                let open = |at| {
                    let new = NewConversation {
                        stream,
                        kind: ConversationKind::Chat,
                        scope,
                        because: BoundaryReason::First,
                        at,
                    };
                    tx.conversations().open_conversation(&new)
                };
                let mut conversation = match tx.conversations().newest_conversation(stream)? {
                    Some(known) => known.id,
                    None => open(since)?,
                };
                for n in first..last {
                    let now = since.plus(apart * u32::try_from(n).unwrap());
                    if (n * 2).is_multiple_of(each) && n > 0 {
                        conversation = open(now)?;
                    }
                    let message = |person, kind, turn| NewMessage {
                        stream,
                        conversation: Some(conversation),
                        inbox: None,
                        address: Some(address),
                        person,
                        guest: None,
                        kind,
                        scope,
                        external_id: "",
                        album: "",
                        received_at: now,
                        server_at: None,
                        effective_at: now,
                        turn,
                    };
                    let said = tx.messages().add_message(&message(Some(PersonId(1)), MessageKind::Said, None))?;
                    tx.messages().add_text(said, TextKind::Said, &sentence(n as u64 * 2, scope))?;
                    let none: Text = Labelled::new(Arc::from(""), Label::trusted(), scope);
                    let turn = tx.turns().begin_turn(&NewTurn {
                        stream,
                        conversation,
                        person: Some(PersonId(1)),
                        address,
                        scope,
                        at: now,
                        context: &none,
                        recalled: &none,
                        label: &Label::trusted(),
                    })?;
                    tx.messages().claim(turn, &[said])?;
                    let step = tx.turns().begin_step(&NewStep {
                        turn,
                        seq: 0,
                        kind: StepKind::Model,
                        tool: "",
                        call: "",
                        label: &Label::trusted(),
                        scope,
                        at: now,
                    })?;
                    let answer = sentence(n as u64 * 2 + 1, scope);
                    tx.turns().finish_step(step, &answer, Some("[]"), "scripted", now)?;
                    let reply = tx.messages().add_message(&message(None, MessageKind::Reply, Some(turn)))?;
                    tx.messages().add_text(reply, TextKind::Said, &answer)?;
                    tx.messages().settle_turn(turn, MessageState::Answered, "")?;
                    tx.turns().end_turn(turn, TurnState::Done, "", now)?;
                    tx.conversations().count_message(conversation, said, now)?;
                }
                Ok(())
            })
            .await
            .unwrap();
    }
}

/// Twelve words, rare ones rarer: the k-th word of the list occurs about once in k times.
pub fn sentence(seed: u64, scope: Scope) -> Text {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut words = Vec::new();
    for _ in 0..12 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let share = (state % 1_000_000) as f64 / 1_000_000.0;
        words.push(word((10_000_f64.powf(share)) as u64));
    }
    Labelled::new(Arc::from(words.join(" ")), Label::trusted(), scope)
}

pub fn word(number: u64) -> String {
    const SYLLABLES: [&str; 12] = ["ka", "lo", "mi", "ra", "ten", "sul", "por", "vi", "nak", "de", "hu", "bel"];
    let mut rest = number + 12;
    let mut word = String::new();
    while rest > 0 {
        word.push_str(SYLLABLES[(rest % 12) as usize]);
        rest /= 12;
    }
    word
}
