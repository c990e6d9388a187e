//! One value per key, in one place: a new value replaces the old one wherever it was.

use compline::model::Purpose;
use compline::time::{Clock, Zone};
use serde_json::{Value, json};

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::model::{Say, usual, words};
use crate::support::story::{ADA, EVE, UNTRUSTED};

on_every_channel! {
    stories:
        a_new_value_replaces_the_old_one_from_any_source_and_in_any_place,
        a_duplicated_key_is_reduced_to_one_value,
        a_note_that_stands_says_it_and_no_list_besides,
        a_note_of_one_sentence_takes_each_later_value_of_its_title,
        a_note_that_was_not_shown_whole_is_added_to,
        a_note_that_names_a_known_fact_becomes_its_value,
        every_way_leaves_one_line_and_the_old_value_in_the_history;
}

const TALK: &str = "Today we went for a long walk along the river with the children, and in the evening we sat in the garden and talked.";

/// Story in which each `FACT(key=value)` in a message is extracted as a fact about the person.
async fn begin(channel: TestChannel) -> Story {
    let story = channel.story_with("[memory]\nextract_every = 1").await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Extraction => {
            let text = words(request);
            let transcript = text.rsplit_once("<transcript>\n").unwrap().1;
            let facts: Vec<Value> =
                transcript.split("FACT(").skip(1).map(|mark| fact(mark.split_once(')').unwrap().0)).collect();
            Say::Text(json!({ "facts": facts, "corrections": [] }).to_string())
        }
        _ => usual(request),
    });
    story
}

fn fact(mark: &str) -> Value {
    let (key, value) = mark.split_once('=').unwrap();
    json!({ "key": key, "value": value, "category": "fact", "layer": "A", "sources": [1] })
}

fn learned(story: &Story) -> String {
    std::fs::read_to_string(story.home.join("experience/default.md")).unwrap_or_default()
}

/// Days in May that the memory files mention.
fn days(story: &Story) -> Vec<String> {
    let day = Zone::UTC.day(story.clock.now());
    let files = ["memory/MEMORY.md", "agents/compline/memory.md", "memory/birthday.md", &format!("memory/{day}.md")];
    let all = files.map(|file| story.reads(file)).join("\n") + &learned(story);
    all.lines()
        .filter_map(|line| line.split_once("on "))
        .filter_map(|(_, rest)| rest.split_once(" May"))
        .map(|(day, _)| day.to_owned())
        .collect()
}

/// The cat is called Bruno now: it comes in that way, in a note of that title where the way is one.
/// Returns what Ada was asked, if she was.
async fn is_called_bruno(story: &Story, way: &str, title: &str) -> String {
    let note = json!({ "title": title, "content": "Cat: Bruno", "kind": "user" });
    match way {
        "/remember" => story.say(ADA, "/remember Cat: Bruno").await,
        "conversation" => story.say(ADA, &format!("{TALK} FACT(cat=Bruno)")).await,
        "memory_save" => {
            story.model.calls("memory_save", json!({ "content": "cat: Bruno" })).says("Noted.");
            story.say(ADA, "He is called Bruno now").await;
        }
        "remember" => {
            story.model.calls("remember", note).says("Noted.");
            story.say(ADA, "He is called Bruno now").await;
        }
        _ => {
            story.model.calls("remember", note).says("Noted.");
            story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
            story.answered().await;
            let asked = story.last_received_by(ADA);
            story.say(ADA, "/yes 1").await;
            return asked;
        }
    }
    String::new()
}

/// Promise (memory/one-place): Each key has one value in one place: a new value replaces the old
/// one wherever it was, whether it comes from `/remember`, a tool or a conversation, and the answer
/// names the place.
async fn a_new_value_replaces_the_old_one_from_any_source_and_in_any_place(channel: TestChannel) {
    let story = begin(channel).await;
    story.say(ADA, &format!("{TALK} FACT(birthday=on 3 May)")).await;
    assert!(learned(&story).contains("on 3 May"));
    story.say(ADA, "/remember Birthday: on 4 May").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("experience/default.md") && told.contains("of 64 KB ("), "{told}");
    assert_eq!(days(&story), ["4"]);
    assert!(learned(&story).contains("- **Birthday**: on 4 May"), "{}", learned(&story));
    story.say(ADA, "/remember Birthday: on 4 May").await;
    assert!(
        story.last_received_by(ADA).contains("experience/default.md says that already"),
        "{}",
        story.last_received_by(ADA)
    );

    story.model.calls("memory_save", json!({ "content": "birthday: on 5 May" })).says("Noted.");
    story.say(ADA, "It is on the fifth").await;
    assert_eq!(days(&story), ["5"]);
    let note = json!({ "title": "Birthday", "content": "birthday: on 6 May", "kind": "user" });
    story.model.calls("remember", note).says("Noted.");
    story.say(ADA, "No, on the sixth").await;
    assert_eq!((days(&story), story.file("memory/birthday.md")), (vec!["6".to_owned()], None));
    let kept = "Kept in experience/default.md, instead of “birthday: on 5 May”.";
    assert!(story.model.last_prompt().contains(kept), "{}", story.model.last_prompt());

    story.say(ADA, "When is it?").await;
    let prompt = story.model.last_prompt();
    let newest = prompt.rsplit_once("<context").unwrap().1;
    assert!(newest.contains("on 6 May") && !newest.contains("on 4 May") && !newest.contains("on 3 May"), "{newest}");
    let kept = "SELECT count(*) FROM file_contents c JOIN files f ON f.id = c.file_id WHERE f.path = '//experience/default.md' AND CAST(content AS TEXT) LIKE '%on 3 May%'";
    assert_eq!(story.count(kept), 1, "the history has it");
    story.end().await;
}

