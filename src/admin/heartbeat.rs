//! `/heartbeat`: the items of an owner's `HEARTBEAT.md`, their ticks, and changes to both.
//!
//! The file is changed only here and by its owner's editor: a line is added or taken out because
//! the owner typed the command, through the one writer. A tick is a row. Every command may be run
//! twice.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::JobsAdmin;
use super::answer::{Answer, CommandError, Render, RenderContext, ShownLabel, plain};
use super::command::HeartbeatChange;
use crate::memory::{
    HEARTBEAT, HeartbeatItem, HeartbeatItemKind, NewContent, WriteError, find_heartbeat_item, heartbeat_items,
    with_heartbeat_item, without_ticked_items,
};
use crate::people::Person;
use crate::schedule::{HeartbeatFile, HeartbeatStatus};
use crate::store::HeartbeatTick;
use crate::time::Timestamp;
use crate::trust::{Label, Scope};
use crate::wording::why::all_in_words;
use crate::wording::{Language, heartbeat as says};

/// Maximum number of characters of an item added by a command.
const MAX_CHARACTERS: usize = 500;
/// Cause stored with a change of the file.
const CAUSE: &str = "heartbeat";

impl JobsAdmin<'_> {
    /// An owner's items and the times of the heartbeat.
    pub(super) async fn heartbeat(&self, owner: &Person) -> anyhow::Result<HeartbeatReport> {
        let file = self.schedule.heartbeat_file(owner).await?;
        let status = self.schedule.heartbeats(Some(owner.id)).await?.into_iter().next();
        Ok(HeartbeatReport { file, status })
    }

    /// The items that [`HeartbeatChange::Tidy`] takes out.
    pub(super) async fn ticked_items(&self, owner: &Person) -> anyhow::Result<TickedReport> {
        Ok(TickedReport { file: self.schedule.heartbeat_file(owner).await? })
    }

    /// Changes an owner's file or its ticks.
    pub(super) async fn change_heartbeat(
        &self,
        owner: &Person,
        change: HeartbeatChange,
    ) -> Result<Answer, CommandError> {
        let file = self.schedule.heartbeat_file(owner).await?;
        if let Some(file) = file.as_ref().filter(|file| !file.text.label().is_trusted()) {
            return Err(Answer::refusal(from_outside(file.text.label())).into());
        }
        match change {
            HeartbeatChange::AddOnce(words) => self.add_item(owner, &words, HeartbeatItemKind::Open).await,
            HeartbeatChange::AddStanding(words) => self.add_item(owner, &words, HeartbeatItemKind::Standing).await,
            HeartbeatChange::Tick(wanted) => self.tick_item(owner, file.as_ref(), &wanted).await,
            HeartbeatChange::Untick(wanted) => self.untick_item(owner, file.as_ref(), &wanted).await,
            HeartbeatChange::Tidy => self.tidy(owner, file.as_ref()).await,
        }
    }

    async fn add_item(&self, owner: &Person, words: &str, kind: HeartbeatItemKind) -> Result<Answer, CommandError> {
        if words.chars().count() > MAX_CHARACTERS {
            return Err(Answer::refusal(says::TOO_LONG).into());
        }
        let (pasted, scope) = (words.to_owned(), Scope::Person(owner.id));
        if !self.journal.read(move |db| db.fingerprints().pasted_from(&pasted, scope)).await?.is_empty() {
            return Err(Answer::refusal(says::PASTED).into());
        }
        let added = words.to_owned();
        let written = self
            .change_file(owner, move |old| {
                with_heartbeat_item(old, &added, kind).map_or(NewContent::Unchanged, NewContent::Text)
            })
            .await?;
        // A new item with the words of a ticked one is open.
        let (id, words) = (owner.id, words.split_whitespace().collect::<Vec<_>>().join(" "));
        let file = self.schedule.heartbeat_file(owner).await?;
        let items = items(file.as_ref(), &mut ShownLabel::nothing());
        if let Some(key) = find_heartbeat_item(&items, &words).map(|item| item.key.clone()) {
            self.journal.write("open a heartbeat item", move |tx| tx.heartbeats().untick(id, &key)).await?;
        }
        let sentence = if written { says::added(&plain(&words)) } else { says::added_before(&plain(&words)) };
        Ok(Answer::ours(sentence, json!({ "item": words, "added": written })))
    }

    async fn tick_item(
        &self,
        owner: &Person,
        file: Option<&HeartbeatFile>,
        wanted: &str,
    ) -> Result<Answer, CommandError> {
        let (mut shown, id, now) = (ShownLabel::nothing(), owner.id, self.clock.now());
        let item = one_item(file, wanted, &mut shown)?;
        if item.kind != HeartbeatItemKind::Done {
            let key = item.key.clone();
            self.journal.write("tick a heartbeat item", move |tx| tx.heartbeats().tick(id, &key, None, now)).await?;
        }
        let json = json!({ "item": item.words, "done": true });
        Ok(Answer::showing(shown, says::done_by_owner(&plain(&item.words)), json))
    }

    async fn untick_item(
        &self,
        owner: &Person,
        file: Option<&HeartbeatFile>,
        wanted: &str,
    ) -> Result<Answer, CommandError> {
        let (mut shown, id) = (ShownLabel::nothing(), owner.id);
        let item = one_item(file, wanted, &mut shown)?;
        if item.kind == HeartbeatItemKind::Done {
            let sentence = says::ticked_in_file(&plain(&item.words));
            return Err(Answer::refusal_showing(shown, sentence).into());
        }
        let key = item.key.clone();
        self.journal.write("open a heartbeat item", move |tx| tx.heartbeats().untick(id, &key)).await?;
        let json = json!({ "item": item.words, "done": false });
        Ok(Answer::showing(shown, says::reopened(&plain(&item.words)), json))
    }

    async fn tidy(&self, owner: &Person, file: Option<&HeartbeatFile>) -> Result<Answer, CommandError> {
        let mut shown = ShownLabel::nothing();
        let removed = ticked(file, &mut shown);
        let Some(ticks) = file.map(HeartbeatFile::ticked).filter(|_| !removed.is_empty()) else {
            return Ok(Answer::ours(says::NOTHING_TO_TIDY, json!({ "removed": [] })));
        };
        self.change_file(owner, move |old| NewContent::Text(without_ticked_items(old, &ticks).0)).await?;
        let (id, left) = (owner.id, self.schedule.heartbeat_file(owner).await?);
        let keys: BTreeSet<String> = items(left.as_ref(), &mut shown).into_iter().map(|item| item.key).collect();
        self.journal.write("drop heartbeat ticks", move |tx| tx.heartbeats().keep_ticks(id, &keys)).await?;
        let lines: Vec<String> = removed.iter().map(|words| plain(words)).collect();
        Ok(Answer::showing(shown, says::tidied(&lines), json!({ "removed": removed })))
    }

    /// Changes the file as its owner, and returns whether it was changed.
    async fn change_file(
        &self,
        owner: &Person,
        make: impl Fn(&str) -> NewContent + Send + 'static,
    ) -> Result<bool, CommandError> {
        let origin = self.memory_files().change_by(owner, CAUSE);
        let change = move |old: Option<&str>| Ok(make(old.unwrap_or_default()));
        match self.workspace.versions().change(&origin, HEARTBEAT, change).await {
            Ok(written) => Ok(written.version.is_some()),
            Err(WriteError::Refused(why)) => {
                tracing::warn!("HEARTBEAT.md cannot be changed: {why}");
                Err(Answer::refusal(says::NOT_CHANGED).into())
            }
            Err(WriteError::Failed(error)) => Err(error.into()),
        }
    }
}

