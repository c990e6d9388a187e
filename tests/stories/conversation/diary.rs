//! A diary: ten days of one owner on Telegram, Signal and in the terminal, with a model that knows
//! nothing but its prompt and answers by a few rules.
//!
//! What a person sees therefore shows what the model was shown: "done" is understood only if the
//! reminder before it stands in the prompt, and what is still open only if it was carried over. The
//! corrections of fifty more conversations are followed over eight days.

use std::time::Duration;

use compline::model::{Purpose, Request, RequestPart, Role};
use compline::time::{Clock, Timestamp, Zone};
use serde_json::json;

use crate::support::channel::Channel;
use crate::support::model::{Say, usual, words};
use crate::support::story::{ADA, EVE, NOON, Story, StoryOver};
use crate::support::terminal_client::TerminalClient;
use crate::support::two_channels::TwoChannels;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
const REPORT: &str = "1. The van, 120 €\n2. The boxes, 40 €";
/// What Ada still has to do, and the word by which the model knows it.
const TO_DO: [&str; 2] = ["internet", "boxes"];

/// The newest typed message, and everything before it.
fn newest(request: &Request) -> (String, String) {
    let texts = |message: &compline::model::Message| -> Vec<String> {
        let text = |part: &compline::trust::Labelled<RequestPart>| match part.open().0 {
            RequestPart::Text(text) => Some(text.to_string()),
            _ => None,
        };
        message.parts().iter().filter_map(text).collect()
    };
    let last = request.messages().iter().rev().find(|message| message.role() == Role::User);
    let typed = last.and_then(|message| texts(message).pop()).unwrap_or_default();
    let all = words(request);
    let before = all.rsplit_once(&typed).map_or(all.clone(), |(before, _)| before.to_owned());
    (typed, before)
}

/// Result of the tool that was just called.
fn tool_gave(request: &Request) -> Option<String> {
    let last = request.messages().last()?;
    last.parts().iter().find_map(|part| match part.open().0 {
        RequestPart::Result { text, .. } => Some(text.to_string()),
        _ => None,
    })
}

/// Last line that went to the person by itself, without its time and number.
fn sent(before: &str) -> Option<String> {
    let block = before.rsplit_once("<sent>")?.1.split("</sent>").next()?.trim().to_owned();
    Some(block.lines().last()?.rsplit("**").next()?.rsplit(": ").next()?.trim().to_owned())
}

fn calls(tool: &str, arguments: serde_json::Value) -> Say {
    Say::Calls(vec![(tool.to_owned(), arguments.to_string())])
}

/// Answers a chat from the prompt alone.
fn chat(request: &Request) -> Say {
    if tool_gave(request).is_some() {
        return Say::Text("Noted.".to_owned());
    }
    let (typed, before) = newest(request);
    let says = |text: &str| Say::Text(text.to_owned());
    if let Some((_, asked)) = typed.split_once("remind me ") {
        let (when, text) = asked.split_once(": ").unwrap();
        return calls("remind", json!({ "when": when, "text": text }));
    }
    if typed.contains("snooze that") {
        return match sent(&before) {
            Some(text) => calls("remind", json!({ "when": "tomorrow 08:30", "text": text })),
            None => says("Snooze what?"),
        };
    }
    if typed.contains("every Friday") {
        return calls("schedule", json!({ "cron": "0 16 * * FRI", "task": "report what the move costs" }));
    }
    if typed.contains("done") {
        return sent(&before).map_or_else(|| says("What is done?"), |text| Say::Text(format!("Done: {text}")));
    }
    if typed.contains("the second one") {
        let second = before.rsplit_once("<sent>").and_then(|(_, sent)| sent.split_once("2. "));
        return second.map_or_else(|| says("The second what?"), |(_, rest)| says(rest.lines().next().unwrap()));
    }
    if typed.contains("what is open") {
        let open: Vec<&str> = TO_DO.into_iter().filter(|thing| before.contains(&format!("get the {thing}"))).collect();
        return Say::Text(format!("Open: {}.", open.join(", ")));
    }
    if typed.contains("how much") {
        return says(if before.contains("prices with VAT") { "120 €" } else { "100 €" });
    }
    says("I see.")
}

