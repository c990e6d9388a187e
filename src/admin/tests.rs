//! Roles and places of commands, and the fixture that all tests of commands use.

pub(super) mod fixture;

use fixture::Fixture;

use super::*;
use crate::wording::Sentence;

/// Bytes of one message on Signal, with room for a prefix.
const ONE_SIGNAL_MESSAGE: usize = 1_960;

pub(super) fn english(sentence: Sentence) -> String {
    sentence.in_language(Language::ENGLISH).into()
}

#[tokio::test]
async fn owners_only_means_owners_only() {
    let fixture = Fixture::new().await;
    for (entry, name) in COMMANDS.iter().flat_map(|row| row.aliases.iter().map(move |alias| (row, *alias))) {
        let line = format!("/{name} Zoe");
        let answer = fixture.admin.chat(&fixture.ben(), &line).await.markdown;
        assert_eq!(answer == english(says::OWNER_ONLY), entry.role == Role::Owner, "{line} by a member");
    }
    for entry in COMMANDS {
        let line = format!("/{} Zoe", entry.name);
        let refused = fixture.admin.chat(&fixture.ben(), &line).await.markdown == english(says::OWNER_ONLY);
        assert_eq!(refused, entry.role == Role::Owner, "{line} by a member");
        assert_ne!(
            fixture.admin.chat(&fixture.ada(), &line).await.markdown,
            english(says::OWNER_ONLY),
            "{line} by an owner"
        );
    }
    assert_eq!(fixture.pairing_codes().await, 3, "Each may join an address to themselves, and an owner let Zoe in");
}

#[tokio::test]
async fn in_a_group_all_commands_except_new_and_forget_are_refused() {
    let fixture = Fixture::new().await;
    for entry in COMMANDS {
        let in_group = Caller { group: Some(StreamId(1)), ..fixture.ada() };
        let answer = fixture.admin.chat(&in_group, &format!("/{} Zoe", entry.name)).await;
        let expected = !matches!(entry.name, "new" | "forget");
        assert_eq!(answer.markdown == english(says::DIRECT_ONLY), expected, "/{}", entry.name);
    }
}

#[tokio::test]
async fn help_shows_what_one_may_use() {
    let fixture = Fixture::new().await;
    let (owner, member) =
        (fixture.admin.chat(&fixture.ada(), "/help").await, fixture.admin.chat(&fixture.ben(), "/help").await);
    assert!(owner.markdown.contains("/pair") && owner.markdown.contains("/stop"));
    assert!(!member.markdown.contains("/pair") && member.markdown.contains("/stop"));
    assert!(owner.label.is_trusted() && !owner.failed);
    for language in Language::all() {
        let markdown = help(language, Role::Owner).markdown;
        // A bullet takes two bytes more than the hyphen.
        let bytes = markdown.len() + 2 * markdown.matches("\n- ").count();
        assert!(bytes <= ONE_SIGNAL_MESSAGE, "{language}: {bytes}");
    }
}

#[tokio::test]
async fn the_name_of_a_note_may_end_in_a_number() {
    let fixture = Fixture::new().await;
    fixture.writes("workspace/memory/trip-2026.md", "To the sea.\n");
    fixture.writes("workspace/memory/tea.md", "Green.\n");
    for command in ["/memory show trip-2026", "/memory show Trip 2026", "/memory Trip 2026"] {
        let shown = fixture.admin.chat(&fixture.ada(), command).await.markdown;
        assert!(shown.contains("To the sea."), "{command}: {shown}");
    }
    let unknown = fixture.admin.chat(&fixture.ada(), "/memory show tea 999").await;
    assert!(unknown.failed && !unknown.markdown.contains("Green."), "{}", unknown.markdown);
}

#[tokio::test]
async fn an_opened_page_runs_no_command_that_acts() {
    let fixture = Fixture::new().await;
    let ada = fixture.ada();
    assert!(!fixture.admin.chat_query(&ada, "/help").await.failed);
    for command in ["/remember x", "/new", "/forget x", "/web", "/reminders cancel 1"] {
        let stored = fixture.stored();
        assert!(fixture.admin.chat_query(&ada, command).await.failed, "{command}");
        assert!(stored == fixture.stored(), "{command}");
    }
}

#[tokio::test]
async fn nonsense_gets_one_helpful_line() {
    let fixture = Fixture::new().await;
    let answer = fixture.admin.chat(&fixture.ben(), "/statsu").await;
    assert!(answer.failed && answer.markdown.contains("/status"), "{}", answer.markdown);
    let answer = fixture.admin.chat(&fixture.ben(), "/[x](http://evil.example)").await;
    assert!(!answer.markdown.contains("[x]("), "{}", answer.markdown);
    assert_eq!(fixture.admin.chat(&fixture.ben(), "/new").await.markdown, english(says::NEW));
    assert_eq!(fixture.admin.chat(&fixture.ben(), "/stop").await.markdown, english(says::NOTHING_RUNS));
}
