//! `/open`: what is left to do or to decide, with reminders and heartbeat items beside it.

use serde_json::{Value, json};

use super::JobsAdmin;
use super::answer::{Answer, CommandError, Render, RenderContext, ShownLabel, plain};
use super::command::OpenItemChange;
use super::jobs::RemindersReport;
use super::paging::RemindersPart;
use crate::id::OpenItemId;
use crate::memory::{HeartbeatItemKind, heartbeat_items};
use crate::people::Person;
use crate::schedule::HeartbeatFile;
use crate::store::{Db, OPEN_ITEM_KEPT, OpenItem, OpenItemState, Tx};
use crate::text::{one_line, shorten};
use crate::time::{Timestamp, When, Zone};
use crate::trust::{Label, Labelled, Scope};
use crate::wish::spoken_time;
use crate::wording::{Language, open_items as says};

/// Number of closed items that are shown, and maximum length of an item in characters.
const CLOSED: u32 = 5;
const MAX_CHARACTERS: usize = 300;
/// Time of an item that is put off without a time, and of a day without one.
const TOMORROW: &str = "tomorrow 08:00";

impl JobsAdmin<'_> {
    /// What is open in a person's life.
    pub async fn open_items(&self, person: &Person) -> anyhow::Result<OpenReport> {
        let (scope, since) = (Scope::Person(person.id), self.clock.now().minus(OPEN_ITEM_KEPT));
        let read = move |db: Db<'_>| {
            Ok((db.open_items().open_items(scope)?, db.open_items().closed_items(scope, since, CLOSED)?))
        };
        let (open, closed) = self.journal.read(read).await?;
        let reminders = self.reminders(person, RemindersPart::page(None)).await?;
        let heartbeat = self.schedule.heartbeat_file(person).await?;
        Ok(OpenReport { open, closed, reminders, heartbeat })
    }

    /// Changes a person's list of open items.
    pub(super) async fn change_open_items(
        &self,
        person: &Person,
        change: OpenItemChange,
        typed: Label,
        language: Language,
    ) -> Result<Answer, CommandError> {
        let now = self.clock.now();
        match change {
            OpenItemChange::Done(id) => self.close_item(person, id, OpenItemState::Done, language).await,
            OpenItemChange::Drop(id) => self.close_item(person, id, OpenItemState::Dropped, language).await,
            OpenItemChange::Reopen(id) => {
                let item = self.item(person, id, language).await?;
                let reopen = move |tx: Tx<'_>| tx.open_items().reopen_item(id);
                self.journal.write("open an item again", reopen).await?;
                let mut shown = ShownLabel::nothing();
                let words = words(&item, &mut shown);
                Ok(Answer::showing(shown, says::reopened(language, &words), json!({ "open": id })))
            }
            OpenItemChange::Later(id, when) => {
                let item = self.item(person, id, language).await?;
                let zone = self.engine.zone_of(Scope::Person(person.id)).await?;
                let until = time(&when, now, zone)
                    .ok_or_else(|| Answer::refusal(says::WHEN.in_language(language).into_string()))?;
                let put_off = move |tx: Tx<'_>| tx.open_items().put_off_item(id, until);
                self.journal.write("put an open item off", put_off).await?;
                let mut shown = ShownLabel::nothing();
                let words = words(&item, &mut shown);
                let sentence = says::put_off(language, &words, &language.to_come(zone, until, now));
                Ok(Answer::showing(shown, sentence, json!({ "open": id, "not_before": until.rfc3339() })))
            }
            OpenItemChange::Add(text) => self.add_open_item(person, &text, typed, language).await,
        }
    }

    async fn close_item(
        &self,
        person: &Person,
        id: OpenItemId,
        state: OpenItemState,
        language: Language,
    ) -> Result<Answer, CommandError> {
        let (item, now) = (self.item(person, id, language).await?, self.clock.now());
        let close = move |tx: Tx<'_>| tx.open_items().close_open_item(id, state, now);
        self.journal.write("close an open item", close).await?;
        let mut shown = ShownLabel::nothing();
        let words = words(&item, &mut shown);
        Ok(Answer::showing(shown, says::was_closed(language, id, &words), json!({ "closed": id })))
    }

    async fn add_open_item(
        &self,
        person: &Person,
        text: &str,
        typed: Label,
        language: Language,
    ) -> Result<Answer, CommandError> {
        let (words, scope, now) =
            (shorten(&one_line(text), MAX_CHARACTERS), Scope::Person(person.id), self.clock.now());
        let pasted = words.clone();
        if !self.journal.read(move |db| db.fingerprints().pasted_from(&pasted, scope)).await?.is_empty() {
            return Err(Answer::refusal(says::PASTED.in_language(language).into_string()).into());
        }
        let item = Labelled::new(words.as_str().into(), typed, scope);
        let add = move |tx: Tx<'_>| tx.open_items().add_open_item(&item, None, now);
        let sentence = match self.journal.write("add an open item", add).await? {
            Some(id) => says::added(language, id, &plain(&words)),
            None => says::known(language, &plain(&words)),
        };
        Ok(Answer::ours(sentence, json!({ "item": words })))
    }

    async fn item(&self, person: &Person, id: OpenItemId, language: Language) -> Result<OpenItem, CommandError> {
        let scope = Scope::Person(person.id);
        let found = self.journal.read(move |db| db.open_items().open_item(scope, id)).await?;
        Ok(found.ok_or_else(|| Answer::refusal(says::unknown(language, id)))?)
    }
}

