//! The Telegram adapter over real HTTP: receiving, confirming, sending, and failures of sends.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use compline::adapter::telegram::Telegram;
use compline::adapter::{Adapter, Batch, MenuEntry, OutgoingPart, PartFormat, PollError, SendError, Typing};
use compline::config;
use compline::id::PersonId;
use compline::message::{Event, FetchFileError, Inbound, Outbound, Quote};
use compline::people::Role;
use compline::time::{Clock, SimulatedClock, SystemClock, Timestamp};
use compline::trust::{Label, Labelled, Scope, Source};
use secrecy::SecretString;
use serde_json::json;

use crate::support::telegram::{FakeTelegram, Fault};

#[path = "telegram/groups.rs"]
mod groups;

const ADA: i64 = 7;
const START: Timestamp = Timestamp(1_795_000_000_000);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// A fake server on our clock, Ada as a known person, and the adapter.
struct Scene {
    fake: FakeTelegram,
    clock: Arc<SimulatedClock>,
    bot: Telegram,
}

impl Scene {
    async fn new() -> Self {
        let fake = FakeTelegram::start().await;
        let clock = Arc::new(SimulatedClock::new(START));
        let ours = clock.clone();
        fake.set_now(Arc::new(move || ours.now().0));
        fake.strict(true);
        fake.person(ADA, "Ada", Some("ada"));
        let bot = bot(&fake, fake.token(), clock.clone());
        Self { fake, clock, bot }
    }

    /// The scene after a confirmed message from Ada.
    async fn acquainted() -> (Self, String) {
        let scene = Self::new().await;
        scene.fake.says(ADA, "Hello");
        let cursor = scene.next(None).await.cursor.unwrap();
        (scene, cursor)
    }

    async fn next(&self, cursor: Option<&str>) -> Batch {
        self.bot.next(cursor).await.unwrap()
    }

    async fn send(&self, text: &str) -> Result<String, SendError> {
        self.bot.send("7", &piece(text), PartFormat::Rich).await
    }

    fn pass(&self, span: Duration) {
        self.clock.set(self.clock.now().plus(span));
    }

    /// Parses the next batch.
    async fn hears(&self, cursor: Option<&str>) -> Vec<Inbound> {
        self.next(cursor).await.items.iter().map(|raw| self.bot.parse(raw).unwrap()).collect()
    }

    /// Journal ids of a batch.
    fn names(&self, batch: &Batch) -> Vec<String> {
        batch.items.iter().map(|raw| self.bot.parse(raw).unwrap().external_id).collect()
    }
}

fn bot(fake: &FakeTelegram, token: &str, clock: Arc<dyn Clock>) -> Telegram {
    bot_with(fake, token, None, clock)
}

/// A bot of a server that keeps files on this computer.
fn bot_with(fake: &FakeTelegram, token: &str, files_dir: Option<&Path>, clock: Arc<dyn Clock>) -> Telegram {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = config::Telegram {
        token: SecretString::from(token),
        api_url: fake.url(),
        files_dir: files_dir.map(Path::to_owned),
        delivery: config::TelegramDelivery::Polling,
    };
    Telegram::new(&config, clock).unwrap()
}

fn piece(text: &str) -> OutgoingPart {
    OutgoingPart { rich: format!("<b>{text}</b>"), plain: text.to_owned(), ..OutgoingPart::default() }
}

/// Fails if a text for a log or a person contains the secret half of the token or our address.
fn assert_clean(words: &str, fake: &FakeTelegram) {
    let secret = fake.token().split_once(':').unwrap().1;
    assert!(!words.contains(secret) && !words.contains("http"), "{words}");
}

/// Proves: operation/watchdog
#[tokio::test]
async fn a_bot_that_neither_receives_nor_fails_is_stalled() {
    let scene = Scene::new().await;
    let health = |after: u64| {
        scene.clock.set(START.plus(Duration::from_secs(after)));
        scene.bot.health()
    };
    assert!(health(0).is_connecting);
    scene.fake.says(ADA, "so that no poll is held");
    scene.next(None).await;
    assert_eq!([health(300).is_stalled, health(301).is_stalled], [false, true]);
    assert!(health(301).problem.is_some());
    // A failure comes from an attempt: nothing hangs, and a restart would not help.
    scene.fake.fault("getUpdates", Fault::ServerError, 1);
    assert!(scene.bot.next(None).await.is_err());
    let failing = health(600);
    assert!(failing.problem.is_some() && !failing.is_stalled);
    assert!(health(602).is_stalled);
}

