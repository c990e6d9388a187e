//! Importing archives of other programs on the command line: what comes in, what is refused, and
//! the removal of all of it.

use super::program::Home;

/// Writes an archive from the corpus next to the home.
fn archive(home: &Home, name: &str, file: &str) -> String {
    let corpus = format!("{}/tests/corpus/import/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let path = home.path().parent().unwrap().join(file);
    std::fs::copy(corpus, &path).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Promise (command-line/import): `compline import` recognises the exports of ChatGPT, Claude and
/// Telegram, and the folders of OpenClaw and Carpenter. A dry run says what would come in and what
/// is skipped, and stores nothing.
#[test]
fn an_archive_is_shown_and_imported() {
    let home = Home::plain();
    let file = archive(&home, "chatgpt", "conversations.json");
    let dry = home.run(&format!("import --dry-run {file}")).done();
    for part in [
        "ChatGPT export: 2 conversations with 4 messages",
        "skipped: 1 entry in an unknown form",
        "skipped: 1 earlier version of a message",
        "skipped: 1 picture or other file",
        "Nothing was imported. 4 messages would be new.",
    ] {
        assert!(dry.contains(part), "{part:?} is missing in {dry}");
    }
    assert_eq!(home.run("import list").done().trim(), "Nothing was imported.");
    assert!(home.run("conversations list --kind imported --json").json().as_array().unwrap().is_empty());

    let done = home.run(&format!("import chatgpt {file}")).done();
    assert!(
        done.contains("Import 1: 4 messages added for Ada.") && done.contains("compline import remove 1"),
        "{done}"
    );
    let listed = home.run("conversations list --kind imported --json").json();
    assert_eq!((listed.as_array().unwrap().len(), &listed[1]["title"]), (2, &"Raised beds (ChatGPT)".into()));
    assert_eq!((&listed[1]["tainted"], &listed[1]["kind"]), (&true.into(), &"imported".into()));
    assert!(home.run("conversations list --json").json().as_array().unwrap().is_empty(), "it is no chat");
    let shown = home.run("conversations show 1").done();
    assert!(shown.contains("imported from ChatGPT") && shown.contains("Larch lasts about fifteen years."), "{shown}");
    let hit = home.run("search --json --in messages larch").json();
    assert_eq!((hit.as_array().unwrap().len(), &hit[0]["tainted"]), (1, &true.into()), "{hit}");
    assert!(home.run("search larch").done().contains("imported from ChatGPT"));

    let again = home.run(&format!("import {file}")).done();
    assert!(again.contains("Nothing new: all of it was imported before."), "{again}");
    let imports = home.run("import list --json").json();
    let row = (&imports[0]["kind"], &imports[0]["name"], &imports[0]["person"], &imports[0]["messages"]);
    assert_eq!(row, (&"chatgpt".into(), &"conversations.json".into(), &"Ada".into(), &4.into()));
    assert_eq!((imports.as_array().unwrap().len(), &imports[0]["embedded"]), (1, &false.into()));
}

/// Promise (forgetting/import): `compline import remove` deletes all that one import brought:
/// conversations, notes, proposals, search index and vectors. Nothing else is touched.
#[test]
fn an_import_is_removed_as_one() {
    let home = Home::plain();
    home.run(&format!("import {}", archive(&home, "claude", "conversations.json"))).done();
    home.run(&format!("import {}", archive(&home, "telegram", "result.json"))).done();
    let list = home.run("import list").done();
    assert!(list.contains("1: Claude, ") && list.contains("2: Telegram, "), "a list would count by itself: {list}");
    home.run("import remove 1").refused(2, &["permanent", "--yes"]);
    let removed = home.run("import remove 1 --yes").done();
    assert!(removed.contains("Import 1 is removed"), "{removed}");
    home.run("import remove 1 --yes").refused(1, &["There is no import 1", "compline import list"]);
    assert!(home.run("search --json dough").json().as_array().unwrap().is_empty());
    let left = home.run("conversations list --kind imported --json").json();
    assert_eq!((left.as_array().unwrap().len(), &left[0]["title"]), (2, &"Nora (Telegram)".into()));
    assert_eq!(home.run("search --json --in messages pot").json().as_array().unwrap().len(), 1);
    let again = home.run(&format!("import {}", archive(&home, "claude", "conversations.json"))).done();
    assert!(again.contains("Import 3: 2 messages added"), "what was removed can come again: {again}");
}

/// Proves: command-line/import
#[test]
fn a_wrong_archive_is_refused_with_the_reason() {
    let home = Home::plain();
    let file = archive(&home, "claude", "conversations.json");
    home.run(&format!("import telegram {file}")).refused(1, &["is an export of Claude", "nothing was imported"]);
    home.run(&format!("import slack {file}")).refused(2, &["`slack` is no kind of archive", "fix:"]);
    home.run(&format!("import {file} --as Zoe")).refused(1, &["Zoe"]);
    home.run("import /nowhere/at/all.zip").refused(1, &["/nowhere/at/all.zip"]);
    home.run("import").refused(2, &["import"]);
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    home.run(&format!("import {file}")).refused(1, &["ends in the middle", "nothing was imported", "fix:"]);
    assert_eq!(home.run("import list").done().trim(), "Nothing was imported.");
}

/// Proves: command-line/import
#[test]
fn a_workspace_is_shown_imported_and_removed() {
    let home = Home::plain();
    let folder = home.path().parent().unwrap().join("workspace");
    for (path, text) in [
        ("SOUL.md", "Be kind."),
        ("memory/2026-02-23.md", "The larch came."),
        ("memory/plan.png", "x"),
        ("skills/tea/SKILL.md", "---\nname: tea\ndescription: Makes tea.\n---\n\nBoil water.\n"),
    ] {
        std::fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
        std::fs::write(folder.join(path), text).unwrap();
    }
    std::os::unix::fs::symlink("/etc/passwd", folder.join("USER.md")).unwrap();
    let folder = folder.to_str().unwrap();
    let dry = home.run(&format!("import --dry-run {folder}")).done();
    for part in [
        "OpenClaw folder: 2 notes and 1 skill.",
        "skipped: 1 link, which may lead elsewhere (USER.md)",
        "skipped: 1 file that is no Markdown (memory/plan.png)",
        "Nothing was imported. 2 notes would be new. 1 skill would be proposed for review.",
    ] {
        assert!(dry.contains(part), "{part:?} is missing in {dry}");
    }
    assert_eq!(home.run("import list").done().trim(), "Nothing was imported.");
    assert_eq!(home.run("review list --json").json().as_array().unwrap().len(), 0);
    home.run(&format!("import carpenter {folder}")).refused(1, &["is a folder of OpenClaw", "nothing was imported"]);

    let done = home.run(&format!("import openclaw {folder}")).done();
    for part in
        ["Import 1: 2 notes added for Ada.", "1 skill waits for review: `compline review list`", "import remove 1"]
    {
        assert!(done.contains(part), "{part:?} is missing in {done}");
    }
    let shown = home.run("memory show 2026-02-23-imported").done();
    assert!(
        shown.contains("The larch came.") && shown.contains("came from outside (something brought in from elsewhere)"),
        "{shown}"
    );
    let waits = home.run("review list --json").json();
    assert_eq!(
        (&waits[0]["skill"], &waits[0]["tainted"], waits.as_array().unwrap().len()),
        (&"tea".into(), &true.into(), 1)
    );
    let row = &home.run("import list --json").json()[0];
    assert_eq!((&row["kind"], &row["notes"], &row["skills"]), (&"openclaw".into(), &2.into(), &1.into()));
    assert!(home.run("import list").done().contains("2 notes and 1 skill"));
    assert!(home.run(&format!("import {folder}")).done().contains("Nothing new"));

    let removed = home.run("import remove 1 --yes").done();
    assert!(removed.contains("Import 1 is removed: 2 notes deleted."), "{removed}");
    assert_eq!(home.run("review list --json").json().as_array().unwrap().len(), 0);
    home.run("memory show 2026-02-23-imported").refused(1, &["no such note"]);
}
