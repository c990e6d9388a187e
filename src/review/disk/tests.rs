//! Power cuts between all steps, and concurrent changes by people: on a real disk, with and without
//! an exchange.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::TempDir;

use super::*;
use proptest::prelude::*;

const ID: i64 = 7;
const NAME: &str = "tea-time";
const CHANGES: [(Option<&str>, Option<&str>); 3] =
    [(None, Some("new")), (Some("old"), Some("new")), (Some("old"), None)];

/// A skill with a second file, so that mixed contents are detectable.
fn folder(words: &str) -> SkillFolder {
    let bytes = |text: String| Arc::from(text.into_bytes());
    SkillFolder::new([
        ("SKILL.md".to_owned(), bytes(format!("main {words}"))),
        (format!("parts/deep/{words}.md"), bytes(words.to_owned())),
        ("parts/both.md".to_owned(), bytes(format!("both {words}"))),
    ])
}

fn lay(root: &Path, content: &SkillFolder) {
    fs::create_dir(root).unwrap();
    for (path, bytes) in content.files() {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), bytes).unwrap();
    }
}

/// Copies the folder as a power cut would leave it.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            fs::create_dir(&target).unwrap();
            copy(&path, &target);
        } else if kind.is_symlink() {
            symlink(fs::read_link(&path).unwrap(), target).unwrap();
        } else {
            fs::copy(&path, target).unwrap();
        }
    }
}

fn copied(dir: &Path) -> TempDir {
    let cut = tempfile::tempdir().unwrap();
    copy(dir, cut.path());
    cut
}

fn home(base: Option<&str>) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    if let Some(words) = base {
        lay(&dir.path().join(NAME), &folder(words));
    }
    dir
}

fn disk(dir: &Path, plain: bool, watch: impl Fn(&'static str) -> io::Result<()> + Send + Sync + 'static) -> Disk {
    Disk { plain, ..Disk::new(dir.to_owned(), Some(DiskFailpoint(Arc::new(watch)))) }
}

fn swap(disk: &Disk, change: (Option<&str>, Option<&str>)) -> Result<SwapOutcome, SwapError> {
    let (base, content) = (change.0.map(|words| folder(words).digest()), change.1.map(folder));
    disk.swap(&Swap { id: ID, name: NAME, base: base.as_ref(), content: content.as_ref() })
}

/// Makes the change as after a start, and returns a copy of the folder at each step, with the name
/// of the next step.
fn cuts(dir: &Path, plain: bool, change: (Option<&str>, Option<&str>)) -> Vec<(&'static str, TempDir)> {
    let cuts = Arc::new(Mutex::new(Vec::new()));
    let (seen, from) = (Arc::clone(&cuts), dir.to_owned());
    let disk = disk(dir, plain, move |step| {
        seen.lock().unwrap().push((step, copied(&from)));
        Ok(())
    });
    disk.recover(&[ID]).unwrap();
    assert_eq!(swap(&disk, change).unwrap(), SwapOutcome::Done);
    drop(disk);
    Arc::into_inner(cuts).unwrap().into_inner().unwrap()
}

fn at(dir: &Path) -> Option<SkillFolder> {
    Disk::new(dir.to_owned(), None).present_content(NAME).unwrap()
}

fn entries(path: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn assert_clean(dir: &Path, change: (Option<&str>, Option<&str>), when: &str) {
    assert_eq!(at(dir), change.1.map(folder), "{when}");
    assert!(entries(&dir.join(".staging")).is_empty() && !dir.join(".kept").exists(), "{when}");
}

/// Returns all names below a folder, with the contents of the files.
fn workspace(dir: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut all = Vec::new();
    for path in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            all.extend(workspace(&path));
        }
        all.push((path.clone(), fs::read(&path).ok()));
    }
    all.sort();
    all
}

