//! The journal, and the checks that depend on it: the latest time, people with access, unknown
//! senders.

use std::collections::BTreeSet;
use std::path::Path;

use super::finding::Finding;
use super::gateway::Gateway;
use super::knowledge;
use crate::admin::RepairMode;
use crate::app::{BuildError, take_lock_as_it_is};
use crate::cli::channel::names_owner;
use crate::cli::failure::CliError;
use crate::config::Config;
use crate::id::ForgettingId;
use crate::message::ChannelKind;
use crate::people::Role;
use crate::schedule::Checked;
use crate::store::{self, Db, Journal};
use crate::time::{Clock, SystemClock, Timestamp};
use crate::wording::cli::doctor as says;
use crate::wording::upkeep as says_of_upkeep;

/// Log size above which something must be preventing the merge.
const LONG_LOG: u64 = 64 << 20;

/// Data from the journal.
struct JournalReport {
    check: Vec<String>,
    version: u32,
    high_water: Option<Timestamp>,
    owners: usize,
    /// Channels on which an owner has an address.
    met_on: BTreeSet<String>,
    strangers: Vec<(String, String, Timestamp, i64)>,
    upkeep: Option<Checked>,
    /// Deletions whose text is unreadable.
    unreadable: Vec<ForgettingId>,
}

/// Checks the journal. While a gateway runs it is only read, and the gateway reports on the memory;
/// without one, the journal is also opened as `run` would.
pub(super) async fn check(config: &Config, gateway: &Gateway, fix: bool) -> Vec<Finding> {
    let path = config.home.journal();
    let now = SystemClock::default().now();
    match std::fs::metadata(&path) {
        Err(_) => return vec![Finding::note(says::JOURNAL, says::NO_JOURNAL, "")],
        Ok(found) if found.len() == 0 => {
            return vec![Finding::wrong(says::JOURNAL, &says::empty_journal(&path), says::FIX_EMPTY_JOURNAL)];
        }
        Ok(_) => {}
    }
    let (missing, touch) = (missing_files(config), if fix { RepairMode::Mend } else { RepairMode::Look });
    let known = match take_lock_as_it_is(&config.home) {
        Err(BuildError::Held(_)) => knowledge::ask(config, gateway, touch).await,
        Err(error) => return vec![failure_finding(error.into())],
        Ok(_lock) => match Journal::open(&path, None) {
            Err(error) => return vec![failure_finding(error.into())],
            Ok(journal) => {
                let known = knowledge::check(config, &journal, touch).await;
                journal.close().await;
                known
            }
        },
    };
    let mut findings = vec![workspace(config, &missing)];
    findings.extend(known);
    match store::examine(&path, see) {
        Err(error) => findings.push(failure_finding(error.into())),
        Ok(seen) => findings.extend(judge(&seen, config, &path, now)),
    }
    findings
}

fn see(db: Db<'_>) -> anyhow::Result<JournalReport> {
    let owners: Vec<_> = db.people().people()?.into_iter().filter(|person| person.role == Role::Owner).collect();
    let mut met_on = BTreeSet::new();
    for owner in &owners {
        met_on.extend(db.addresses().addresses_of(owner.id)?.into_iter().map(|known| known.address.adapter));
    }
    Ok(JournalReport {
        check: db.settings().quick_check()?,
        version: db.settings().version()?,
        high_water: db.conversations().high_water()?,
        owners: owners.len(),
        met_on,
        strangers: db.addresses().strangers(1)?,
        upkeep: Checked::last(db)?,
        unreadable: db.erasure().unreadable_forgettings()?,
    })
}

fn judge(seen: &JournalReport, config: &Config, path: &Path, now: Timestamp) -> Vec<Finding> {
    let mut findings = vec![sound(seen, path), log(path), clock(seen, config, now), owner(seen, config)];
    findings.extend(seen.upkeep.as_ref().map(|checked| upkeep(checked, config)));
    for id in &seen.unreadable {
        findings.push(Finding::wrong(says::FORGETTING, &says::unreadable_forgetting(*id), says::FIX_FORGETTING));
    }
    for (adapter, sender, at, count) in &seen.strangers {
        let what = says::stranger(adapter, sender, &config.zone.show(*at), *count);
        findings.push(Finding::note(says::STRANGERS, &what, &says::fix_stranger(adapter, sender)));
    }
    findings
}

fn sound(seen: &JournalReport, path: &Path) -> Finding {
    let size = std::fs::metadata(path).map_or(0, |found| found.len());
    match seen.check.as_slice() {
        [] => Finding::ok(says::JOURNAL, &says::journal(seen.version, size >> 10)),
        broken => Finding::wrong(says::JOURNAL, &says::broken(broken), crate::wording::cli::FIX_DAMAGED),
    }
}

fn log(path: &Path) -> Finding {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    let size = std::fs::metadata(name).map_or(0, |found| found.len());
    let told = says::log(size >> 10);
    if size > LONG_LOG {
        Finding::note(says::JOURNAL_LOG, &told, says::FIX_LOG)
    } else {
        Finding::ok(says::JOURNAL_LOG, &told)
    }
}

/// Reports the result of the weekly integrity check, which is more thorough than the present one.
fn upkeep(checked: &Checked, config: &Config) -> Finding {
    let at = config.zone.show(checked.at);
    match checked.found.as_slice() {
        [] => Finding::ok(says::UPKEEP, &says_of_upkeep::checked(&at)),
        broken => Finding::wrong(says::UPKEEP, &says::broken(broken), says_of_upkeep::FIX_CHECKED),
    }
}

fn clock(seen: &JournalReport, config: &Config, now: Timestamp) -> Finding {
    let shown = config.zone.show(now);
    match seen.high_water {
        Some(latest) if latest > now => {
            Finding::wrong(says::CLOCK, &says::clock_behind(&shown, &config.zone.show(latest)), says::FIX_CLOCK)
        }
        _ => Finding::ok(says::CLOCK, &shown),
    }
}

fn owner(seen: &JournalReport, config: &Config) -> Finding {
    if seen.owners == 0 && !config.people.iter().any(|person| person.role == Role::Owner) {
        return Finding::wrong(says::OWNER, says::NO_OWNER, says::FIX_NO_OWNER);
    }
    let channels = config.channels();
    let unmet: Vec<ChannelKind> = channels
        .iter()
        .copied()
        .filter(|channel| !names_owner(config, *channel) && !seen.met_on.contains(channel.name()))
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
fn workspace(config: &Config, missing: &[&str]) -> Finding {
    match missing_files(config).as_slice() {
        [] if missing.is_empty() => Finding::ok(says::WORKSPACE, &config.workspace.display().to_string()),
        [] => Finding::fixed(says::WORKSPACE, &says::missing_files(missing)),
        still => Finding::note(says::WORKSPACE, &says::missing_files(still), says::FIX_WORKSPACE),
    }
}

fn missing_files(config: &Config) -> Vec<&'static str> {
    says::WORKSPACE_FILES.into_iter().filter(|file| !config.workspace.join(file).exists()).collect()
}

fn failure_finding(failure: CliError) -> Finding {
    let words = match failure {
        CliError::Wrong(words) | CliError::Failed(words) => words,
        CliError::Unread => String::new(),
    };
    let (what, fix) = words.split_once("\nfix: ").unwrap_or((&words, ""));
    Finding::wrong(says::JOURNAL, what, fix)
}
