//! One search over all agents' memory: by words, agent, heading and case, with the lines around a
//! hit, in chat and on the command line.

use compline::model::Purpose;
use serde_json::{Value, json};

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::model::{Say, usual};
use crate::support::story::{ADA, BEN, canary};

on_every_channel! {
    stories:
        a_category_of_their_own_is_searched_and_an_unknown_one_is_refused,
        the_memory_of_all_agents_is_searched_by_agent_heading_and_case_with_the_lines_around,
        a_search_gives_a_model_five_facts_and_five_of_all_else,
        an_extracted_fact_is_in_a_file_and_in_the_index,
        ten_facts_that_mattered_and_three_that_fit_come_to_mind,
        what_stands_in_the_prompt_is_no_hit_and_no_use,
        nothing_of_another_agent_comes_by_itself,
        a_search_is_limited_by_day_category_agent_and_heading,
        a_search_without_an_answer_finds_nothing;
}

const COMPLINE: &str = "# Compline\n\n## Coding Conventions\n\nuse BEM naming\nand short files\n\n## Insights\n\n- **naming**: they call it BEM\n";
const REVIEWER: &str =
    "# Reviewer\n\n## Coding Conventions\n\nlook at BEM first\n\n## Decisions Made\n\nno bem in tests\n";

/// Two agents with a memory each, and Ben with his own.
async fn two_agents(channel: TestChannel) -> Story {
    let story = channel.begin_story().await;
    story.writes("agents/compline/memory.md", COMPLINE);
    story.writes("agents/reviewer/memory.md", REVIEWER);
    story.writes(
        "people/2-ben/agents/compline/memory.md",
        &format!("## Insights\n\n- **naming**: BEM {}\n", canary(BEN)),
    );
    story.say(BEN, "hello").await;
    story
}

/// Answer to a command, without bold marks.
async fn asks(story: &Story, person: i64, line: &str) -> String {
    story.say(person, line).await;
    story.last_received_by(person).replace("**", "")
}

async fn through(story: &Story, tool: &str, arguments: Value) -> String {
    story.model.calls(tool, arguments).says("Looked.");
    story.say(ADA, "Look it up.").await;
    story.text("SELECT text FROM steps WHERE kind = 'tool' ORDER BY id DESC LIMIT 1")
}

/// Promise (search/own-categories): You name categories of your own with a tag such as `#recipes`,
/// or in a note; a search in one finds what is in it, and what has none counts as a fact.
async fn a_category_of_their_own_is_searched_and_an_unknown_one_is_refused(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, &format!("/remember Plum cake: two hundred grams of sugar #recipes {}", canary(ADA))).await;
    story.say(ADA, "/remember Plum cake: three hundred grams of sugar #recipes").await;
    story.say(ADA, "/remember Plum tree: behind the house").await;
    story.writes("memory/jam.md", "---\nname: Plum jam\ntype: recipes\n---\n\nBoil plums.\n");
    for (category, expected) in [("recipes", [true, true, false]), ("fact", [false, false, true])] {
        let found = through(&story, "memory_search", json!({ "query": "plum", "category": category })).await;
        let shown = ["three hundred grams", "Boil plums", "behind the house"].map(|part| found.contains(part));
        assert_eq!(shown, expected, "{category}: {found}");
    }
    let refused = through(&story, "memory_search", json!({ "query": "plum", "category": "boats" })).await;
    assert!(refused.contains("cannot be \"boats\"") && refused.contains("recipes"), "{refused}");
    story.end().await;
}

/// Promise (search/all-agents): One search covers the memory of all agents, filtered by agent,
/// heading and letter case, with surrounding lines, in a chat or on the command line; each person
/// searches only their own.
async fn the_memory_of_all_agents_is_searched_by_agent_heading_and_case_with_the_lines_around(channel: TestChannel) {
    let story = two_agents(channel).await;
    let lines = ["use BEM naming", "they call it BEM", "look at BEM first", "no bem in tests"];
    for (asked, shown) in [
        ("BEM", [true, true, true, true]),
        ("--agent reviewer BEM", [false, false, true, true]),
        ("--agent Reviewer --case BEM", [false, false, true, false]),
        ("--section \"Coding Conventions\" BEM", [true, false, true, false]),
        ("—section “coding conventions” —agent compline BEM", [true, false, false, false]),
        ("--case BEM", [true, true, true, false]),
        ("--agent nobody BEM", [false; 4]),
    ] {
        let told = asks(&story, ADA, &format!("/memory search {asked}")).await;
        assert_eq!(lines.map(|line| told.contains(line)), shown, "{asked}: {told}");
        assert!(!told.contains(&canary(BEN)), "{told}");
        if !asked.contains(['—', '“', '"']) {
            let line: Vec<&str> = ["memory", "search"].into_iter().chain(asked.split(' ')).collect();
            let (flags, words) = line.split_at(line.len() - 1);
            let line: Vec<&str> = flags.iter().copied().chain(["--"]).chain(words.iter().copied()).collect();
            let said = story.command_line(&line).await.markdown.replace("**", "");
            assert_eq!(lines.map(|line| said.contains(line)), shown, "{line:?}: {said}");
        }
    }
    let around =
        asks(&story, ADA, "/memory search --agent compline --section \"Coding Conventions\" --context 1 BEM").await;
    assert!(around.contains("4-\n5: use BEM naming\n6- and short files"), "{around}");
    assert!(asks(&story, ADA, "/search --in notes --case BEM").await.contains("look at BEM first"));
    assert!(!asks(&story, ADA, "/search --in messages BEM").await.contains("look at BEM"));
    assert!(asks(&story, ADA, "/memory search --section").await.contains("search also takes --agent NAME"));
    let bens = asks(&story, BEN, "/memory search BEM").await;
    assert!(bens.contains(&canary(BEN)) && !bens.contains("look at"), "{bens}");
    story.end().await;
}

