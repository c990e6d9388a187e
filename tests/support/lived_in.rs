//! An invented home that looks alive: Robin, the owner, and Ada, a member.

use std::time::Duration;

use compline::admin::backup::list::{BackupRow, add};
use compline::admin::health::{MODEL, PROGRAM};
use compline::admin::log::file_name;
use compline::config::Price;
use compline::id::PersonId;
use compline::model::{ModelInfo, Purpose};
use compline::people::{Address, Role};
use compline::reflection::SlotProgress;
use compline::store::{HealthState, MessageKind, MessageState, NewMessage, NewSlot, SeenTool, SlotState, Tx};
use compline::time::{Clock, Period, Span, Timestamp, Zone};
use compline::trust::{Label, Scope, Source};
use serde_json::{Value, json};

use super::browser::SERVED;
use super::channel::Channel;
use super::model::{Say, Scripted, usual};
use super::story::{ADA as ROBIN, BEN as ADA, EVE, StoryOver, skill};
use super::telegram::FakeTelegram;

/// A story on Telegram.
pub type Story = StoryOver<FakeTelegram>;

const HOUR: Duration = Duration::from_secs(3600);

fn settings() -> String {
    format!("{SERVED}[reflection]\nenabled = false\nmin_messages = 1\n[skills]\nby_hand = \"live\"\n")
}

/// Starts a home without a past.
pub async fn new() -> Story {
    let mut story = Story::prepared(&settings()).await;
    story.people_are(&[("Robin", "owner", ROBIN), ("Ada", "member", ADA)]);
    let price = Some(Price { input: 3_000_000, cached: 300_000, output: 15_000_000 });
    let card = |name: &str| ModelInfo {
        provider: "scripted".to_owned(),
        name: name.to_owned(),
        context_window: 100_000,
        max_output: 1_000,
        images: true,
        price,
    };
    story.model = Scripted::with_card(story.clock.clone(), card("large"));
    story.background = Scripted::with_card(story.clock.clone(), card("small"));
    story.start().await;
    story
}

/// Starts a home with a week behind it.
pub async fn lived_in() -> Story {
    let story = new().await;
    for (question, answer) in [
        (
            "What is in season now?",
            "Leeks, **savoy cabbage** and quinces. For two evenings:\n\n1. Leek tart\n2. Cabbage soup with caraway\n\n> Quinces keep until January if they do not touch.",
        ),
        (
            "The tart sounds good. What do I need?",
            "| What | How much |\n|---|---|\n| Leeks | 3 |\n| Cream | 200 ml |\n| Eggs | 2 |\n\nThe rest you have: see [the recipe](https://recipes.example/leek-tart).",
        ),
    ] {
        story.model.says(answer);
        story.say(ROBIN, question).await;
    }
    story.say(ROBIN, "/remember I do not like fennel.").await;
    story.say(ROBIN, "/remember The spare key is with the neighbours.").await;
    story.pass(20 * HOUR).await;
    story.say(ROBIN, "/new").await;
    called(
        &story,
        ROBIN,
        "Remind me to water the plants on Sunday at nine.",
        "remind",
        json!({ "when": "2026-11-22 09:00", "text": "Water the plants" }),
        "I will remind you on Sunday at 9:00.",
    )
    .await;
    called(
        &story,
        ROBIN,
        "Every Monday at seven, tell me what the week brings.",
        "schedule",
        json!({ "cron": "0 7 * * 1", "task": "Tell what the week brings" }),
        "I will, each Monday at 7:00.",
    )
    .await;
    called(
        &story,
        ROBIN,
        "Write down the measures of the kitchen.",
        "write_file",
        json!({ "path": "home/kitchen.md", "content": "# Kitchen\n\n- Wall: 3.42 m\n- Window: 1.20 m\n" }),
        "Written down.",
    )
    .await;
    story.model.says("*The Straight Story*, if it is to be a calm one: see [the programme](https://cinema.example/).");
    story.say(ADA, "Which film do we watch on Saturday?").await;
    called(
        &story,
        ADA,
        "Remind me of the tickets.",
        "remind",
        json!({ "when": "2026-11-28 18:00", "text": "Buy the tickets" }),
        "I will.",
    )
    .await;
    story.say(ADA, "/remember I have a piano lesson on Thursdays.").await;
    story.pass(26 * HOUR).await;
    story.say(ROBIN, "/new").await;
    let tea = skill(
        "weekly-plan",
        "Use when the week is planned.",
        "Ask for the guests first.\n\nThen write one line a day.",
    );
    let submitted = json!({ "name": "weekly-plan", "change": "create", "files": [{ "path": "SKILL.md", "content": tea }],
        "rationale": "It was asked for three Mondays in a row." });
    called(
        &story,
        ROBIN,
        "Remember how we plan the week.",
        "submit_skill",
        submitted,
        "I have proposed a skill for it.",
    )
    .await;
    for body in ["Write the list by shop.", "Write the list by shop, and what is at home below it."] {
        story.write_skill("market-list", "Use when the shopping is planned.", body);
        story.say(ROBIN, "/skills").await;
    }
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Reflection => Say::Text(reflection()),
        _ => usual(request),
    });
    reflect(&story).await;
    story.pass(HOUR).await;
    story
}

