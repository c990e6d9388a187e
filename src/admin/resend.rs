//! `/resend`: new attempts for failed deliveries.

use crate::admin::ReportsAdmin;
use serde_json::json;

use super::answer::Answer;
use super::command::Resend;
use crate::id::{OutboxId, PersonId};
use crate::store::Tx;
use crate::wording::command as says;

impl ReportsAdmin<'_> {
    /// Resends one failed delivery, or all; with `only`, only those addressed to that person.
    pub async fn resend(&self, only: Option<PersonId>, what: Resend) -> anyhow::Result<Answer> {
        let again = move |tx: Tx<'_>| {
            let mut rows = tx.outbox().set_aside(only)?;
            rows.retain(|row| matches!(what, Resend::All) || what == Resend::One(row.id));
            for row in &rows {
                tx.outbox().resend(row.id)?;
            }
            Ok(rows)
        };
        let rows = self.journal.write("send again", again).await?;
        for row in &rows {
            self.engine.audience.posted(row.address);
        }
        let numbers: Vec<OutboxId> = rows.iter().map(|row| row.id).collect();
        match (rows.is_empty(), what) {
            (false, _) => Ok(Answer::ours(says::resent(rows.len()), json!({ "resent": numbers }))),
            (true, Resend::All) => Ok(Answer::ours(says::NOTHING_SET_ASIDE, json!({ "resent": [] }))),
            (true, Resend::One(_)) => Ok(Answer::refusal(says::NOT_SET_ASIDE)),
        }
    }
}