fn state(dir: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    workspace(dir).into_iter().map(|(path, bytes)| (path.strip_prefix(dir).unwrap().to_owned(), bytes)).collect()
}

#[test]
fn any_number_of_cuts_at_any_steps_end_in_the_new_version() {
    for change in CHANGES {
        let (mut known, mut open) = (BTreeSet::new(), vec![("nothing", home(change.0))]);
        while let Some((step, cut)) = open.pop() {
            if !known.insert(state(cut.path())) {
                continue;
            }
            // The filesystem may support an exchange or not at each start.
            for plain in [false, true] {
                let again = copied(cut.path());
                open.extend(cuts(again.path(), plain, change));
                assert_clean(again.path(), change, &format!("{change:?} cut before {step}, plain {plain}"));
            }
        }
        assert!(known.len() >= 5, "{change:?}: {}", known.len());
    }
}

#[test]
fn at_every_step_a_reader_sees_the_old_or_the_new_version_whole() {
    for change in CHANGES {
        for plain in [false, true] {
            let home = home(change.0);
            let (old, new) = (change.0.map(folder), change.1.map(folder));
            let mut turned = false;
            for (step, cut) in cuts(home.path(), plain, change) {
                let seen = at(cut.path());
                turned |= seen == new;
                let gap = plain && seen.is_none();
                assert!(gap || seen == if turned { new.clone() } else { old.clone() }, "{change:?} {step} {plain}");
            }
            assert!(turned);
        }
    }
}

#[test]
fn a_half_removed_staged_folder_is_not_taken_for_a_persons_work() {
    let change = (Some("old"), Some("new"));
    let home = home(change.1);
    for kind in [StagedKind::Gone, StagedKind::Part] {
        let half = home.path().join(".staging").join(kind.entry(ID, NAME).name);
        fs::create_dir_all(half.join("parts")).unwrap();
        fs::write(half.join("parts/both.md"), "both old").unwrap();
    }
    cuts(home.path(), false, change);
    assert_clean(home.path(), change, "half removed");
}

#[test]
fn a_swap_that_is_made_again_does_nothing() {
    for change in CHANGES {
        let home = home(change.0);
        cuts(home.path(), false, change);
        let steps: Vec<_> = cuts(home.path(), false, change).into_iter().map(|(step, _)| step).collect();
        assert_eq!(steps, ["remove", "remove", "end"]);
    }
}

#[test]
fn anything_but_the_base_is_a_conflict_and_stays() {
    for (base, content) in CHANGES {
        for present in
            [Some("hand"), None, Some("old")].into_iter().filter(|present| *present != base && *present != content)
        {
            let home = home(present);
            let disk = disk(home.path(), false, |_| Ok(()));
            assert_eq!(
                swap(&disk, (base, content)).unwrap(),
                SwapOutcome::Conflict,
                "{base:?} {content:?} {present:?}"
            );
            assert_clean(home.path(), (base, present), "conflict");
        }
    }
}

#[test]
fn a_file_saved_just_before_the_exchange_is_seen_and_goes_back() {
    for change in [(Some("old"), Some("new")), (Some("old"), None)] {
        for plain in [false, true] {
            let home = home(change.0);
            let target = home.path().join(NAME);
            let last_moment = if plain || change.1.is_none() { "take out" } else { "exchange" };
            let saved = Mutex::new(false);
            let disk = disk(home.path(), plain, move |step| {
                let mut saved = saved.lock().unwrap();
                if step == last_moment && !std::mem::replace(&mut *saved, true) {
                    fs::write(target.join("hand"), "hand")?;
                }
                Ok(())
            });
            assert_eq!(swap(&disk, change).unwrap(), SwapOutcome::Conflict);
            let mut expected = folder("old");
            expected.put("hand", Arc::from(&b"hand"[..]));
            assert_eq!(at(home.path()), Some(expected));
            assert!(entries(&home.path().join(".staging")).is_empty() && !home.path().join(".kept").exists());
        }
    }
}

