//! `compline reflect …`: looking back now, and waiting for what comes of it.
//! `compline reflections …`: what came of it before.

use clap::{Args, Subcommand, ValueEnum};

use super::client::{MarkdownStyle, words};

/// `compline reflect …`
#[derive(Debug, Args)]
pub struct Reflect {
    /// On what
    #[arg(value_enum)]
    job: ReflectPeriod,
    /// On which day (2026-11-20), week (2026-W47) or month (2026-11); the latest that is over
    /// unless this is set
    #[arg(long)]
    period: Option<String>,
    /// Even if it was done already
    #[arg(long)]
    again: bool,
}

/// `compline reflections …`
#[derive(Debug, Subcommand)]
pub enum Reflections {
    /// The newest reflections
    List {
        /// At most so many
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// One reflection, with what became of what it proposed
    Show {
        /// Its number, or its period (2026-11-20, 2026-W47, 2026-11)
        id: String,
        /// Print the Markdown itself
        #[arg(long)]
        markdown: bool,
    },
}

impl Reflections {
    /// As the gateway understands it.
    pub fn line(&self) -> Vec<String> {
        match self {
            Self::List { limit } => words(&["reflections", "list", "--limit", &limit.to_string()]),
            Self::Show { id, .. } => words(&["reflections", "show", id]),
        }
    }

    /// How it is printed.
    pub fn look(&self) -> MarkdownStyle {
        match self {
            Self::Show { markdown: true, .. } => MarkdownStyle::Markdown,
            Self::Show { .. } | Self::List { .. } => MarkdownStyle::Shown,
        }
    }
}

/// What is looked back on.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ReflectPeriod {
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
            ReflectPeriod::Daily => "daily",
            ReflectPeriod::Weekly => "weekly",
            ReflectPeriod::Monthly => "monthly",
        };
        let mut line = words(&["reflect", job]);
        line.extend(self.period.clone());
        line.extend(self.again.then(|| "again".to_owned()));
        line
    }
}
