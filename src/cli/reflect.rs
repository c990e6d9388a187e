//! `compline reflect …`: reflects now and waits for the result. `compline reflections …`: shows
//! earlier reflections.

use clap::{Args, Subcommand, ValueEnum};

use super::client::{MarkdownStyle, words};

/// `compline reflect …`
#[derive(Debug, Args)]
pub struct Reflect {
    /// Kind of period
    #[arg(value_enum)]
    job: ReflectPeriod,
    /// The day (2026-11-20), week (2026-W47) or month (2026-11) [default: the latest that is over]
    #[arg(long)]
    period: Option<String>,
    /// Repeat an existing reflection
    #[arg(long)]
    again: bool,
}

/// `compline reflections …`
#[derive(Debug, Subcommand)]
pub enum Reflections {
    /// List the newest reflections
    List {
        /// Maximum number
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// Show a reflection with the outcome of its proposals
    Show {
        /// Number or period (2026-11-20, 2026-W47, 2026-11)
        id: String,
        /// Print the Markdown source
        #[arg(long)]
        markdown: bool,
    },
}

impl Reflections {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        match self {
            Self::List { limit } => words(&["reflections", "list", "--limit", &limit.to_string()]),
            Self::Show { id, .. } => words(&["reflections", "show", id]),
        }
    }

    /// Returns the output style.
    pub fn style(&self) -> MarkdownStyle {
        match self {
            Self::Show { markdown: true, .. } => MarkdownStyle::Markdown,
            Self::Show { .. } | Self::List { .. } => MarkdownStyle::Shown,
        }
    }
}

/// Period of a reflection.
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
    /// Returns the command in the gateway's syntax.
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
