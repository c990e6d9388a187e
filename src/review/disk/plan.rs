//! The next move of a swap: a pure decision from the observed state, made again after every move.
//!
//! A change involves three places: the *target*, where the skill belongs; *new*, where its complete
//! new content waits; and *old*, where its old content is held until it is known to be the expected
//! one. An exchange turns new into a second place for the old content; the content itself tells
//! which of the two is there. Since decisions depend only on the three places, a power cut needs no
//! rule of its own: the next run looks at them and continues.
//!
//! The old content counts as taken out only once it is no longer reachable by name, and is compared
//! only then: a last-moment save by a person is noticed and restored. Content that is neither the
//! expected old one nor the new one is never discarded.

/// One of the three places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SwapDir {
    /// The skill's own folder.
    Target,
    /// The place of the old content.
    Old,
    /// The place of the new content.
    New,
}

/// The content of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathState {
    /// Empty.
    Nothing,
    /// The content that the change was made from.
    Base,
    /// The content that the change leads to.
    Goal,
    /// Any other content: a person's work.
    Other,
}

/// The input of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SwapState {
    /// The target's content.
    pub target: PathState,
    /// The content held in old.
    pub old: PathState,
    /// The content waiting in new.
    pub new: PathState,
    /// The target's expected content: [`PathState::Base`], or [`PathState::Nothing`] for a new
    /// skill.
    pub from: PathState,
    /// The target's desired content: [`PathState::Goal`], or [`PathState::Nothing`] for a deletion.
    pub to: PathState,
    /// True if the filesystem can exchange two folders.
    pub exchange: bool,
}

/// One move. Every move leaves all contents where the next look finds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// Write the new content to its place.
    Write,
    /// Rename from the first place to the second, which is empty.
    Rename(SwapDir, SwapDir),
    /// Exchange target and new atomically.
    Exchange,
    /// Finish: clear old and new.
    End(SwapOutcome),
}

/// The outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::review) enum SwapOutcome {
    /// The change was made.
    Done,
    /// The change was not made: the target holds other content, which stays.
    Conflict,
}

impl SwapState {
    /// Returns the next move.
    pub(super) fn next(self) -> Move {
        match self.removed_content() {
            None => self.begin(),
            Some((_, PathState::Base)) => self.complete(),
            Some((dir, _)) => self.undo(dir),
        }
    }

    /// Returns the content taken out of the target, and its place, if any.
    fn removed_content(self) -> Option<(SwapDir, PathState)> {
        match (self.old, self.new) {
            (PathState::Nothing, PathState::Nothing | PathState::Goal) => None,
            (PathState::Nothing, other) => Some((SwapDir::New, other)),
            (old, _) => Some((SwapDir::Old, old)),
        }
    }

    fn begin(self) -> Move {
        if self.target == self.to {
            return Move::End(SwapOutcome::Done);
        }
        if self.target != self.from {
            return Move::End(SwapOutcome::Conflict);
        }
        match (self.to, self.new) {
            (PathState::Nothing, _) => Move::Rename(SwapDir::Target, SwapDir::Old),
            (_, PathState::Nothing) => Move::Write,
            _ if self.from == PathState::Nothing => Move::Rename(SwapDir::New, SwapDir::Target),
            _ if self.exchange => Move::Exchange,
            _ => Move::Rename(SwapDir::Target, SwapDir::Old),
        }
    }

    /// Continues after the expected content was taken out.
    fn complete(self) -> Move {
        match (self.target, self.new) {
            (PathState::Nothing, PathState::Goal) => Move::Rename(SwapDir::New, SwapDir::Target),
            // A person created something while the target was empty.
            (PathState::Base | PathState::Other, PathState::Goal) => Move::End(SwapOutcome::Conflict),
            // The new content was already in place, even if a person has changed it since.
            _ => Move::End(SwapOutcome::Done),
        }
    }

    /// Puts back a person's work that was taken out, unless a person has put something else there.
    fn undo(self, dir: SwapDir) -> Move {
        match (self.target, dir) {
            (PathState::Nothing, _) => Move::Rename(dir, SwapDir::Target),
            (PathState::Goal, SwapDir::New) if self.exchange => Move::Exchange,
            (PathState::Goal, SwapDir::New) => Move::Rename(SwapDir::New, SwapDir::Old),
            (PathState::Goal, _) if self.new == PathState::Nothing => Move::Rename(SwapDir::Target, SwapDir::New),
            _ => Move::End(SwapOutcome::Conflict),
        }
    }
}