/// Proves: memory/one-place
async fn a_duplicated_key_is_reduced_to_one_value(channel: TestChannel) {
    let story = begin(channel).await;
    story.say(ADA, &format!("{TALK} FACT(birthday=on 3 May) FACT(tea=green)")).await;
    let twice = |story: &Story| {
        let text = story.reads("memory/MEMORY.md");
        story.writes(
            "memory/MEMORY.md",
            &text.replacen("## Recent facts\n", "## Recent facts\n\n- **birthday**: on 1 May\n", 1),
        );
        let text = learned(story);
        std::fs::write(story.home.join("experience/default.md"), format!("{text}- **Birthday**: on 2 May\n")).unwrap();
    };
    twice(&story);
    assert_eq!(days(&story).len(), 3, "{:?}", days(&story));
    story.say(ADA, "/remember birthday: on 4 May").await;
    assert_eq!(days(&story), ["4"]);
    assert!(story.reads("memory/MEMORY.md").contains("on 4 May") && learned(&story).contains("green"));

    story.model.calls("memory_save", json!({ "content": "deadline: on 7 May" })).says("Noted.");
    story.say(ADA, "The deadline is in May").await;
    twice(&story);
    story.say(ADA, &format!("{TALK} FACT(birthday=on 5 May) FACT(deadline=on 7 May)")).await;
    assert_eq!(days(&story), ["5", "7", "7"], "of the day, and taken down");
    story.say(ADA, "/remember deadline: on 8 May").await;
    assert_eq!(days(&story), ["5", "8"]);
    story.end().await;
}

/// Proves: memory/one-place
async fn a_note_that_stands_says_it_and_no_list_besides(channel: TestChannel) {
    let story = begin(channel).await;
    let note = |day: u8| json!({ "title": "Birthday", "content": format!("birthday: on {day} May"), "kind": "user" });
    story.model.calls("remember", note(2)).says("Noted.");
    story.say(ADA, "It is on the second").await;
    assert!(story.reads("memory/birthday.md").contains("on 2 May"));
    story.say(ADA, &format!("{TALK} FACT(birthday=on 3 May)")).await;
    assert!(days(&story).iter().all(|day| day == "3"), "{:?}", days(&story));
    assert!(story.reads("memory/birthday.md").contains("on 3 May") && learned(&story).is_empty());
    story.model.calls("remember", note(4)).says("Noted.");
    story.say(ADA, "No, on the fourth").await;
    assert!(story.reads("memory/birthday.md").contains("birthday: on 4 May"), "{}", story.reads("memory/birthday.md"));
    assert!(!learned(&story).contains("May"), "{}", learned(&story));
    story.end().await;
}

/// Promise (memory/note-of-a-key): A note of one sentence is the one place of what its title names:
/// a later value of that becomes its text, whichever way it comes, and no list holds it besides.
async fn a_note_of_one_sentence_takes_each_later_value_of_its_title(channel: TestChannel) {
    for way in ["/remember", "remember", "memory_save", "conversation", "keep this"] {
        let story = begin(channel).await;
        let cat = |content: &str| json!({ "title": "Cat", "content": content, "kind": "user" });
        story.model.calls("remember", cat("Tomcat, from the shelter")).says("Noted.");
        story.say(ADA, "I have a cat").await;
        // A part of what the note says is not news.
        story.say(ADA, &format!("{TALK} FACT(cat=Tomcat)")).await;
        assert!(story.reads("memory/cat.md").contains("from the shelter") && learned(&story).is_empty(), "{way}");
        let asked = is_called_bruno(&story, way, "Her cat").await;
        if way == "keep this" {
            assert!(asked.contains("Tomcat, from the shelter"), "what it replaces is told: {asked}");
        }
        story.say(ADA, "/new").await;
        story.say(ADA, "good morning").await;
        assert!(story.reads("memory/cat.md").trim_end().ends_with("Bruno"), "{way}: {}", story.reads("memory/cat.md"));
        assert!(story.file("memory/her-cat.md").is_none(), "{way} makes no note besides");
        let prompt = story.model.last_prompt();
        assert!(prompt.contains("Bruno") && !prompt.contains("Tomcat"), "{way}: {prompt}");
        let lists = story.reads("memory/MEMORY.md") + &learned(&story);
        assert!(!lists.to_lowercase().contains("cat**"), "{way}: {lists}");
        let kept = "SELECT count(*) FROM file_contents WHERE CAST(content AS TEXT) LIKE '%Tomcat, from%'";
        assert!(story.count(kept) > 0, "{way}: the history has it");
        story.end().await;
    }
}

