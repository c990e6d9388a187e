//! `/reminders`, `/reflect` and `compline reflections`: each person's own reminders and tasks, and
//! reflections with the outcomes of their proposals.

use std::time::Duration;

use serde_json::{Value, json};

use super::JobsAdmin;
use super::answer::{Answer, CommandError, Render, RenderContext, ShownLabel, plain, sources, with_fields};
use super::command::ReflectionRequest;
use super::paging::{ListPlace, Page, PageRequest, RemindersPart};
use crate::id::{ConversationId, PersonId, ReflectionId, ReminderId, SlotId};
use crate::people::Person;
use crate::reflection::render;
use crate::schedule::{OnDemandResult, SO_FAR};
use crate::store::{ActionRow, CancelledReminder, Db, ReflectionRow, ReminderRow, SlotRow, SlotState, SlotWish, Spent};
use crate::time::{Timestamp, Zone};
use crate::trust::{Scope, Text};
use crate::wording::review::Surface;
use crate::wording::why::all_in_words;
use crate::wording::{Language, command, reminder, schedule as says};

/// Maximum number of characters shown of a reminder.
const MAX_CHARACTERS: usize = 200;
/// Number of upcoming times shown for a recurring item.
const TIMES: usize = 3;
/// Maximum time that the command line waits for a model; the work continues after that.
const MAX_WAIT: Duration = Duration::from_secs(600);

impl JobsAdmin<'_> {
    /// A person's waiting reminders and tasks, soonest first.
    pub async fn reminders(&self, person: &Person, part: RemindersPart) -> anyhow::Result<RemindersReport> {
        let (id, RemindersPart { after, limit }) = (person.id, part);
        let after = after.map(|place| (Timestamp(place.value), ReminderId(place.number)));
        let read = move |db: Db<'_>| db.reminders().reminders_after(id, after, limit.saturating_add(1));
        let mut rows = self.journal.read(read).await?;
        let has_more = rows.len() > usize::try_from(limit)?;
        rows.truncate(usize::try_from(limit)?);
        let place = |row: &ReminderRow| ListPlace { value: row.next_at.map_or(0, |at| at.0), number: row.id.0 };
        let next = rows.last().filter(|_| has_more).map(place);
        let zone = self.engine.zone_of(Scope::Person(id)).await?;
        Ok(RemindersReport { rows: rows.into_iter().map(|row| (times(&row, zone), row)).collect(), next })
    }

    /// Cancels one of a person's reminders.
    pub async fn cancel_reminder(&self, person: &Person, id: ReminderId, language: Language) -> anyhow::Result<Answer> {
        let (whose, now) = (person.id, self.clock.now());
        let cancel = self.journal.write("cancel a reminder", move |tx| tx.reminders().cancel(id, whose, now));
        let Some(CancelledReminder { row, stopped }) = cancel.await? else {
            return Ok(Answer::refusal(reminder::no_such_reminder(language, id)));
        };
        if let Some(stream) = stopped {
            self.engine.cut(stream).await?;
        }
        let mut shown = ShownLabel::nothing();
        let words = plain(&crate::text::shorten(shown.words::<std::sync::Arc<str>>(&row.text), MAX_CHARACTERS));
        let zone = self.engine.zone_of(Scope::Person(whose)).await?;
        let time = row.next_at.map(|at| language.to_come(zone, at, now)).unwrap_or_default();
        let sentence = reminder::cancelled_now(language, row.kind.as_str(), id, &words, &time);
        Ok(Answer::showing(shown, sentence, json!({ "cancelled": id })))
    }

    /// The latest reflections, newest first: all people's, or only those of `only`.
    pub async fn reflections(&self, only: Option<PersonId>, request: PageRequest) -> anyhow::Result<ReflectionsReport> {
        let list = move |db: Db<'_>| {
            let read = |before, limit| db.reflections().reflections(only.map(Scope::Person), before, limit);
            request.read(|row: &ReflectionRow| row.id.0, read)?.try_map(|row| describe(db, row))
        };
        Ok(ReflectionsReport { page: self.journal.read_much(list).await? })
    }

    /// One reflection, by its number or by the name of its period. With `only`, it has to be that
    /// person's.
    pub async fn reflection(&self, only: Option<PersonId>, wanted: &str) -> Result<ReflectionReport, CommandError> {
        let named = wanted.to_uppercase();
        let find = move |db: Db<'_>| {
            let row = match named.parse() {
                Ok(id) => db.reflections().reflection(ReflectionId(id))?,
                Err(_) => of_period(db, only, &named)?,
            };
            let row =
                row.filter(|row| only.is_none_or(|only| matches!(row.scope, Scope::Person(person) if person == only)));
            row.map(|row| ReflectionReport::read(db, row)).transpose()
        };
        let found = self.journal.read_much(find).await?;
        let surface = if only.is_some() { Surface::Chat(Language::ENGLISH) } else { Surface::CommandLine };
        Ok(found.ok_or_else(|| Answer::refusal(says::no_such_reflection(&plain(wanted), surface)))?)
    }

    /// Starts a reflection for an owner, without waiting for it.
    pub(super) async fn reflect(&self, person: PersonId, request: &ReflectionRequest) -> anyhow::Result<Answer> {
        Ok(
            match self
                .schedule
                .ask(person, request.job, request.period.as_deref(), request.again, SlotWish::Told)
                .await?
            {
                OnDemandResult::Begun(_, period) => Answer::ours(says::begun(&period), json!({ "period": period })),
                OnDemandResult::OnIt(_, period) => Answer::ours(says::on_it(&period), json!({ "period": period })),
                other => refused(request, other),
            },
        )
    }

    /// The same for the owner on whose behalf the command line acts: waits for the end, and reports
    /// the outcome.
    pub(super) async fn reflect_now(&self, request: &ReflectionRequest) -> anyhow::Result<Answer> {
        let owner = self.journal.read(|db| db.folders().speaking_owner()).await?;
        let Some(owner) = owner else { return Ok(Answer::refusal(command::NOBODY)) };
        match self
            .schedule
            .ask(owner.id, request.job, request.period.as_deref(), request.again, SlotWish::Waits)
            .await?
        {
            OnDemandResult::Begun(slot, _) | OnDemandResult::OnIt(slot, _) => self.outcome(slot).await,
            other => Ok(refused(request, other)),
        }
    }

    async fn outcome(&self, slot: SlotId) -> anyhow::Result<Answer> {
        let Some(slot) = self.schedule.when_over(slot, MAX_WAIT).await? else {
            return Ok(Answer::refusal(command::FAILED.in_language(Language::ENGLISH)));
        };
        let period = if slot.job == SO_FAR { says::so_far(&slot.period) } else { slot.period.clone() };
        Ok(match slot.state {
            SlotState::Done => Answer::ours(says::done(&period), json_of(&slot)),
            SlotState::Quiet => Answer::ours(says::quiet(&period), json_of(&slot)),
            SlotState::Claimed | SlotState::Working => Answer::ours(says::takes_long(&period), json_of(&slot)),
            SlotState::Failed | SlotState::Missed => Answer::refusal(says::failed(&period, &slot.reason)),
        })
    }
}

