//! Tests of the workspace with real folders and a real journal.

mod broken;
mod labels;
mod moves;
mod writing;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::*;
use crate::id::AttachmentId;
use crate::people::{Party, Person, Role};
use crate::store::{CommitPoint, Failpoint, Journal};
use crate::time::{Timestamp, Zone};
use crate::trust::{Label, Scope, Source};

const NOW: Timestamp = Timestamp(1_795_284_000_000); // 2026-11-21T18:00:00Z
const DAY: &str = "2026-11-21";

struct Home {
    folder: tempfile::TempDir,
    journal: Journal,
    workspace: Workspace,
    ada: Person,
    ben: Person,
}

async fn home() -> Home {
    let folder = tempfile::tempdir().unwrap();
    home_in(folder, None).await
}

async fn home_in(folder: tempfile::TempDir, failpoint: Option<Failpoint>) -> Home {
    let journal = Journal::open_or_copy(&folder.path().join("journal.db"), failpoint).unwrap();
    let people = journal.write("people", |tx| {
        let ada = tx.people().allow("Ada", Role::Owner, "config", NOW)?;
        Ok((ada, tx.people().allow("Ben", Role::Member, "config", NOW)?))
    });
    let (ada, ben) = people.await.unwrap();
    let workspace =
        Workspace::new(folder.path().join("workspace"), folder.path().join("experience"), journal.clone(), Zone::UTC);
    Home { folder, journal, workspace, ada, ben }
}

impl Home {
    fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join("workspace").join(inside)
    }

    fn write(&self, inside: &str, words: &str) {
        fs::create_dir_all(self.path(inside).parent().unwrap()).unwrap();
        fs::write(self.path(inside), words).unwrap();
    }

    async fn load(&self, who: &Person) -> TurnFiles {
        self.workspace.load(&Party::One(who.clone()), NOW, DAY).await.unwrap()
    }

    /// Announces a file write, like another part of the program.
    async fn announce(&self, inside: &str, words: &str, label: Label) -> i64 {
        let (inside, digest) = (inside.to_owned(), page::digest(words.as_bytes()));
        let job = self
            .journal
            .write("announce", move |tx| tx.file_versions().file_written(&inside, &digest, &label, Scope::Shared, NOW));
        job.await.unwrap()
    }
}

fn web() -> Label {
    Label::untrusted(Source::web("example.org"))
}

fn origin(who: &Person, label: Label) -> ChangeOrigin {
    ChangeOrigin {
        who: Party::One(who.clone()),
        label,
        author: Author::Assistant,
        cause: "test",
        from: Vec::new(),
        person: PersonShare::default(),
        now: NOW,
    }
}

/// Returns the reason of a refusal; a failure fails the test.
fn refusal<R>(error: WorkspaceError<R>) -> R {
    error.refusal().unwrap()
}

fn words(text: &Text) -> &str {
    text.open().0
}

#[tokio::test]
async fn first_contents_are_private_and_known() {
    let home = home().await;
    home.workspace.seed(NOW).await.unwrap();
    let loaded = home.load(&home.ada).await;
    assert!(words(&loaded.agents).contains("# How to work") && words(&loaded.soul).contains("# Who you are"));
    assert!(words(&loaded.memory).contains("## Recent facts\n\n## Index"));
    assert_eq!((words(&loaded.user), words(&loaded.today)), ("", "# Saturday, 21 November 2026\n"));
    assert_eq!(loaded.nodes.len(), 5, "Each file has its row");
    assert!(loaded.notes.is_empty());
    assert_eq!((loaded.agents.scope(), loaded.user.scope()), (Scope::Shared, Scope::Person(home.ada.id)));
    for inside in ["AGENTS.md", "SOUL.md", "USER.md", "memory/MEMORY.md", "memory/2026-11-21.md"] {
        assert_eq!(fs::metadata(home.path(inside)).unwrap().permissions().mode() & 0o777, 0o600, "{inside}");
        assert!(!fs::read_to_string(home.path(inside)).unwrap().is_empty());
    }
    for inside in ["", "memory", "inbox"] {
        assert_eq!(fs::metadata(home.path(inside)).unwrap().permissions().mode() & 0o777, 0o700, "{inside}");
    }
    assert!(
        fs::read_dir(home.path("")).unwrap().all(|file| !file.unwrap().file_name().to_string_lossy().ends_with(".new"))
    );
}

/// Proves: memory/new-home
#[tokio::test]
async fn seeding_never_overwrites() {
    let home = home().await;
    for inside in ["AGENTS.md", "SOUL.md", "USER.md", "memory/MEMORY.md"] {
        home.write(inside, "mine");
    }
    home.workspace.seed(NOW).await.unwrap();
    home.workspace.seed(NOW).await.unwrap();
    for inside in ["AGENTS.md", "SOUL.md", "USER.md", "memory/MEMORY.md"] {
        assert_eq!(fs::read_to_string(home.path(inside)).unwrap(), "mine");
    }
    let rows = home.journal.read(|db| db.file_versions().last_label_of("USER.md")).await.unwrap();
    assert_eq!(rows, None, "What was not written has no row");
}