#[tokio::test]
async fn connecting_learns_the_account_and_removes_a_webhook() {
    let scene = Scene::new().await;
    scene.fake.set_webhook("https://elsewhere.example/hook");
    scene.fake.says(ADA, "waiting");
    assert_eq!(scene.bot.next(None).await, Err(PollError::Conflict));
    scene.bot.connect().await.unwrap();
    assert_eq!(scene.bot.account(), scene.fake.bot_id().to_string());
    assert_eq!(scene.next(None).await.items.len(), 1, "what waited is kept");
}

#[tokio::test]
async fn a_wrong_token_is_reported_without_showing_it() {
    let scene = Scene::new().await;
    let wrong = bot(&scene.fake, "42:wrong-but-secret", scene.clock.clone());
    assert_eq!(wrong.connect().await, Err(PollError::BadToken));
    let trouble = wrong.health().problem.unwrap();
    assert!(trouble.contains("BotFather") && !trouble.contains("secret"), "{trouble}");
}

#[tokio::test]
async fn nothing_is_confirmed_before_the_cursor_comes_back() {
    let scene = Scene::new().await;
    scene.fake.says(ADA, "one");
    scene.fake.says(ADA, "two");
    let first = scene.next(None).await;
    let again = scene.next(None).await;
    assert_eq!(first.items, again.items, "a batch that was not stored comes again");
    assert_eq!((first.items.len(), scene.fake.acked_count()), (2, 0));
    scene.fake.says(ADA, "three");
    let after = scene.next(first.cursor.as_deref()).await;
    assert_eq!((after.items.len(), scene.fake.acked_count()), (1, 2));
    let (before, after) = (scene.names(&first), scene.names(&after));
    assert!(after.iter().all(|name| !before.contains(name)));
}

#[tokio::test]
async fn a_raw_update_keeps_what_no_library_knows() {
    let scene = Scene::new().await;
    scene.fake.unknown_kind();
    let batch = scene.next(None).await;
    assert!(batch.items[0].contains("hologram_call"), "{:?}", batch.items);
    assert_eq!(scene.bot.parse(&batch.items[0]).unwrap().event, Event::Irrelevant);
}

#[tokio::test]
async fn after_a_quiet_week_lower_numbers_are_heard() {
    let (scene, cursor) = Scene::acquainted().await;
    scene.pass(DAY * 8);
    scene.fake.jump_update_ids(-500);
    scene.fake.says(ADA, "back again");
    let batch = scene.next(Some(&cursor)).await;
    assert_eq!(scene.fake.last_offset(), None);
    assert!(batch.items.iter().any(|raw| raw.contains("back again")), "{:?}", batch.items);
    // The cursor is new: the next poll confirms, and loses no update with a lower number.
    scene.fake.says(ADA, "and more");
    let after = scene.next(batch.cursor.as_deref()).await;
    assert!(scene.fake.last_offset().is_some());
    assert!(after.items.iter().any(|raw| raw.contains("and more")), "{:?}", after.items);
    assert!(!after.items.iter().any(|raw| raw.contains("back again")), "{:?}", after.items);
}

#[tokio::test]
async fn a_cursor_of_five_days_still_counts() {
    let (scene, cursor) = Scene::acquainted().await;
    scene.pass(DAY * 5);
    scene.fake.says(ADA, "next");
    assert_eq!(scene.next(Some(&cursor)).await.items.len(), 1);
    assert_eq!(scene.fake.acked_count(), 1);
}

