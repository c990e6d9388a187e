//! A person who works in the folder while it is changed.

use proptest::prelude::*;

use super::*;

/// A person's change to the folder of the skill.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Deed {
    /// Saves another file in it, creating the folder if necessary.
    Save,
    /// Replaces it with a folder of their own.
    Replace,
    /// Deletes it with all its contents.
    Delete,
}

/// A person at the keyboard: every text has its own name, so that they never overwrite their own.
#[derive(Debug, Default)]
struct Person {
    texts: Vec<String>,
    count: usize,
}

impl Person {
    fn act(&mut self, deed: Deed, target: &Path) {
        if matches!(deed, Deed::Replace | Deed::Delete) {
            self.texts.retain(|text| !target.join(text).exists());
            let _ = fs::remove_dir_all(target);
        }
        if deed != Deed::Delete {
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

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![3 => Just(Deed::Save), 1 => Just(Deed::Replace), 1 => Just(Deed::Delete)]
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
        deeds in prop::collection::btree_map(0_usize..14, deed(), 0..4),
        cut in prop::option::of(0_usize..14),
    ) {
        let home = home(change.0);
        let person = Arc::new(Mutex::new(Person::default()));
        let (someone, target, count) = (Arc::clone(&person), home.path().join(NAME), Mutex::new(0));
        let watch = move |_| {
            let mut count = count.lock().unwrap();
            if let Some(deed) = deeds.get(&*count) {
                someone.lock().unwrap().act(*deed, &target);
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
