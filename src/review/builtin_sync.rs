//! The update rule for built-in skills: a decision based on three digests, without access to disk
//! or journal.
//!
//! The program ships one content, the journal remembers the contents that the program installed or
//! offered, and the folder holds some content or none. Folder content that is not byte for byte one
//! of ours belongs to a person: it stays, and a newer version is offered once. Content that was
//! there and is gone was removed by a person and stays removed in all later versions. So a person's
//! work is never replaced without their approval, and untouched built-in skills are always the
//! newest.
//!
//! A folder that a person restores to exactly our content counts as untouched again. Skills that
//! are no longer shipped are left as they are.

use crate::skill::Digest;

/// The journal's record of one built-in skill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Before {
    /// The newest content that was installed or offered.
    pub offered: Option<Digest>,
    /// The content that we last installed, or found in place when it was the shipped one.
    pub installed: Option<Digest>,
}

/// The action to take for a built-in skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyncAction {
    /// No action needed.
    Nothing,
    /// The shipped content is in place but not in the journal: record it as installed.
    Remember,
    /// Install the shipped content, replacing exactly the present content, and record it as
    /// installed.
    Put,
    /// Propose the shipped content to the owner, and record it as offered.
    Offer,
}

/// Decides about the `shipped` content, given the present content `lying`.
pub(super) fn decide(shipped: &Digest, before: &Before, lying: Option<&Digest>) -> SyncAction {
    let is_ours = |digest: &Digest| [&before.offered, &before.installed].into_iter().flatten().any(|one| one == digest);
    let is_new = before.offered.is_none() && before.installed.is_none();
    match lying {
        None if is_new => SyncAction::Put,
        // Removed by a person.
        None => SyncAction::Nothing,
        Some(digest) if digest == shipped => match &before.installed {
            Some(installed) if installed == shipped => SyncAction::Nothing,
            _ => SyncAction::Remember,
        },
        Some(digest) if is_ours(digest) => SyncAction::Put,
        Some(_) if before.offered.as_ref() == Some(shipped) => SyncAction::Nothing,
        Some(_) => SyncAction::Offer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Possible journal and folder contents: `v1` and `v2` are our versions, `own` is a person's
    /// work.
    fn digest(name: &str) -> Option<Digest> {
        (name != "-").then(|| Digest::of(name.as_bytes()))
    }

    /// Proves: skills/built-in
    #[test]
    fn each_case_is_decided() {
        // The shipped version is always v2. Columns: offered, installed, present, expected action.
        for (offered, installed, lying, step) in [
            ("-", "-", "-", SyncAction::Put),
            ("-", "-", "v1", SyncAction::Offer),
            ("-", "-", "v2", SyncAction::Remember),
            ("-", "-", "own", SyncAction::Offer),
            ("v1", "-", "-", SyncAction::Nothing),
            ("v1", "-", "v1", SyncAction::Put),
            ("v1", "-", "v2", SyncAction::Remember),
            ("v1", "-", "own", SyncAction::Offer),
            ("v2", "-", "-", SyncAction::Nothing),
            ("v2", "-", "v1", SyncAction::Nothing),
            ("v2", "-", "v2", SyncAction::Remember),
            ("v2", "-", "own", SyncAction::Nothing),
            ("v1", "v1", "-", SyncAction::Nothing),
            ("v1", "v1", "v1", SyncAction::Put),
            ("v1", "v1", "v2", SyncAction::Remember),
            ("v1", "v1", "own", SyncAction::Offer),
            ("v2", "v1", "-", SyncAction::Nothing),
            ("v2", "v1", "v1", SyncAction::Put),
            ("v2", "v1", "v2", SyncAction::Remember),
            ("v2", "v1", "own", SyncAction::Nothing),
            ("v2", "v2", "-", SyncAction::Nothing),
            ("v2", "v2", "v1", SyncAction::Nothing),
            ("v2", "v2", "v2", SyncAction::Nothing),
            ("v2", "v2", "own", SyncAction::Nothing),
        ] {
            let before = Before { offered: digest(offered), installed: digest(installed) };
            let said = decide(&Digest::of(b"v2"), &before, digest(lying).as_ref());
            assert_eq!(said, step, "offered {offered}, installed {installed}, lying {lying}");
        }
    }

    #[derive(Debug, Clone)]
    enum Event {
        Start,
        Ship,
        Edit(u8),
        Delete,
        PutBack,
        Accept,
    }

    /// A simulated home over many releases: the rules of `decide`, and the effect of each action.
    #[derive(Debug, Default)]
    struct Fixture {
        newest: u8,
        before: Before,
        lying: Option<String>,
        waiting: Option<String>,
        last_ours: Option<String>,
        offers: Vec<String>,
    }

    impl Fixture {
        fn shipped(&self) -> String {
            format!("v{}", self.newest)
        }

        fn start(&mut self) -> SyncAction {
            let shipped = Digest::of(self.shipped().as_bytes());
            let lying = self.lying.as_ref().map(|text| Digest::of(text.as_bytes()));
            let step = decide(&shipped, &self.before, lying.as_ref());
            match step {
                SyncAction::Nothing => {}
                SyncAction::Remember => {
                    self.before = Before { offered: Some(shipped.clone()), installed: Some(shipped) }
                }
                SyncAction::Put => {
                    self.before = Before { offered: Some(shipped.clone()), installed: Some(shipped) };
                    self.lying = Some(self.shipped());
                    self.last_ours = self.lying.clone();
                }
                SyncAction::Offer => {
                    self.before.offered = Some(shipped);
                    self.waiting = Some(self.shipped());
                    self.offers.push(self.shipped());
                }
            }
            step
        }

        fn live(&mut self, event: &Event) {
            match event {
                Event::Start => drop(self.start()),
                Event::Ship => self.newest += 1,
                Event::Edit(work) => self.lying = Some(format!("own {work}")),
                Event::Delete => self.lying = None,
                Event::PutBack => self.lying = self.last_ours.clone().or(self.lying.take()),
                Event::Accept => self.lying = self.waiting.take().or(self.lying.take()),
            }
        }
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            4 => Just(Event::Start),
            3 => Just(Event::Ship),
            2 => (0_u8..3).prop_map(Event::Edit),
            1 => Just(Event::Delete),
            1 => Just(Event::PutBack),
            1 => Just(Event::Accept),
        ]
    }

    proptest! {
        #[test]
        fn a_person_is_never_overruled(events in prop::collection::vec(event(), 0..40)) {
            let mut world = Fixture::default();
            let mut started = false;
            for event in &events {
                let was = world.lying.clone();
                world.live(event);
                if !matches!(event, Event::Start) {
                    continue;
                }
                match was {
                    Some(text) if text.starts_with("own") => prop_assert_eq!(world.lying.as_deref(), Some(text.as_str())),
                    None if started => prop_assert_eq!(&world.lying, &None, "what was taken away came back"),
                    _ => {}
                }
                started = true;
                prop_assert_eq!(world.start(), SyncAction::Nothing, "a second start has nothing left to do");
            }
            let mut offers = world.offers.clone();
            offers.dedup();
            prop_assert_eq!(&world.offers, &offers, "one version was offered twice");
        }

        #[test]
        fn whoever_touches_nothing_has_the_newest(events in prop::collection::vec(event(), 0..40)) {
            let mut world = Fixture::default();
            world.start();
            let untouched = |event: &&Event| matches!(event, Event::Start | Event::Ship | Event::PutBack | Event::Accept);
            for event in events.iter().filter(untouched) {
                world.live(event);
            }
            world.start();
            prop_assert_eq!(&world.lying, &Some(world.shipped()));
            prop_assert!(world.offers.is_empty());
        }
    }
}