#[tokio::test]
async fn polling_errors_are_distinguished_and_reflected_in_the_health() {
    let scene = Scene::new().await;
    assert!(scene.bot.health().problem.is_some(), "nothing was heard yet");
    scene.fake.fault("getUpdates", Fault::Conflict, 1);
    assert_eq!(scene.bot.next(None).await, Err(PollError::Conflict));
    assert!(scene.bot.health().problem.unwrap().contains("Another program"));
    for fault in [Fault::ServerError, Fault::MalformedJson, Fault::DropBeforeAccept, Fault::DropAfterAccept] {
        scene.fake.says(ADA, "so that no poll is held");
        scene.fake.fault("getUpdates", fault, 1);
        let error = scene.bot.next(None).await.unwrap_err();
        assert!(matches!(error, PollError::Unreachable(_)), "{fault:?}: {error:?}");
        assert_clean(&format!("{error:?} {error}"), &scene.fake);
    }
    assert!(scene.bot.health().problem.unwrap().contains("cannot be reached"));
    scene.pass(DAY);
    scene.next(None).await;
    let health = scene.bot.health();
    assert_eq!((health.problem, health.last_event_at), (None, Some(START.plus(DAY))));
    scene.pass(Duration::from_secs(301));
    assert!(scene.bot.health().problem.is_some(), "a poll that never ends is no health");
}

#[tokio::test]
async fn a_message_is_sent_as_html_without_preview_and_a_reply_names_it() {
    let (scene, cursor) = Scene::acquainted().await;
    let name = scene.send("Good evening https://example.org").await.unwrap();
    let sent = scene.fake.sent(ADA).remove(0);
    assert_eq!(sent.text, "Good evening https://example.org");
    assert_eq!(sent.entities[0]["type"], "bold");
    assert!(sent.link_preview_disabled);
    scene.fake.replies(ADA, sent.message_id, "Thanks");
    let batch = scene.next(Some(&cursor)).await;
    let Event::Message(said) = scene.bot.parse(&batch.items[0]).unwrap().event else { unreachable!() };
    assert!(matches!(said.quote, Some(Quote::Message { external_id, .. }) if external_id == name));
}

#[tokio::test]
async fn refused_markup_is_reported_and_the_plain_text_goes_through() {
    let (scene, _) = Scene::acquainted().await;
    scene.fake.reject_markup_next(1);
    assert_eq!(scene.send("Hi").await, Err(SendError::BadMarkup));
    let broken = OutgoingPart { rich: "<b>open".to_owned(), plain: "a < b & c".to_owned(), ..OutgoingPart::default() };
    assert_eq!(scene.bot.send("7", &broken, PartFormat::Rich).await, Err(SendError::BadMarkup));
    scene.bot.send("7", &broken, PartFormat::Plain).await.unwrap();
    assert_eq!(scene.fake.texts(ADA), ["a < b & c"]);
}

#[tokio::test]
async fn a_lost_answer_is_unclear_and_a_closed_door_is_not() {
    let (scene, _) = Scene::acquainted().await;
    for fault in [Fault::DropAfterAccept, Fault::MalformedJson, Fault::DropBeforeAccept, Fault::ServerError] {
        scene.fake.fault("sendMessage", fault, 1);
        let error = scene.send("once").await.unwrap_err();
        assert!(matches!(error, SendError::OutcomeUnknown(_)), "{fault:?}: {error:?}");
        assert_clean(&format!("{error:?} {error}"), &scene.fake);
    }
    assert_eq!(scene.fake.texts(ADA).len(), 2, "two of the four had arrived");
    scene.fake.stop();
    let fresh = bot(&scene.fake, scene.fake.token(), scene.clock.clone());
    let error = fresh.send("7", &piece("never"), PartFormat::Rich).await.unwrap_err();
    assert!(matches!(error, SendError::Later(_)), "{error:?}");
    assert_clean(&format!("{error:?} {error}"), &scene.fake);
}

#[tokio::test]
async fn a_chat_that_asked_to_wait_is_left_alone_by_everything() {
    let (scene, _) = Scene::acquainted().await;
    let name = scene.send("first").await.unwrap();
    scene.fake.person(8, "Ben", None);
    scene.fake.says(8, "Hi");
    scene.fake.flood(ADA, 7);
    assert_eq!(scene.send("second").await, Err(SendError::Wait(Duration::from_secs(7))));
    let calls = scene.fake.calls().len();
    scene.pass(Duration::from_millis(6_999));
    let rest = SendError::Wait(Duration::from_millis(1));
    assert_eq!(scene.send("second").await, Err(rest.clone()));
    assert_eq!(scene.bot.edit("7", &name, &piece("x"), PartFormat::Rich).await, Err(rest));
    scene.bot.typing("7", Typing::Started).await;
    assert_eq!(scene.fake.calls().len(), calls, "nothing touched the network");
    scene.bot.send("8", &piece("to Ben"), PartFormat::Rich).await.unwrap();
    scene.pass(Duration::from_millis(1));
    scene.send("second").await.unwrap();
    scene.bot.typing("7", Typing::Started).await;
    assert_eq!((scene.fake.texts(ADA), scene.fake.typing(ADA)), (vec!["first".into(), "second".into()], 1));
    assert!(scene.fake.violations().is_empty(), "{:?}", scene.fake.violations());
}

