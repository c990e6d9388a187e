//! Status of the upkeep and of a restore.

use serde_json::{Value, json};

use crate::schedule::Checked;
use crate::store::{Db, ParkedWork, RESTORED_AT, SlotState};
use crate::time::{Timestamp, Zone};
use crate::trust::Scope;
use crate::wording::upkeep as says;

#[derive(Debug)]
pub(super) struct Upkeep {
    last: Option<Timestamp>,
    checked: Option<Checked>,
    restored: Option<(Timestamp, ParkedWork)>,
}

impl Upkeep {
    pub(super) fn read(db: Db<'_>) -> anyhow::Result<Self> {
        let last = db.slots().last_slot(Scope::Shared, "upkeep")?.filter(|slot| slot.state == SlotState::Done);
        let restored_at = db.settings().fact(RESTORED_AT)?.and_then(|at| at.parse().ok()).map(Timestamp);
        Ok(Self {
            last: last.and_then(|slot| slot.ended_at),
            checked: Checked::last(db)?,
            restored: restored_at.zip(db.after_restore().parked()?),
        })
    }

    pub(super) fn lines(&self, zone: Zone) -> Vec<String> {
        let kept_up = self.last.map(|at| says::kept_up(&zone.show_short(at), self.is_sound()));
        let restored = self.restored.as_ref();
        let restored = restored
            .map(|(at, parked)| says::came_from_a_backup(&zone.show_short(*at), parked.outbox, parked.messages));
        kept_up.into_iter().chain(restored).collect()
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "last_at": self.last.map(Timestamp::rfc3339),
            "checked_at": self.checked.as_ref().map(|checked| checked.at.rfc3339()),
            "sound": self.is_sound(),
            "restored_at": self.restored.as_ref().map(|(at, _)| at.rfc3339()),
            "parked": self.restored.as_ref().map(|(_, parked)| parked),
        })
    }

    fn is_sound(&self) -> bool {
        self.checked.as_ref().is_none_or(|checked| checked.found.is_empty())
    }
}