/// The next times of a reminder, starting with the stored one.
fn times(row: &ReminderRow, zone: Zone) -> Vec<Timestamp> {
    let later = |first| row.next_times(first, zone, TIMES - 1);
    row.next_at.into_iter().flat_map(|first| std::iter::once(first).chain(later(first))).collect()
}

/// Waiting reminders and tasks.
pub struct RemindersReport {
    /// Each with its next times.
    pub rows: Vec<(Vec<Timestamp>, ReminderRow)>,
    /// Place after which the list goes on, if it does.
    pub next: Option<ListPlace>,
}

impl RemindersReport {
    /// Returns one line for each.
    pub(super) fn lines(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> Vec<String> {
        let language = context.language();
        let line = |(times, row): &(Vec<Timestamp>, ReminderRow)| {
            let times: Vec<String> = times.iter().map(|at| context.upcoming(*at)).collect();
            let times = times.join(", ");
            let until = row.until.map(|until| language.end(context.zone, until, context.now));
            let when = if row.cron.is_none() { times } else { reminder::recurring(language, &times, until.as_deref()) };
            let when = if row.works { reminder::works(language, &when) } else { when };
            let words = plain(&crate::text::shorten(shown.words::<std::sync::Arc<str>>(&row.text), MAX_CHARACTERS));
            let sources = all_in_words(language, row.text.label());
            reminder::reminder(language, row.id, row.kind.as_str(), &when, &words, &plain(&sources))
        };
        self.rows.iter().map(line).collect()
    }
}

impl Render for RemindersReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        if self.rows.is_empty() {
            return reminder::NONE_PENDING.in_language(context.language()).into();
        }
        let lines = self.lines(context, shown);
        let mut text = reminder::reminders(&lines.join("\n"), context.zone.name(), context.surface);
        if let Some(next) = &self.next {
            let more = match context.surface {
                Surface::Chat(language) => command::more(language, &format!("/reminders after {next}")),
                Surface::CommandLine => command::more(Language::ENGLISH, &format!("--after {next}")),
            };
            text = format!("{text}\n\n{more}");
        }
        text
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        let fields = |(times, row): &(Vec<Timestamp>, ReminderRow)| {
            json!({
                "id": row.id,
                "kind": row.kind.as_str(),
                "text": &**shown.words(&row.text),
                "cron": row.cron.as_deref().unwrap_or_default(),
                "works": row.works,
                "next": times.iter().map(|at| at.rfc3339()).collect::<Vec<_>>(),
                "until": row.until.map(Timestamp::rfc3339),
                "untrusted": sources(row.text.label()),
            })
        };
        self.rows.iter().map(fields).collect()
    }
}