/// Proves: search/every-file
async fn a_search_gives_a_model_five_facts_and_five_of_all_else(channel: TestChannel) {
    let story = channel.begin_story().await;
    let facts: String = (0..9).map(|n| format!("- **tea {n}**: sencha of the kind {n}\n")).collect();
    story.writes("memory/facts-2026-01.md", &facts);
    for n in 0..9 {
        story.writes(&format!("shop/{n}.md"), &format!("sencha crate {n}\n"));
    }
    let found = through(&story, "memory_search", json!({ "query": "sencha" })).await;
    assert_eq!((found.matches("of the kind").count(), found.matches("sencha crate").count()), (5, 5), "{found}");
    story.end().await;
}

/// Proves: search/every-file
async fn an_extracted_fact_is_in_a_file_and_in_the_index(channel: TestChannel) {
    let story = channel.story_with("[memory]\nextract_every = 1").await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Extraction => Say::Text(
            json!([{ "key": "tea", "value": "likes oolong", "category": "preference", "layer": "B", "sources": [1] }])
                .to_string(),
        ),
        _ => usual(request),
    });
    story.say(ADA, &"My tea is to be oolong, as you know. ".repeat(4)).await;
    let memory = std::fs::read_to_string(story.home.join("workspace/agents/compline/memory.md")).unwrap();
    assert_eq!(memory.matches("- **tea**: likes oolong").count(), 1, "{memory}");
    assert!(
        through(&story, "memory_recall", json!({ "query": "oolong", "category": "preference" }))
            .await
            .contains("likes oolong")
    );
    let row = "SELECT name || ', ' || kind || ', ' || scope || ', ' || label FROM entries WHERE path = 'agents/compline/memory.md' AND name = 'tea'";
    assert_eq!(story.text(row), "tea, fact, person:1, trusted");
    story.end().await;
}

/// Promise (memory/opening-facts): At the start of a conversation the assistant is given the ten
/// facts that mattered most and the three entries that best match your first words.
async fn ten_facts_that_mattered_and_three_that_fit_come_to_mind(channel: TestChannel) {
    let story = channel.begin_story().await;
    let words = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar";
    let facts: String = words.split(' ').map(|word| format!("- **{word}**: the word {word}\n")).collect();
    story.writes("memory/facts-2026-01.md", &facts);
    for n in 0..6 {
        let note =
            format!("---\nname: Bed {n}\ndescription: bed {n}\ntype: project\n---\n\nThe tomatoes of bed {n}.\n");
        story.writes(&format!("memory/bed-{n}.md"), &note);
    }
    through(&story, "memory_search", json!({ "query": "oscar" })).await;
    // A note whose line is in the prompt does not have to come to mind.
    story.writes("memory/MEMORY.md", "## Recent facts\n\n## Index\n");
    story.say(ADA, "/new").await;
    story.say(ADA, "How are the tomatoes?").await;
    let prompt = story.model.last_prompt();
    let told = prompt.split_once("What you know that may matter here:\n").unwrap().1;
    let told: Vec<&str> = told.lines().take_while(|line| line.starts_with("- ")).collect();
    let (beds, facts): (Vec<&str>, Vec<&str>) = told.into_iter().partition(|line| line.contains("memory/bed-"));
    assert_eq!((beds.len(), facts.len()), (3, 10), "{facts:?}");
    assert!(facts[0].contains("oscar"), "what was of use comes first: {facts:?}");
    story.end().await;
}

/// Promise (search/not-in-prompt): What is in the assistant's prompt anyway, such as `MEMORY.md`
/// and the note of the day, is no hit of its search and counts as no use; your own search finds it.
async fn what_stands_in_the_prompt_is_no_hit_and_no_use(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.writes("memory/MEMORY.md", "## Recent facts\n\n- **boat**: lies in Oostende\n");
    story.writes("memory/facts-2026-01.md", "## Facts\n\n- **boat, second**: lies in Bruges\n");
    let found = through(&story, "memory_search", json!({ "query": "boat" })).await;
    assert!(found.contains("Bruges") && !found.contains("Oostende"), "{found}");
    assert_eq!(
        story.text("SELECT group_concat(e.name) FROM entry_uses u JOIN entries e ON e.key = u.key"),
        "boat, second"
    );
    assert!(asks(&story, ADA, "/memory search boat").await.contains("Oostende"));
    story.end().await;
}