#[test]
fn a_full_disk_at_any_step_loses_nothing_and_goes_on_later() {
    for change in CHANGES {
        for plain in [false, true] {
            let all = cuts(home(change.0).path(), plain, change).len();
            for full_from in 0..all {
                let home = home(change.0);
                let left = Mutex::new(full_from);
                let full = disk(home.path(), plain, move |_| {
                    let mut left = left.lock().unwrap();
                    *left = left.checked_sub(1).ok_or(ErrorKind::StorageFull)?;
                    Ok(())
                });
                let ended = swap(&full, change);
                assert!(matches!(ended, Err(SwapError::Full) | Ok(SwapOutcome::Done)), "{ended:?}");
                assert!(plain || [change.0.map(folder), change.1.map(folder)].contains(&at(home.path())));
                assert_eq!(swap(&disk(home.path(), plain, |_| Ok(())), change).unwrap(), SwapOutcome::Done);
                assert_clean(home.path(), change, &format!("{change:?} full from step {full_from}"));
            }
        }
    }
    for (kind, expected) in [(ErrorKind::ReadOnlyFilesystem, true), (ErrorKind::TimedOut, false)] {
        let home = home(None);
        let ended = swap(&disk(home.path(), false, move |_| Err(kind.into())), CHANGES[0]);
        assert_eq!(matches!(ended, Err(SwapError::ReadOnly)), expected, "{ended:?}");
    }
}

#[test]
fn a_link_or_file_instead_of_a_skill_folder_is_a_conflict() {
    let outside = home(Some("old"));
    for (change, plain) in CHANGES.into_iter().flat_map(|change| [(change, true), (change, false)]) {
        let home = tempfile::tempdir().unwrap();
        symlink(outside.path().join(NAME), home.path().join(NAME)).unwrap();
        assert_eq!(swap(&disk(home.path(), plain, |_| Ok(())), change).unwrap(), SwapOutcome::Conflict);
        assert!(home.path().join(NAME).is_symlink());
        fs::remove_file(home.path().join(NAME)).unwrap();
        fs::write(home.path().join(NAME), "hand").unwrap();
        assert_eq!(swap(&disk(home.path(), plain, |_| Ok(())), change).unwrap(), SwapOutcome::Conflict);
        assert_eq!(fs::read(home.path().join(NAME)).unwrap(), b"hand");
    }
    assert_clean(outside.path(), (None, Some("old")), "outside");
}

#[test]
fn a_rename_replaces_nothing() {
    for plain in [false, true] {
        let home = home(None);
        let dirs = DirHandles::open(home.path(), None, plain).unwrap();
        let (from, to) =
            (StagedKind::New.entry(ID, NAME), DirEntry { handle: SkillDir::Skills, name: NAME.to_owned() });
        lay(&home.path().join(".staging").join(&from.name), &folder("new"));
        let target = home.path().join(NAME);
        let refused = |what: &str| {
            let before = state(home.path());
            assert_eq!(dirs.rename("test", &from, &to).unwrap_err().kind(), ErrorKind::AlreadyExists, "{what}");
            assert_eq!(state(home.path()), before, "{what}");
        };
        fs::create_dir(&target).unwrap();
        refused("an empty folder");
        fs::write(target.join("hand"), "hand").unwrap();
        refused("a folder");
        fs::remove_dir_all(&target).unwrap();
        symlink("nowhere", &target).unwrap();
        refused("a link");
    }
}

