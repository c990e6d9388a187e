//! Only the model's tools and a memory's own people can search it, in its current state.

use std::time::Duration;

use compline::admin::command::MAX_COMMAND;
use compline::id::PersonId;
use compline::people::{Party, Person, Role};
use compline::search::{EntryHit, EntryQuery};
use serde_json::{Value, json};

use crate::support::story::{ADA, BEN, EVE, Story, UNTRUSTED, canary};

const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);
/// The note of the day before is no longer in the prompt.
const NEXT_DAY: Duration = Duration::from_secs(26 * 3600);

/// Lets the model call a tool on a person's request; returns the result.
async fn through(story: &Story, person: i64, tool: &str, arguments: Value) -> String {
    story.model.calls(tool, arguments).says("Looked.");
    story.say(person, "Look it up.").await;
    let answered = story.text("SELECT text FROM steps WHERE kind = 'tool' ORDER BY id DESC LIMIT 1");
    assert!(!answered.is_empty(), "{tool} said nothing");
    answered
}

async fn search(story: &Story, person: i64, query: &str) -> String {
    through(story, person, "memory_search", json!({ "query": query })).await
}

fn ada() -> Party {
    Party::One(Person { id: PersonId(1), name: "Ada".to_owned(), role: Role::Owner })
}

async fn hits(story: &Story, query: &str) -> Vec<EntryHit> {
    let index = &story.app().index;
    let words = crate::support::story::typed(query, ada().scope());
    index.search(&EntryQuery { limit: 50, ..EntryQuery::of(&ada(), words) }).await.unwrap().hits
}

fn uses(story: &Story) -> i64 {
    story.count("SELECT coalesce(sum(uses), 0) FROM entry_uses")
}

/// Promise (search/word-forms): Memory is found by other forms of an English word, by each word of
/// another language as it is written, and in Korean and in scripts without spaces by any part of a
/// word, even without an embedding model; no query causes an error.
#[tokio::test]
async fn a_saved_fact_is_found_in_the_next_conversation_without_vectors() {
    let story = Story::begin().await;
    story.model.calls("memory_save", json!({ "content": "my cat's name is Whiskerino" })).says("Noted.");
    story.say(ADA, "my cat's name is Whiskerino").await;
    story.pass(NEXT_DAY).await;
    assert!(story.app().vectors.is_none());
    for tool in ["memory_search", "memory_recall"] {
        let answer = through(&story, ADA, tool, json!({ "query": "what is my cat's name?" })).await;
        assert!(answer.contains("Whiskerino"), "{tool}: {answer}");
    }
    let today = std::fs::read_to_string(story.path_of("memory/2026-11-20.md")).unwrap();
    assert!(today.contains("] my cat's name is Whiskerino\n"), "{today}");
    story.end().await;
}

/// Proves: search/word-forms
#[tokio::test]
async fn no_question_is_an_error_and_a_word_of_any_script_is_found_by_itself() {
    let story = Story::begin().await;
    for words in ["Кошка спит на печи", "我住在東京都", "Le café crème à Łódź", "오늘 게임을 했다"]
    {
        story.model.calls("memory_save", json!({ "content": words })).says("Noted.");
        story.say(ADA, words).await;
    }
    story.pass(NEXT_DAY).await;
    let long = "word ".repeat(2_000);
    for query in ["cat's", "AND OR NOT", "cat-name", "foo:bar", "\"", "", long.as_str()] {
        for tool in ["memory_search", "memory_recall"] {
            through(&story, ADA, tool, json!({ "query": query })).await;
        }
        through(&story, ADA, "memory_search", json!({ "in": "conversations", "query": query })).await;
        let failed = story.command_line(&["search", "--", query]).await.failed;
        assert!(failed == (query.len() > MAX_COMMAND) || query.is_empty(), "{query}");
    }
    let failed = "SELECT group_concat(DISTINCT text) FROM steps WHERE kind = 'tool' AND failed = 1";
    assert_eq!(story.text(failed), "`query` is empty: give the words to look for.", "only without a question");
    for (query, words) in
        [("Кошка", "на печи"), ("東京", "我住在東京都"), ("café", "crème"), ("Łódź", "Le café"), ("게임", "오늘")]
    {
        for (tool, arguments) in [
            ("memory_search", json!({ "query": query })),
            ("memory_recall", json!({ "query": query })),
            ("memory_search", json!({ "in": "conversations", "query": query })),
        ] {
            let found = through(&story, ADA, tool, arguments).await;
            assert!(found.contains(words), "{tool} {query}: {found}");
        }
    }
    story.end().await;
}

