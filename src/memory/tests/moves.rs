//! Folder moves, with a power cut between any two steps.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Creates Carl, an owner besides Ada, and files of both.
async fn two_owners() -> (Home, Person) {
    let home = home().await;
    let carl = home.journal.write("carl", |tx| tx.people().allow("Carl", Role::Owner, "config", NOW)).await.unwrap();
    home.workspace.seed(NOW).await.unwrap();
    for (folder, who) in [("", "ada"), ("people/3-carl/", "carl")] {
        for file in ["USER.md", "HEARTBEAT.md", "memory/MEMORY.md", "memory/tea.md", "notes/deep/a.md"] {
            home.write(&format!("{folder}{file}"), &format!("{file} of {who}"));
        }
    }
    home.write("memory/hers.md", "only ada");
    home.write("people/3-carl/letters/his.md", "only carl");
    let beside = home.folder.path().join("experience");
    fs::create_dir_all(beside.join("people/3-carl")).unwrap();
    fs::write(beside.join("default.md"), "learned with ada").unwrap();
    fs::write(beside.join("people/3-carl/default.md"), "learned with carl").unwrap();
    home.load(&home.ada).await;
    home.load(&carl).await;
    (home, carl)
}

impl Home {
    /// Opens the same disk and journal after a power cut.
    fn revived(&self) -> Workspace {
        let at = |name: &str| self.folder.path().join(name);
        Workspace::new(at("workspace"), at("experience"), self.journal.clone(), Zone::UTC)
    }

    fn says(&self, inside: &str) -> String {
        fs::read_to_string(self.path(inside)).unwrap_or_default()
    }
}

fn is_swapped(home: &Home) {
    for (folder, who) in [("people/1-ada/", "ada"), ("", "carl")] {
        for file in ["USER.md", "HEARTBEAT.md", "memory/MEMORY.md", "memory/tea.md", "notes/deep/a.md"] {
            // A turn that loads the folder meanwhile adds the lines of its notes to the index.
            let text = home.says(&format!("{folder}{file}"));
            assert_eq!(text.split("\n\n## Index\n").next(), Some(format!("{file} of {who}").as_str()));
        }
    }
    assert_eq!(
        (home.says("people/1-ada/memory/hers.md"), home.says("memory/hers.md")),
        ("only ada".into(), String::new())
    );
    assert_eq!(
        (home.says("letters/his.md"), home.says("people/1-ada/letters/his.md")),
        ("only carl".into(), String::new())
    );
    let beside = home.folder.path().join("experience");
    assert_eq!(fs::read_to_string(beside.join("default.md")).unwrap(), "learned with carl");
    assert_eq!(fs::read_to_string(beside.join("people/1-ada/default.md")).unwrap(), "learned with ada");
    assert!(!home.path("people/3-carl").exists() && home.path("AGENTS.md").exists() && home.path("SOUL.md").exists());
}

/// Proves: people/workspace-root
#[tokio::test]
async fn a_hand_over_that_is_cut_off_anywhere_is_finished_at_the_start() {
    for nth in 0.. {
        let (home, carl) = two_owners().await;
        let (party, left) = (Party::One(carl.clone()), AtomicUsize::new(nth));
        let cut = || match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) {
            Ok(_) => Ok(()),
            Err(_) => Err(anyhow::anyhow!("the power is gone")),
        };
        let handed = home.workspace.folders().hand_over_in_steps(&party, &cut).await;
        let workspace = home.revived();
        if handed.is_err() {
            let open = home.journal.read(|db| db.folders().folder_moves()).await.unwrap();
            if !open.is_empty() {
                let loaded = workspace.load(&party, NOW, DAY).await.unwrap();
                assert_eq!(
                    (words(&loaded.user), words(&loaded.memory)),
                    ("", ""),
                    "closed meanwhile, after {nth} steps"
                );
            }
            // A second power cut, during recovery.
            let _ = workspace.folders().settle_folders_in_steps(&|| Err(anyhow::anyhow!("gone again"))).await;
        }
        home.revived().folders().settle_folders().await.unwrap();
        is_swapped(&home);
        for (person, who) in [(&home.ada, "ada"), (&carl, "carl")] {
            let loaded = home.revived().load(&Party::One(person.clone()), NOW, DAY).await.unwrap();
            assert_eq!(words(&loaded.user), format!("USER.md of {who}"), "after {nth} steps");
        }
        let rows = home.journal.read(|db| db.folders().newest_scopes()).await.unwrap();
        assert!(
            rows.iter().all(|row| match row.scope {
                Scope::Person(id) if id == home.ada.id =>
                    row.path.starts_with("people/1-ada/") || row.path.starts_with("//experience/people/1-ada/"),
                Scope::Person(_) => !row.path.contains("people/"),
                _ => true,
            }),
            "{rows:?}"
        );
        if handed.is_ok() {
            assert!(nth > 8, "{nth}");
            break;
        }
    }
}