/// The latest reflections.
pub struct ReflectionsReport {
    /// The reflections, newest first.
    pub page: Page<ReflectionItem>,
}

impl Render for ReflectionsReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        if self.page.items.is_empty() {
            return says::NO_REFLECTIONS.to_owned();
        }
        let line = |ReflectionItem { row, person, .. }: &ReflectionItem| {
            shown.also(&row.label);
            let (at, from) = (context.zone.show_short(row.at), plain(&all_in_words(context.language(), &row.label)));
            says::reflection(row.id, &row.job, &row.period, &plain(&row.title), person, &at, &from)
        };
        let mut blocks: Vec<String> = self.page.items.iter().map(line).collect();
        blocks.extend(self.page.more("/reflections", context.surface));
        blocks.join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        self.page.items.iter().map(fields).collect()
    }
}

/// One reflection in full.
pub struct ReflectionReport {
    /// The reflection.
    pub item: ReflectionItem,
    /// Text of the report, without the outcomes of its actions.
    pub words: Vec<Text>,
    page: Text,
    /// The conversation of its transcript.
    pub conversation: Option<ConversationId>,
    /// Cost.
    pub cost: Spent,
}

impl ReflectionReport {
    fn read(db: Db<'_>, row: ReflectionRow) -> anyhow::Result<Self> {
        let message = db.messages().message(row.message)?;
        Ok(Self {
            words: db.messages().texts_of(row.message)?.into_iter().map(|text| text.text).collect(),
            page: render::page(db, &row)?,
            conversation: message.and_then(|message| message.conversation),
            cost: db.spending().spent_on(row.turn)?,
            item: describe(db, row)?,
        })
    }
}

impl Render for ReflectionReport {
    fn markdown(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        shown.words(&self.page).to_string()
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        with_fields(fields(&self.item), json!({ "markdown": &**shown.words(&self.page) }))
    }
}

/// A reflection, as listed.
pub struct ReflectionItem {
    /// The reflection.
    pub row: ReflectionRow,
    person: String,
    /// Actions with their outcomes.
    pub actions: Vec<(ActionRow, String)>,
}

