//! A diary of a week with one forwarded message and one document on its second morning, and then a
//! life about other things: what the outside text does to the days after it.

use std::time::Duration;

use compline::model::{Purpose, Request};
use serde_json::json;

use crate::support::model::words;
use crate::support::pdf::pdf;
use crate::support::story::{ADA, EVE, Story, UNTRUSTED};

const HOUR: Duration = Duration::from_secs(3600);
/// Questions of that week before typed words and agreed texts counted as the person's own.
const BEFORE: i64 = 9;

/// What Ada types on a day at nine, with the time and the words that are to be set.
const WISHES: [(i64, &str, &str, &str); 8] = [
    (22, "remind me at 14:00 to ring the town hall", "2026-11-22 14:00", "ring the town hall"),
    (22, "remind me at 18:00 to buy tape", "2026-11-22 18:00", "buy tape"),
    (23, "remind me tomorrow at 10:00 to call Nora", "2026-11-24 10:00", "call Nora"),
    (24, "erinnere mich um 17:00 an den Tee", "2026-11-24 17:00", "den Tee"),
    (25, "remind me at 12:00 to order boxes", "2026-11-25 12:00", "order boxes"),
    (26, "remind me on Friday at 9:30 to pay the rent", "2026-11-27 09:30", "pay the rent"),
    (27, "remind me at 20:00 to water the leeks", "2026-11-27 20:00", "water the leeks"),
    (28, "remind me at 15:00 to hand over the key", "2026-11-28 15:00", "hand over the key"),
];
const TASK: &str = "Look at the plan and say what is next.";

fn requests(story: &Story, purpose: Purpose) -> Vec<Request> {
    story.background.requests().into_iter().filter(|request| request.purpose() == purpose).collect()
}

/// Promise (trust/week): One forwarded message and one document change nothing of the days after them:
/// what you type yourself is set unasked, what you agreed to is yours, and no mark stays.
#[tokio::test]
async fn a_week_after_outside_text_is_as_before() {
    let story = Story::with("[reflection]\nmin_messages = 1\ntell_owner = false\n").await;
    story.say(ADA, "hello, I move house in December").await;
    story.pass(21 * HOUR).await;
    for (day, typed, when, text) in WISHES {
        let is_second_day = day == 22 && typed.contains("14:00");
        if is_second_day {
            story.pass(24 * HOUR).await;
            story.model.says(&format!("{UNTRUSTED}A letter."));
            story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}the landlord says hello"));
            story.answered().await;
            story.model.says(&format!("{UNTRUSTED}A contract."));
            story.fake.sends_document(
                ADA,
                "contract.pdf",
                "application/pdf",
                &pdf(&[&format!("{UNTRUSTED}Rent: 900")]),
            );
            story.answered().await;
            story.model.calls("schedule", json!({ "cron": "0 17 * * *", "task": TASK }));
            story.say(ADA, "every day at 17:00 do the next thing of the plan").await;
            story.model.says("It is set.");
            story.say(ADA, "/yes 1").await;
        } else if typed != WISHES[1].1 {
            story.pass(24 * HOUR).await;
            story.model.calls("list_scheduled", json!({})).says("These.");
            story.say(ADA, "what is open?").await;
            assert!(story.model.last_prompt().contains(&format!(": {TASK}")), "{}", story.model.last_prompt());
        }
        story.model.calls("remind", json!({ "when": when, "text": text })).says("Set.");
        story.say(ADA, typed).await;
        assert_eq!(story.last_received_by(ADA), "Set.", "{typed}");
    }
    story.pass(30 * HOUR).await;

    let questions = story.count("SELECT count(*) FROM questions") + story.count("SELECT count(*) FROM keeps");
    println!("questions in that week: {BEFORE} before, {questions} now");
    assert_eq!(questions, 1, "only the task, whose words were the model's");
    assert_eq!(story.count("SELECT count(*) FROM reminders WHERE kind = 'reminder'"), 8);
    let told = story.received_by(ADA).join("\n");
    for (_, typed, _, text) in WISHES {
        assert!(told.contains(&format!("Reminder: {text}")), "{typed} was lost: {told}");
    }
    let runs = requests(&story, Purpose::Task);
    assert!(runs.len() >= 6, "{}", runs.len());
    for run in &runs {
        let prompt = words(run);
        assert!(prompt.contains(TASK) && !prompt.contains("<untrusted source"), "{prompt}");
    }
    let night: Vec<String> = [Purpose::Summary, Purpose::Reflection]
        .into_iter()
        .flat_map(|purpose| requests(&story, purpose))
        .filter(|request| request.label().is_trusted())
        .map(|request| words(&request))
        .collect();
    let told_at_night = |part: &str| night.iter().any(|text| text.contains(part));
    assert!(told_at_night("set, 2026-11-22 18:00 (UTC): buy tape)") || told_at_night("set: buy tape)"), "{night:?}");
    assert!(!night.iter().any(|text| text.contains(UNTRUSTED)), "{night:?}");
    let marked = "SELECT count(*) FROM turns t JOIN conversations c ON c.id = t.conversation_id
         WHERE c.kind = 'chat' AND t.label <> 'trusted' AND t.claimed_at > (SELECT min(effective_at) FROM messages WHERE external_id <> '') + 3 * 86400000";
    assert_eq!(story.count(marked), 0, "no mark stays");
    story.end().await;
}
