//! Problems that a person may have to fix, and how: the same findings for `compline doctor` and
//! the page.
//!
//! Everything here only reads, and quickly. What writes, asks a service or takes long stays with
//! its caller: the command tries the disk, the models and the channels and fixes what cannot do
//! harm, and the page checks the journal and the memory on request.

pub mod home;
pub mod journal;
pub mod memory;
pub mod services;
pub mod signal;
pub mod standby;

use std::sync::Arc;

use serde::Serialize;

use super::ReportsAdmin;
use super::memory::RepairMode;
use crate::config::Config;
use crate::store::Db;
use crate::time::Zone;
use crate::wording::doctor as says;
use journal::JournalReport;

/// State of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingState {
    /// Passed.
    Ok,
    /// Informational.
    Note,
    /// Fixed during this run. Serialised as `mended`: scripts of users read this word.
    #[serde(rename = "mended")]
    Fixed,
    /// Needs fixing.
    Wrong,
}

/// A check, its state and its fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Name of the check.
    pub check: &'static str,
    /// State.
    pub state: FindingState,
    /// Result in words.
    pub what: String,
    /// Empty if there is nothing to do.
    pub fix: String,
}

impl Finding {
    /// A check that passed.
    pub fn ok(check: &'static str, what: &str) -> Self {
        Self::of(check, FindingState::Ok, what, "")
    }

    /// Something worth knowing.
    pub fn note(check: &'static str, what: &str, fix: &str) -> Self {
        Self::of(check, FindingState::Note, what, fix)
    }

    /// Something that was fixed.
    pub fn fixed(check: &'static str, what: &str) -> Self {
        Self::of(check, FindingState::Fixed, what, "")
    }

    /// Something to fix.
    pub fn wrong(check: &'static str, what: &str, fix: &str) -> Self {
        Self::of(check, FindingState::Wrong, what, fix)
    }

    fn of(check: &'static str, state: FindingState, what: &str, fix: &str) -> Self {
        Self { check, state, what: what.to_owned(), fix: fix.to_owned() }
    }
}

/// Compares the configured zone with that of the computer.
pub fn zone(config: &Config) -> Finding {
    let configured = config.zone.name();
    match Zone::of_this_computer() {
        Some(here) if here != config.zone => Finding::ok(says::ZONE, &says::other_zone(configured, here.name())),
        _ => Finding::ok(says::ZONE, configured),
    }
}

impl ReportsAdmin<'_> {
    /// Findings about the running program that take no time.
    pub async fn findings(&self) -> anyhow::Result<Vec<Finding>> {
        let (config, now) = (Arc::clone(&self.config), self.clock.now());
        let read = move |db: Db<'_>| Ok((JournalReport::read(db)?, home::read_skills(db, now)?));
        let (report, (held, waiting)) = self.journal.read(read).await?;
        let catalogue = self.review.catalogue().await?;
        let mut findings = tokio::task::spawn_blocking(move || {
            let mut findings = home::open_paths(&config.home).iter().map(home::OpenPath::finding).collect::<Vec<_>>();
            let exposed = home::open_secrets(&config.source).iter().map(home::OpenPath::finding).collect();
            findings.extend(home::configuration(&config.source, exposed));
            findings.push(zone(&config));
            findings.push(home::free_space(&config.home));
            findings.push(journal::workspace(&config, &[]));
            findings.extend(report.assess(&config, &config.home.journal(), now));
            findings.extend(standby::check(&config));
            findings.extend(config.signal.as_ref().map(signal::local_findings).unwrap_or_default());
            findings.extend(services::groups(&config));
            findings
        })
        .await?;
        findings.extend(home::skills(&catalogue, None, (&held, waiting), &self.config.skills.dir));
        findings.extend(self.services().await?);
        Ok(findings)
    }

    /// Findings about models, channels and outside servers, as the running program knows them.
    async fn services(&self) -> anyhow::Result<Vec<Finding>> {
        let mut findings =
            vec![services::model(self.engine.outage(), &self.model_in_use().unwrap_or_default(), self.zone)];
        if let Some(vectors) = self.index.vectors() {
            findings.push(services::vectors(&vectors.health().await?, self.zone));
        }
        let channels = self.channels.health().into_iter();
        let channels = channels.map(|(name, health)| (name, health.problem.or(health.chat_problem)));
        let servers = self.mcp.conditions().into_iter().map(|(name, condition)| (name, condition.trouble));
        let problems = channels.chain(servers).filter_map(|(name, problem)| Some(services::problem(&name, &problem?)));
        findings.push(services::gateway(&problems.collect::<Vec<_>>()));
        Ok(findings)
    }

    /// Findings of the checks that read everything: the journal, the files of the memory, and their
    /// index.
    pub async fn thorough_findings(&self) -> anyhow::Result<Vec<Finding>> {
        let read = |db: Db<'_>| Ok((db.settings().quick_check()?, db.settings().version()?));
        let (damage, version) = self.journal.read_much(read).await?;
        let mut findings = vec![journal::sound(&damage, version, &self.config.home.journal())];
        findings.extend(match self.memory_files().knowledge(RepairMode::Check).await {
            Ok(health) => memory::findings(&health),
            Err(error) => vec![memory::unsound(&error)],
        });
        Ok(findings)
    }
}