#[test]
fn a_link_in_the_place_of_a_folder_of_ours_is_refused() {
    let outside = home(Some("old"));
    let kept = outside.path().join(StagedKind::Gone.entry(ID, NAME).name);
    lay(&kept, &folder("kept"));
    let home = home(Some("old"));
    symlink(outside.path(), home.path().join(".staging")).unwrap();
    let staged = disk(home.path(), false, |_| Ok(()));
    assert!(swap(&staged, CHANGES[1]).is_err() && staged.recover(&[]).is_err());

    let through = home.path().join("link");
    symlink(outside.path(), &through).unwrap();
    assert!(swap(&disk(&through, false, |_| Ok(())), CHANGES[1]).is_err());
    assert_eq!((at(outside.path()), at(home.path())), (Some(folder("old")), Some(folder("old"))));
    assert!(entries(outside.path()).len() == 2 && SkillFolder::read(&kept).unwrap() == folder("kept"));
}

#[test]
fn a_work_that_cannot_be_set_aside_stays_in_staging() {
    let (home, outside) = (home(Some("other")), tempfile::tempdir().unwrap());
    let left = home.path().join(".staging").join(StagedKind::Old.entry(3, NAME).name);
    fs::create_dir(home.path().join(".staging")).unwrap();
    lay(&left, &folder("left"));
    symlink(outside.path(), home.path().join(".kept")).unwrap();
    assert!(disk(home.path(), false, |_| Ok(())).recover(&[]).is_err());
    assert!(entries(outside.path()).is_empty() && SkillFolder::read(&left).unwrap() == folder("left"));
}

#[test]
fn a_link_in_what_is_cleared_is_removed_and_not_what_it_leads_to() {
    let (home, outside) = (home(Some("old")), home(Some("kept")));
    let part = home.path().join(".staging").join(StagedKind::Part.entry(3, NAME).name);
    fs::create_dir_all(&part).unwrap();
    symlink(outside.path(), part.join("link")).unwrap();
    disk(home.path(), false, |_| Ok(())).recover(&[]).unwrap();
    assert_clean(home.path(), (None, Some("old")), "cleared");
    assert_eq!(at(outside.path()), Some(folder("kept")));
}

#[test]
fn names_and_paths_that_lead_out_are_refused() {
    let home = home(Some("old"));
    let disk = disk(home.path(), false, |_| Ok(()));
    for name in ["", ".", "..", ".staging", "../x", "a/b", "/etc", "a\0b"] {
        let folder = folder("new");
        assert!(disk.swap(&Swap { id: ID, name, base: None, content: Some(&folder) }).is_err(), "{name}");
        assert!(disk.present_content(name).is_err(), "{name}");
    }
    for path in ["../../../x", "/x", "a/../../x", "a//x", "./x", ""] {
        let content = SkillFolder::new([(path.to_owned(), Arc::from(&b"x"[..]))]);
        assert!(disk.swap(&Swap { id: ID, name: "other", base: None, content: Some(&content) }).is_err(), "{path}");
    }
    assert_clean(home.path(), (None, Some("old")), "refused");
    assert_eq!(entries(home.path()).len(), 2);
}

#[test]
fn leftovers_go_but_never_the_only_copy() {
    // Columns: leftover kind, content in place; then: content in place afterwards, number set
    // aside.
    for (kind, present, then, kept) in [
        (StagedKind::Part, None, None, 0),
        (StagedKind::Gone, None, None, 0),
        (StagedKind::Old, None, Some("left"), 0),
        (StagedKind::Old, Some("left"), Some("left"), 0),
        (StagedKind::Old, Some("other"), Some("other"), 1),
        (StagedKind::New, None, None, 1),
        (StagedKind::New, Some("left"), Some("left"), 0),
        (StagedKind::New, Some("other"), Some("other"), 1),
    ] {
        let home = home(present);
        let left = home.path().join(".staging").join(kind.entry(3, NAME).name);
        fs::create_dir(home.path().join(".staging")).unwrap();
        fs::write(home.path().join(".staging/notes"), "not ours").unwrap();
        lay(&left, &folder("left"));
        let disk = disk(home.path(), false, |_| Ok(()));
        disk.recover(&[3]).unwrap();
        assert!(left.exists(), "an open change needs it");
        disk.recover(&[ID]).unwrap();
        assert_eq!(at(home.path()), then.map(folder), "{kind:?} {present:?}");
        assert_eq!(entries(&home.path().join(".kept")).len(), kept, "{kind:?} {present:?}");
        assert_eq!(entries(&home.path().join(".staging")), ["notes"], "{kind:?} {present:?}");
    }
}

