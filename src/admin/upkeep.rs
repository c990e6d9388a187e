//! The last upkeep, as `/status` tells it.

use serde_json::{Value, json};

use super::answer::RenderContext;
use crate::schedule::Checked;
use crate::store::{ACTIVATED_AT, ClosedWork, Db, RESTORED_AT, SlotState};
use crate::time::Timestamp;
use crate::trust::Scope;
use crate::wording::upkeep as of_upkeep;

/// The last upkeep, check and restore.
#[derive(Debug)]
pub struct Upkeep {
    /// End of the last upkeep.
    pub last: Option<Timestamp>,
    /// Last check of the journal.
    pub checked: Option<Checked>,
    pub(super) restored: Option<(Timestamp, ClosedWork)>,
    pub(super) activated_at: Option<Timestamp>,
}

impl Upkeep {
    pub(super) fn read(db: Db<'_>) -> anyhow::Result<Self> {
        let last = db.slots().last_slot(Scope::Shared, "upkeep")?.filter(|slot| slot.state == SlotState::Done);
        let at = |key| anyhow::Ok(db.settings().fact(key)?.and_then(|at| at.parse().ok()).map(Timestamp));
        let restored_at = at(RESTORED_AT)?;
        Ok(Self {
            last: last.and_then(|slot| slot.ended_at),
            checked: Checked::last(db)?,
            restored: restored_at.zip(db.after_restore().parked()?),
            activated_at: at(ACTIVATED_AT)?,
        })
    }

    pub(super) fn lines(&self, context: &RenderContext<'_>) -> Vec<String> {
        let language = context.language();
        let kept_up = self.last.map(|at| of_upkeep::kept_up(language, &context.near(at), self.is_sound()));
        let restored = self.restored.as_ref();
        let restored = restored.map(|(at, parked)| {
            of_upkeep::came_from_a_backup(language, &context.near(*at), parked.outbox, parked.messages)
        });
        let activated = self.activated_at.map(|at| of_upkeep::came_from_a_replica(language, &context.near(at)));
        kept_up.into_iter().chain(restored).chain(activated).collect()
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "last_at": self.last.map(Timestamp::rfc3339),
            "checked_at": self.checked.as_ref().map(|checked| checked.at.rfc3339()),
            "sound": self.is_sound(),
            "restored_at": self.restored.as_ref().map(|(at, _)| at.rfc3339()),
            "activated_at": self.activated_at.map(Timestamp::rfc3339),
            "parked": self.restored.as_ref().map(|(_, parked)| parked),
        })
    }

    /// Returns true unless the last check found damage.
    pub fn is_sound(&self) -> bool {
        self.checked.as_ref().is_none_or(|checked| checked.found.is_empty())
    }
}
