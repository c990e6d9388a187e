//! `compline memory`: the person's own editor on the real file, what there is, what it was before, and the way back.

use super::program::{Ended, Home};

/// A script that appends a line to the file that it is given.
fn editor(home: &Home, name: &str, line: &str) -> String {
    let path = home.path().parent().unwrap().join(name);
    std::fs::write(&path, format!("printf '%s\\n' '{line}' >> \"$1\"\n")).unwrap();
    format!("sh {}", path.display())
}

fn edit(home: &Home, line: &str, variables: &[(&str, &str)]) -> Ended {
    let mut command = home.command(line);
    command.env("PATH", "/usr/bin:/bin").envs(variables.iter().copied());
    Ended::of(command.output().unwrap())
}

fn memory(home: &Home) -> String {
    std::fs::read_to_string(home.file("workspace/memory/MEMORY.md")).unwrap()
}

#[test]
fn the_editor_that_is_named_opens_the_real_file() {
    let home = Home::plain();
    let (visual, other) = (editor(&home, "visual", "prefers Python"), editor(&home, "editor", "prefers tea"));
    let said = edit(&home, "memory edit", &[("VISUAL", &visual), ("EDITOR", &other)]).done();
    assert!(said.contains("MEMORY.md") && said.contains("of 64 KB ("), "{said}");
    assert!(memory(&home).contains("prefers Python") && !memory(&home).contains("prefers tea"));
    edit(&home, "memory edit", &[("EDITOR", &other)]).done();
    assert!(memory(&home).contains("prefers tea"), "VISUAL is not set");
    let said = edit(&home, "memory edit", &[("VISUAL", "true")]).done();
    assert!(said.contains("unchanged"), "{said}");
    edit(&home, "memory edit", &[("VISUAL", "false")]).refused(1, &["false", "failed"]);
    edit(&home, "memory edit", &[("PATH", "/nowhere")]).refused(1, &["VISUAL"]);

    let json = edit(&home, "memory edit tea --json", &[("VISUAL", &visual)]).json();
    assert_eq!((&json["path"], &json["changed"]), (&"memory/tea.md".into(), &true.into()), "{json}");
    edit(&home, "memory edit ../../coffee", &[("VISUAL", &visual)]).done();
    assert!(
        home.file("workspace/memory/coffee.md").exists() && !home.path().parent().unwrap().join("coffee.md").exists()
    );
}

#[test]
fn a_running_gateway_answers_and_knows_the_change() {
    let home = Home::plain();
    let gateway = home.gateway();
    let visual = editor(&home, "visual", "prefers Python");
    edit(&home, "memory edit", &[("VISUAL", &visual)]).done();
    let list = home.run("memory").done();
    assert!(list.contains("prefers Python") && list.contains("workspace/memory"), "{list}");
    let versions = home.run("memory history MEMORY --json").json();
    assert_eq!(versions[0]["author"], "hand", "{versions}");
    gateway.stop();
}

#[test]
fn versions_are_listed_and_come_back() {
    let home = Home::plain();
    let visual = editor(&home, "visual", "one");
    edit(&home, "memory edit tea", &[("VISUAL", &visual)]).done();
    let first = home.run("memory history tea --json").json();
    for field in ["version", "at", "author", "cause", "size", "tainted", "sources", "present", "deleted"] {
        assert!(first[0].get(field).is_some(), "{field} is missing in {first}");
    }
    edit(&home, "memory edit tea", &[("VISUAL", &visual)]).done();
    let version = first[0]["version"].as_u64().unwrap();
    let told = home.run(&format!("memory restore tea {version}")).done();
    assert!(told.contains("again what it was"), "{told}");
    assert_eq!(std::fs::read_to_string(home.file("workspace/memory/tea.md")).unwrap(), "one\n");
    let shown = home.run("memory history tea").done();
    assert!(shown.contains("there now") && shown.contains("compline memory restore tea VERSION"), "{shown}");
    home.run("memory restore tea 999").refused(1, &["no such version"]);
    home.run("memory restore tea last").refused(2, &["last"]);
    home.run("memory history nothing").refused(1, &["no such note"]);
}

#[test]
fn one_note_is_shown_as_it_is_and_nothing_outside() {
    let home = Home::plain();
    home.run("memory").done();
    std::fs::write(home.file("workspace/memory/tea.md"), "# Tea\n\nWarm *the* pot.\n").unwrap();
    std::fs::write(home.file("secret.md"), "outside\n").unwrap();
    let shown = home.run("memory show tea.md").done();
    assert!(shown.contains("Warm *the* pot.") && shown.contains(" KB (0 %)"), "{shown}");
    let json = home.run("memory show tea --json").json();
    assert_eq!((&json["text"], &json["tainted"]), (&"# Tea\n\nWarm *the* pot.\n".into(), &false.into()));
    home.run("memory show ../../secret").refused(1, &["no such note"]);
    home.run("memory promote tea").refused(1, &["yours already"]);
    let list = home.run("memory --json").json();
    for field in ["index", "notes", "today", "days", "untrusted", "folder", "size"] {
        assert!(list.get(field).is_some(), "{field} is missing in {list}");
    }
    assert_eq!(list["notes"][0]["note"], "tea", "{list}");
}

#[test]
fn what_is_kept_is_found_with_its_lines_and_forgotten() {
    let home = Home::plain();
    home.run("memory").done();
    std::fs::write(
        home.file("workspace/memory/tea.md"),
        "# Tea\n\n## Morning\n\nWarm the pot.\n\n## Evening\n\nNo Pot at all.\n",
    )
    .unwrap();
    let found = home.run("memory search pot --context 1 --json").json();
    assert!(found.as_array().unwrap().iter().all(|hit| hit["path"] == "memory/tea.md"), "{found}");
    assert!(!found.as_array().unwrap().is_empty(), "{found}");
    let evening = home.run("memory search Pot --section Evening --case --limit 5").done();
    assert!(evening.contains("No") && !evening.contains("Warm"), "{evening}");
    home.run("memory search").refused(2, &["QUERY"]);
    home.run("memory forget tea").done();
    assert!(!home.file("workspace/memory/tea.md").exists());
    home.run("memory show tea").refused(1, &["no such note"]);
}