/// Starts a home with a week behind it and one of everything that pages show: a refused proposal, a
/// reflection that was missed, a stranger, a question, a text to keep, a note and files from
/// outside, an outside tool, files of each kind, a group, and three months of operation.
pub async fn everything() -> Story {
    let mut story = lived_in().await;
    // Nothing listens there.
    story.settings(&format!("{}[[mcp]]\nname = \"fake\"\nurl = \"http://127.0.0.1:9/mcp\"\n", settings()));
    story.restart().await;
    let party = skill("party", "Use when a party is planned.", "Sing.");
    let submitted = json!({ "name": "party", "change": "create", "files": [{ "path": "SKILL.md", "content": party }],
        "rationale": "It was asked for once." });
    called(&story, ROBIN, "Remember how we plan parties.", "submit_skill", submitted, "I have proposed it.").await;
    story.say(ROBIN, "/reject 2 It is too short.").await;
    story.writes("plans/guests.json", "{ \"guests\": [\"Nora\", \"Carl\"] }");
    story.writes("plans/prices.csv", "what;price\nleeks;2.40\n");
    std::fs::write(story.path_of("plans/picture.png"), include_bytes!("../../docs/images/page-proposal.png")).unwrap();
    story.writes("memory/pets.md", "# Pets\n\nCat: Tom\n");
    story.writes("memory/untrusted/recipe.md", "# Marzipan\n\nTen eggs.\n");
    story.writes("agents/reviewer/memory.md", "## Insights\n\n- **Tone**: calm (2026-11-01)\n");
    story.say(EVE, "May I come in?").await;
    let tool = SeenTool {
        name: "look".to_owned(),
        description: "Looks something up.".to_owned(),
        schema: json!({ "type": "object", "properties": { "what": { "type": "string" } } }).to_string(),
        digest: "1".to_owned(),
        label: Label::untrusted(Source::new("tool", "fake/look")),
    };
    let now = story.clock.now();
    let plant = move |tx: Tx<'_>| {
        tx.people().allow("Nora", Role::Member, "pairing", now)?;
        write_in_group(tx, now)?;
        tx.slots().claim_slot(&NewSlot {
            job: "daily",
            scope: Scope::Person(PersonId(1)),
            period: "2026-11-21",
            from: now,
            to: now,
            due_at: now,
            state: SlotState::Missed,
            reason: "the program was off",
            again: false,
            at: now,
        })?;
        tx.mcp_tools().saw_tools("fake", &[tool], now)
    };
    story.app().journal.write("plant", plant).await.unwrap();
    operate(&story).await;
    story.fake.passes_on(ROBIN, ADA, "look at this");
    story.answered().await;
    story.fake.sends_file(ROBIN, "list.txt", "milk");
    story.answered().await;
    let kept = json!({ "title": "Tea", "content": "Warm the pot.", "kind": "preference" });
    called(&story, ROBIN, "Remember what it says of tea.", "remember", kept, "Noted.").await;
    story.model.calls("remind", json!({ "when": "in 1 hour", "text": "Buy milk" }));
    story.say(ROBIN, "And remind me of it.").await;
    story
}

/// Adds a group in which Robin wrote.
fn write_in_group(tx: Tx<'_>, at: Timestamp) -> anyhow::Result<()> {
    let (stream, address) = tx.groups().stream_for_group(&Address::new("telegram", "bot", "-1001"), at)?;
    let message = tx.messages().add_message(&NewMessage {
        stream,
        conversation: None,
        inbox: None,
        address: Some(address),
        person: Some(PersonId(1)),
        guest: None,
        kind: MessageKind::Command,
        scope: Scope::Group(stream),
        external_id: "",
        album: "",
        received_at: at,
        server_at: None,
        effective_at: at,
        turn: None,
    })?;
    tx.messages().settle_message(message, MessageState::Answered, "").map(drop)
}