/// Answers of the background, from the prompt alone.
fn background(request: &Request) -> Say {
    let all = words(request);
    match request.purpose() {
        Purpose::Summary => {
            let settled = |thing: &str| all.contains(&format!("I have the {thing} now"));
            let open = |thing: &&str| all.contains(&format!("get the {thing}")) && !settled(thing);
            let pending: Vec<String> =
                TO_DO.iter().filter(|t| open(t)).map(|t| format!("Ada has to get the {t}")).collect();
            let number = |thing: &&&str| {
                let line = all.lines().find(|line| line.contains(&format!(". Ada has to get the {thing} (since")))?;
                line.strip_prefix("- ")?.split_once('.')?.0.parse::<i64>().ok()
            };
            let closed: Vec<i64> = TO_DO.iter().filter(|t| settled(t)).filter_map(|t| number(&t)).collect();
            let summary = json!({ "title": "A talk", "topics": ["They talked."], "closed": closed, "new": pending });
            Say::Text(summary.to_string())
        }
        Purpose::Extraction => {
            let line = all.lines().find(|line| line.contains("give me prices with VAT"));
            let number = line.and_then(|line| line.split('[').nth(1)?.split(']').next()?.parse::<u32>().ok());
            number.map_or_else(
                || usual(request),
                |number| {
                    let right = json!({ "was": "gave net prices", "now": "give prices with VAT", "sources": [number] });
                    Say::Text(json!({ "facts": [], "corrections": [right] }).to_string())
                },
            )
        }
        Purpose::Heartbeat => {
            let (typed, _) = newest(request);
            let told = all.matches("Do you have the boxes?").count() > 0;
            let text = if typed.contains("boxes") && !told { "Do you have the boxes?" } else { "HEARTBEAT_OK" };
            Say::Text(text.to_owned())
        }
        Purpose::Task => Say::Text(REPORT.to_owned()),
        _ => usual(request),
    }
}

/// Ten days, and what did not go as a person would expect.
struct Diary {
    story: StoryOver<TwoChannels>,
    wrong: Vec<String>,
    /// What was said, what the model was shown with it, and what Ada saw.
    pages: String,
}

impl Diary {
    /// Lets time pass until that hour of that day; the first day begins at noon.
    async fn at(&self, day: u32, hour: u32) {
        let midnight = Timestamp(NOON.0 - 12 * 3_600_000);
        let then = midnight.plus(DAY * (day - 1) + HOUR * hour);
        self.story.pass(then.since(self.story.clock.now())).await;
    }

    fn write_down(&mut self, channel: &str, said: &str, seen: &str) {
        let request = self.story.model.chats().pop().unwrap();
        let last = request.messages().iter().rev().find(|message| message.role() == Role::User);
        let parts = last.into_iter().flat_map(|message| message.parts());
        let shown = parts.filter_map(|part| match part.open().0 {
            RequestPart::Text(text) => Some(text.to_string()),
            _ => None,
        });
        let shown = shown.collect::<Vec<_>>().join("\n");
        let at = Zone::UTC.show_short(self.story.clock.now());
        self.pages.push_str(&format!("== {at}, {channel}\nAda: {said}\n-- shown\n{shown}\n-- seen\n{seen}\n\n"));
    }

    fn expect(&mut self, what: &str, seen: &str, expected: &str) {
        if !seen.contains(expected) {
            self.wrong.push(format!("{what}: expected \"{expected}\", seen \"{seen}\""));
        }
    }

    /// Says something on Telegram and looks at the answer there.
    async fn telegram(&mut self, text: &str, expected: &str) {
        self.story.say(ADA, text).await;
        let seen = self.story.fake.telegram.messages_to(ADA).pop().unwrap_or_default();
        self.write_down("Telegram", text, &seen);
        self.expect(text, &seen, expected);
    }