#[tokio::test]
async fn a_blocking_or_unknown_recipient_counts_as_blocked() {
    let (scene, _) = Scene::acquainted().await;
    assert!(matches!(scene.bot.send("999", &piece("x"), PartFormat::Rich).await, Err(SendError::Blocked(_))));
    scene.fake.block(ADA);
    assert!(matches!(scene.send("x").await, Err(SendError::Blocked(_))));
    scene.fake.unblock(ADA);
    let long = OutgoingPart { plain: "x".repeat(4097), ..piece("") };
    assert!(matches!(scene.bot.send("7", &long, PartFormat::Plain).await, Err(SendError::Refused(_))));
}

#[tokio::test]
async fn an_edit_that_changes_nothing_succeeds_and_one_of_nothing_is_gone() {
    let (scene, _) = Scene::acquainted().await;
    let name = scene.send("draft").await.unwrap();
    let edit = async |name: &str, text: &str| scene.bot.edit("7", name, &piece(text), PartFormat::Rich).await;
    let calls = scene.fake.calls().len();
    assert_eq!(edit(&name, "draft").await, Ok(()));
    assert_eq!(scene.fake.calls().len(), calls, "what is shown is not sent again");
    let restarted = bot(&scene.fake, scene.fake.token(), scene.clock.clone());
    assert_eq!(restarted.edit("7", &name, &piece("draft"), PartFormat::Rich).await, Ok(()));
    assert_eq!(scene.fake.calls().len(), calls + 1, "after a restart Telegram says that it is the same");
    assert_eq!(edit(&name, "final").await, Ok(()));
    assert_eq!(scene.fake.texts(ADA), ["final"]);
    for gone in ["m7:1", "m7:4000", "m8:1", "nonsense"] {
        assert_eq!(edit(gone, "x").await, Err(SendError::NotFound), "{gone}");
    }
    scene.fake.drop_after_accept_next(1);
    assert!(matches!(edit(&name, "lost").await, Err(SendError::OutcomeUnknown(_))));
    assert_eq!(edit(&name, "final").await, Ok(()));
    assert_eq!(scene.fake.texts(ADA), ["final"], "what it shows was not known any more");
}

#[tokio::test]
async fn buttons_stand_under_the_last_part_and_a_press_is_heard() {
    let (scene, cursor) = Scene::acquainted().await;
    let text = "word ".repeat(1500);
    let me = Scope::Person(PersonId(1));
    let outbound = Outbound {
        text: Labelled::new(text.into(), Label::trusted(), me),
        buttons: vec![("Yes".to_owned(), "yes 4".to_owned())],
        unanswered: false,
    };
    let pieces = scene.bot.render(&outbound);
    assert!(pieces.len() > 1);
    for piece in &pieces {
        scene.bot.send("7", piece, PartFormat::Rich).await.unwrap();
    }
    let sent = scene.fake.sent(ADA);
    let (last, rest) = sent.split_last().unwrap();
    assert_eq!(last.buttons(), [("Yes".to_owned(), "yes 4".to_owned())]);
    assert!(rest.iter().all(|sent| sent.buttons().is_empty()));
    scene.fake.presses(ADA, last.message_id, "yes 4");
    let batch = scene.next(Some(&cursor)).await;
    let Event::Button { data, callback } = scene.bot.parse(&batch.items[0]).unwrap().event else { unreachable!() };
    scene.bot.acknowledge_button(&callback).await;
    assert_eq!(data, "yes 4");
    assert_eq!(scene.fake.callback_answers().len(), 1);
}

#[tokio::test]
async fn addresses_hide_behind_words_only_in_a_trusted_text() {
    let scene = Scene::new().await;
    let render = |label| {
        let text = Labelled::new("[here](https://example.org/x)".into(), label, Scope::Shared);
        scene.bot.render(&Outbound { text, buttons: Vec::new(), unanswered: false }).remove(0).rich
    };
    assert!(render(Label::trusted()).contains("href"));
    let bare = render(Label::untrusted(Source::web("example.org")));
    assert!(!bare.contains("href") && bare.contains("https://example.org/x"), "{bare}");
}