/// The newest reflection of that period, of the first person who has one: owners come first,
/// because they were known first.
fn of_period(db: Db<'_>, only: Option<PersonId>, period: &str) -> anyhow::Result<Option<ReflectionRow>> {
    for person in db.people().people()?.into_iter().filter(|person| only.is_none_or(|only| person.id == only)) {
        if let Some(row) = db.reflections().reflection_on(Scope::Person(person.id), period)? {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

fn describe(db: Db<'_>, row: ReflectionRow) -> anyhow::Result<ReflectionItem> {
    let person = match row.scope {
        Scope::Person(person) => db.people().person(person)?.map(|person| person.name),
        _ => None,
    };
    let mut actions = Vec::new();
    for action in db.reflections().actions_of(row.id)? {
        let outcome = render::describe(db, &action)?;
        actions.push((action, outcome));
    }
    Ok(ReflectionItem {
        person: person.unwrap_or_else(|| crate::wording::command::REMOVED_PERSON.to_owned()),
        row,
        actions,
    })
}

fn fields(item: &ReflectionItem) -> Value {
    let row = &item.row;
    let action_json = |(action, outcome): &(ActionRow, String)| {
        json!({
            "kind": action.kind.as_str(),
            "title": action.title,
            "state": action.state.as_str(),
            "outcome": outcome,
            "proposal": action.proposal,
        })
    };
    let actions: Value = item.actions.iter().map(action_json).collect();
    json!({
        "id": row.id,
        "kind": row.job,
        "person": item.person,
        "period": row.period,
        "from": row.from.rfc3339(),
        "to": row.to.rfc3339(),
        "at": row.at.rfc3339(),
        "title": row.title,
        "tainted": !row.label.is_trusted(),
        "sources": sources(&row.label),
        "actions": actions,
    })
}

fn json_of(slot: &SlotRow) -> serde_json::Value {
    json!({ "job": slot.job, "period": slot.period, "state": slot.state.as_str(), "reason": slot.reason })
}

fn refused(request: &ReflectionRequest, result: OnDemandResult) -> Answer {
    Answer::refusal(match result {
        OnDemandResult::Done(slot) => says::done_already(request.job.as_str(), &slot.period),
        OnDemandResult::NotOver(period) => says::not_over(&period),
        OnDemandResult::TooEarly(period) => says::too_early(&period),
        OnDemandResult::NoPeriod => says::no_period(request.job.as_str()),
        OnDemandResult::Off => says::OFF.to_owned(),
        OnDemandResult::Begun(_, period) | OnDemandResult::OnIt(_, period) => says::on_it(&period),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::english;
    use super::super::tests::fixture::{Fixture, keys};
    use super::*;

    #[tokio::test]
    async fn each_person_sees_and_cancels_only_their_own_reminders() {
        let fixture = Fixture::new().await;
        let once = fixture.reminds("Ada", "call *mum*", "", 3_600).await;
        fixture.reminds("Ada", "water the plants", "0 10 * * *", 86_400).await;
        let theirs = fixture.reminds("Ben", "the boat", "", 3_600).await;
        let list = fixture.admin.chat(&fixture.ada(), "/reminders").await;
        assert!(list.markdown.contains("Times are those of Europe/Vienna"), "{}", list.markdown);
        assert!(list.markdown.contains("today 11:00: call \\*mum\\*"), "{}", list.markdown);
        let times = "next tomorrow 10:00, Monday 10:00, Tuesday 10:00, and so on: water the plants";
        assert!(list.markdown.contains(times) && !list.markdown.contains("boat"), "{}", list.markdown);
        assert_eq!(keys(&list.json[0]), ["id", "kind", "text", "cron", "works", "next", "until", "untrusted"]);

        let stolen = fixture.admin.chat(&fixture.ada(), &format!("/reminders cancel {theirs}")).await;
        assert!(stolen.failed && stolen.markdown == reminder::no_such_reminder(Language::ENGLISH, theirs));
        for time in [", today 11:00", ""] {
            let cancelled = fixture.admin.chat(&fixture.ada(), &format!("/reminders cancel {once}")).await;
            let sentence = format!("Cancelled reminder {once}: call \\*mum\\*{time}.");
            assert_eq!(cancelled.markdown, sentence, "also when it is run again");
        }
        assert!(!fixture.admin.chat(&fixture.ada(), "/reminders").await.markdown.contains("mum"));
        assert!(fixture.admin.chat(&fixture.ben(), "/reminders").await.markdown.contains("boat"));
    }

    /// Proves: operation/next-page
    #[tokio::test]
    async fn reminders_are_listed_page_by_page() {
        let fixture = Fixture::new().await;
        for number in 0..65 {
            fixture.reminds("Ada", "water the plants", "", 3_600 + 60 * (number / 3)).await;
        }
        let (mut shown, mut command) = (Vec::new(), "/reminders".to_owned());
        loop {
            let answer = fixture.admin.chat(&fixture.ada(), &command).await;
            shown.extend(answer.json.as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()));
            let first = shown.first().copied().unwrap_or_default();
            // One that was shown ends meanwhile.
            fixture.admin.chat(&fixture.ada(), &format!("/reminders cancel {first}")).await;
            match answer.markdown.lines().find_map(|line| line.strip_prefix("More: ")) {
                Some(next) => command = next.to_owned(),
                None => break,
            }
        }
        assert_eq!(shown, (1..=65).collect::<Vec<i64>>());
        assert!(fixture.admin.chat(&fixture.ada(), "/reminders after nothing").await.failed);
    }

    #[tokio::test]
    async fn an_empty_list_says_what_it_is_for() {
        let fixture = Fixture::new().await;
        assert_eq!(fixture.admin.chat(&fixture.ben(), "/reminders").await.markdown, english(reminder::NONE_PENDING));
    }
}
