//! Quotas: no one can use up the budget with voice notes, the owners' share, or the command queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use axum::routing::post;
use compline::model::{ModelError, Purpose};

use crate::support::channel::Channel;
use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::model::{Say, Scripted, usual};
use crate::support::story::{ADA, BEN, canary};

on_every_channel! {
    stories:
        a_voice_note_is_paid_for_by_the_servers_count_or_at_its_worst,
        a_voice_note_is_sent_again_after_an_error_that_passes,
        an_audio_file_is_written_down_or_kept,
        a_voice_note_over_the_budget_is_not_even_fetched,
        a_voice_note_over_budget_is_not_fetched_and_affects_no_one_else,
        messages_and_voice_notes_over_budget_are_refused_in_the_language_of_their_person,
        members_leave_the_owners_their_part_of_the_day,
        a_crashing_command_is_abandoned_and_delays_no_one_else,
        a_refused_summary_or_extraction_goes_to_no_other_model,
        a_forgetting_whose_words_cannot_be_read_is_not_called_done;
}

const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);
/// Reservation for a short voice note: 16 KiB at 750 bytes and 32 tokens a second.
const SHORT_NOTE: i64 = 22 * 32;

/// Transcription server that answers "Good morning" to anything and reports nearly seven seconds or
/// no duration.
struct TranscriptionServer {
    url: String,
    asked: Arc<AtomicUsize>,
}

impl TranscriptionServer {
    async fn opens(counts: bool) -> Self {
        Self::failing_first(0, counts).await
    }

    /// A server whose first answers are errors that pass.
    async fn failing_first(failures: usize, counts: bool) -> Self {
        let asked = Arc::new(AtomicUsize::new(0));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let usage = if counts { ",\"usage\":{\"type\":\"duration\",\"seconds\":6.5}" } else { "" };
        let answer = format!("{{\"text\":\"Good morning, house\"{usage}}}");
        let heard = Arc::clone(&asked);
        let hear = move || {
            let has_failed = heard.fetch_add(1, Ordering::SeqCst) < failures;
            let answer = answer.clone();
            async move { if has_failed { Err(StatusCode::SERVICE_UNAVAILABLE) } else { Ok(answer) } }
        };
        let routes = axum::Router::new().route("/v1/audio/transcriptions", post(hear));
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self { url, asked }
    }

