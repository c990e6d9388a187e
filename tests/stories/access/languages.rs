//! The language and time zone of each person: what they choose, and what their channel tells.

use std::time::Duration;

use serde_json::json;

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::story::{ADA, BEN, EVE, NOON, UNTRUSTED, canary};

on_every_channel! {
    stories:
        a_person_is_asked_and_answered_in_the_language_that_they_chose,
        a_member_who_chose_german_meets_no_english_sentence,
        memory_origins_deletions_and_exports_are_told_in_german,
        settings_are_shown_changed_and_refused,
        a_zone_that_a_person_chose_moves_what_recurs_and_is_the_one_of_the_prompt;
}

/// Lets the model ask Ada whether it may set a reminder, because she passed something on.
async fn is_asked(story: &Story) -> String {
    story.model.says("Noted.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter: the kettle leaks"));
    story.answered().await;
    story.model.calls("remind", json!({ "when": "2026-11-21 09:00", "text": "call Eve" }));
    story.say(ADA, &format!("remind me {}", canary(ADA))).await;
    story.last_received_by(ADA)
}

/// Promise (people/language): You are addressed in the language that you chose with `/settings`, or
/// else in that of your messenger: English, German or Spanish. The questions before something
/// leaves are in it too.
async fn a_person_is_asked_and_answered_in_the_language_that_they_chose(channel: TestChannel) {
    let mut story = channel.begin_story().await;
    story.say(ADA, "/settings language de").await;
    assert_eq!(story.last_received_by(ADA), "Ab jetzt schreibe ich dir auf Deutsch.");
    let question = is_asked(&story).await;
    for part in [
        "Soll ich dich am Samstag, 21. November 2026, 09:00 an \"call Eve\" erinnern?",
        "Ich frage, weil ich Text von außen gelesen habe (",
        "Antworte innerhalb eines Tages mit Ja, oder schick /yes 1, wenn du einverstanden bist.",
    ] {
        assert!(question.contains(part), "{part}: {question}");
    }
    assert!(story.model.last_prompt().contains("\n- Their language is German."), "{}", story.model.last_prompt());
    story.model.says("Done.");
    story.say(ADA, "/yes 1").await;
    let received = story.received_by(ADA);
    assert!(received.contains(&"Gut, das mache ich.".to_owned()), "{received:?}");
    story.restart().await;
    story.say(ADA, "/yes 1").await;
    assert!(story.last_received_by(ADA).starts_with("Dazu hast du schon ja gesagt."));
    story.say(BEN, "/yes 1").await;
    assert_eq!(story.last_received_by(BEN), "You were not asked a question with that number.");
    story.say(ADA, "/settings language auto").await;
    assert_eq!(story.last_received_by(ADA), "I write to you in English from now on.");
    story.say(BEN, &format!("hello {}", canary(BEN))).await;
    assert!(!story.model.last_prompt().contains("Their language"), "{}", story.model.last_prompt());
    story.end().await;
}

/// Promise (people/no-english): In a language that you chose, whatever the program itself says is
/// in it: reminders, refusals, hints after a mistyped command, and the answers of commands.
async fn a_member_who_chose_german_meets_no_english_sentence(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(BEN, "/settings language de").await;
    for (line, answers) in [
        ("/yes", &["Schreib es bitte so: /yes NUMBER; mit der Nummer der Frage; 10 oder new"][..]),
        ("/yes 7", &["Eine Frage mit dieser Nummer habe ich dir nicht gestellt."]),
        ("/remembr", &["Den Befehl /remembr kenne ich nicht. Meinst du /remember?"]),
        ("/whoami", &["Du bist Ben, Mitglied.", "Gespräch: gerade keines", "Gedächtnis: deine eigenen Notizen"]),
        ("/status", &["warten auf Antwort: nichts", "Ben: noch nichts gesagt", "Modell: "]),
        ("/trust", &["Gerade ist kein Gespräch offen"]),
        ("/reminders", &["Es gibt keine Erinnerungen."]),
        ("/reminders cancel 7", &["Eine Erinnerung oder Aufgabe 7 gibt es nicht."]),
        ("/usage", &["Noch wurde kein Modell benutzt."]),
        ("/resend", &["Nichts ist zurückgestellt."]),
        ("/conversations", &["Gespräche dieser Art gibt es noch nicht."]),
        ("/conversations 7", &["Ein Gespräch 7 gibt es nicht."]),
        ("/search Fahrrad", &["Nichts gefunden."]),
    ] {
        story.say(BEN, line).await;
        let received = story.last_received_by(BEN);
        assert!(answers.iter().all(|answer| received.contains(answer)), "{line}: {received}");
    }
    story.model.calls("remind", json!({ "when": "0 18 * * *", "text": "die Blumen" })).says("Notiert.");
    story.say(BEN, &format!("erinnere mich {}", canary(BEN))).await;
    story.say(BEN, "/reminders").await;
    let list = story.last_received_by(BEN);
    for part in
        ["Zeiten gelten für UTC.", "1 Erinnerung, als Nächstes heute 18:00, morgen 18:00, Sonntag 18:00 und so weiter"]
    {
        assert!(list.contains(part), "{part}: {list}");
    }
    story.pass(Duration::from_secs(6 * 3600 + 60)).await;
    assert_eq!(story.last_received_by(BEN), "Erinnerung: die Blumen");
    story.say(BEN, "/reminders done 1").await;
    assert_eq!(story.last_received_by(BEN), "Erledigt. Das nächste Mal: morgen 18:00.");
    story.say(BEN, "/reminders cancel 1").await;
    assert_eq!(story.last_received_by(BEN), "Erinnerung 1 ist gestrichen: die Blumen, morgen 18:00.");
    story.say(BEN, "/conversations").await;
    let list = story.last_received_by(BEN);
    assert!(list.contains("(12:00)") && list.contains("Ben schrieb 1 Nachricht, beendet 12:00"), "{list}");
    story.end().await;
}

