//! The journal with the checks that depend on it: the latest time, people with access, unknown
//! senders, unfinished deletions; and the files that are loaded into every prompt.

use std::collections::BTreeSet;
use std::path::Path;

use super::Finding;
use crate::config::Config;
use crate::id::ErasureId;
use crate::message::ChannelKind;
use crate::people::Role;
use crate::schedule::Checked;
use crate::store::{Db, Stranger};
use crate::time::Timestamp;
use crate::wording::doctor as says;
use crate::wording::upkeep as of_upkeep;

/// Log size above which something must be preventing the merge.
const MAX_LOG_SIZE: u64 = 64 << 20;

/// Data from the journal.
pub struct JournalReport {
    high_water: Option<Timestamp>,
    owners: usize,
    /// Channels on which an owner has an address.
    owner_channels: BTreeSet<String>,
    strangers: Vec<Stranger>,
    upkeep: Option<Checked>,
    /// Deletions whose text is unreadable.
    unreadable: Vec<ErasureId>,
}

impl JournalReport {
    /// Reads the data.
    pub fn read(db: Db<'_>) -> anyhow::Result<Self> {
        let owners: Vec<_> = db.people().people()?.into_iter().filter(|person| person.role == Role::Owner).collect();
        let mut owner_channels = BTreeSet::new();
        for owner in &owners {
            let addresses = db.addresses().addresses_of(owner.id)?;
            owner_channels.extend(addresses.into_iter().map(|health| health.address.adapter));
        }
        Ok(Self {
            high_water: db.conversations().high_water()?,
            owners: owners.len(),
            owner_channels,
            strangers: db.addresses().strangers(None, 1)?,
            upkeep: Checked::last(db)?,
            unreadable: db.erasure().unreadable()?,
        })
    }

    /// Assesses the data.
    pub fn assess(&self, config: &Config, path: &Path, now: Timestamp) -> Vec<Finding> {
        let mut findings = vec![log(path), clock(self, config, now), owner(self, config)];
        findings.extend(self.upkeep.as_ref().map(|checked| upkeep(checked, config)));
        for id in &self.unreadable {
            findings.push(Finding::wrong(says::FORGETTING, &says::unreadable_erasure(*id), says::FIX_FORGETTING));
        }
        for Stranger { id, address, last_at, count, .. } in &self.strangers {
            let what = says::stranger(&address.adapter, &address.peer, &config.zone.show(*last_at), *count);
            findings.push(Finding::note(says::STRANGERS, &what, &says::fix_stranger(*id)));
        }
        findings
    }
}

/// Assesses a check of the journal.
pub fn sound(damage: &[String], version: u32, path: &Path) -> Finding {
    let size = std::fs::metadata(path).map_or(0, |found| found.len());
    match damage {
        [] => Finding::ok(says::JOURNAL, &says::journal(version, size >> 10)),
        broken => Finding::wrong(says::JOURNAL, &says::broken(broken), crate::wording::cli::FIX_DAMAGED),
    }
}

fn log(path: &Path) -> Finding {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    let size = std::fs::metadata(name).map_or(0, |found| found.len());
    let text = says::log(size >> 10);
    if size > MAX_LOG_SIZE {
        Finding::note(says::JOURNAL_LOG, &text, says::FIX_LOG)
    } else {
        Finding::ok(says::JOURNAL_LOG, &text)
    }
}

/// Reports the result of the weekly integrity check, which is more thorough than the present one.
fn upkeep(checked: &Checked, config: &Config) -> Finding {
    let at = config.zone.show(checked.at);
    match checked.found.as_slice() {
        [] => Finding::ok(says::UPKEEP, &of_upkeep::checked(&at)),
        broken => Finding::wrong(says::UPKEEP, &says::broken(broken), of_upkeep::FIX_CHECKED),
    }
}

fn clock(report: &JournalReport, config: &Config, now: Timestamp) -> Finding {
    let shown = config.zone.show(now);
    match report.high_water {
        Some(latest) if latest > now => {
            Finding::wrong(says::CLOCK, &says::clock_behind(&shown, &config.zone.show(latest)), says::FIX_CLOCK)
        }
        _ => Finding::ok(says::CLOCK, &shown),
    }
}

fn owner(report: &JournalReport, config: &Config) -> Finding {
    if report.owners == 0 && !config.people.iter().any(|person| person.role == Role::Owner) {
        return Finding::wrong(says::OWNER, says::NO_OWNER, says::FIX_NO_OWNER);
    }
    let channels = config.channels();
    let unmet: Vec<ChannelKind> = channels
        .iter()
        .copied()
        .filter(|channel| !config.names_owner(*channel) && !report.owner_channels.contains(channel.name()))
        .collect();
    match unmet.as_slice() {
        [] => Finding::ok(says::OWNER, says::OWNER_KNOWN),
        all if all.len() == channels.len() => Finding::wrong(says::OWNER, says::NOT_CLAIMED, says::FIX_NOT_CLAIMED),
        some => {
            let names: Vec<&str> = some.iter().map(|channel| channel.title()).collect();
            Finding::note(says::OWNER, &says::not_met(&names), says::FIX_NOT_MET)
        }
    }
}

/// Checks the files that the assistant loads. `run` creates missing ones at its start; `missing`
/// lists those that were missing before any fix.
pub fn workspace(config: &Config, missing: &[&str]) -> Finding {
    match missing_files(config).as_slice() {
        [] if missing.is_empty() => Finding::ok(says::WORKSPACE, &config.workspace.display().to_string()),
        [] => Finding::fixed(says::WORKSPACE, &says::missing_files(missing)),
        still => Finding::note(says::WORKSPACE, &says::missing_files(still), says::FIX_WORKSPACE),
    }
}

/// Returns the names of those that are missing.
pub fn missing_files(config: &Config) -> Vec<&'static str> {
    says::WORKSPACE_FILES.into_iter().filter(|file| !config.workspace.join(file).exists()).collect()
}
