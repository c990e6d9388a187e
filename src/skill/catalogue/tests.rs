//! Folders as people leave them, and the cost of a second look.

use super::*;
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn skill(&self, folder: &str, name: &str) {
        self.put(&format!("{folder}/SKILL.md"), format!("---\nname: {name}\ndescription: Does {name}\n---\n"));
    }

    fn shelf(&self) -> SkillCache {
        SkillCache::new(self.0.path().to_owned())
    }
}

/// Returns the skills as `folder=name`, and the broken folders.
fn found(catalogue: &Catalogue) -> (Vec<String>, Vec<&str>) {
    let skills = catalogue.skills.iter().map(|(folder, skill)| format!("{folder}={}", skill.manifest.name));
    (skills.collect(), catalogue.broken.iter().map(|broken| broken.folder.as_str()).collect())
}

#[test]
fn skill_folders_are_sorted_into_valid_broken_and_ignored() {
    let home = Home::new();
    home.skill("b", "b");
    home.put("a/SKILL.md", "# A\n\nAn old one.\n");
    home.put("a/resources/x.bin", [0xff, 0]);
    home.put("readme.md", "no skill");
    home.put("empty/notes.md", "no skill");
    home.put("deep/inner/SKILL.md", "no skill");
    home.skill(".hidden", "hidden");
    home.skill("My Skill", "my-skill");
    home.put("blank/SKILL.md", "");
    home.put("bytes/SKILL.md", [0xff]);
    home.put("spelling/skill.md", "x");
    home.skill("od\u{202e}d", "odd");
    home.skill("linked-file", "linked-file");
    symlink(home.0.path().join("b"), home.0.path().join("link")).unwrap();
    symlink("/nowhere", home.0.path().join("dangling")).unwrap();
    symlink(home.0.path().join("readme.md"), home.0.path().join("link.md")).unwrap();
    symlink("/etc/passwd", home.0.path().join("linked-file/passwd")).unwrap();
    let catalogue = home.shelf().look();
    let (skills, broken) = found(&catalogue);
    assert_eq!(skills, ["My Skill=my-skill", "a=a", "b=b"]);
    assert_eq!(broken, ["blank", "bytes", "dangling", "deep", "link", "linked-file", "od\u{fffd}d", "spelling"]);
    let deep = catalogue.broken.iter().find(|broken| broken.folder == "deep").unwrap();
    assert!(deep.why.contains("inner"), "{}", deep.why);
    assert_eq!(catalogue.skills["a"].manifest.description, "An old one.");
    assert_eq!(catalogue.skills["a"].content.len(), 2);
    assert_eq!(catalogue.skills["a"].digest, catalogue.skills["a"].content.digest());
}

#[test]
fn a_broken_folder_says_why() {
    let home = Home::new();
    home.put("a/SKILL.md", "---\nname: a\n");
    symlink("/", home.0.path().join("b")).unwrap();
    let why: Vec<String> = home.shelf().look().broken.iter().map(|broken| broken.why.clone()).collect();
    assert_eq!(
        why,
        [
            "SKILL.md, line 1: the front matter begins here and does not end; put a line of three dashes after it",
            "it is a link; links are not followed, so copy the folder to this place",
        ]
    );
}

#[test]
fn no_folder_means_no_skills_and_one_that_cannot_be_listed_is_named() {
    let home = Home::new();
    assert_eq!(*SkillCache::new(home.0.path().join("missing")).look(), Catalogue::default());
    home.put("file", "x");
    let catalogue = SkillCache::new(home.0.path().join("file")).look();
    assert_eq!(found(&catalogue), (vec![], vec!["skills"]));
}