#[tokio::test]
async fn obstacles_to_a_handover_are_reported_before_it_starts() {
    let (home, carl) = two_owners().await;
    let party = Party::One(carl.clone());
    symlink("notes/deep/a.md", home.path("link.md")).unwrap();
    assert_eq!(
        home.workspace.folders().hand_over(&party).await.map_err(refusal),
        Err(HandOverRefusal::Unmovable("link.md".to_owned()))
    );
    fs::remove_file(home.path("link.md")).unwrap();
    let forgetting = home.workspace.erasure_lock().await;
    assert_eq!(home.workspace.folders().hand_over(&party).await.map_err(refusal), Err(HandOverRefusal::Busy));
    drop(forgetting);
    assert_eq!(
        home.workspace.folders().hand_over(&Party::One(home.ada.clone())).await.map_err(refusal),
        Err(HandOverRefusal::Same)
    );
    assert_eq!(
        home.workspace.folders().hand_over(&Party::One(home.ben.clone())).await.map_err(refusal),
        Err(HandOverRefusal::NotAnOwner)
    );
    assert_eq!(home.says("USER.md"), "USER.md of ada");
}

#[tokio::test]
async fn an_existing_folder_of_the_former_root_owner_stays_separate() {
    let (home, carl) = two_owners().await;
    home.write("people/1-ada/memory/old.md", "from another time");
    let done = home.workspace.folders().hand_over(&Party::One(carl)).await.unwrap();
    assert_eq!(done.from_folder, "people/1-ada-2");
    assert_eq!(home.says("people/1-ada/memory/old.md"), "from another time");
    assert_eq!(home.says("people/1-ada-2/USER.md"), "USER.md of ada");
    assert_eq!(words(&home.load(&home.ada).await.user), "USER.md of ada");
}

/// Proves: privacy/foreign-file
#[tokio::test]
async fn words_of_another_are_neither_added_to_nor_taken_over() {
    let (home, _) = two_owners().await;
    let (ben, text) = (Scope::Person(home.ben.id), "USER.md of ada");
    let digest = page::digest(text.as_bytes());
    let row = move |tx: crate::store::Tx<'_>| {
        tx.file_versions().file_written("USER.md", &digest, &Label::trusted(), ben, NOW).map(drop)
    };
    home.journal.write("a row of another", row).await.unwrap();
    let ada = Party::One(home.ada.clone());
    let origin = ChangeOrigin {
        who: ada.clone(),
        label: Label::trusted(),
        author: Author::Person,
        cause: "test",
        from: Vec::new(),
        person: PersonShare::default(),
        now: NOW,
    };
    let add = |text: Option<&str>| Ok(NewContent::Text(format!("{}!", text.unwrap_or_default())));
    assert_eq!(
        home.workspace.versions().change(&origin, "USER.md", add).await.map_err(refusal),
        Err(WriteRefusal::Foreign)
    );
    assert_eq!(home.workspace.files().read_text(&ada, "USER.md").await.map_err(refusal), Err(AccessRefusal::Elsewhere));
    assert_eq!(
        home.workspace.files().own_file(&ada, "USER.md", 1000).await.map_err(refusal),
        Err(AccessRefusal::Elsewhere)
    );
    assert!(home.workspace.folders().files_of(&ada).await.unwrap().iter().all(|file| file.path != "USER.md"));
    let listed = home.workspace.files().list(&ada, "").await.unwrap();
    assert!(listed.iter().all(|entry| entry.name != "USER.md"));
    assert_eq!(words(&home.load(&home.ada).await.user), "");
    // A hand edit does not make the file Ada's, but a file with another name is hers.
    home.write("USER.md", "edited");
    assert_eq!(words(&home.load(&home.ada).await.user), "");
    assert_eq!(home.workspace.checks().health().await.unwrap().misplaced.len(), 1);
    home.write("memory/mine.md", "edited");
    assert!(home.workspace.files().read_text(&ada, "memory/mine.md").await.is_ok());
}

#[tokio::test]
async fn a_link_into_the_folder_of_another_is_not_loaded() {
    let (home, carl) = two_owners().await;
    fs::remove_file(home.path("people/3-carl/USER.md")).unwrap();
    symlink("../../USER.md", home.path("people/3-carl/USER.md")).unwrap();
    assert_eq!(words(&home.load(&carl).await.user), "");
}