impl SwapOutcome {
    /// Returns whether content left in old or new can be discarded: the new content is in the
    /// journal, and the old one is obsolete once replaced.
    pub(super) fn discards(self, seen: PathState) -> bool {
        seen == PathState::Goal || (seen == PathState::Base && self == Self::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [PathState; 4] = [PathState::Nothing, PathState::Base, PathState::Goal, PathState::Other];

    /// Returns every observable scene. Content without an expected digest cannot be recognised.
    fn states() -> impl Iterator<Item = SwapState> {
        let changes = [
            (PathState::Nothing, PathState::Goal),
            (PathState::Base, PathState::Goal),
            (PathState::Base, PathState::Nothing),
        ];
        let dirs = ALL.into_iter().flat_map(|a| ALL.into_iter().flat_map(move |b| ALL.map(move |c| (a, b, c))));
        dirs.flat_map(move |(target, old, new)| {
            changes.into_iter().flat_map(move |(from, to)| {
                [true, false].map(move |exchange| SwapState { target, old, new, from, to, exchange })
            })
        })
        .filter(|state| {
            let seen = [state.target, state.old, state.new];
            (state.from == PathState::Base || !seen.contains(&PathState::Base))
                && (state.to == PathState::Goal || !seen.contains(&PathState::Goal))
        })
    }

    fn slot(state: &mut SwapState, dir: SwapDir) -> &mut PathState {
        match dir {
            SwapDir::Target => &mut state.target,
            SwapDir::Old => &mut state.old,
            SwapDir::New => &mut state.new,
        }
    }

    /// Simulates the disk. `None` for a rename onto existing content.
    fn after(mut state: SwapState, made: Move) -> Option<SwapState> {
        match made {
            Move::Write => state.new = PathState::Goal,
            Move::Exchange => std::mem::swap(&mut state.target, &mut state.new),
            Move::Rename(from, to) => {
                let what = std::mem::replace(slot(&mut state, from), PathState::Nothing);
                let there = std::mem::replace(slot(&mut state, to), what);
                return (what != PathState::Nothing && there == PathState::Nothing).then_some(state);
            }
            Move::End(_) => {}
        }
        Some(state)
    }

    /// Returns all scenes up to the end, and the outcome.
    fn live(mut state: SwapState) -> (Vec<SwapState>, SwapOutcome) {
        let mut way = vec![state];
        for _ in 0..8 {
            match state.next() {
                Move::End(ending) => return (way, ending),
                made => state = after(state, made).unwrap_or_else(|| panic!("{made:?} in {state:?}")),
            }
            way.push(state);
        }
        panic!("{state:?} comes to no end");
    }

    fn last(way: &[SwapState]) -> SwapState {
        *way.last().unwrap()
    }

    fn works(state: &SwapState) -> usize {
        [state.target, state.old, state.new].into_iter().filter(|seen| *seen == PathState::Other).count()
    }

    #[test]
    fn every_scene_comes_to_an_end_and_keeps_every_work() {
        for state in states() {
            let (way, _) = live(state);
            assert_eq!(works(&last(&way)), works(&state), "{state:?}");
        }
        for ending in [SwapOutcome::Done, SwapOutcome::Conflict] {
            assert_eq!(ALL.map(|seen| ending.discards(seen)), [false, ending == SwapOutcome::Done, true, false]);
        }
    }

    #[test]
    fn without_a_person_it_ends_as_asked_even_where_the_filesystem_changes_midway() {
        let begun =
            |s: &SwapState| s.old == PathState::Nothing && matches!(s.new, PathState::Nothing | PathState::Goal);
        for state in states().filter(|s| (s.target == s.from || s.target == s.to) && begun(s)) {
            let (way, ending) = live(state);
            assert_eq!((last(&way).target, ending), (state.to, SwapOutcome::Done), "{state:?}");
            let whole = |s: &SwapState| s.target == state.from || s.target == state.to;
            assert!(!state.exchange || way.iter().all(whole), "{way:?}");
            for between in way {
                let (way, ending) = live(SwapState { exchange: !between.exchange, ..between });
                assert_eq!((last(&way).target, ending), (state.to, SwapOutcome::Done), "{between:?}");
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
        for state in states().filter(|s| s.target != PathState::Other && taken.contains(&(s.old, s.new))) {
            let (way, ending) = live(state);
            // A copy of the new content created by another party stays.
            if state.target == PathState::Nothing || (state.target == PathState::Goal && state.new != PathState::Goal) {
                assert_eq!(last(&way).target, PathState::Other, "{state:?}");
            }
            assert_eq!(ending, SwapOutcome::Conflict, "{state:?}");
        }
    }
}
