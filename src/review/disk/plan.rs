//! What to do next, from what is seen to lie where: a pure decision, made anew after every single
//! move.
//!
//! A change has three places: the *target*, where the skill lies; *new*, where its new content
//! waits, complete; *old*, where its old content is held until it is known to be the expected one.
//! An exchange turns new into a second place of the old content, and which of the two lies there is
//! told by the content itself. Since nothing but the places is looked at, a power cut needs no rule
//! of its own: whoever comes next looks and goes on.
//!
//! The old content counts as taken out only once it is out of reach of the name, and only then it
//! is compared: a person who saves a file at the last moment is seen, and gets it back. What is
//! neither the expected old content nor the new one is never thrown away, in no case.

/// One of the three places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SwapDir {
    /// Where the skill lies.
    Target,
    /// Where its old content is held.
    Old,
    /// Where its new content waits.
    New,
}

/// What lies in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathState {
    /// Nothing.
    Nothing,
    /// The content that the change was made from.
    Base,
    /// The content that the change shall lead to.
    Goal,
    /// Anything else: a person's work.
    Other,
}

/// All that a decision needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scene {
    /// What lies in the target.
    pub target: PathState,
    /// What is held.
    pub old: PathState,
    /// What waits.
    pub new: PathState,
    /// What the target shall be at first: [`PathState::Base`], or [`PathState::Nothing`] for a new
    /// skill.
    pub from: PathState,
    /// What it shall be at last: [`PathState::Goal`], or [`PathState::Nothing`] where the skill
    /// goes.
    pub to: PathState,
    /// Whether the filesystem can exchange two folders.
    pub exchange: bool,
}

/// One move. Every one leaves all contents where a next look finds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// Write the new content to its place.
    Write,
    /// Rename from the one place to the other, where nothing lies.
    Rename(SwapDir, SwapDir),
    /// Exchange target and new, in one instant.
    Exchange,
    /// It is over: clear the two places of ours.
    End(Ending),
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The change was made.
    Done,
    /// It was not: something else lies there, and stays.
    Conflict,
}

impl Scene {
    /// The next move.
    pub(super) fn next(self) -> Move {
        match self.taken_out() {
            None => self.begin(),
            Some((_, PathState::Base)) => self.complete(),
            Some((place, _)) => self.undo(place),
        }
    }

    /// What was taken out of the target and lies in a place of ours, if anything was.
    fn taken_out(self) -> Option<(SwapDir, PathState)> {
        match (self.old, self.new) {
            (PathState::Nothing, PathState::Nothing | PathState::Goal) => None,
            (PathState::Nothing, other) => Some((SwapDir::New, other)),
            (old, _) => Some((SwapDir::Old, old)),
        }
    }

    fn begin(self) -> Move {
        if self.target == self.to {
            return Move::End(Ending::Done);
        }
        if self.target != self.from {
            return Move::End(Ending::Conflict);
        }
        match (self.to, self.new) {
            (PathState::Nothing, _) => Move::Rename(SwapDir::Target, SwapDir::Old),
            (_, PathState::Nothing) => Move::Write,
            _ if self.from == PathState::Nothing => Move::Rename(SwapDir::New, SwapDir::Target),
            _ if self.exchange => Move::Exchange,
            _ => Move::Rename(SwapDir::Target, SwapDir::Old),
        }
    }

    /// The right content was taken out.
    fn complete(self) -> Move {
        match (self.target, self.new) {
            (PathState::Nothing, PathState::Goal) => Move::Rename(SwapDir::New, SwapDir::Target),
            // A person put something there while nothing lay there.
            (PathState::Base | PathState::Other, PathState::Goal) => Move::End(Ending::Conflict),
            // The new content was there already, whatever a person has made of it since.
            _ => Move::End(Ending::Done),
        }
    }

    /// A person's work was taken out: it goes back, if nothing of a person's lies there by now.
    fn undo(self, place: SwapDir) -> Move {
        match (self.target, place) {
            (PathState::Nothing, _) => Move::Rename(place, SwapDir::Target),
            (PathState::Goal, SwapDir::New) if self.exchange => Move::Exchange,
            (PathState::Goal, SwapDir::New) => Move::Rename(SwapDir::New, SwapDir::Old),
            (PathState::Goal, _) if self.new == PathState::Nothing => Move::Rename(SwapDir::Target, SwapDir::New),
            _ => Move::End(Ending::Conflict),
        }
    }
}

