//! `/forget` and `compline forget`: deletes the named data, and reports what a search finds
//! afterwards.
//!
//! A note or a fact is deleted with all its traces. Messages are deleted only on request; messages
//! that still contain it are listed, with the command to continue. A person is deleted as a whole.
//! The row of a deletion is written before anything is deleted, so an interrupted one is finished
//! at the next start ([`crate::schedule::Schedule::delete_redacted`]).

mod said;

use crate::admin::ErasureAdmin;
use serde_json::{Value, json};

use super::answer::{Answer, plain};
use crate::id::{ForgettingId, PersonId, StreamId};
use crate::memory::{ErasureOutcome, Forgettable};
use crate::people::{Party, Person, Role};
use crate::store::{Counts, Db, ErasureRemainder, ForgettingHead, Forgotten, NewForgetting, Paraphrases, Tx};
use crate::text::needle::ErasureQuery;
use crate::trust::{Label, Scope};
use crate::wording::forget as says;
use crate::wording::review_command::Surface;

/// Handling of messages in a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Messages {
    /// Messages are kept.
    Stay,
    /// Messages from which the note or fact was made are deleted.
    Go,
}

impl ErasureAdmin<'_> {
    /// Deletes a note or a fact of a person, or continues a deletion by its number.
    pub async fn forget(
        &self,
        person: &Person,
        name: &str,
        messages: Messages,
        way: Surface,
    ) -> anyhow::Result<Answer> {
        self.forget_of(&Party::One(person.clone()), person.id, name, messages, way).await
    }

    /// Deletes a note or a fact of a party at a person's request.
    pub(super) async fn forget_of(
        &self,
        who: &Party,
        asks: PersonId,
        name: &str,
        messages: Messages,
        way: Surface,
    ) -> anyhow::Result<Answer> {
        if let Some(found) = self.tree.erasure().erasable(who, name).await? {
            return self.forget_found(who.scope(), asks, found, messages, way).await;
        }
        let Some(begun) = self.begun(name, who.scope()).await? else {
            return match messages {
                Messages::Stay => Ok(none_such(who, name, way)),
                Messages::Go => self.forget_messages_with(who.scope(), asks, name, way).await,
            };
        };
        if !begun.has_target {
            return Ok(Answer::ours(says::NOTHING_LEFT.to_owned(), json!({})));
        }
        self.end_turns_of(begun.scope).await?;
        if messages == Messages::Go {
            let id = begun.id;
            self.journal.write("want messages forgotten", move |tx| tx.erasure().include_source_messages(id)).await?;
        }
        self.continue_erasure(begun.id, way).await
    }

    async fn forget_found(
        &self,
        scope: Scope,
        asks: PersonId,
        found: Forgettable,
        messages: Messages,
        way: Surface,
    ) -> anyhow::Result<Answer> {
        let now = self.clock.now();
        let want = move |tx: Tx<'_>| {
            tx.erasure().begin_erasure(&NewForgetting {
                person: Some(asks),
                what: found.what,
                target: &found.target,
                needles: &found.needles,
                messages: messages == Messages::Go,
                label: &found.label,
                scope,
                at: now,
            })
        };
        self.end_turns_of(scope).await?;
        let id = self.journal.write("want something forgotten", want).await?;
        self.continue_erasure(id, way).await
    }

    async fn continue_erasure(&self, id: ForgettingId, way: Surface) -> anyhow::Result<Answer> {
        let unreadable = self.journal.read(|db| db.erasure().unreadable_forgettings()).await?;
        if unreadable.contains(&id) {
            return Ok(Answer::refusal(says::unreadable(id)));
        }
        let outcome = self.tree.erasure().forget(id, self.clock.now()).await?;
        let Some(outcome) = outcome else { return Ok(Answer::ours(says::NOTHING_LEFT.to_owned(), json!({}))) };
        self.part(&outcome).await?;
        Ok(outcome_answer(id, &outcome, way))
    }

    /// Deletes a person with all their data.
    pub async fn forget_person(&self, name: &str) -> anyhow::Result<Answer> {
        let asked = name.to_owned();
        let look = move |db: Db<'_>| {
            let Some(id) = db.erasure().person_once_named(&asked)? else { return Ok(None) };
            let owners = db.people().people()?.iter().filter(|person| person.role == Role::Owner).count();
            Ok(Some((id, db.people().person(id)?, db.people().was_paired(id)?, owners)))
        };
        let Some((id, known, paired, owners)) = self.journal.read(look).await? else {
            return Ok(Answer::refusal(says::no_such_person(&plain(name))));
        };
        if let Some(person) = &known {
            if !paired {
                return Ok(Answer::refusal(says::stands_in_configuration(&person.name)));
            }
            if person.role == Role::Owner && owners < 2 {
                return Ok(Answer::refusal(says::LAST_OWNER));
            }
        }
        self.end_turns_of(Scope::Person(id)).await?;
        let job = self.request_person_erasure(id, name).await?;
        let gone = self.tree.erasure().forget_person(job, self.clock.now()).await?;
        // The files that the person sent to groups.
        self.schedule.delete_redacted().await?;
        let json = json!({ "forgotten": gone.files, "messages": gone.messages, "left": gone.left });
        if gone.left.is_empty() && gone.by_hand.is_empty() {
            return Ok(Answer::ours(says::person(&plain(name), gone.files, gone.messages), json));
        }
        let places: Vec<String> = gone.left.iter().map(|(place, count)| format!("{place} ({count})")).collect();
        let by_hand: Vec<String> = gone.by_hand.iter().map(|file| plain(file)).collect();
        Ok(Answer::refusal(says::person_left(&plain(name), &places.join(", "), &by_hand.join(", "))))
    }

    async fn request_person_erasure(&self, id: PersonId, name: &str) -> anyhow::Result<ForgettingId> {
        let folder = self.tree.erasure().folder_once_of(id, name).await?;
        let (scope, now) = (Scope::Person(id), self.clock.now());
        let want = move |tx: Tx<'_>| {
            tx.erasure().begin_erasure(&NewForgetting {
                person: Some(id),
                what: Forgotten::Person,
                target: &folder,
                needles: &ErasureQuery::default(),
                messages: true,
                label: &Label::neutral(),
                scope,
                at: now,
            })
        };
        self.journal.write("want a person forgotten", want).await
    }

    /// The deletion of that number, if it belongs to the scope.
    async fn begun(&self, number: &str, scope: Scope) -> anyhow::Result<Option<ForgettingHead>> {
        let Ok(id) = number.trim().parse().map(ForgettingId) else { return Ok(None) };
        let head = self.journal.read(move |db| db.erasure().forgetting_head(id)).await?;
        Ok(head.filter(|head| head.scope.equals(scope) && head.what != Forgotten::Person))
    }

    /// Stops the running turns of a scope, because their context may contain the text.
    async fn end_turns_of(&self, scope: Scope) -> anyhow::Result<()> {
        let open = move |db: Db<'_>| {
            let streams: Vec<StreamId> = db
                .conversations()
                .streams()?
                .into_iter()
                .filter(|(_, _, of)| of.equals(scope))
                .map(|(id, ..)| id)
                .collect();
            let mut open = Vec::new();
            for stream in streams {
                open.extend(db.turns().open_turn(stream)?.map(|_| stream));
            }
            Ok(open)
        };
        for stream in self.journal.read(open).await? {
            self.engine.stop_turn(stream).await?;
        }
        Ok(())
    }

    /// Stops turns with nothing left to answer, and requests new summaries for conversations that
    /// lost text.
    async fn part(&self, outcome: &ErasureOutcome) -> anyhow::Result<()> {
        for parting in &outcome.partings {
            if parting.cut {
                self.engine.cut(parting.stream).await?;
            }
        }
        self.engine.wake_summarizer();
        self.schedule.wake();
        Ok(())
    }
}