/// Problems of three hours: the days since, the part and its state.
const PROBLEMS: &[(u64, &str, HealthState)] = &[
    (75, PROGRAM, HealthState::Off),
    (62, MODEL, HealthState::Ill),
    (61, MODEL, HealthState::Ill),
    (50, "telegram", HealthState::Ill),
    (20, MODEL, HealthState::Ill),
    (7, "telegram", HealthState::Ill),
    (3, PROGRAM, HealthState::Off),
];

/// Adds what three months of operation leave: changes of health with problems, two backups, and a
/// log of two pages.
pub async fn operate(story: &Story) {
    let now = story.clock.now();
    let before = move |hours: u64| Timestamp(now.0 - i64::try_from(hours * 3_600_000).unwrap());
    let changes = move |tx: Tx<'_>| {
        let health = tx.health_changes();
        for part in [PROGRAM, MODEL, "telegram"] {
            health.record(part, HealthState::Well, before(85 * 24))?;
        }
        for (day, part, state) in PROBLEMS {
            health.record(part, *state, before(day * 24))?;
            health.record(part, HealthState::Well, before(day * 24 - 3))?;
        }
        Ok(())
    };
    story.app().journal.write("plant", changes).await.unwrap();
    for (day, has_config) in [(8, false), (1, true)] {
        let file = format!("/srv/backups/compline/a-folder-with-a-long-name/before-day-{day}.tgz").into();
        let row = BackupRow { made_at: before(day * 24), file, size: 48_234_496, files: 312, has_config };
        add(&story.config().home, row).unwrap();
    }
    let day = now.rfc3339().split('T').next().unwrap().to_owned();
    let mut log: String = (0..150)
        .map(|number| format!("{day}T00:00:00.000000Z  INFO compline::engine: Turn {number} is answered\n"))
        .collect();
    log.push_str(&format!("{day}T00:01:00.000000Z  WARN compline::http: {} is slow\n", "long".repeat(100)));
    log.push_str(&format!("{day}T00:02:00.000000Z ERROR compline::model: The model does not answer\n"));
    log.push_str("thread 'main' has overflowed its stack\n");
    let logs = story.home.join("logs");
    std::fs::create_dir_all(&logs).unwrap();
    std::fs::write(logs.join(file_name(&day)), log).unwrap();
}

/// Looks back on Robin's first day.
async fn reflect(story: &Story) {
    let at = story.clock.now();
    let day = Period::named(Span::Day, "2026-11-20").unwrap();
    let (from, to) = (day.begins(Zone::UTC), day.ends(Zone::UTC));
    let claim = move |tx: Tx<'_>| {
        tx.slots().claim_slot(&NewSlot {
            job: "daily",
            scope: Scope::Person(PersonId(1)),
            period: "2026-11-20",
            from,
            to,
            due_at: to,
            state: SlotState::Claimed,
            reason: "",
            again: true,
            at,
        })
    };
    let id = story.app().journal.write("claim a slot", claim).await.unwrap().unwrap();
    let slot = async || story.app().journal.read(move |db| db.slots().slot(id)).await.unwrap().unwrap();
    let reflector = story.app().schedule.reflector();
    while reflector.take_up(&slot().await).await.unwrap() != SlotProgress::Over {
        story.answered().await;
    }
    reflector.act().await.unwrap();
    story.answered().await;
}

fn reflection() -> String {
    let actions = json!([
        { "kind": "memory", "title": "Guests first", "why": "It was said while planning.",
          "text": "Robin wants to be asked for the guests before a week is planned." },
        { "kind": "other", "title": "Ask for the piano", "why": "It may be out of tune.", "text": "Ask when it was tuned." },
    ]);
    json!({ "title": "Planning the week", "observations": ["The week is planned by guests and shops."],
        "patterns": ["Lists are wanted by shop."], "proposed_actions": actions })
    .to_string()
}

async fn called(story: &Story, person: i64, question: &str, tool: &str, arguments: Value, answer: &str) {
    story.model.calls(tool, arguments).says(answer);
    story.say(person, question).await;
}