/// Proves: people/no-english
async fn memory_origins_deletions_and_exports_are_told_in_german(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(BEN, "/settings language de").await;
    for (line, answers) in [
        ("/memory", &["Notizen: noch keine", "Heute: noch nichts", "Zusammen: "][..]),
        ("/remember Katze: Tom", &["Das merke ich mir (", "MEMORY.md, ", " von 64 KB ("]),
        (
            "/memory history MEMORY",
            &["Neuestes zuerst", "Fassung ", "12:00, von dir, mit einem Befehl", "steht jetzt da"],
        ),
        ("/memory history nothing", &["Eine solche Notiz gibt es nicht."]),
        (
            "/why Katze",
            &["„Katze: Tom“ steht in ", "Bekannt seit 12:00, von dir, mit einem Befehl", "Nichts von außen"],
        ),
        ("/why", &["Ich habe dir noch nicht geantwortet."]),
        ("/pending", &["Nichts wartet auf dich."]),
        ("/link", &["Dieser Code verbindet eine weitere Adresse mit dir, Ben. Er gilt einmal, für 10 Minuten."]),
        ("/forget Hund", &["Eine Notiz oder Tatsache namens Hund gibt es nicht"]),
        (
            "/forget Katze",
            &["Katze zu vergessen löscht: 1 Zeile", "Noch ist nichts gelöscht.", "Bleibt: ältere Sicherungen"],
        ),
    ] {
        story.say(BEN, line).await;
        let received = story.last_received_by(BEN);
        assert!(answers.iter().all(|answer| received.contains(answer)), "{line}: {received}");
    }
    let plan = story.last_received_by(BEN);
    let code: String = plan.split("/forget Katze ").nth(1).unwrap().chars().take(10).collect();
    story.say(BEN, &format!("/forget Katze {code}")).await;
    let told = story.last_received_by(BEN);
    for part in ["Vergessen: 1 Zeile", "Eine Suche danach findet nichts mehr.", "Ältere Sicherungen enthalten es noch"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    story.say(BEN, "/export").await;
    let received = story.received_by(BEN).join("\n");
    assert!(received.contains("Hier ist alles, was über dich gespeichert ist ("), "{received}");
    story.end().await;
}

/// Promise (people/settings): `/settings` shows your language and time zone, and changes them for
/// you alone; an unknown one is refused, with the one that you probably meant.
async fn settings_are_shown_changed_and_refused(channel: TestChannel) {
    let story = channel.begin_story().await;
    for (line, answer) in [
        ("/settings", "language: English"),
        (
            "/settings language Klingon",
            "I do not know the language Klingon. I know: en (English), de (Deutsch), es (Español).",
        ),
        ("/settings timezone Vienna", "Did you mean Europe/Vienna?"),
        ("/settings timezone Nowhere/At-all", "Write it as Area/City"),
        ("/settings colour red", "Please write it as: /settings [language CODE | timezone ZONE]"),
        ("/settings timezone Asia/Kathmandu", "Your time zone is Asia/Kathmandu now; it is 17:45 there."),
        ("/settings language Español", "Desde ahora te escribo en Español."),
        ("/settings", "zona horaria: Asia/Kathmandu, donde son las 17:45"),
        ("/settings timezone auto", "Tu zona horaria es ahora UTC; allí son las 12:00."),
    ] {
        story.say(ADA, line).await;
        assert!(story.last_received_by(ADA).contains(answer), "{line}: {}", story.last_received_by(ADA));
    }
    story.say(BEN, "/settings").await;
    let shown = story.last_received_by(BEN);
    assert!(shown.contains("language: English") && shown.contains("time zone: UTC, where it is 12:00"), "{shown}");
    story.end().await;
}

/// Proves: time/own-zone
async fn a_zone_that_a_person_chose_moves_what_recurs_and_is_the_one_of_the_prompt(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.calls("remind", json!({ "when": "0 9 * * *", "text": "the pills" })).says("Noted.");
    story.say(ADA, &format!("every day at nine {}", canary(ADA))).await;
    let comes_after = |hours: u64, minutes: u64| {
        let after = Duration::from_secs(hours * 3600 + minutes * 60);
        assert_eq!(story.count("SELECT next_at FROM reminders"), NOON.plus(after).0);
    };
    comes_after(21, 0);
    story.say(ADA, "/settings timezone Asia/Kathmandu").await;
    story.settle().await;
    comes_after(15, 15);
    story.say(ADA, &format!("and now? {}", canary(ADA))).await;
    assert!(story.model.last_prompt().contains("(Asia/Kathmandu)"), "{}", story.model.last_prompt());
    story.end().await;
}
