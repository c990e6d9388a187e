//! `compline reflect …`: looking back now, and waiting for what comes of it.

use clap::{Args, ValueEnum};

use super::ask::words;

/// `compline reflect …`
#[derive(Debug, Args)]
pub struct Reflect {
    /// On what
    #[arg(value_enum)]
    job: Job,
    /// On which day (2026-11-20), week (2026-W47) or month (2026-11); the latest that is over unless this is set
    #[arg(long)]
    period: Option<String>,
    /// Even if it was done already
    #[arg(long)]
    again: bool,
}

/// What is looked back on.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Job {
    /// A day
    Daily,
    /// A week
    Weekly,
    /// A month
    Monthly,
}

impl Reflect {
    /// As the gateway understands it.
    pub fn line(&self) -> Vec<String> {
        let job = match self.job {
            Job::Daily => "daily",
            Job::Weekly => "weekly",
            Job::Monthly => "monthly",
        };
        let mut line = words(&["reflect", job]);
        line.extend(self.period.clone());
        line.extend(self.again.then(|| "again".to_owned()));
        line
    }
}