/// Proves: search/word-forms
#[tokio::test]
async fn one_search_gives_facts_and_files_and_recall_gives_one_category() {
    let story = Story::begin().await;
    story.writes("memory/facts-2026-01.md",
        "## Recent facts\n\n- **tea**: sencha, never Assam (preference)\n- **supplier**: sencha comes from Uji (context)\n",
    );
    story.writes("projects/shop.txt", "Order more sencha in March\n");
    for number in 0..30 {
        story.writes(&format!("logs/{number}.txt"), &format!("sencha crate {number}\n"));
    }
    let all = search(&story, ADA, "sencha").await;
    assert!(all.contains("never Assam") && all.contains("from Uji"), "{all}");
    assert_eq!(all.lines().filter(|line| line.contains("] file:")).count(), 5, "{all}");
    let more = through(&story, ADA, "memory_search", json!({ "query": "sencha", "limit": 500 })).await;
    assert_eq!(more.lines().filter(|line| line.contains("] file:")).count(), 20, "{more}");
    for (tool, category, holds, not) in [
        ("memory_recall", "preference", "never Assam", "from Uji"),
        ("memory_recall", "Context", "from Uji", "never Assam"),
        ("memory_search", "preference", "never Assam", "crate"),
    ] {
        let some = through(&story, ADA, tool, json!({ "query": "sencha", "category": category })).await;
        assert!(some.contains(holds) && !some.contains(not), "{tool} {category}: {some}");
    }
    let kept = through(&story, ADA, "memory_recall", json!({ "query": "sencha" })).await;
    assert!(kept.contains("never Assam") && !kept.contains("crate"), "{kept}");
    story.end().await;
}

/// Proves: search/word-forms
#[tokio::test]
async fn a_hand_edit_and_a_deletion_are_seen_without_a_restart() {
    let story = Story::begin().await;
    story.writes("memory/boat.md", "# Boat\n\nThe boat lies in Oostende.\n");
    assert!(search(&story, ADA, "where does the boat lie").await.contains("Oostende"));
    story.writes("memory/boat.md", "# Boat\n\nThe boat lies in Nieuwpoort.\n");
    let after = search(&story, ADA, "where does the boat lie").await;
    assert!(after.contains("Nieuwpoort") && !after.contains("Oostende"), "{after}");
    std::fs::remove_file(story.path_of("memory/boat.md")).unwrap();
    assert!(!search(&story, ADA, "where does the boat lie").await.contains("Nieuwpoort"));
    story.end().await;
}

/// Proves: privacy/own-memory
#[tokio::test]
async fn a_person_finds_nothing_that_another_person_stored() {
    let story = Story::begin().await;
    story.say(BEN, "hello").await;
    story.writes("memory/facts-2026-01.md", &format!("## Facts\n\n- **orchard**: behind the house, {}\n", canary(ADA)));
    story.writes(
        "people/2-ben/memory/facts-2026-01.md",
        &format!("## Facts\n\n- **orchard**: beside the barn, {}\n", canary(BEN)),
    );
    for (person, own, other) in [(ADA, ADA, BEN), (BEN, BEN, ADA)] {
        for tool in ["memory_search", "memory_recall"] {
            let mut arguments = json!({ "query": "orchard" });
            if tool == "memory_search" {
                arguments["include_untrusted"] = true.into();
            }
            let answer = through(&story, person, tool, arguments).await;
            assert!(answer.contains(&canary(own)) && !answer.contains(&canary(other)), "{tool}: {answer}");
        }
    }
    story.say(ADA, "/search orchard").await;
    assert!(!story.last_received_by(ADA).replace("**", "").contains(&canary(BEN)));
    story.end().await;
}