#[tokio::test]
async fn a_file_is_fetched_within_its_limit() {
    let scene = Scene::new().await;
    let id = scene.fake.file(b"some bytes");
    assert_eq!(scene.bot.fetch(&id, 10).await, Ok(b"some bytes".to_vec()));
    assert_eq!(scene.bot.fetch(&id, 9).await, Err(FetchFileError::TooLarge));
    assert_eq!(scene.bot.fetch("unknown", 10).await, Err(FetchFileError::NotFound));
    scene.fake.stop();
    let Err(FetchFileError::Later(why)) = scene.bot.fetch(&id, 10).await else { unreachable!() };
    assert_clean(&why, &scene.fake);
}

/// Promise (files/local-server): The files of a local Bot API server are read within `telegram.files_dir`,
/// and nothing else of the computer.
#[tokio::test]
async fn a_file_of_a_local_server_is_read_within_its_folder() {
    let scene = Scene::new().await;
    let id = scene.fake.file(b"some bytes");
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bot = |files_dir| bot_with(&scene.fake, scene.fake.token(), files_dir, Arc::new(SystemClock::default()));
    scene.fake.keeps_files_in(folder.path());
    let within = bot(Some(folder.path()));
    assert_eq!(within.fetch(&id, 10).await, Ok(b"some bytes".to_vec()));
    assert_eq!(within.fetch(&id, 9).await, Err(FetchFileError::TooLarge));
    for elsewhere in [None, Some(other.path())] {
        assert_eq!(bot(elsewhere).fetch(&id, 10).await, Err(FetchFileError::NotFound), "{elsewhere:?}");
    }
    std::os::unix::fs::symlink(folder.path(), other.path().join("link")).unwrap();
    scene.fake.keeps_files_in(&other.path().join("link"));
    assert_eq!(bot(Some(other.path())).fetch(&id, 10).await, Err(FetchFileError::NotFound), "a link leads out");
}

#[tokio::test]
async fn menus_are_for_those_who_are_known() {
    let (scene, _) = Scene::acquainted().await;
    let entry = |name: &str, role| MenuEntry { name: name.to_owned(), description: "does it".to_owned(), role };
    let commands = [entry("help", Role::Member), entry("people", Role::Owner)];
    let peers = [("999", Role::Member), ("7", Role::Owner)].map(|(peer, role)| (peer.to_owned(), role));
    scene.bot.register_menu(&commands, &peers).await;
    let menus = scene.fake.commands();
    assert!(menus.get("default").is_none_or(Vec::is_empty));
    let of = |name: &str| (name.to_owned(), "does it".to_owned());
    assert_eq!(menus.get("chat:7"), Some(&vec![of("help"), of("people")]));
}

#[tokio::test]
async fn every_kind_of_telegram_message_is_parsed() {
    let scene = Scene::new().await;
    let eve = scene.fake.person(9, "Eve", None);
    scene.fake.sends_photo(ADA, "My cat", b"jpeg");
    scene.fake.sends_voice(ADA, 3, b"ogg");
    scene.fake.sends_sticker(ADA, "👍");
    scene.fake.album(ADA, "Two", &[b"a", b"b"]);
    scene.fake.forwards(ADA, eve, "theirs");
    scene.fake.from(ADA).text("why?").external_quote("Eve", "their words").send();
    scene.fake.update(json!({"message": null}));
    let batch = scene.next(None).await;
    let words: Vec<String> = batch
        .items
        .iter()
        .map(|raw| match scene.bot.parse(raw).unwrap().event {
            Event::Message(said) => {
                let album = if said.album.is_some() { " album" } else { "" };
                let quote = if said.quote.is_some() { " quote" } else { "" };
                format!("{:?} {} {}{album}{quote}", said.origin, said.text, said.files.len())
            }
            other => format!("{other:?}"),
        })
        .collect();
    let expected = [
        "Typed My cat 1",
        "Typed  1",
        "Typed 👍 0",
        "Typed Two 1 album",
        "Typed  1 album",
        "Forwarded theirs 0",
        "Typed why? 0 quote",
        "Irrelevant",
    ];
    assert_eq!(words, expected);
}
