//! `/forget` and `compline forget`: deletes the named data, and reports what a search finds
//! afterwards.
//!
//! A note or a fact is deleted with all its traces. Messages are deleted only on request; messages
//! that still contain it are listed, with the command to continue. A person is deleted as a whole.
//! The row of a deletion is written before anything is deleted, so an interrupted one is finished
//! at the next start ([`crate::schedule::Schedule::delete_redacted`]).
//!
//! For text that exists only in messages, the person types the words, sees how many messages
//! contain them and on which days, and deletes exactly those with the code shown. The code is
//! computed from the words and from the messages that contain them, so it deletes only the messages
//! that were shown: if another one has arrived since, they are shown again.

use serde_json::{Value, json};

use super::ErasureAdmin;
use super::answer::{Answer, plain};
use super::command::SourceMessages;
use crate::erasure::{Erasure, ErasureOutcome, MessagePlan};
use crate::id::{ErasureId, PersonId, StreamId};
use crate::people::{Party, Person, Role};
use crate::store::{Db, ErasureCounts, ErasureHead, ErasureKind, ErasurePlan, Paraphrases, RemainingMatches};
use crate::text::erasure_query::ErasureQuery;
use crate::trust::Scope;
use crate::wording::personal_data as says;
use crate::wording::review::Surface;