#[tokio::test]
async fn a_hand_edit_is_trusted_and_seen_at_once() {
    let home = home().await;
    home.workspace.seed(NOW).await.unwrap();
    home.load(&home.ada).await;
    home.write("USER.md", "Call me Ada.\n<!-- not this -->\n");
    let loaded = home.load(&home.ada).await;
    assert_eq!(words(&loaded.user), "Call me Ada.\n");
    assert!(loaded.user.label().is_trusted());
    assert_eq!(loaded.nodes.len(), 4, "No row holds what a person wrote");
    fs::remove_file(home.path("SOUL.md")).unwrap();
    assert_eq!(words(&home.load(&home.ada).await.soul), "");
}

#[tokio::test]
async fn an_unchanged_file_is_not_read_again() {
    let home = home().await;
    home.write("USER.md", "Call me Ada.");
    let first = home.load(&home.ada).await;
    let again = home.load(&home.ada).await;
    assert!(Arc::ptr_eq(first.user.open().0, again.user.open().0), "The very same text");
    home.write("USER.md", "Call me Eda.");
    let changed = home.load(&home.ada).await;
    assert_eq!(words(&changed.user), "Call me Eda.");
    assert!(Arc::ptr_eq(first.memory.open().0, changed.memory.open().0));
}

#[tokio::test]
async fn a_file_last_recorded_as_untrusted_stays_so_and_is_not_loaded() {
    let home = home().await;
    home.write("memory/MEMORY.md", "from a page");
    home.announce("memory/MEMORY.md", "from a page", web()).await;
    for edit in ["from a page", "from a page, tidied up by hand"] {
        home.write("memory/MEMORY.md", edit);
        let loaded = home.load(&home.ada).await;
        assert_eq!(words(&loaded.memory), "");
        assert_eq!(loaded.notes, ["memory/MEMORY.md is left out: untrusted text had a part in it"]);
        assert_eq!(loaded.nodes.len(), 2, "Only USER.md and the note of the day have rows that were loaded");
    }
    home.announce("memory/MEMORY.md", "promoted", Label::trusted()).await;
    assert!(words(&home.load(&home.ada).await.memory).contains("tidied up"));
}

#[tokio::test]
async fn an_announcement_without_its_file_changes_nothing() {
    let home = home().await;
    home.workspace.seed(NOW).await.unwrap();
    let before = home.load(&home.ada).await;
    home.announce("memory/MEMORY.md", "never renamed into place", web()).await;
    let after = home.load(&home.ada).await;
    assert_eq!((after.memory, after.nodes), (before.memory, before.nodes));
}

#[tokio::test]
async fn a_power_cut_between_row_and_rename_is_repaired_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let (from, copy) = (folder.path().to_owned(), tempfile::tempdir().unwrap());
    let to = copy.path().to_owned();
    let cut = Failpoint(Arc::new(move |point, job| {
        if point == CommitPoint::After && job == "announce a file" && !to.join("journal.db").exists() {
            copy_all(&from, &to);
        }
    }));
    let home = home_in(folder, Some(cut)).await;
    home.workspace.seed(NOW).await.unwrap();
    let again = home_in(copy, None).await;
    let announced = again.journal.read(|db| db.file_versions().last_label_of("AGENTS.md")).await.unwrap();
    assert!(announced.is_some() && !again.path("AGENTS.md").exists(), "The cut was where it was meant to be");
    again.workspace.seed(NOW).await.unwrap();
    assert_eq!(words(&again.load(&again.ada).await.agents), words(&home.load(&home.ada).await.agents));
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[tokio::test]
async fn links_are_followed_only_inside() {
    let home = home().await;
    fs::write(home.folder.path().join("secret"), "outside").unwrap();
    fs::create_dir_all(home.folder.path().join("elsewhere")).unwrap();
    fs::create_dir_all(home.path("people")).unwrap();
    home.write("notes/me.md", "I am Ada.");
    home.write("inbox/1-a.txt", "from a stranger");
    symlink(home.folder.path().join("secret"), home.path("USER.md")).unwrap();
    symlink(home.path("inbox/1-a.txt"), home.path("SOUL.md")).unwrap();
    symlink("notes/me.md", home.path("AGENTS.md")).unwrap();
    symlink(home.folder.path().join("elsewhere"), home.path("people/2-ben")).unwrap();
    let loaded = home.load(&home.ada).await;
    assert_eq!((words(&loaded.user), words(&loaded.soul), words(&loaded.agents)), ("", "", "I am Ada."));
    assert!(loaded.notes.iter().any(|note| note == "USER.md is left out: A link leads out of the workspace"));
    assert!(loaded.notes.iter().any(|note| note.starts_with("SOUL.md is left out: untrusted")));
    let loaded = home.load(&home.ben).await;
    assert_eq!(words(&loaded.user), "");
    assert!(
        home.workspace
            .files()
            .save_inbox(Scope::Shared, &Party::One(home.ben.clone()), AttachmentId(1), "a", b"x", &web(), NOW)
            .await
            .is_err()
    );
    assert_eq!(fs::read_dir(home.folder.path().join("elsewhere")).unwrap().count(), 0, "Nothing is written outside");
}