    fn settings(&self) -> String {
        format!("[transcription]\nbase_url = \"{}\"\nname = \"whisper-1\"\n", self.url)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn fetched(story: &Story) -> usize {
    let fetches = |call: &&String| ["getfile", "getattachment"].contains(&call.to_lowercase().as_str());
    story.fake.calls().iter().filter(fetches).count()
}

/// Waits until `notes` voice notes are transcribed or refused.
async fn heard_out(story: &Story, notes: i64) {
    story.until(async || story.count("SELECT count(*) FROM attachments WHERE state = 'failed'") == notes).await;
    story.answered().await;
}

const HEARD: &str =
    "SELECT coalesce(group_concat(state || ' ' || person_id || ' ' || input_tokens || ' ' || micros, ', '), '')
     FROM spending WHERE purpose = 'transcription'";

/// Promise (models/voice-note): A voice note is charged to the budget, and is not even fetched if
/// the budget has no room for it.
async fn a_voice_note_is_paid_for_by_the_servers_count_or_at_its_worst(channel: TestChannel) {
    for (counts, price, paid) in [
        (true, "", format!("spent 1 {} 0", 7 * 32)),
        (false, "", format!("reserved 1 {SHORT_NOTE} 0")),
        (true, "price_per_minute = 0.006\n", format!("spent 1 {} 700", 7 * 32)),
    ] {
        let server = TranscriptionServer::opens(counts).await;
        let story = channel.story_with(&format!("{}{price}", server.settings())).await;
        story.fake.sends_voice(ADA, 3, b"la la la");
        heard_out(&story, 1).await;
        assert!(story.model.last_prompt().contains("Good morning, house"), "{}", story.model.last_prompt());
        assert_eq!((story.text(HEARD), server.asked()), (paid, 1));
        story.say(ADA, "/usage").await;
        assert!(
            story.last_received_by(ADA).contains("transcription, openai/whisper-1"),
            "{}",
            story.last_received_by(ADA)
        );
        story.end().await;
    }
}

/// Promise (models/voice-note-retry): A voice note is sent to its server up to four times before it
/// counts as not understood, and each attempt is charged to the budget.
async fn a_voice_note_is_sent_again_after_an_error_that_passes(channel: TestChannel) {
    for (failures, attempts) in [(2, 3), (usize::MAX, 4)] {
        let server = TranscriptionServer::failing_first(failures, true).await;
        let story = channel.story_with(&server.settings()).await;
        story.fake.sends_voice(ADA, 3, b"la la la");
        heard_out(&story, 1).await;
        assert_eq!(server.asked(), attempts);
        let heard = story.model.last_prompt().contains("Good morning, house");
        assert_eq!(heard, failures < attempts, "{}", story.model.last_prompt());
        let rows = story.count("SELECT count(*) FROM spending WHERE purpose = 'transcription' AND state = 'spent'");
        assert_eq!(rows, i64::try_from(attempts).unwrap());
        story.end().await;
    }
}

/// Promise (models/recordings): Audio files are written down like voice notes, and count as text
/// from outside. Without transcription every recording is kept, and the assistant says that it
/// cannot hear it.
async fn an_audio_file_is_written_down_or_kept(channel: TestChannel) {
    let server = TranscriptionServer::opens(true).await;
    for (settings, heard) in [(server.settings(), true), (String::new(), false)] {
        let story = channel.story_with(&settings).await;
        story.fake.sends_document(ADA, "talk.mp3", "audio/mpeg", b"ID3 la la la");
        story.answered().await;
        let prompt = story.model.last_prompt();
        let framed = "Content of a file they sent:\n<untrusted source=\"file:in1\">\nGood morning, house";
        assert_eq!(prompt.contains(framed), heard, "{prompt}");
        assert_eq!(prompt.contains("recordings cannot be heard here"), !heard, "{prompt}");
        assert!(
            prompt.contains("a recording named \"talk.mp3\"") && prompt.contains("kept as inbox/1-talk.mp3"),
            "{prompt}"
        );
        assert!(!story.model.chats().pop().unwrap().label().is_trusted());
        story.fake.sends_voice(ADA, 3, b"la la la");
        story.answered().await;
        let kept = story.text("SELECT path FROM attachments ORDER BY id DESC LIMIT 1");
        assert_eq!(std::fs::read(story.path_of(&kept)).unwrap(), b"la la la", "{kept}");
        story.end().await;
    }
    assert_eq!(server.asked(), 2);
}

/// Proves: models/voice-note
async fn a_voice_note_over_the_budget_is_not_even_fetched(channel: TestChannel) {
    let server = TranscriptionServer::opens(true).await;
    let story = channel.story_with(&format!("{}[budget]\nper_person_daily_tokens = 600\n", server.settings())).await;
    story.fake.sends_voice(ADA, 3, b"la la la");
    heard_out(&story, 1).await;
    let told = story.last_received_by(ADA);
    assert!(
        told.starts_with("I did not listen to your voice note") && told.contains("per_person_daily_tokens"),
        "{told}"
    );
    assert_eq!((fetched(&story), server.asked(), story.model.asked(), story.text(HEARD)), (0, 0, 0, String::new()));
    story.end().await;
}

/// Proves: models/voice-note
async fn a_voice_note_over_budget_is_not_fetched_and_affects_no_one_else(channel: TestChannel) {
    let server = TranscriptionServer::opens(true).await;
    let story = channel.story_with(&server.settings()).await;
    spend(&story, 2, 1_599_900);
    for (notes, person, told) in [(1, BEN, true), (2, ADA, false)] {
        story.fake.sends_voice(person, 3, b"la la la");
        heard_out(&story, notes).await;
        let sentence = "I did not listen to your voice note, because your share of today's budget is used up.";
        assert_eq!(story.last_received_by(person).starts_with(sentence), told, "{}", story.last_received_by(person));
    }
    assert_eq!((fetched(&story), server.asked()), (1, 1));
    story.end().await;
}

/// Proves: people/no-english
async fn messages_and_voice_notes_over_budget_are_refused_in_the_language_of_their_person(channel: TestChannel) {
    let server = TranscriptionServer::opens(true).await;
    let story = channel.story_with(&server.settings()).await;
    story.say(BEN, "/settings language de").await;
    spend(&story, 2, 1_599_900);
    story.fake.sends_voice(BEN, 3, b"la la la");
    heard_out(&story, 1).await;
    let reason = "weil dein Anteil am heutigen Budget aufgebraucht ist. Um Mitternacht beginnt es neu; ein Besitzer kann es in der \
                  Konfiguration erhöhen.";
    assert_eq!(story.last_received_by(BEN), format!("Ich habe deine Sprachnachricht nicht angehört, {reason}"));
    story.say(BEN, "und jetzt?").await;
    assert_eq!(story.last_received_by(BEN), format!("Ich habe nicht geantwortet, {reason}"));
    story.say(BEN, "/status").await;
    let status = story.last_received_by(BEN);
    assert!(status.contains("dein Anteil am heutigen Budget ist aufgebraucht; ich antworte wieder"), "{status}");
    assert_eq!((fetched(&story), server.asked(), story.model.asked()), (0, 0, 0));
    story.end().await;
}

/// Records tokens as spent by a person today.
fn spend(story: &Story, person: i64, tokens: i64) {
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    let sql = "INSERT INTO spending (person_id, scope, purpose, model, day, at, state, priced, input_tokens, output_tokens, micros)
         VALUES (?1, 'person:' || ?1, 'chat', 'm', '2026-11-20', 0, 'spent', 0, ?2, 0, 0)";
    db.execute(sql, [person, tokens]).unwrap();
}

/// Promise (models/owners-share): Members, groups and background work leave part of each day's
/// budget to the owners.
async fn members_leave_the_owners_their_part_of_the_day(channel: TestChannel) {
    let story = channel.story_with("[budget]\ndaily_tokens = 100000\nper_person_daily_tokens = 100000\n").await;
    story.say(BEN, &format!("hello {}", canary(BEN))).await;
    assert_eq!(story.last_received_by(BEN), "ok");
    spend(&story, 2, 79_500);
    story.say(BEN, "and now?").await;
    assert_eq!(
        story.last_received_by(BEN),
        "I did not answer, because the part of today's budget that is not kept for the owners is used up. It resets at midnight; an \
         owner can raise it in the configuration."
    );
    story.say(ADA, &format!("I decided to go on. {}", canary(ADA))).await;
    assert_eq!(story.last_received_by(ADA), "ok", "the rest is hers");
    story.pass(NEXT_CONVERSATION).await;
    assert_eq!(story.background.asked(), 0, "work that nobody waits for leaves it to her as well");
    story.end().await;
}

/// Promise (operation/crashing-command): A command that crashes is abandoned after three attempts,
/// you are told, and it delays no one else.
async fn a_crashing_command_is_abandoned_and_delays_no_one_else(channel: TestChannel) {
    let mut story = channel.prepare_story("");
    story.sick.store(true, Ordering::SeqCst);
    story.start().await;
    story.fake.says(ADA, "/status");
    story.say(BEN, "/whoami").await;
    assert_eq!(
        story.received_by(ADA),
        ["That command failed three times, so I will not try it again; the log has the details."]
    );
    assert!(story.last_received_by(BEN).contains("Ben"), "{}", story.last_received_by(BEN));
    let closed =
        "SELECT count(*) FROM messages WHERE kind = 'command' AND state = 'closed' AND reason = 'failed' AND tries = 4";
    assert_eq!(story.count(closed), 1);
    story.end().await;
}

/// Promise (models/refusal): If a model refuses to write a summary or record facts, no other model
/// is asked to do it.
async fn a_refused_summary_or_extraction_goes_to_no_other_model(channel: TestChannel) {
    for (error, asked) in [(ModelError::Refused, 0), (ModelError::NoCredit, 1)] {
        let mut story = channel.prepare_story("[memory]\nextract_every = 1");
        let second = Scripted::new(story.clock.clone());
        story.background_fallback = Some(Arc::clone(&second));
        story.background.otherwise(move |_| Say::Fail(error.clone()));
        second.otherwise(usual);
        story.start().await;
        let talk =
            "Today we went for a long walk along the river, and I decided to paint the boat green in the spring.";
        story.say(ADA, &format!("{talk} {talk} {}", canary(ADA))).await;
        story.pass(NEXT_CONVERSATION).await;
        story.say(ADA, "hello again").await;
        story.pass(Duration::from_secs(600)).await;
        for purpose in [Purpose::Summary, Purpose::Extraction] {
            let by = |model: &Scripted| model.requests().iter().filter(|r| r.purpose() == purpose).count();
            assert!(by(&story.background) > 0, "{purpose:?} was never wanted");
            assert_eq!(usize::from(by(&second) > 0), asked, "{purpose:?}");
        }
        story.end().await;
    }
}

/// Promise (forgetting/incomplete): A deletion that cannot be completed is never reported as done,
/// and nothing that may contain its words is written meanwhile.
async fn a_forgetting_whose_words_cannot_be_read_is_not_called_done(channel: TestChannel) {
    let mut story = channel.begin_story().await;
    story.say(ADA, &format!("I decided to buy a yellow submarine. {}", canary(ADA))).await;
    story.stop().await;
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    let sql = "INSERT INTO forgettings (person_id, kind, target, needles, messages, state, label, scope, wanted_at)
         VALUES (1, 'said', 'yellow submarine', ?1, 0, ?2, 'trusted', 'person:1', 0)";
    for state in ["wanted", "left"] {
        db.execute(sql, ["torn [", state]).unwrap();
    }
    story.start().await;
    story.pass(NEXT_CONVERSATION).await;
    story.say(ADA, "hello again").await;
    story.pass(NEXT_CONVERSATION).await;
    assert_eq!(story.text("SELECT group_concat(state) FROM forgettings"), "wanted,left");
    let kept = "SELECT count(*) FROM summaries WHERE title || topics || decisions LIKE '%submarine%'";
    assert_eq!(story.count(kept), 0, "what may be forgotten is not written down");
    story.say(ADA, "/forget 1").await;
    assert!(story.last_received_by(ADA).contains("is not finished"), "{}", story.last_received_by(ADA));
    story.end().await;
}