fn items(file: Option<&HeartbeatFile>, shown: &mut ShownLabel) -> Vec<HeartbeatItem> {
    file.map(|file| heartbeat_items(shown.words::<std::sync::Arc<str>>(&file.text))).unwrap_or_default()
}

fn one_item(file: Option<&HeartbeatFile>, wanted: &str, shown: &mut ShownLabel) -> Result<HeartbeatItem, CommandError> {
    let items = items(file, shown);
    Ok(find_heartbeat_item(&items, wanted).cloned().ok_or_else(|| Answer::refusal(says::WHICH))?)
}

/// Words of the ticked items that can be taken out.
fn ticked(file: Option<&HeartbeatFile>, shown: &mut ShownLabel) -> Vec<String> {
    let removed =
        |file: &HeartbeatFile| without_ticked_items(shown.words::<std::sync::Arc<str>>(&file.text), &file.ticked()).1;
    file.map(removed).unwrap_or_default()
}

/// An owner's items, and the times of the heartbeat.
pub(super) struct HeartbeatReport {
    file: Option<HeartbeatFile>,
    /// `None` if the heartbeat is off.
    status: Option<HeartbeatStatus>,
}

impl HeartbeatReport {
    fn items(&self, shown: &mut ShownLabel) -> Vec<(HeartbeatItem, Option<&HeartbeatTick>)> {
        let ticks = self.file.iter().flat_map(|file| &file.ticks);
        let tick = |item: &HeartbeatItem| ticks.clone().find(|tick| tick.key == item.key);
        items(self.file.as_ref(), shown).into_iter().map(|item| (item.clone(), tick(&item))).collect()
    }
}

