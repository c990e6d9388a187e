//! Tests with broken, full or blocked memory files.

use super::*;
use crate::store::{Category, Fact, Layer};

const LISTS: [&str; 2] = ["memory/MEMORY.md", "agents/compline/memory.md"];

fn ada(home: &Home) -> ChangeOrigin {
    let label = Label::trusted();
    ChangeOrigin {
        who: Party::One(home.ada.clone()),
        label,
        author: Author::Program,
        cause: "facts",
        from: Vec::new(),
        person: PersonShare::default(),
        now: NOW,
    }
}

fn fact(key: &str, value: &str) -> Fact {
    let (category, layer) = (Category::Fact, Layer::B);
    Fact { key: key.to_owned(), value: value.to_owned(), category, layer, sources: Vec::new() }
}

fn read(home: &Home, inside: &str) -> String {
    fs::read_to_string(home.path(inside)).unwrap_or_default()
}

async fn keep(home: &Home, facts: &[Fact]) -> Result<(), WriteRefusal> {
    home.workspace.notes().store_facts(&ada(home), facts).await.map_err(refusal)
}

/// Makes a file unreadable in one of three ways.
fn break_it(home: &Home, inside: &str, how: usize) {
    fs::create_dir_all(home.path(inside).parent().unwrap()).unwrap();
    let _ = fs::remove_file(home.path(inside));
    match how {
        0 => fs::write(home.path(inside), b"\xff\xfe no texts").unwrap(),
        1 => fs::write(home.path(inside), vec![b'x'; 2 * 1024 * 1024]).unwrap(),
        _ => fs::create_dir(home.path(inside)).unwrap(),
    }
}

/// Proves: memory/damaged-file
#[tokio::test]
async fn a_broken_list_stops_no_facts_and_nothing_else() {
    for (how, broken) in (0..3).flat_map(|how| LISTS.map(|list| (how, list))) {
        let home = home().await;
        home.workspace.seed(NOW).await.unwrap();
        break_it(&home, broken, how);
        keep(&home, &[fact("tea", "green"), fact("server", "Bert")]).await.unwrap();
        keep(&home, &[fact("tea", "green")]).await.unwrap();
        let put: String =
            ["agents/compline/memory.md", "memory/facts-2026-11.md"].map(|path| read(&home, path)).concat();
        let stands = (put.matches("- **tea**: green").count(), put.matches("- **server**: Bert").count());
        assert_eq!(stands, (1, 1), "{broken} {how}: {put}");
        home.workspace.notes().known_items(&Party::One(home.ada.clone()), NOW).await.unwrap();
        home.workspace.notes().learn_failure(&Party::One(home.ada.clone()), "web_fetch", "failed", NOW).await.unwrap();
        assert!(read(&home, "learnings/errors.md").contains("web_fetch"), "{broken} {how}");
    }
}

/// Proves: memory/damaged-file
#[tokio::test]
async fn a_note_is_refused_naming_the_broken_index() {
    for how in 0..3 {
        let home = home().await;
        home.workspace.seed(NOW).await.unwrap();
        break_it(&home, "memory/MEMORY.md", how);
        let draft = NoteDraft { title: "Tea".to_owned(), content: "Green.".to_owned(), kind: "user".to_owned() };
        let refused = home.workspace.notes().remember(&ada(&home), &draft).await.map_err(refusal).unwrap_err();
        assert_eq!(refused, WriteRefusal::Unreadable("memory/MEMORY.md".to_owned()), "{how}");
        assert!(!home.path("memory/tea.md").exists(), "all or nothing");
        assert_eq!(
            home.workspace.checks().health().await.unwrap().unreadable
                + home.workspace.checks().health().await.unwrap().overfull,
            usize::from(how < 2)
        );
    }
}

/// Proves: memory/damaged-file
#[tokio::test]
async fn a_correction_is_saved_in_another_note_if_its_file_is_broken() {
    let home = home().await;
    break_it(&home, "learnings/corrections.md", 0);
    let put = crate::store::Correction { was: "too long".to_owned(), now: "be short".to_owned(), sources: Vec::new() };
    for _ in 0..2 {
        home.workspace.notes().store_corrections(&ada(&home), std::slice::from_ref(&put)).await.unwrap();
    }
    assert_eq!(read(&home, "memory/facts-2026-11.md").matches("- **too long**: be short").count(), 1);
}

/// Proves: memory/damaged-file
#[tokio::test]
async fn a_full_list_and_a_full_note_of_the_month_give_way_to_another_note() {
    let home = home().await;
    home.workspace.seed(NOW).await.unwrap();
    home.write("agents/compline/memory.md", &format!("# Mine\n\n{}\n", "words ".repeat(10_900)));
    home.write("memory/facts-2026-11.md", &format!("{}\n", "full ".repeat(13_000)));
    let facts: Vec<Fact> = (0..30).map(|n| fact(&format!("key {n}"), &"\u{732b}".repeat(400))).collect();
    for _ in 0..2 {
        keep(&home, &facts).await.unwrap();
    }
    let put =
        [LISTS[1], "memory/facts-2026-11-2.md", "memory/facts-2026-11-3.md"].map(|path| read(&home, path)).concat();
    for n in 0..30 {
        assert_eq!(put.matches(&format!("- **key {n}**: ")).count(), 1, "{n}");
    }
    let index = read(&home, "memory/MEMORY.md");
    assert_eq!(index.matches("(facts-2026-11-2.md)").count(), 1, "{index}");
}

/// Proves: memory/damaged-file
#[tokio::test]
async fn a_list_hands_its_oldest_facts_over_and_one_from_outside_keeps_them() {
    let lines: String = (0..300).map(|n| format!("- **key {n}**: {}\n", "words ".repeat(12))).collect();
    for trusted in [true, false] {
        let home = home().await;
        home.workspace.seed(NOW).await.unwrap();
        let list = format!("## Insights\n\n{lines}");
        home.write("agents/compline/memory.md", &list);
        if !trusted {
            home.announce("agents/compline/memory.md", &list, web()).await;
        }
        keep(&home, &[fact("tea", "green")]).await.unwrap();
        let (listed, noted) = (read(&home, LISTS[1]), read(&home, "memory/facts-2026-11.md"));
        assert!(listed.contains("- **tea**: green") && listed.contains("- **key 299**"), "{trusted}");
        assert_eq!((noted.contains("- **key 0**: "), listed.contains("- **key 0**: ")), (trusted, !trusted));
        for n in 0..300 {
            let line = format!("- **key {n}**: ");
            assert_eq!(listed.matches(&line).count() + noted.matches(&line).count(), 1, "{trusted} {n}");
        }
    }
}

/// Proves: memory/damaged-file
#[tokio::test]
async fn one_failing_file_change_does_not_block_another() {
    let home = home().await;
    // A foreign folder occupies the name of the temporary file.
    fs::create_dir_all(home.path("plans/.a.md.part/x")).unwrap();
    let make = |_: Option<&str>| Ok(NewContent::Text("one".to_owned()));
    assert!(home.workspace.versions().change(&ada(&home), "plans/a.md", make).await.is_err());
    home.workspace.versions().change(&ada(&home), "plans/b.md", make).await.unwrap();
    home.workspace.versions().finish().await.unwrap();
    fs::remove_dir_all(home.path("plans/.a.md.part")).unwrap();
    home.workspace.versions().finish().await.unwrap();
    assert_eq!((read(&home, "plans/a.md"), read(&home, "plans/b.md")), ("one".to_owned(), "one".to_owned()));
}
