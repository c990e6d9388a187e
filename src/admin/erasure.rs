//! `/forget` and `compline forget`: deletes the named data, and reports what a search finds
//! afterwards.
//!
//! Nothing is deleted before its plan was shown with a code ([`super::erasure_plan`]). The code
//! carries the plan out, as a whole or in part; if the plan has changed since, it is shown again.
//!
//! A note or a fact is deleted with all its traces. Messages are deleted only on request; messages
//! that still contain it are listed, with the command to continue. A person is deleted as a whole.
//! The row of a deletion is written before anything is deleted, so an interrupted one is finished
//! at the next start ([`crate::schedule::Schedule::delete_redacted`]).

use anyhow::Context;
use serde_json::{Value, json};

use super::ErasureAdmin;
use super::answer::{Answer, plain};
use super::command::{ForgetStep, SourceMessages};
use super::erasure_plan::{ShownPlan, TypedPlan, digest_input, left_out, listed};
use crate::engine::JustSent;
use crate::erasure::{Erasure, ErasureOutcome, ErasurePreview, PlannedItem};
use crate::id::{ErasureId, StreamId};
use crate::people::{Party, Person, Role};
use crate::store::{
    Db, ErasureChoice, ErasureCounts, ErasureHead, ErasureKind, ErasurePlan, Paraphrases, RemainingMatches,
};
use crate::text::erasure_query::ErasureQuery;
use crate::trust::Scope;
use crate::wording::erasure_plan as plan_says;
use crate::wording::personal_data::{self as says, ErasedKind};
use crate::wording::review::Surface;
use crate::wording::{Language, Sentence};

/// A request to forget something.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForgetRequest<'r> {
    /// The name or words, a number to continue, or a plan with its code.
    pub(super) name: &'r str,
    /// Handling of the messages.
    pub(super) messages: SourceMessages,
    /// Step.
    pub(super) step: ForgetStep,
    /// Surface on which it was typed.
    pub(super) surface: Surface,
}

/// A plan for a party, and what its requester may choose.
struct PartyPlan {
    preview: ErasurePreview,
    /// True if messages go without being chosen.
    has_messages: bool,
    /// Number of messages that only the owner may delete.
    others_messages: usize,
}