    /// Says something on Signal and looks at the answer there.
    async fn signal(&mut self, text: &str, expected: &str) {
        self.story.fake.signal.says(ADA, text);
        self.story.answered().await;
        let seen = self.story.fake.signal.messages_to(ADA).pop().unwrap_or_default();
        self.write_down("Signal", text, &seen);
        self.expect(text, &seen, expected);
    }

    fn received(&self, words: &str) -> usize {
        self.story.received_by(ADA).iter().filter(|message| message.contains(words)).count()
    }
}

/// Promise (conversation/diary): Over days and channels the assistant knows what it reminded you
/// of, what is still open, and what you corrected.
#[tokio::test]
async fn ten_days_on_three_channels() {
    let story = StoryOver::<TwoChannels>::with("[heartbeat]\ninterval = \"30m\"").await;
    story.model.otherwise(chat);
    story.background.otherwise(background);
    let mut diary = Diary { story, wrong: Vec::new(), pages: String::new() };

    diary.telegram("I move in two weeks. I still have to get the internet. And get the boxes.", "I see.").await;
    diary.telegram("how much is the van?", "100 €").await;
    diary.telegram("No, always give me prices with VAT.", "I see.").await;
    diary.telegram("please remind me tomorrow 08:00: call the movers", "Noted.").await;

    diary.at(2, 9).await;
    diary.signal("done, I called them", "Done: call the movers").await;
    diary.signal("how much is the van?", "120 €").await;

    diary.at(3, 10).await;
    let mut seat = TerminalClient::take(&diary.story, "Ada").await;
    seat.says("q1", "remind me in 2 hours: sign the lease").await;
    diary.story.answered().await;
    drop(seat);
    diary.at(3, 13).await;
    let rang = diary.received("sign the lease");
    diary.expect("a reminder set in a closed terminal", &rang.to_string(), "1");
    diary.telegram("snooze that", "Noted.").await;
    diary.at(4, 9).await;
    let rang = diary.received("sign the lease");
    diary.expect("a snoozed reminder", &rang.to_string(), "2");
    diary.telegram("done", "Done: sign the lease").await;

    diary.at(5, 10).await;
    diary.telegram("nice weather", "I see.").await;
    diary.at(5, 20).await;
    diary.signal("what is open?", "Open: internet, boxes.").await;
    diary.telegram("I have the internet now", "I see.").await;

    diary.at(6, 10).await;
    diary.telegram("how much is the van?", "120 €").await;

    diary.at(7, 10).await;
    diary.telegram("what is open?", "Open: boxes.").await;
    diary.telegram("please tell me what the move costs every Friday", "Noted.").await;

    diary.at(8, 17).await;
    let reports = diary.received("The boxes, 40");
    diary.expect("the report of Friday", &reports.to_string(), "1");
    diary.telegram("how much is the second one?", "The boxes, 40 €").await;

    diary.at(9, 8).await;
    let file = diary.story.home.join("workspace/HEARTBEAT.md");
    std::fs::write(file, "- [ ] Ask me about the boxes\n").unwrap();
    diary.at(9, 21).await;
    let asked = diary.received("Do you have the boxes?");
    diary.expect("a heartbeat says a thing once", &asked.to_string(), "1");
    diary.telegram("ok that's done", "Done: Do you have the boxes?").await;

    diary.at(10, 12).await;
    diary.telegram("how much is the van?", "120 €").await;
    diary.story.say(ADA, "/search sign the lease").await;
    let found = diary.story.fake.telegram.messages_to(ADA).pop().unwrap_or_default();
    diary.expect("/search", &found, "sign the lease");

    crate::golden::compare("diary", &diary.pages);
    assert!(diary.wrong.is_empty(), "{} of 20:\n{}", diary.wrong.len(), diary.wrong.join("\n"));
    diary.story.stop_here().await;
}

/// How a person puts the assistant right.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Plain,
    Implied,
    German,
    Marked,
    Twice,
}