impl Render for HeartbeatReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let state = |status: &HeartbeatStatus| {
            let (last, next) =
                (status.ran_at.map(|at| context.near(at)), status.next_at.map(|at| context.upcoming(at)));
            says::state(last.as_deref(), next.as_deref(), context.zone.name())
        };
        let state = self.status.as_ref().map_or_else(|| says::OFF.to_owned(), state);
        let lines: Vec<String> = self
            .items(shown)
            .into_iter()
            .enumerate()
            .map(|(place, (item, tick))| {
                let (number, words) = (place + 1, plain(&item.words));
                let when = |tick: &HeartbeatTick| {
                    let at = context.near(tick.ticked_at);
                    if tick.turn.is_some() { says::by_assistant(&at) } else { says::by_owner(&at) }
                };
                match (item.kind, tick) {
                    (HeartbeatItemKind::Done, _) => says::done(number, &words, ""),
                    (_, Some(tick)) => says::done(number, &words, &when(tick)),
                    (HeartbeatItemKind::Open, None) => says::open(number, &words),
                    (HeartbeatItemKind::Standing, None) => says::standing(number, &words),
                }
            })
            .collect();
        if lines.is_empty() {
            return says::EMPTY.to_owned();
        }
        let untrusted = self.file.as_ref().map(|file| file.text.label()).filter(|label| !label.is_trusted());
        says::list(&lines, &untrusted.map_or(state, from_outside))
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        let item = |(item, tick): (HeartbeatItem, Option<&HeartbeatTick>)| {
            json!({
                "item": item.words,
                "standing": item.kind == HeartbeatItemKind::Standing,
                "done": item.kind == HeartbeatItemKind::Done || tick.is_some(),
                "ticked_at": tick.map(|tick| tick.ticked_at.rfc3339()),
            })
        };
        let items: Value = self.items(shown).into_iter().map(item).collect();
        json!({ "items": items, "heartbeat": self.status.as_ref().map(heartbeat_json) })
    }
}

/// The items that can be taken out.
pub(super) struct TickedReport {
    file: Option<HeartbeatFile>,
}

impl Render for TickedReport {
    fn markdown(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let items: Vec<String> = ticked(self.file.as_ref(), shown).iter().map(|words| plain(words)).collect();
        if items.is_empty() { says::NOTHING_TO_TIDY.to_owned() } else { says::offer(&items) }
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        json!({ "ticked": ticked(self.file.as_ref(), shown) })
    }
}

/// Times of a heartbeat, for programs.
pub(super) fn heartbeat_json(status: &HeartbeatStatus) -> Value {
    json!({
        "person": status.person,
        "open": status.open,
        "checked_at": status.checked_at.map(Timestamp::rfc3339),
        "last_at": status.ran_at.map(Timestamp::rfc3339),
        "next_at": status.next_at.map(Timestamp::rfc3339),
    })
}

/// Tells that a file with that label is not followed, with its sources.
fn from_outside(label: &Label) -> String {
    says::from_outside(&plain(&all_in_words(Language::ENGLISH, label)))
}