#[test]
fn a_home_without_skills_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let disk = Disk::new(home.path().join("skills"), None);
    disk.recover(&[]).unwrap();
    assert!(disk.present_content(NAME).unwrap().is_none() && entries(home.path()).is_empty());
    assert_eq!(swap(&disk, CHANGES[0]).unwrap(), SwapOutcome::Done);
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &str| home.path().join(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("skills/tea-time/parts"), mode("skills/tea-time/SKILL.md")), (0o700, 0o600));
}

/// A person's change to the folder of the skill.
#[derive(Debug, Clone, Copy, PartialEq)]
enum FileOperation {
    /// Saves another file in it, creating the folder if necessary.
    Save,
    /// Replaces it with a folder of their own.
    Replace,
    /// Deletes it with all its contents.
    Delete,
}

/// A person at the keyboard: every text has its own name, so that they never overwrite their own
/// text.
#[derive(Debug, Default)]
struct Person {
    texts: Vec<String>,
    count: usize,
}

impl Person {
    fn act(&mut self, operation: FileOperation, target: &Path) {
        if matches!(operation, FileOperation::Replace | FileOperation::Delete) {
            self.texts.retain(|text| !target.join(text).exists());
            let _ = fs::remove_dir_all(target);
        }
        if operation != FileOperation::Delete {
            self.count += 1;
            let text = format!("hand-{}", self.count);
            fs::create_dir_all(target).unwrap();
            fs::write(target.join(&text), &text).unwrap();
            self.texts.push(text);
        }
    }
}

fn find_all(dir: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            find_all(&entry.path(), found);
        } else {
            found.push(entry.file_name().into_string().unwrap());
        }
    }
}

fn operation() -> impl Strategy<Value = FileOperation> {
    prop_oneof![3 => Just(FileOperation::Save), 1 => Just(FileOperation::Replace), 1 => Just(FileOperation::Delete)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Proves: skills/hand-edit
    ///
    /// A person acts before any step, and the power may be cut at one of them.
    #[test]
    fn nothing_that_a_person_wrote_is_ever_lost(
        change in prop::sample::select(CHANGES.to_vec()),
        plain in any::<bool>(),
        plain_again in any::<bool>(),
        operations in prop::collection::btree_map(0_usize..14, operation(), 0..4),
        cut in prop::option::of(0_usize..14),
    ) {
        let home = home(change.0);
        let person = Arc::new(Mutex::new(Person::default()));
        let (someone, target, count) = (Arc::clone(&person), home.path().join(NAME), Mutex::new(0));
        let watch = move |_| {
            let mut count = count.lock().unwrap();
            if let Some(operation) = operations.get(&*count) {
                someone.lock().unwrap().act(*operation, &target);
            }
            *count += 1;
            if cut == Some(*count) { Err(io::Error::from(ErrorKind::Interrupted)) } else { Ok(()) }
        };
        let first = disk(home.path(), plain, watch);
        let first = first.recover(&[ID]).and_then(|()| swap(&first, change));
        let again = disk(home.path(), plain_again, |_| Ok(()));
        again.recover(&[ID]).unwrap();
        let ended = swap(&again, change).unwrap();
        again.recover(&[]).unwrap();

        let person = person.lock().unwrap();
        let mut found = Vec::new();
        find_all(home.path(), &mut found);
        for text in &person.texts {
            prop_assert!(found.contains(text), "{text} is lost: {found:?}, {first:?}, {ended:?}");
        }
        prop_assert!(entries(&home.path().join(".staging")).is_empty());
    }
}