/// Promise (search/own-experience): With `experience_for_all = false` nothing that another agent or
/// profile has learned comes to mind or is found unless that agent is named.
async fn nothing_of_another_agent_comes_by_itself(channel: TestChannel) {
    let experience = "experience/other.md";
    for (settings, comes) in [("", false), ("[memory]\nexperience_for_all = true", true)] {
        let story = channel.story_with(settings).await;
        story.writes("agents/reviewer/memory.md", "## Insights\n\n- **zucchini**: canary-of-reviewer\n");
        story.writes("agents/compline/memory.md", "## Insights\n\n- **zucchini bed**: canary-of-own\n");
        let path = story.home.join(experience);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "## Insights\n\n- **zucchini seed**: canary-of-other\n").unwrap();
        let found = through(&story, "memory_search", json!({ "query": "zucchini" })).await;
        assert_eq!(found.contains("canary-of-reviewer"), comes, "{found}");
        assert!(!found.contains("canary-of-other"), "{found}");
        story.say(ADA, "/new").await;
        story.say(ADA, "How is the zucchini?").await;
        let prompt = story.model.last_prompt();
        for canary in ["canary-of-reviewer", "canary-of-other"] {
            assert_eq!(prompt.contains(canary), comes, "{canary}: {prompt}");
        }
        assert!(prompt.contains("canary-of-own"), "{prompt}");
        let asked = json!({ "query": "zucchini", "agent": "reviewer" });
        assert!(through(&story, "memory_search", asked).await.contains("canary-of-reviewer"), "asked for by name");
        story.end().await;
    }
}

/// Promise (search/limits): The assistant's search and yours take a first and a last day, a
/// category, an agent with its profile, and a heading; members search their own texts in their
/// chat.
async fn a_search_is_limited_by_day_category_agent_and_heading(channel: TestChannel) {
    let story = two_agents(channel).await;
    story.writes("memory/2026-01-02.md", "- 10:00 the kettle whistled\n");
    story.writes("memory/2026-01-05.md", "- 10:00 the kettle leaked\n");
    story.say(ADA, "/remember Kettle: of copper #kitchen").await;
    for (flags, shown) in [
        ("--since 2026-01-03 --until 2026-01-09", [false, true, false]),
        ("--until 2026-01-02", [true, false, false]),
        ("--category kitchen", [false, false, true]),
    ] {
        for command in ["/memory search", "/search"] {
            let told = asks(&story, ADA, &format!("{command} {flags} kettle")).await;
            let parts = ["whistled", "leaked", "of copper"].map(|part| told.contains(part));
            assert_eq!(parts, shown, "{command} {flags}: {told}");
        }
    }
    let asked = json!({ "query": "BEM", "section": "Coding Conventions", "agent": "reviewer" });
    let found = through(&story, "memory_search", asked).await;
    assert!(found.contains("look at BEM first") && !found.contains("use BEM"), "{found}");
    let bens = asks(&story, BEN, "/search BEM").await;
    assert!(bens.contains(&canary(BEN)) && !bens.contains("look at"), "{bens}");
    story.end().await;
}

/// Promise (search/nothing): A search finds nothing if only common words of the query occur, or if
/// a name in it occurs nowhere and little else is found.
async fn a_search_without_an_answer_finds_nothing(channel: TestChannel) {
    let story = channel.begin_story().await;
    let notes: String = (0..40).map(|n| format!("- **errand {n}**: garden errand of the week {n}\n")).collect();
    story.writes("memory/errands-2026-01.md", &notes);
    story.writes(
        "memory/facts-2026-01.md",
        "## Facts\n\n- **boat**: lies in Oostende\n- **piano**: was tuned on Thursday\n",
    );
    for (query, holds) in [
        ("Where does the boat lie?", Some("Oostende")),
        ("the boat of grandfather", Some("Oostende")),
        ("zeppelin in the garden", None),
        ("Who tuned the boat?", Some("Oostende")),
        ("When did Selma see the boat?", None),
        ("zeppelin", None),
    ] {
        let found = through(&story, "memory_search", json!({ "query": query, "in": "facts" })).await;
        match holds {
            Some(words) => assert!(found.contains(words) && !found.contains("errand"), "{query}: {found}"),
            None => assert!(found.contains("Nothing else that is kept matches."), "{query}: {found}"),
        }
        let told = asks(&story, ADA, &format!("/memory search {query}")).await;
        assert_eq!(told.contains("Oostende"), holds.is_some(), "{query}: {told}");
    }
    story.end().await;
}