fn none_such(who: &Party, name: &str, way: Surface) -> Answer {
    Answer::refusal(match who {
        Party::One(_) => says::none_such(&plain(name), way),
        Party::Group(_) => says::none_such_in_group(&plain(name)),
    })
}

fn outcome_answer(id: ForgettingId, outcome: &ErasureOutcome, way: Surface) -> Answer {
    let ErasureOutcome { counts, left, .. } = outcome;
    let mut lines = vec![says::forgotten(&counted(counts))];
    if counts.notes == 0 && counts.lines == 0 && counts.versions > 0 && left.files.is_empty() && left.is_verified() {
        lines.push(says::ONLY_BEFORE.to_owned());
    }
    let left = left_in_words(id, left, way);
    if left.is_empty() {
        lines.push(says::PROVED.to_owned());
    }
    lines.extend(left);
    lines.push(says::BACKUPS.to_owned());
    Answer::ours(lines.join("\n\n"), json_of(id, outcome))
}

fn counted(counts: &Counts) -> Vec<String> {
    let Counts { notes, lines, entries, versions, summaries, copies, messages, archives } = *counts;
    let all = [notes, lines, entries, versions, summaries, copies, messages, archives];
    all.into_iter().zip(says::KINDS).filter_map(|(count, (one, many))| says::counted(count, one, many)).collect()
}

fn left_in_words(id: ForgettingId, left: &ErasureRemainder, way: Surface) -> Vec<String> {
    let (files, unread, also) = (listed(&left.files), listed(&left.unread), in_other_words(&left.also));
    [
        says::counted(left.messages.len(), "message", "messages").map(|messages| says::in_messages(&messages, id, way)),
        says::counted(left.reminders, "reminder", "reminders").map(|reminders| says::in_reminders(&reminders)),
        says::counted(left.proposals, "proposal", "proposals").map(|proposals| says::in_proposals(&proposals)),
        (!files.is_empty()).then(|| says::in_files(&files)),
        (!unread.is_empty()).then(|| says::unread(&unread)),
        says::counted(left.other, "place", "places").map(|places| says::elsewhere(&places, id, way)),
        (!also.is_empty()).then(|| says::also(&also, way)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn in_other_words(also: &Paraphrases) -> String {
    let files = listed(&also.files);
    let places = [
        says::counted(also.messages, "message", "messages"),
        says::counted(also.summaries, "summary", "summaries"),
        (!files.is_empty()).then_some(files),
    ];
    places.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn listed(files: &[String]) -> String {
    files.iter().map(|file| plain(file)).collect::<Vec<_>>().join(", ")
}

fn json_of(id: ForgettingId, outcome: &ErasureOutcome) -> Value {
    let left = &outcome.left;
    json!({
        "id": id,
        "forgotten": outcome.counts,
        "left": {
            "messages": left.messages.len(),
            "reminders": left.reminders,
            "proposals": left.proposals,
            "files": left.files,
            "unread": left.unread,
            "other": left.other,
            "also": { "messages": left.also.messages, "summaries": left.also.summaries, "files": left.also.files },
        },
    })
}