impl ErasureAdmin<'_> {
    fn erasure(&self) -> Erasure<'_> {
        Erasure::new(&self.journal, &self.workspace)
    }

    /// Shows what would be deleted of a party at a person's request, carries out a plan whose code
    /// is given, or continues a deletion by its number.
    pub(super) async fn forget(
        &self,
        who: &Party,
        requester: &Person,
        request: &ForgetRequest<'_>,
    ) -> anyhow::Result<Answer> {
        let (typed, surface) = (request.name.trim(), request.surface);
        let confirmed = TypedPlan::parse(typed);
        if let Some(confirmed) = &confirmed {
            let named = self.plan_named(who, confirmed.name).await?;
            if let Some(named) = named {
                let plan = self.plan_of(who, requester, named, request.messages).await?;
                if self.code_of(&plan).await? == confirmed.code {
                    return self.execute_plan(who, requester, plan, confirmed.numbers.as_deref(), surface).await;
                }
            }
        }
        let (mut name, mut named) = (typed, self.erasure().plan_of_name(who, typed).await?);
        if named.is_none() {
            if let Some(erasure) = self.unfinished(typed, who.scope()).await? {
                return self.resume(&erasure, request).await;
            }
            named = self.plan_named(who, typed).await?;
        }
        // Ten digits may themselves be the text to delete, so the code counts as text first.
        let mut plan = self.plan_with_items(who, requester, named, request.messages).await?;
        let outdated = confirmed.as_ref().filter(|_| plan.is_none()).map(|confirmed| confirmed.name);
        if let Some(outdated) = outdated {
            name = outdated;
            named = self.plan_named(who, name).await?;
            plan = self.plan_with_items(who, requester, named, request.messages).await?;
        }
        let Some(plan) = plan else { return Ok(unknown(who, name, request)) };
        if request.step == ForgetStep::Execute {
            return self.execute_plan(who, requester, plan, None, surface).await;
        }
        let code = &self.code_of(&plan).await?;
        let shown = ShownPlan {
            name,
            preview: &plan.preview,
            has_messages: plan.has_messages,
            others_messages: plan.others_messages,
            is_group: matches!(who, Party::Group(_)),
            code,
            locale: self.locale_in(who.scope(), surface).await?,
            replica_days: self.schedule.retention.replica_days,
            surface,
        };
        Ok(shown.answer(outdated.is_some()))
    }

    /// Returns what a name means: a note, a fact or a line; or words anywhere.
    async fn plan_named(&self, who: &Party, name: &str) -> anyhow::Result<Option<ErasurePlan>> {
        let named = self.erasure().plan_of_name(who, name).await?;
        Ok(named.or_else(|| Erasure::plan_of_words(name)))
    }

    /// Returns the plan, if there is anything to delete: of words without their messages, a line of
    /// a file.
    async fn plan_with_items(
        &self,
        who: &Party,
        requester: &Person,
        named: Option<ErasurePlan>,
        messages: SourceMessages,
    ) -> anyhow::Result<Option<PartyPlan>> {
        let Some(named) = named else { return Ok(None) };
        let plan = self.plan_of(who, requester, named, messages).await?;
        let needs_line = plan.preview.plan.kind == ErasureKind::Words && messages == SourceMessages::Keep;
        let counts = |planned: &PlannedItem| !needs_line || planned.is_line();
        let has_items = plan.preview.items.iter().any(counts);
        Ok(Some(plan).filter(|_| has_items))
    }

    async fn plan_of(
        &self,
        who: &Party,
        requester: &Person,
        named: ErasurePlan,
        messages: SourceMessages,
    ) -> anyhow::Result<PartyPlan> {
        let mut preview = self.erasure().preview(who, named).await?;
        let may_delete_messages = matches!(who, Party::One(_)) || requester.role == Role::Owner;
        let count = preview.items.len();
        preview.items.retain(|planned| may_delete_messages || !planned.is_message());
        let has_messages = may_delete_messages && messages == SourceMessages::Delete;
        Ok(PartyPlan { others_messages: count.saturating_sub(preview.items.len()), preview, has_messages })
    }

    async fn code_of(&self, plan: &PartyPlan) -> anyhow::Result<String> {
        self.memory_files().code_under(&digest_input(&plan.preview)).await
    }

    /// Continues a deletion.
    async fn resume(&self, erasure: &ErasureHead, request: &ForgetRequest<'_>) -> anyhow::Result<Answer> {
        if !erasure.has_target {
            return Ok(Answer::ours(says::NOTHING_LEFT.in_language(request.surface.language()), json!({})));
        }
        self.stop_turns_of(erasure.scope).await?;
        if request.messages == SourceMessages::Delete {
            let id = erasure.id;
            self.journal.write("want messages forgotten", move |tx| tx.erasure().include_source_messages(id)).await?;
        }
        self.execute(erasure.id, (&[], ErasureCounts::default()), request.surface).await
    }

    /// Carries out a plan, or the items of it with those numbers.
    async fn execute_plan(
        &self,
        who: &Party,
        requester: &Person,
        plan: PartyPlan,
        numbers: Option<&[usize]>,
        surface: Surface,
    ) -> anyhow::Result<Answer> {
        let (mut has_messages, mut choice, mut left) = (plan.has_messages, ErasureChoice::default(), Vec::new());
        if let Some(numbers) = numbers {
            let Some((chosen, has_message)) = plan.preview.choice_of(numbers) else {
                return Ok(Answer::refusal(plan_says::NO_SUCH_NUMBER.in_language(surface.language())));
            };
            left = left_out(&plan.preview, numbers, self.locale_in(who.scope(), surface).await?);
            (has_messages, choice) = (has_message, chosen);
        }
        let scope = who.scope();
        self.stop_turns_of(scope).await?;
        let now = self.clock.now();
        // Each derived item has an erasure of its own, because it says other words.
        let mut plans = Vec::new();
        for number in numbers.unwrap_or_default() {
            let planned = plan.preview.items.get(number.saturating_sub(1)).filter(|planned| planned.is_derived);
            let Some(planned) = planned else { continue };
            let derived = self.erasure().plan_of_derived(who, planned).await?;
            plans.extend(derived.map(|(of, choice)| (of, false, choice)));
        }
        plans.push((plan.preview.plan, has_messages, choice));
        let mut begun = self.erasure().begin(plans, requester.id, scope, now).await?;
        let id = begun.pop().context("No deletion has begun")?;
        let mut counts = ErasureCounts::default();
        for id in begun {
            counts = self.erasure().execute(id, now).await?.map_or(counts, |outcome| counts.and(outcome.counts));
        }
        self.execute(id, (left.as_slice(), counts), surface).await
    }

    async fn execute(
        &self,
        id: ErasureId,
        (left, more): (&[String], ErasureCounts),
        surface: Surface,
    ) -> anyhow::Result<Answer> {
        if self.journal.read(|db| db.erasure().unreadable()).await?.contains(&id) {
            return Ok(Answer::refusal(says::unreadable(surface.language(), id)));
        }
        let outcome = self.erasure().execute(id, self.clock.now()).await?;
        let Some(mut outcome) = outcome else {
            return Ok(Answer::ours(says::NOTHING_LEFT.in_language(surface.language()), json!({})));
        };
        // Turns with nothing left to answer end, and conversations that lost text get new
        // summaries.
        for redacted in outcome.redacted.iter().filter(|redacted| redacted.turn_ended) {
            self.engine.cut(redacted.stream).await?;
        }
        self.engine.wake_summarizer();
        self.schedule.wake();
        outcome.counts = outcome.counts.and(more);
        let elsewhere = says::kept_elsewhere(surface.language(), self.schedule.retention.replica_days);
        Ok(outcome_answer(id, &outcome, (left, elsewhere), surface))
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
        let plans = vec![(plan, true, ErasureChoice::default())];
        let begun = self.erasure().begin(plans, id, scope, self.clock.now()).await?.pop();
        let erasure = begun.context("No deletion has begun")?;
        let outcome = self.erasure().execute_person(erasure, self.clock.now()).await?;
        // The files that the person sent to groups.
        self.schedule.delete_redacted().await?;
        let json = json!({ "forgotten": outcome.files, "messages": outcome.messages, "left": outcome.remaining });
        if outcome.remaining.is_empty() && outcome.files_to_edit.is_empty() {
            let replica_days = self.schedule.retention.replica_days;
            let told = says::person(&plain(name), outcome.files, outcome.messages, replica_days);
            return Ok(Answer::ours(told, json));
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
            self.engine.stop_turn(stream, JustSent::Kept).await?;
        }
        Ok(())
    }
}