/// Promise (memory/not-shown): What is taken down in the background replaces only the note that it was
/// shown whole: to a longer one it is added, and no word of it is lost.
async fn a_note_that_was_not_shown_whole_is_added_to(channel: TestChannel) {
    let story = begin(channel).await;
    let words = "Walter lives in Linz with her mother, has Parkinson's since October 2026, and is private: never \
                 mention him in front of anyone else. She calls him every Sunday around 19:00.";
    story.model.calls("remember", json!({ "title": "Dad", "content": words, "kind": "person" })).says("Noted.");
    story.say(ADA, "remember this about Dad").await;
    let term = json!({ "title": "Glossary", "content": "- Anwendungsteil = applied part", "kind": "reference" });
    story.model.calls("remember", term).says("Noted.");
    story.say(ADA, "remember this term").await;
    let other = "the questions about it went to Frau Weiss on Friday";
    story.say(ADA, &format!("{TALK} FACT(glossary={other})")).await;
    let note = story.reads("memory/glossary.md");
    assert!(note.contains("= applied part") && note.contains(other), "words of another kind are added: {note}");
    for news in ["new neurologist Dr Lang", "new neurologist Dr Lang", "moves to Graz in May"] {
        story.say(ADA, &format!("{TALK} FACT(dad={news})")).await;
        let note = story.reads("memory/dad.md") + &learned(&story);
        assert!(note.contains(words) && note.matches(news).count() == 1, "{note}");
    }
    story.end().await;
}

/// Proves: memory/note-of-a-key
async fn a_note_that_names_a_known_fact_becomes_its_value(channel: TestChannel) {
    let story = begin(channel).await;
    story.say(ADA, &format!("{TALK} FACT(cat=Tomcat)")).await;
    let note = json!({ "title": "Cat", "content": "Bruno", "kind": "user" });
    story.model.calls("remember", note).says("Noted.");
    story.say(ADA, "He is called Bruno now").await;
    assert!(
        learned(&story).contains("**cat**: Bruno") || learned(&story).contains("**Cat**: Bruno"),
        "{}",
        learned(&story)
    );
    assert!(!learned(&story).contains("Tomcat") && story.file("memory/cat.md").is_none(), "{}", learned(&story));
    let lines = json!({ "title": "Cat", "content": "Vet on Fridays.\nEats twice a day.", "kind": "user" });
    story.model.calls("remember", lines).says("Noted.");
    story.say(ADA, "More about him").await;
    assert!(learned(&story).contains("Bruno"), "a longer note is about more than the key");
    story.end().await;
}

/// Proves: memory/one-place
async fn every_way_leaves_one_line_and_the_old_value_in_the_history(channel: TestChannel) {
    for way in ["/remember", "remember", "memory_save", "conversation", "by hand", "keep this"] {
        let story = begin(channel).await;
        story.say(ADA, "/remember Cat: Tomcat").await;
        if way == "by hand" {
            let text = story.reads("memory/MEMORY.md");
            story.writes("memory/MEMORY.md", &text.replace("Tomcat", "Bruno"));
        } else {
            is_called_bruno(&story, way, "The cat").await;
        }
        story.say(ADA, "/new").await;
        story.say(ADA, "good morning").await;
        let lists =
            [story.reads("memory/MEMORY.md"), story.reads("agents/compline/memory.md"), learned(&story)].concat();
        let cats: Vec<&str> = lists.lines().filter(|line| line.to_lowercase().contains("cat**")).collect();
        let is_new = cats.first().is_some_and(|cat| cat.ends_with("at**: Bruno (2026-11-20)"));
        assert!(cats.len() == 1 && is_new, "{way}: {lists}");
        assert!(story.file("memory/the-cat.md").is_none(), "{way} makes no note besides");
        let prompt = story.model.last_prompt();
        assert!(prompt.contains("Bruno") && !prompt.contains("Tomcat"), "{way}: {prompt}");
        let kept = "SELECT count(*) FROM file_contents WHERE CAST(content AS TEXT) LIKE '%**Cat**: Tomcat%'";
        assert!(story.count(kept) > 0, "{way}: the history has it");
        story.end().await;
    }
}
