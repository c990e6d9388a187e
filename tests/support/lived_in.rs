//! An invented home that looks alive: Robin, the owner, and Ada, a member.

use std::time::Duration;

use compline::config::Price;
use compline::id::PersonId;
use compline::model::{ModelInfo, Purpose};
use compline::reflection::SlotProgress;
use compline::store::{NewSlot, SlotState, Tx};
use compline::time::{Clock, Period, Span, Zone};
use compline::trust::Scope;
use serde_json::{Value, json};

use super::browser::SERVED;
use super::model::{Say, Scripted, usual};
use super::story::{ADA as ROBIN, BEN as ADA, StoryOver, skill};
use super::telegram::FakeTelegram;

/// A story on Telegram.
pub type Story = StoryOver<FakeTelegram>;

const HOUR: Duration = Duration::from_secs(3600);

/// Starts a home without a past.
pub async fn new() -> Story {
    let settings = "[reflection]\nenabled = false\nmin_messages = 1\n[skills]\nby_hand = \"live\"\n";
    let mut story = Story::prepared(&format!("{SERVED}{settings}")).await;
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