/// The refusal of a name that means nothing.
fn unknown(who: &Party, name: &str, request: &ForgetRequest<'_>) -> Answer {
    let language = request.surface.language();
    let (name, is_short) = (plain(name), ErasureQuery::of_words(name).is_empty());
    Answer::refusal(match (request.messages, who) {
        (SourceMessages::Delete, _) | (SourceMessages::Keep, Party::One(_)) if is_short => {
            says::too_few(language, &name)
        }
        (SourceMessages::Delete, _) => says::none_said(language, &name),
        (SourceMessages::Keep, Party::One(_)) => says::none_such(&name, request.surface),
        (SourceMessages::Keep, Party::Group(_)) => says::none_such_in_group(language, &name),
    })
}

fn outcome_answer(
    id: ErasureId,
    outcome: &ErasureOutcome,
    (left, elsewhere): (&[String], String),
    surface: Surface,
) -> Answer {
    let ErasureOutcome { counts, remaining, .. } = outcome;
    let language = surface.language();
    let words = |sentence: Sentence| sentence.in_language(language).into_string();
    let mut lines = vec![says::forgotten(language, &counted(language, counts))];
    let files_left = [&*remaining.files, &*remaining.assistant_files, &*remaining.received_files].concat();
    let is_left = !files_left.is_empty() || remaining.is_spared || !remaining.is_verified();
    let is_in_no_file = counts.notes == 0 && counts.lines == 0 && !is_left;
    if is_in_no_file && counts.versions > 0 {
        lines.push(words(says::ONLY_BEFORE));
    }
    let places = remaining_in_words(id, remaining, surface);
    if remaining.is_spared {
        lines.push(says::left_out(language, left));
    }
    if places.is_empty() {
        lines.push(words(if remaining.is_spared { says::PROVED_BUT_SPARED } else { says::PROVED }));
    }
    lines.extend(places);
    lines.push(elsewhere);
    let Paraphrases { messages, summaries, files } = &remaining.paraphrases;
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
            "left_out": left,
            "also": { "messages": messages, "summaries": summaries, "files": files },
        },
    });
    Answer::ours(lines.join("\n\n"), json)
}