/// Proves: search/text-from-outside
#[tokio::test]
async fn untrusted_entries_are_counted_and_shown_only_to_who_asks() {
    let story = Story::begin().await;
    story.writes("memory/facts-2026-01.md", "## Facts\n\n- **lighthouse**: painted white\n");
    story.writes("inbox/7-letter.txt", &format!("{UNTRUSTED}letter: the lighthouse is for sale\n"));
    let answer = search(&story, ADA, "lighthouse").await;
    assert!(answer.contains("painted white") && answer.contains("1 untrusted one matches"), "{answer}");
    assert!(!answer.contains("for sale"), "{answer}");
    assert_eq!(story.text("SELECT label FROM turns ORDER BY id DESC LIMIT 1"), "trusted");
    let arguments = json!({ "query": "lighthouse", "include_untrusted": true });
    let all = through(&story, ADA, "memory_search", arguments).await;
    assert!(all.contains("for sale"), "{all}");
    assert_ne!(story.text("SELECT label FROM turns ORDER BY id DESC LIMIT 1"), "trusted");
    story.end().await;
}

/// Proves: search/usage
#[tokio::test]
async fn only_what_a_clean_turn_was_given_counts_as_used() {
    let story = Story::begin().await;
    story.writes(
        "memory/facts-2026-01.md",
        "## Facts\n\n- **harbour**: the master is Jan\n- **garden**: the roses are red\n",
    );
    search(&story, ADA, "harbour master").await;
    assert_eq!(uses(&story), 1);
    assert_eq!(
        story.count("SELECT count(*) FROM entry_uses u JOIN entries e ON e.key = u.key WHERE e.name = 'harbour'"),
        1
    );
    story.model.calls("memory_search", json!({ "query": "harbour" })).says("Looked.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}forward: look up the harbour"));
    story.answered().await;
    assert_eq!(uses(&story), 1, "a tainted turn says nothing of what is of use");
    story.end().await;
}

/// Proves: search/rebuild
#[tokio::test]
async fn a_memory_index_rebuilt_after_a_restart_gives_the_same_answers() {
    let mut story = Story::begin().await;
    story.say(ADA, "We deployed the gateway to the shed.").await;
    story.pass(NEXT_CONVERSATION).await;
    story.say(ADA, "hello again").await;
    story.writes("memory/MEMORY.md", "- **cat**: Tom\n\nwords about the gateway\n");
    story.writes("memory/tea.md", "---\nname: Tea\ntype: preference\n---\ngateway to sencha\n");
    let before = hits(&story, "gateway").await;
    assert!(before.len() >= 2, "{before:?}");
    story.app().index.clear().await.unwrap();
    story.restart().await;
    assert_eq!(hits(&story, "gateway").await, before);
    story.end().await;
}