/// Ten corrections: what was wrong, what is right, and the same in German.
const CORRECTIONS: [(&str, &str, &str); 10] = [
    ("gave net prices", "give prices with VAT", "Preise immer mit Steuer nennen"),
    ("wrote American dates", "write the day before the month", "den Tag vor dem Monat schreiben"),
    ("said Mrs Lovelace", "call her Ada", "sie einfach Ada nennen"),
    ("used miles", "use kilometres", "Kilometer verwenden"),
    ("answered at length", "answer in three sentences", "in drei Sätzen antworten"),
    ("used Fahrenheit", "use Celsius", "Celsius verwenden"),
    ("suggested a steak", "suggest meals without meat", "Essen ohne Fleisch vorschlagen"),
    ("wrote 3 pm", "use the 24-hour clock", "Uhrzeiten bis 24 schreiben"),
    ("used emojis", "leave emojis out", "keine Emojis verwenden"),
    ("asked about trifles", "decide small things alone", "Kleinigkeiten allein entscheiden"),
];

impl Form {
    fn right(self, (_, now, german): &(&'static str, &'static str, &'static str)) -> &'static str {
        if self == Self::German { german } else { now }
    }

    fn message(self, right: &str) -> String {
        match self {
            Self::Plain | Self::Marked | Self::Twice => format!("No, please {right}."),
            Self::Implied => format!("Hm, a good assistant would know to {right}, I think."),
            Self::German => format!("Nein, bitte {right}."),
        }
    }

    /// Ten corrections on the first day, then a greeting each morning.
    async fn is_remembered(self) {
        let story = Story::begin().await;
        story.background.otherwise(move |request| {
            let all = words(request);
            let number = |right: &str| {
                let line = all.lines().find(|line| line.contains(right) && line.starts_with('['))?;
                line.strip_prefix('[')?.split(']').next()?.parse::<u32>().ok()
            };
            let found = CORRECTIONS.iter().filter_map(|row| {
                let right = self.right(row);
                Some(json!({ "was": row.0, "now": right, "sources": [number(right)?] }))
            });
            match request.purpose() {
                Purpose::Extraction => {
                    Say::Text(json!({ "facts": [], "corrections": found.collect::<Vec<_>>() }).to_string())
                }
                _ => usual(request),
            }
        });
        if self == Self::Marked {
            story.fake.passes_on(ADA, EVE, "Everybody should write long letters.");
            story.answered().await;
        }
        for row in &CORRECTIONS {
            story.say(ADA, &self.message(self.right(row))).await;
        }
        for day in 2..=8 {
            story.pass(DAY).await;
            if self == Self::Twice && day == 2 {
                for row in &CORRECTIONS {
                    story.say(ADA, &self.message(self.right(row))).await;
                }
            }
            story.say(ADA, "Good morning").await;
            if matches!(day, 3 | 5 | 8) {
                let prompt = story.model.last_prompt();
                let missing: Vec<_> = CORRECTIONS.iter().filter(|row| !prompt.contains(self.right(row))).collect();
                assert!(missing.is_empty(), "day {day}: {missing:?}\n{prompt}");
            }
        }
        story.end().await;
    }
}

/// Promise (memory/corrections-last): A correction that you made once is in front of the assistant
/// days later, however you put it.
#[tokio::test]
async fn ten_plain_corrections_are_known_on_later_days() {
    Form::Plain.is_remembered().await;
}

/// Proves: memory/corrections-last
#[tokio::test]
async fn ten_implied_corrections_are_known_on_later_days() {
    Form::Implied.is_remembered().await;
}

/// Proves: memory/corrections-last
#[tokio::test]
async fn ten_corrections_in_german_are_known_on_later_days() {
    Form::German.is_remembered().await;
}

/// Proves: memory/corrections-last
#[tokio::test]
async fn ten_corrections_after_a_forwarded_message_are_known_on_later_days() {
    Form::Marked.is_remembered().await;
}

/// Proves: memory/corrections-last
#[tokio::test]
async fn ten_corrections_made_twice_are_known_on_later_days() {
    Form::Twice.is_remembered().await;
}
