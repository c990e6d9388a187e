//! Label of a reflection: the label of all its sources, wherever the journal holds it at the time
//! of the request.

use super::*;

/// Label of text influenced by an approved skill, and its origin.
const APPROVED: &str = "trusted approved:7";
const ORIGIN: &str = "approved:7";

fn set(story: &Story, sql: &str) {
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    db.busy_timeout(Duration::from_secs(10)).unwrap();
    assert!(db.execute(sql, []).unwrap() > 0, "{sql}");
}

/// Works on a slot up to the end of its reflection, without acting on its proposals. Calls
/// `meanwhile` once the model has answered.
async fn reflect(story: &Story, meanwhile: impl Fn()) {
    let id = claim(story, TODAY).await;
    let row = slot(story, id).await;
    assert_eq!(story.app().schedule.reflector().take_up(&row).await.unwrap(), SlotProgress::Working);
    story.answered().await;
    meanwhile();
    let row = slot(story, id).await;
    assert_eq!(story.app().schedule.reflector().take_up(&row).await.unwrap(), SlotProgress::Over);
}

/// Proves: trust/third-party-skill
#[tokio::test]
async fn the_labels_of_sources_read_and_of_the_turn_mark_the_reflection() {
    let story = story("").await;
    story.say(ADA, "I like my tea strong").await;
    set(&story, &format!("UPDATE texts SET label = '{APPROVED}'"));
    story.background.says(&answer("Tea", &json!([])));
    reflect(&story, || ()).await;
    assert!(asked(&story).last().unwrap().label().encode().contains(ORIGIN), "the prompt");
    story.end().await;

    let story = super::story("").await;
    story.say(ADA, "I like my tea strong").await;
    story.background.says(&answer("Tea", &json!([])));
    let turn = "(SELECT max(id) FROM turns)";
    reflect(&story, || set(&story, &format!("UPDATE turns SET label = '{APPROVED}' WHERE id = {turn}"))).await;
    assert!(story.text("SELECT label FROM reflections").contains(ORIGIN));
    story.stop_here().await;
}

#[tokio::test]
async fn a_label_on_any_part_of_a_reflection_reaches_every_view_of_it() {
    let text = "UPDATE texts SET label = 'trusted approved:7' WHERE message_id = (SELECT message_id FROM reflections)";
    let row = "UPDATE reflections SET label = 'trusted approved:7'";
    let action = "UPDATE actions SET label = 'trusted approved:7'";
    for (sql, is_read) in [(text, true), (row, true), (action, false)] {
        let story = story("").await;
        story.say(ADA, "I like my tea strong").await;
        story.background.says(&answer("Tea", &json!([create("tea", "Three minutes.")])));
        look_back(&story, TODAY).await;
        set(&story, sql);
        let shown = story.command_line(&["reflections", "show", "1"]).await;
        assert!(shown.label.encode().contains(ORIGIN), "{sql}: {:?} {}", shown.label, shown.markdown);
        if is_read {
            story.model.calls("read_reflection", json!({ "period": TODAY })).says("Read.");
            story.say(ADA, "what did you learn?").await;
            let step = story.text("SELECT label FROM steps WHERE tool = 'read_reflection'");
            assert!(step.contains(ORIGIN), "{sql}: {step}");
            story.say(ADA, "/memory search tea").await;
            let indexed = story.text("SELECT label FROM indexed WHERE path LIKE 'reflections/%'");
            assert!(indexed.contains(ORIGIN), "{sql}: {indexed}");
        }
        story.stop_here().await;
    }
}

#[tokio::test]
async fn an_action_of_no_reflection_of_that_person_is_of_unknown_origin() {
    for sql in [
        "UPDATE reflections SET turn_id = 0",
        "UPDATE turns SET scope = 'person:2' WHERE id = (SELECT turn_id FROM reflections)",
    ] {
        let story = story("").await;
        story.say(ADA, "I like my tea strong").await;
        story.background.says(&answer("Tea", &json!([create("tea", "Three minutes.")])));
        reflect(&story, || ()).await;
        let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
        db.busy_timeout(Duration::from_secs(10)).unwrap();
        db.pragma_update(None, "foreign_keys", false).unwrap();
        assert!(db.execute(sql, []).unwrap() > 0);
        story.app().schedule.reflector().act().await.unwrap();
        story.answered().await;
        let label = story.text("SELECT coalesce(group_concat(label), '') FROM proposals");
        assert!(label.is_empty() || label.contains("unknown"), "{sql}: {label}");
        assert_eq!(story.count("SELECT count(*) FROM proposals WHERE label = 'trusted'"), 0, "{sql}");
        story.stop_here().await;
    }
}