#[test]
fn the_same_catalogue_comes_back_until_something_changes() {
    let home = Home::new();
    home.skill("a", "a");
    home.skill("b", "b");
    home.put("broken/SKILL.md", "");
    let shelf = home.shelf();
    let first = shelf.look();
    assert!(Arc::ptr_eq(&first, &shelf.look()));
    // Touched but unchanged: the shared value stays.
    home.skill("a", "a");
    assert!(Arc::ptr_eq(&first, &shelf.look()));
    home.put("a/resources/new.md", "x");
    let second = shelf.look();
    assert!(!Arc::ptr_eq(&first, &second));
    assert_ne!(first.skills["a"].digest, second.skills["a"].digest);
    assert!(Arc::ptr_eq(&first.skills["b"], &second.skills["b"]), "what did not change is not read again");
    fs::remove_dir_all(home.0.path().join("b")).unwrap();
    home.skill("broken", "broken");
    assert_eq!(found(&shelf.look()), (vec!["a=a".to_owned(), "broken=broken".to_owned()], vec![]));
}

#[test]
fn a_change_that_keeps_size_and_time_is_seen() {
    let home = Home::new();
    home.put("a/SKILL.md", "Does one");
    let path = home.0.path().join("a/SKILL.md");
    let shelf = home.shelf();
    let first = shelf.look();
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    home.put("a/new", "Does two");
    fs::rename(home.0.path().join("a/new"), &path).unwrap();
    fs::File::open(&path).unwrap().set_modified(time).unwrap();
    assert_ne!(first.skills["a"].digest, shelf.look().skills["a"].digest);
}

#[test]
fn a_failure_that_may_pass_is_tried_again() {
    let home = Home::new();
    home.skill("a", "a");
    let path = home.0.path().join("a");
    for is_transient in [true, false] {
        let failure = LoadFailure { why: "too many open files".to_owned(), is_transient };
        let before = CachedFolder { stamps: Stamps::of(&path), outcome: Err(failure) };
        assert_eq!(refresh(&path, "a", Some(&before)).unwrap().outcome.is_ok(), is_transient);
    }
}

#[test]
fn a_name_belongs_to_its_folder_first() {
    let home = Home::new();
    home.skill("a", "x");
    home.skill("x", "x");
    home.skill("b", "y");
    home.skill("c", "y");
    home.skill("d", "e");
    home.skill("e", "f");
    home.skill("g", "blank");
    home.put("blank/SKILL.md", "");
    let catalogue = home.shelf().look();
    assert_eq!(found(&catalogue).0, ["a=a", "b=b", "c=c", "d=d", "e=f", "g=g", "x=x"]);
    assert_eq!(catalogue.skills["a"].declared_name.as_deref(), Some("x"));
    assert_eq!(catalogue.skills["x"].declared_name, None);
    assert_eq!(catalogue.named("x").unwrap().folder, "x");
    assert_eq!(catalogue.named("f").unwrap().folder, "e");
    assert!(catalogue.named("e").is_none());
    assert!(catalogue.named("blank").is_none(), "nobody takes the name of a folder that does not load");
}

#[test]
fn a_folder_with_far_too_much_in_it_is_not_read() {
    let home = Home::new();
    home.skill("a", "a");
    for number in 0..=super::super::folder::MOST_FILES {
        home.put(&format!("a/{number}"), "");
    }
    let catalogue = home.shelf().look();
    assert_eq!(found(&catalogue), (vec![], vec!["a"]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_content_is_too_odd(
        skills in prop::collection::vec(("[a-cA -]{1,3}|\\PC{1,3}", prop::collection::vec(any::<u8>(), 0..60), any::<bool>()), 0..5)
    ) {
        let home = Home::new();
        for (folder, bytes, in_front) in &skills {
            let folder = folder.replace(['/', '\0'], "x");
            if folder != "." && folder != ".." {
                let bytes = if *in_front { [b"---\nname: a\n".as_slice(), bytes, b"\n---\nText"].concat() } else { bytes.clone() };
                home.put(&format!("{folder}/SKILL.md"), bytes);
            }
        }
        let shelf = home.shelf();
        let catalogue = shelf.look();
        let names: std::collections::BTreeSet<&str> = catalogue.skills.values().map(|skill| skill.manifest.name.as_str()).collect();
        prop_assert_eq!(names.len(), catalogue.skills.len(), "each goes by a name of its own");
        prop_assert!(Arc::ptr_eq(&catalogue, &shelf.look()));
        prop_assert_eq!(&*home.shelf().look(), &*catalogue);
    }
}