impl ErasureAdmin<'_> {
    fn erasure(&self) -> Erasure<'_> {
        Erasure::new(&self.journal, &self.workspace)
    }

    /// Deletes a note or a fact of a person, or continues a deletion by its number.
    pub async fn forget(
        &self,
        person: &Person,
        name: &str,
        messages: SourceMessages,
        surface: Surface,
    ) -> anyhow::Result<Answer> {
        self.forget_of(&Party::One(person.clone()), person.id, name, messages, surface).await
    }

    /// Deletes a note or a fact of a party at a person's request.
    pub(super) async fn forget_of(
        &self,
        who: &Party,
        requester: PersonId,
        name: &str,
        messages: SourceMessages,
        surface: Surface,
    ) -> anyhow::Result<Answer> {
        if let Some(plan) = self.erasure().plan_of_name(who, name).await? {
            return self.execute_plan(who.scope(), requester, plan, messages, surface).await;
        }
        let Some(erasure) = self.unfinished(name, who.scope()).await? else {
            return match (messages, who) {
                (SourceMessages::Delete, _) => self.forget_words(who.scope(), requester, name, surface).await,
                (SourceMessages::Keep, Party::One(_)) => Ok(Answer::refusal(says::none_such(&plain(name), surface))),
                (SourceMessages::Keep, Party::Group(_)) => Ok(Answer::refusal(says::none_such_in_group(&plain(name)))),
            };
        };
        if !erasure.has_target {
            return Ok(Answer::ours(says::NOTHING_LEFT.to_owned(), json!({})));
        }
        self.stop_turns_of(erasure.scope).await?;
        if messages == SourceMessages::Delete {
            let id = erasure.id;
            self.journal.write("want messages forgotten", move |tx| tx.erasure().include_source_messages(id)).await?;
        }
        self.execute(erasure.id, surface).await
    }

    /// Shows how many messages of a scope contain the words, or deletes those messages if the code
    /// follows the words.
    async fn forget_words(
        &self,
        scope: Scope,
        requester: PersonId,
        typed: &str,
        surface: Surface,
    ) -> anyhow::Result<Answer> {
        let typed = typed.trim();
        if let Some((words, code)) = typed.rsplit_once(char::is_whitespace)
            && let Some(found) = self.erasure().plan_of_words(scope, words).await?
            && self.code_of(&found).await? == code
        {
            return self.execute_plan(scope, requester, found.plan, SourceMessages::Delete, surface).await;
        }
        // A number of ten digits may itself be the text to delete.
        let (mut words, mut found) = (typed, self.erasure().plan_of_words(scope, typed).await?);
        if found.is_none() {
            words = without_code(typed);
            found = self.erasure().plan_of_words(scope, words).await?;
        }
        let Some(found) = found else {
            let is_short = ErasureQuery::of_words(words).is_empty();
            return Ok(Answer::refusal(if is_short {
                says::too_few(&plain(words))
            } else {
                says::none_said(&plain(words))
            }));
        };
        let (count, code) = (found.messages.len(), self.code_of(&found).await?);
        let mut days: Vec<String> = found.messages.iter().map(|(_, at)| self.zone.day(*at)).collect();
        days.dedup();
        let text = says::to_be_deleted(count, &says::on_days(&days), &found.plan.target, &code, surface);
        Ok(Answer::ours(text, json!({ "messages": count, "days": days, "code": code })))
    }

    async fn code_of(&self, found: &MessagePlan) -> anyhow::Result<String> {
        let ids: Vec<String> = found.messages.iter().map(|(id, _)| id.to_string()).collect();
        self.memory_files().code_under(&format!("forget\n{}\n{}", found.plan.target, ids.join(" "))).await
    }

    async fn execute_plan(
        &self,
        scope: Scope,
        requester: PersonId,
        plan: ErasurePlan,
        messages: SourceMessages,
        surface: Surface,
    ) -> anyhow::Result<Answer> {
        let (now, with_messages) = (self.clock.now(), messages == SourceMessages::Delete);
        self.stop_turns_of(scope).await?;
        let id = self.erasure().begin(plan, requester, scope, with_messages, now).await?;
        self.execute(id, surface).await
    }

    async fn execute(&self, id: ErasureId, surface: Surface) -> anyhow::Result<Answer> {
        if self.journal.read(|db| db.erasure().unreadable()).await?.contains(&id) {
            return Ok(Answer::refusal(says::unreadable(id)));
        }
        let outcome = self.erasure().execute(id, self.clock.now()).await?;
        let Some(outcome) = outcome else { return Ok(Answer::ours(says::NOTHING_LEFT.to_owned(), json!({}))) };
        // Turns with nothing left to answer end, and conversations that lost text get new
        // summaries.
        for redacted in outcome.redacted.iter().filter(|redacted| redacted.turn_ended) {
            self.engine.cut(redacted.stream).await?;
        }
        self.engine.wake_summarizer();
        self.schedule.wake();
        Ok(outcome_answer(id, &outcome, surface))
    }

    /// Deletes a person with all their data.
    pub async fn forget_person(&self, name: &str) -> anyhow::Result<Answer> {
        let typed = name.to_owned();
        let search = move |db: Db<'_>| {
            let Some(id) = db.erasure().person_once_named(&typed)? else { return Ok(None) };
            let owners = db.people().people()?.iter().filter(|person| person.role == Role::Owner).count();
            Ok(Some((id, db.people().person(id)?, db.people().was_paired(id)?, owners)))
        };
        let Some((id, known, paired, owners)) = self.journal.read(search).await? else {
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
        let scope = Scope::Person(id);
        self.stop_turns_of(scope).await?;
        let plan = self.erasure().plan_of_person(id, name).await?;
        let erasure = self.erasure().begin(plan, id, scope, true, self.clock.now()).await?;
        let outcome = self.erasure().execute_person(erasure, self.clock.now()).await?;
        // The files that the person sent to groups.
        self.schedule.delete_redacted().await?;
        let json = json!({ "forgotten": outcome.files, "messages": outcome.messages, "left": outcome.remaining });
        if outcome.remaining.is_empty() && outcome.files_to_edit.is_empty() {
            return Ok(Answer::ours(says::person(&plain(name), outcome.files, outcome.messages), json));
        }
        let places: Vec<String> = outcome.remaining.iter().map(|(place, count)| format!("{place} ({count})")).collect();
        let files = listed(&outcome.files_to_edit);
        Ok(Answer::refusal(says::person_left(&plain(name), &places.join(", "), &files)))
    }

    /// The deletion of that number, if it belongs to the scope.
    async fn unfinished(&self, number: &str, scope: Scope) -> anyhow::Result<Option<ErasureHead>> {
        let Ok(id) = number.trim().parse().map(ErasureId) else { return Ok(None) };
        let head = self.journal.read(move |db| db.erasure().head(id)).await?;
        Ok(head.filter(|head| head.scope.equals(scope) && head.kind != ErasureKind::Person))
    }

    /// Stops the running turns of a scope, because their context may contain the text.
    async fn stop_turns_of(&self, scope: Scope) -> anyhow::Result<()> {
        let search = move |db: Db<'_>| {
            let mut open: Vec<StreamId> = Vec::new();
            for (stream, _, of) in db.conversations().streams()? {
                if of.equals(scope) && db.turns().open_turn(stream)?.is_some() {
                    open.push(stream);
                }
            }
            Ok(open)
        };
        for stream in self.journal.read(search).await? {
            self.engine.stop_turn(stream).await?;
        }
        Ok(())
    }
}