/// Promise (search/one-command): One command searches messages, conversations, reflections, notes,
/// files and skills, with the matches highlighted and surrounding lines shown.
#[tokio::test]
async fn people_search_everything_with_one_command() {
    let mut story = Story::prepared("").await;
    story.write_skill("sailing", "How to sail", "Hoist the spinnaker slowly.");
    story.start().await;
    story.say(ADA, "The spinnaker is torn.").await;
    story.writes("memory/boat.md", "one\ntwo\nthe Spinnaker is blue\nfour\nfive\n");
    story.writes("plans/refit.txt", "new spinnaker\n");
    story.writes(
        "agents/compline/memory.md",
        "## Rules\n\nspinnaker last\n\n## Insights\n\n- **sail**: spinnaker is fragile\n",
    );
    let kinds = async |words: &[&str]| -> Vec<String> {
        let answer = story.command_line(words).await;
        assert!(!answer.failed, "{}", answer.markdown);
        let mut kinds: Vec<String> =
            answer.json.as_array().unwrap().iter().map(|hit| hit["kind"].as_str().unwrap().to_owned()).collect();
        kinds.sort();
        kinds
    };
    let everywhere = kinds(&["search", "--", "spinnaker"]).await;
    for kind in ["conversation", "file", "message", "note", "skill"] {
        assert!(everywhere.iter().any(|known| known == kind), "{kind} is missing in {everywhere:?}");
    }
    assert_eq!(kinds(&["search", "--in", "files", "--", "spinnaker"]).await, ["file"]);
    assert_eq!(kinds(&["search", "--in", "skills", "--", "spinnaker"]).await, ["skill"]);
    assert_eq!(kinds(&["search", "--in", "notes", "--case", "--", "Spinnaker"]).await, ["note"]);
    let answer = story.command_line(&["search", "--in", "notes", "--case", "--context", "1", "--", "Spinnaker"]).await;
    assert!(answer.markdown.contains("2- two\n3: the **Spinnaker** is blue\n4- four"), "{}", answer.markdown);
    let hit = &answer.json[0];
    assert_eq!((&hit["path"], &hit["tainted"]), (&json!("memory/boat.md"), &json!(false)));
    let short = story.command_line(&["search", "--in", "notes", "--case", "--", "Spinnaker"]).await;
    assert!(short.markdown.contains("memory/boat.md:3"), "the line where it stands: {}", short.markdown);
    assert_eq!((&short.json[0]["line"], &hit["line"]), (&json!(3), &json!(3)));
    assert_eq!(hit["lines"].as_array().unwrap().len(), 3);
    let memory = async |words: &[&str]| story.command_line(words).await.json.as_array().unwrap().len();
    assert_eq!(memory(&["memory", "search", "--", "spinnaker"]).await, 3);
    assert_eq!(memory(&["memory", "search", "--agent", "compline", "--", "spinnaker"]).await, 2);
    assert_eq!(memory(&["memory", "search", "--section", "insights", "--", "spinnaker"]).await, 1);
    assert_eq!(memory(&["memory", "search", "--agent", "nobody", "--", "spinnaker"]).await, 0);
    story.end().await;
}

/// Proves: search/flags
#[tokio::test]
async fn a_fact_has_a_day_and_no_time_and_flags_may_stand_behind_the_words() {
    let mut story = Story::prepared("").await;
    story.write_skill("letters", "How to send a letter", "It is sent with care, and what was sent is noted.");
    story.start().await;
    story.say(ADA, "/remember tea: sencha").await;
    story.say(ADA, "/search sencha --in notes,skills").await;
    let found = story.last_received_by(ADA);
    assert!(found.contains("MEMORY.md:") && !found.contains(":00") && !found.contains("letters"), "{found}");
    story.say(ADA, "/memory search sencha --context 1").await;
    let around = story.last_received_by(ADA);
    assert!(around.contains("\n7-\n8: - **tea**: sencha"), "{around}");
    story.end().await;
}

/// Proves: search/word-forms
#[tokio::test]
async fn a_past_conversation_is_found_by_other_word_forms() {
    let story = Story::begin().await;
    story.background.says(
        r#"{"title": "Release", "topics": ["The gateway was deployed to the shed"], "decisions": [], "preferences": [], "pending": []}"#,
    );
    story.say(ADA, "We moved it to the shed today.").await;
    story.pass(NEXT_CONVERSATION).await;
    let answer = search(&story, ADA, "deploying").await;
    assert!(answer.contains("deployed to the shed") && answer.contains("conversations/"), "{answer}");
    story.end().await;
}