impl Ending {
    /// Whether what lies in a place of ours can be thrown away: the new content is in the journal,
    /// and the old one once it is replaced.
    pub(super) fn discards(self, seen: PathState) -> bool {
        seen == PathState::Goal || (seen == PathState::Base && self == Self::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [PathState; 4] = [PathState::Nothing, PathState::Base, PathState::Goal, PathState::Other];

    /// Every scene that can be seen: what is not asked for cannot be recognised.
    fn scenes() -> impl Iterator<Item = Scene> {
        let changes = [
            (PathState::Nothing, PathState::Goal),
            (PathState::Base, PathState::Goal),
            (PathState::Base, PathState::Nothing),
        ];
        let places = ALL.into_iter().flat_map(|a| ALL.into_iter().flat_map(move |b| ALL.map(move |c| (a, b, c))));
        places
            .flat_map(move |(target, old, new)| {
                changes.into_iter().flat_map(move |(from, to)| {
                    [true, false].map(move |exchange| Scene { target, old, new, from, to, exchange })
                })
            })
            .filter(|scene| {
                let seen = [scene.target, scene.old, scene.new];
                (scene.from == PathState::Base || !seen.contains(&PathState::Base))
                    && (scene.to == PathState::Goal || !seen.contains(&PathState::Goal))
            })
    }

    fn slot(scene: &mut Scene, place: SwapDir) -> &mut PathState {
        match place {
            SwapDir::Target => &mut scene.target,
            SwapDir::Old => &mut scene.old,
            SwapDir::New => &mut scene.new,
        }
    }

    /// What the disk does. `None` for a rename onto something.
    fn after(mut scene: Scene, made: Move) -> Option<Scene> {
        match made {
            Move::Write => scene.new = PathState::Goal,
            Move::Exchange => std::mem::swap(&mut scene.target, &mut scene.new),
            Move::Rename(from, to) => {
                let what = std::mem::replace(slot(&mut scene, from), PathState::Nothing);
                let there = std::mem::replace(slot(&mut scene, to), what);
                return (what != PathState::Nothing && there == PathState::Nothing).then_some(scene);
            }
            Move::End(_) => {}
        }
        Some(scene)
    }

    /// All scenes to the end, and how it ended.
    fn live(mut scene: Scene) -> (Vec<Scene>, Ending) {
        let mut way = vec![scene];
        for _ in 0..8 {
            match scene.next() {
                Move::End(ending) => return (way, ending),
                made => scene = after(scene, made).unwrap_or_else(|| panic!("{made:?} in {scene:?}")),
            }
            way.push(scene);
        }
        panic!("{scene:?} comes to no end");
    }

    fn last(way: &[Scene]) -> Scene {
        *way.last().unwrap()
    }

    fn works(scene: &Scene) -> usize {
        [scene.target, scene.old, scene.new].into_iter().filter(|seen| *seen == PathState::Other).count()
    }

    #[test]
    fn every_scene_comes_to_an_end_and_keeps_every_work() {
        for scene in scenes() {
            let (way, _) = live(scene);
            assert_eq!(works(&last(&way)), works(&scene), "{scene:?}");
        }
        for ending in [Ending::Done, Ending::Conflict] {
            assert_eq!(ALL.map(|seen| ending.discards(seen)), [false, ending == Ending::Done, true, false]);
        }
    }

    #[test]
    fn without_a_person_it_ends_as_asked_even_where_the_filesystem_changes_midway() {
        let begun = |s: &Scene| s.old == PathState::Nothing && matches!(s.new, PathState::Nothing | PathState::Goal);
        for scene in scenes().filter(|s| (s.target == s.from || s.target == s.to) && begun(s)) {
            let (way, ending) = live(scene);
            assert_eq!((last(&way).target, ending), (scene.to, Ending::Done), "{scene:?}");
            let whole = |s: &Scene| s.target == scene.from || s.target == scene.to;
            assert!(!scene.exchange || way.iter().all(whole), "{way:?}");
            for between in way {
                let (way, ending) = live(Scene { exchange: !between.exchange, ..between });
                assert_eq!((last(&way).target, ending), (scene.to, Ending::Done), "{between:?}");
            }
        }
    }

    #[test]
    fn a_work_that_was_taken_out_goes_back() {
        let taken = [
            (PathState::Other, PathState::Goal),
            (PathState::Other, PathState::Nothing),
            (PathState::Nothing, PathState::Other),
        ];
        for scene in scenes().filter(|s| s.target != PathState::Other && taken.contains(&(s.old, s.new))) {
            let (way, ending) = live(scene);
            // A copy of the new content that somebody else has put there stays.
            if scene.target == PathState::Nothing || (scene.target == PathState::Goal && scene.new != PathState::Goal) {
                assert_eq!(last(&way).target, PathState::Other, "{scene:?}");
            }
            assert_eq!(ending, Ending::Conflict, "{scene:?}");
        }
    }
}