/// The words without an outdated code.
fn without_code(typed: &str) -> &str {
    let is_code =
        |word: &str| word.len() == crate::admin::memory::CODE && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    match typed.rsplit_once(char::is_whitespace) {
        Some((words, last)) if is_code(last) => words.trim_end(),
        _ => typed,
    }
}

fn outcome_answer(id: ErasureId, outcome: &ErasureOutcome, surface: Surface) -> Answer {
    let ErasureOutcome { counts, remaining, .. } = outcome;
    let mut lines = vec![says::forgotten(&counted(counts))];
    let is_left = !remaining.files.is_empty() || !remaining.assistant_files.is_empty() || !remaining.is_verified();
    let is_in_no_file = counts.notes == 0 && counts.lines == 0 && !is_left;
    if is_in_no_file && counts.versions > 0 {
        lines.push(says::ONLY_BEFORE.to_owned());
    }
    let places = remaining_in_words(id, remaining, surface);
    if places.is_empty() {
        lines.push(says::PROVED.to_owned());
    }
    lines.extend(places);
    lines.push(says::BACKUPS.to_owned());
    let Paraphrases { messages, summaries, files } = &remaining.paraphrases;
    let files_left = [&*remaining.files, &*remaining.assistant_files].concat();
    let json: Value = json!({
        "id": id,
        "forgotten": counts,
        "left": {
            "messages": remaining.messages.len(),
            "reminders": remaining.reminders,
            "proposals": remaining.proposals,
            "files": files_left,
            "unread": remaining.unreadable_files,
            "other": remaining.other,
            "also": { "messages": messages, "summaries": summaries, "files": files },
        },
    });
    Answer::ours(lines.join("\n\n"), json)
}

fn counted(counts: &ErasureCounts) -> Vec<String> {
    let ErasureCounts { notes, lines, entries, versions, summaries, copies, messages, archives } = *counts;
    let all = [notes, lines, entries, versions, summaries, copies, messages, archives];
    all.into_iter().zip(says::KINDS).filter_map(|(count, (one, many))| says::counted(count, one, many)).collect()
}

fn remaining_in_words(id: ErasureId, remaining: &RemainingMatches, surface: Surface) -> Vec<String> {
    let (files, unread) = (listed(&remaining.files), listed(&remaining.unreadable_files));
    let of_assistant = listed(&remaining.assistant_files);
    let Paraphrases { messages, summaries, files: paraphrased } = &remaining.paraphrases;
    let paraphrases: Vec<String> = [
        says::counted(*messages, "message", "messages"),
        says::counted(*summaries, "summary", "summaries"),
        (!paraphrased.is_empty()).then(|| listed(paraphrased)),
    ]
    .into_iter()
    .flatten()
    .collect();
    [
        says::counted(remaining.messages.len(), "message", "messages")
            .map(|messages| says::in_messages(&messages, id, surface)),
        says::counted(remaining.reminders, "reminder", "reminders").map(|reminders| says::in_reminders(&reminders)),
        says::counted(remaining.proposals, "proposal", "proposals").map(|proposals| says::in_proposals(&proposals)),
        (!files.is_empty()).then(|| says::in_files(&files)),
        (!of_assistant.is_empty()).then(|| says::in_assistant_files(&of_assistant)),
        (!unread.is_empty()).then(|| says::unread(&unread)),
        says::counted(remaining.other, "place", "places").map(|places| says::elsewhere(&places, id, surface)),
        (!paraphrases.is_empty()).then(|| says::paraphrases(&paraphrases.join(", "), surface)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn listed(files: &[String]) -> String {
    files.iter().map(|file| plain(file)).collect::<Vec<_>>().join(", ")
}