/// Returns the time that words mean, such as `monday` or `2026-12-01 09:00`; tomorrow if there are none.
fn time(words: &str, now: Timestamp, zone: Zone) -> Option<Timestamp> {
    let words = if words.trim().is_empty() { TOMORROW } else { words };
    let at = |words: &str| When::parse(words, now, zone).ok().map(|when| when.at);
    at(words).or_else(|| at(&spoken_time(words, zone.wall_clock(now))?))
}

fn words(item: &OpenItem, shown: &mut ShownLabel) -> String {
    plain(shown.words::<std::sync::Arc<str>>(&item.text))
}

/// What is open in a person's life.
pub struct OpenReport {
    /// Open items, oldest first, with those that are put off.
    pub open: Vec<OpenItem>,
    /// Items that were closed lately, newest first.
    pub closed: Vec<OpenItem>,
    /// Reminders and tasks.
    pub reminders: RemindersReport,
    heartbeat: Option<HeartbeatFile>,
}

impl OpenReport {
    /// Returns the words of the heartbeat items that are not done; none of a file that is not followed.
    fn heartbeat_items(&self, shown: &mut ShownLabel) -> Vec<String> {
        let Some(file) = self.heartbeat.as_ref().filter(|file| file.text.label().is_trusted()) else {
            return Vec::new();
        };
        let ticked = file.ticked();
        let items = heartbeat_items(shown.words::<std::sync::Arc<str>>(&file.text)).into_iter();
        let due = items.filter(|item| item.kind != HeartbeatItemKind::Done && item.is_due(&ticked));
        due.map(|item| plain(&item.words)).collect()
    }
}

impl Render for OpenReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let language = context.language();
        let (later, open): (Vec<&OpenItem>, Vec<&OpenItem>) =
            self.open.iter().partition(|item| item.is_put_off(context.now));
        let open: Vec<String> = open
            .into_iter()
            .map(|item| says::item(language, item.id, &words(item, shown), &context.near(item.opened_at)))
            .collect();
        let later: Vec<String> = later
            .into_iter()
            .filter_map(|item| {
                let from = context.upcoming(item.not_before?);
                Some(says::later_item(language, item.id, &words(item, shown), &from))
            })
            .collect();
        let closed: Vec<String> = self
            .closed
            .iter()
            .filter_map(|item| {
                let (how, at): (&str, _) = (item.state.into(), context.near(item.closed_at?));
                Some(says::closed_item(language, item.id, &words(item, shown), how, &at))
            })
            .collect();
        let reminders = match self.reminders.rows.is_empty() {
            true => Vec::new(),
            false => self.reminders.lines(context, shown),
        };
        let heartbeat: Vec<String> = self.heartbeat_items(shown).iter().map(|words| format!("- {words}")).collect();
        let nothing = says::NOTHING_OPEN.in_language(language).into_string();
        let mut parts = Vec::new();
        if open.is_empty() && later.is_empty() {
            parts.push(nothing);
        }
        for (heading, lines) in [
            (says::OPEN, open),
            (says::LATER, later),
            (says::REMINDERS, reminders),
            (says::HEARTBEAT, heartbeat),
            (says::CLOSED, closed),
        ] {
            if !lines.is_empty() {
                parts.push(format!("**{}**\n{}", &*heading.in_language(language), lines.join("\n")));
            }
        }
        parts.push(says::HOW.in_language(language).into_string());
        parts.join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        let item = |item: &OpenItem| {
            let state: &str = item.state.into();
            json!({
                "id": item.id,
                "text": &**shown.words(&item.text),
                "state": state,
                "opened_at": item.opened_at.rfc3339(),
                "closed_at": item.closed_at.map(Timestamp::rfc3339),
                "not_before": item.not_before.map(Timestamp::rfc3339),
            })
        };
        self.open.iter().chain(&self.closed).map(item).collect()
    }
}