#[tokio::test]
async fn people_have_files_of_their_own() {
    let home = home().await;
    home.workspace.seed(NOW).await.unwrap();
    home.write("USER.md", "I am Ada.");
    home.write("people/2-ben/USER.md", "I am Ben.");
    home.write("people/2-ben/memory/MEMORY.md", "Ben likes tea.");
    let (ada, ben) = (home.load(&home.ada).await, home.load(&home.ben).await);
    assert_eq!((words(&ada.user), words(&ben.user)), ("I am Ada.", "I am Ben."));
    assert_eq!((words(&ben.memory), ben.memory.scope()), ("Ben likes tea.", Scope::Person(home.ben.id)));
    assert!(!words(&ada.memory).contains("tea"));
    assert_eq!(words(&ben.agents), words(&ada.agents));
    assert!(home.path("people/2-ben/memory/2026-11-21.md").exists());
    let eve = home.journal.write("eve", |tx| tx.people().allow("Eve", Role::Owner, "config", NOW)).await.unwrap();
    assert_eq!(words(&home.load(&eve).await.user), "", "A second owner is not the first");
    assert!(home.path("people/3-eve/USER.md").exists());
}

#[tokio::test]
async fn a_file_that_cannot_be_loaded_is_noted_and_the_rest_is_there() {
    let home = home().await;
    home.workspace.seed(NOW).await.unwrap();
    home.write("AGENTS.md", &"long ".repeat(20_000));
    fs::write(home.path("USER.md"), b"caf\xe9").unwrap();
    fs::write(home.path("SOUL.md"), vec![b'a'; 5 * 1024 * 1024]).unwrap();
    fs::remove_file(home.path("memory/MEMORY.md")).unwrap();
    fs::create_dir(home.path("memory/MEMORY.md")).unwrap();
    let loaded = home.load(&home.ada).await;
    assert!(words(&loaded.agents).ends_with("(cut after 65536 characters; the rest is in AGENTS.md)"));
    assert_eq!((words(&loaded.user), words(&loaded.soul), words(&loaded.memory)), ("café", "", ""));
    assert_eq!(loaded.notes.len(), 3, "{:?}", loaded.notes);
}

#[tokio::test]
async fn received_files_are_kept_under_safe_names_with_their_label() {
    let home = home().await;
    let scope = Scope::Person(home.ben.id);
    let label = web();
    let ben = Party::One(home.ben.clone());
    let files = home.workspace.files();
    let save = files.save_inbox(scope, &ben, AttachmentId(7), "../../Tax 2025.PDF", b"%PDF", &label, NOW);
    let (path, digest) = save.await.unwrap();
    assert_eq!(path, "people/2-ben/inbox/7-Tax-2025.PDF");
    assert_eq!(home.workspace.files().read_inbox(scope, &path).await.unwrap(), b"%PDF");
    let of = path.clone();
    let row = home.journal.read(move |db| db.file_versions().file_version(&of, &digest)).await.unwrap();
    assert_eq!(row.unwrap().1, web());
    let (empty, _) = home
        .workspace
        .files()
        .save_inbox(Scope::Person(home.ada.id), &Party::One(home.ada.clone()), AttachmentId(8), "", b"", &web(), NOW)
        .await
        .unwrap();
    assert_eq!(
        (empty.as_str(), home.workspace.files().read_inbox(Scope::Person(home.ada.id), &empty).await.unwrap().len()),
        ("inbox/8-file", 0)
    );
    for elsewhere in ["USER.md", "inbox/../USER.md", "/etc/passwd", "people/2-ben/USER.md", "inbox", ""] {
        assert!(home.workspace.files().read_inbox(scope, elsewhere).await.is_err(), "{elsewhere}");
    }
}

#[tokio::test]
async fn an_unwritable_workspace_is_named_and_blocks_no_answer() {
    let home = home().await;
    let workspace = home.folder.path().join("workspace");
    fs::write(&workspace, "a file where the folder should be").unwrap();
    let error = format!("{:#}", home.workspace.seed(NOW).await.unwrap_err());
    assert!(
        error.starts_with(&format!("Cannot write AGENTS.md in the workspace {}: ", workspace.display())),
        "{error}"
    );
    let loaded = home.load(&home.ada).await;
    assert_eq!(words(&loaded.memory), "");
    assert!(!loaded.notes.is_empty());
}

#[tokio::test]
async fn without_an_owner_only_shared_files_are_created() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open_or_copy(&folder.path().join("journal.db"), None).unwrap();
    let workspace =
        Workspace::new(folder.path().join("workspace"), folder.path().join("experience"), journal, Zone::UTC);
    workspace.seed(NOW).await.unwrap();
    assert!(folder.path().join("workspace/SOUL.md").exists() && !folder.path().join("workspace/USER.md").exists());
}
