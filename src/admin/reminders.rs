//! `/reminders`: each person's own reminders and tasks.

use crate::admin::JobsAdmin;
use serde_json::{Value, json};

use super::answer::{Answer, ShownLabel, plain, sources, sources_in_words};
use crate::id::ReminderId;
use crate::people::Person;
use crate::store::{ReminderRow, ReminderState};
use crate::time::{Cron, Timestamp};
use crate::wording::reminder_command as says;

/// Maximum number of characters shown of a reminder.
const WORDS: usize = 200;
/// Number of upcoming times shown for a recurring item.
const TIMES: usize = 3;

impl JobsAdmin<'_> {
    /// Lists a person's waiting reminders and tasks.
    pub async fn reminders(&self, person: &Person) -> anyhow::Result<Answer> {
        let id = person.id;
        let rows = self.journal.read(move |db| db.reminders().reminders_of(id)).await?;
        let mut shown = ShownLabel::nothing();
        let (lines, json): (Vec<String>, Vec<Value>) = rows.iter().map(|row| self.reminder(&mut shown, row)).unzip();
        if lines.is_empty() {
            return Ok(Answer::ours(says::NONE, json!([])));
        }
        Ok(Answer::showing(shown, says::list(&lines.join("\n"), self.zone.name()), json!(json)))
    }

    /// Cancels one of a person's reminders.
    pub async fn cancel_reminder(&self, person: &Person, id: ReminderId) -> anyhow::Result<Answer> {
        let (whose, now) = (person.id, self.clock.now());
        let cancel = self.journal.write("cancel a reminder", move |tx| match tx.reminders().reminder(id)? {
            Some(row) if row.person == whose => {
                // Every command may be run twice.
                let was = row.state == ReminderState::Cancelled;
                Ok(was || tx.reminders().end_reminder(id, ReminderState::Cancelled, now)?)
            }
            _ => Ok(false),
        });
        match cancel.await? {
            true => Ok(Answer::ours(says::cancelled(id), json!({ "cancelled": id }))),
            false => Ok(Answer::refusal(says::none_such(id))),
        }
    }

    fn reminder(&self, shown: &mut ShownLabel, row: &ReminderRow) -> (String, Value) {
        let (words, label, kind) = (shown.words(&row.text), row.text.label(), row.kind.as_str());
        let times = self.times(row);
        let readable: Vec<String> = times.iter().map(|at| self.zone.show_short(*at)).collect();
        let readable = readable.join(", ");
        let when = if row.cron.is_empty() { readable } else { says::again(&readable) };
        let line = plain(&crate::text::shorten(words, WORDS));
        let json = json!({
            "id": row.id,
            "kind": kind,
            "text": &**words,
            "cron": row.cron,
            "next": times.iter().map(|at| at.rfc3339()).collect::<Vec<_>>(),
            "untrusted": sources(label),
        });
        (says::line(row.id, kind, &when, &line, &sources_in_words(label)), json)
    }

    /// The next times, starting with the stored one.
    fn times(&self, row: &ReminderRow) -> Vec<Timestamp> {
        let later = |first| {
            Cron::parse(&row.cron).map_or_else(|_| Vec::new(), |cron| cron.next_times(first, self.zone, TIMES - 1))
        };
        row.next_at.into_iter().flat_map(|first| std::iter::once(first).chain(later(first))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{Fixture, keys};
    use super::*;

    #[tokio::test]
    async fn everybody_sees_and_cancels_their_own() {
        let house = Fixture::new().await;
        let once = house.reminds("Ada", "call *mum*", "", 3_600).await;
        house.reminds("Ada", "water the plants", "0 10 * * *", 86_400).await;
        let theirs = house.reminds("Ben", "the boat", "", 3_600).await;
        let list = house.admin.chat(&house.ada(), "/reminders").await;
        assert!(list.markdown.contains("Times are those of Europe/Vienna"), "{}", list.markdown);
        assert!(list.markdown.contains("2026-11-21 11:00: call \\*mum\\*"), "{}", list.markdown);
        let times = "next 2026-11-22 10:00, 2026-11-23 10:00, 2026-11-24 10:00, and so on: water the plants";
        assert!(list.markdown.contains(times) && !list.markdown.contains("boat"), "{}", list.markdown);
        assert_eq!(keys(&list.json[0]), ["id", "kind", "text", "cron", "next", "untrusted"]);

        let stolen = house.admin.chat(&house.ada(), &format!("/reminders cancel {theirs}")).await;
        assert!(stolen.failed && stolen.markdown == says::none_such(theirs));
        for _ in 0..2 {
            let cancelled = house.admin.chat(&house.ada(), &format!("/reminders cancel {once}")).await;
            assert_eq!(cancelled.markdown, says::cancelled(once), "also when it is run again");
        }
        assert!(!house.admin.chat(&house.ada(), "/reminders").await.markdown.contains("mum"));
        assert!(house.admin.chat(&house.ben(), "/reminders").await.markdown.contains("boat"));
    }

    #[tokio::test]
    async fn an_empty_list_says_what_it_is_for() {
        let house = Fixture::new().await;
        assert_eq!(house.admin.chat(&house.ben(), "/reminders").await.markdown, says::NONE);
    }
}
