//! `compline people hand-over` and `/people handover`: hands the root of the workspace over to
//! another owner.
//!
//! The files of both owners swap places; no one sees another person's files, before or after. The
//! command first explains the consequences, and acts only on a second, explicit confirmation.

use crate::admin::PeopleAdmin;
use serde_json::json;

use super::answer::{Answer, plain};
use super::owner_notice::{OwnerNotice, notify_owners};
use crate::id::PersonId;
use crate::memory::{HandOverRefusal, HandOverResult};
use crate::people::{Party, Role};
use crate::store::{Db, Tx};
use crate::wording::hand_over as says;
use crate::wording::review_command::Surface;

/// Confirmation of a hand-over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    /// Only explain the consequences.
    NotYet,
    /// Hand over.
    Yes,
}

impl PeopleAdmin<'_> {
    /// Hands the root of the workspace over to the owner of that name, or explains the
    /// consequences. All owners except `by` are notified; `by` is `None` outside a chat.
    pub async fn hand_over(&self, name: &str, sure: Confirmation, by: Option<PersonId>) -> anyhow::Result<Answer> {
        let asked = name.to_owned();
        let Some(heir) = self.journal.read(move |db| db.people().person_named(&asked)).await? else {
            return Ok(Answer::refusal(crate::wording::command::no_such_person(&plain(name))));
        };
        if heir.role != Role::Owner {
            return Ok(Answer::refusal(says::not_an_owner(&heir.name)));
        }
        let party = Party::One(heir.clone());
        let result = match sure {
            Confirmation::NotYet => self.tree.folders().plan_hand_over(&party).await?,
            Confirmation::Yes => self.tree.folders().hand_over(&party).await?,
        };
        let done = match result {
            Ok(done) => done,
            Err(why) => return Ok(Answer::refusal(not_done(&why, &heir.name))),
        };
        let HandOverResult { from, from_folder, heir_folder } = done;
        let look = move |db: Db<'_>| Ok(db.folders().name_once_of(from)?.unwrap_or_default());
        let before = self.journal.read(look).await?;
        let json = json!({ "from": before, "to": heir.name, "done": sure == Confirmation::Yes,
            "folders": { "from": from_folder, "to": heir_folder } });
        if sure == Confirmation::NotYet {
            let way = if by.is_some() { Surface::Chat } else { Surface::CommandLine };
            let told = says::would(&before, &heir.name, &from_folder, &heir_folder, way);
            return Ok(Answer::ours(told, json));
        }
        tracing::info!(person.id = %heir.id, "The root of the workspace belongs to person {} from now on", heir.id);
        self.index.discard_disk_state();
        let told = says::done(&before, &heir.name, &from_folder);
        let (notice, now) = (OwnerNotice::handed_over(told.clone()), self.clock.now());
        let tell = move |tx: Tx<'_>| {
            let mut owners = tx.people().reachable_owners()?;
            owners.retain(|(owner, _)| Some(*owner) != by);
            notify_owners(tx, &owners, &notice, now)
        };
        let posted = self.journal.write("tell owners of a hand-over", tell).await?;
        posted.into_iter().for_each(|address| self.engine.audience.posted(address));
        Ok(Answer::ours(told.into_string(), json))
    }
}

fn not_done(why: &HandOverRefusal, heir: &str) -> String {
    match why {
        HandOverRefusal::NoOwner => says::NO_OWNER.to_owned(),
        HandOverRefusal::Same => says::same(heir),
        HandOverRefusal::NotAnOwner => says::not_an_owner(heir),
        HandOverRefusal::Busy => says::BUSY.to_owned(),
        HandOverRefusal::Unmovable(path) => says::unmovable(&plain(path)),
    }
}