fn counted(language: Language, counts: &ErasureCounts) -> Vec<String> {
    let ErasureCounts { notes, lines, entries, versions, summaries, copies, messages, archives, reminders } = *counts;
    let all = [
        (notes, ErasedKind::Note),
        (lines, ErasedKind::Line),
        (entries, ErasedKind::Entry),
        (versions, ErasedKind::Version),
        (summaries, ErasedKind::SummaryPlace),
        (copies, ErasedKind::Copy),
        (messages, ErasedKind::Message),
        (reminders, ErasedKind::Reminder),
        (archives, ErasedKind::DeletedArchive),
    ];
    all.into_iter().filter_map(|(count, kind)| says::counted(language, count, kind)).collect()
}

fn remaining_in_words(id: ErasureId, remaining: &RemainingMatches, surface: Surface) -> Vec<String> {
    let language = surface.language();
    let counted = |count: usize, kind: ErasedKind| says::counted(language, count, kind);
    let (files, unread) = (listed(&remaining.files), listed(&remaining.unreadable_files));
    let (of_assistant, received) = (listed(&remaining.assistant_files), listed(&remaining.received_files));
    let Paraphrases { messages, summaries, files: paraphrased } = &remaining.paraphrases;
    let paraphrases: Vec<String> = [
        counted(*messages, ErasedKind::Message),
        counted(*summaries, ErasedKind::Summary),
        (!paraphrased.is_empty()).then(|| listed(paraphrased)),
    ]
    .into_iter()
    .flatten()
    .collect();
    [
        counted(remaining.messages.len(), ErasedKind::Message).map(|some| says::in_messages(&some, id, surface)),
        counted(remaining.reminders, ErasedKind::Reminder).map(|some| says::in_reminders(&some, id, surface)),
        counted(remaining.proposals, ErasedKind::Proposal).map(|some| says::in_proposals(language, &some)),
        (!files.is_empty()).then(|| says::in_files(language, &files)),
        (!of_assistant.is_empty()).then(|| says::in_assistant_files(language, &of_assistant)),
        (!received.is_empty()).then(|| says::in_received_files(language, &received)),
        (!unread.is_empty()).then(|| says::unread(language, &unread)),
        counted(remaining.other, ErasedKind::Place).map(|some| says::elsewhere(&some, id, surface)),
        (!paraphrases.is_empty()).then(|| says::paraphrases(&paraphrases.join(", "), surface)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
