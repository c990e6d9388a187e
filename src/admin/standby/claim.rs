//! The serving home: each home has a number, its journal repeats it, and the folder of a replica
//! names the home that serves.
//!
//! A journal that names another home was copied or restored here by hand, so work in it may be done
//! elsewhere, and it is not served until it was taken over. With a replica, the gateway that took
//! over last is named in the file `claim`; every other one that can read the folder ends, at its
//! start or within a minute. A gateway that cannot read it, as during a cut of the network, goes
//! on: then the channel is what tells (`wording::channel::CONFLICT`).

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::config::{Home, write_private};
use crate::store::{ACTIVATED_AT, HOME_ID, Journal};
use crate::time::{Timestamp, Zone};

/// Name of the claim in the folder of a replica.
pub const CLAIM: &str = "claim";
/// Maximum length of a claim or a number, in bytes.
const MAX_LENGTH: usize = 1000;

/// A gateway that serves, as the folder of the replica names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Number of its home.
    pub home: String,
    /// Time at which that home took over; zero if it was the first one.
    pub since: Timestamp,
    /// Name of its computer; blank if it is unknown.
    pub computer: String,
}

/// Outcome of claiming a replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// This home serves.
    Ours,
    /// Another home took over later, or serves already.
    By(Claim),
    /// The folder cannot be read or written, so it is unknown.
    Unknown,
}

impl Claim {
    /// Returns the time of the takeover, if it was one.
    pub fn taken_over_at(&self, zone: &Zone) -> Option<String> {
        (self.since > Timestamp(0)).then(|| zone.show(self.since))
    }

    /// Claim of a home that took over then.
    ///
    /// # Errors
    /// If its number cannot be read or written.
    pub fn of(home: &Home, since: Timestamp) -> anyhow::Result<Self> {
        let computer = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Ok(Self { home: number(home)?, since, computer: computer.trim().to_owned() })
    }

    /// Claim of the home that holds that journal.
    ///
    /// # Errors
    /// If the journal or its number cannot be read.
    pub async fn of_journal(journal: &Journal, home: &Home) -> anyhow::Result<Self> {
        let at = journal.read(|db| db.settings().fact(ACTIVATED_AT)).await?;
        Self::of(home, Timestamp(at.and_then(|at| at.parse().ok()).unwrap_or(0)))
    }
}

/// Ties a journal to the home in which it is opened. Returns false if it belongs to another.
///
/// # Errors
/// If the number cannot be read or written.
pub async fn bind(journal: &Journal, home: &Home) -> anyhow::Result<bool> {
    let known = journal.read(|db| db.settings().fact(HOME_ID)).await?;
    if known.is_some() && !home.id().exists() {
        return Ok(false);
    }
    let ours = number(home)?;
    match known {
        Some(known) => Ok(known == ours),
        None => {
            journal.write("name the home", move |tx| tx.settings().set_fact(HOME_ID, &ours)).await?;
            Ok(true)
        }
    }
}

/// Returns the claim of the gateway that serves; `None` if there is none.
pub fn read(folder: &Path) -> Option<Claim> {
    let text = fs::read(folder.join(CLAIM)).ok().filter(|text| text.len() <= MAX_LENGTH)?;
    serde_json::from_slice(&text).ok()
}

/// Claims the replica, unless another home took over later.
pub fn hold(folder: &Path, ours: &Claim) -> Held {
    match read(folder) {
        Some(found) if found == *ours => Held::Ours,
        Some(found) if found.home != ours.home && found.since >= ours.since => Held::By(found),
        _ => match write(folder, ours) {
            Ok(()) => Held::Ours,
            Err(_) => Held::Unknown,
        },
    }
}

fn write(folder: &Path, claim: &Claim) -> anyhow::Result<()> {
    write_private(&folder.join(CLAIM), &serde_json::to_vec(claim)?)
}

/// Number of a home, made with the first use.
fn number(home: &Home) -> anyhow::Result<String> {
    let path = home.id();
    match fs::read_to_string(&path) {
        Ok(number) if !number.trim().is_empty() && number.len() <= MAX_LENGTH => return Ok(number.trim().to_owned()),
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("Cannot read {}", path.display()));
        }
        _ => {}
    }
    let number = format!("{:032x}", rand::random::<u128>());
    write_private(&path, format!("{number}\n").as_bytes())?;
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_that_took_over_last_holds_the_claim() {
        let folder = tempfile::tempdir().unwrap();
        let claim =
            |home: &str, since| Claim { home: home.to_owned(), since: Timestamp(since), computer: String::new() };
        let (first, second, again) = (claim("a", 0), claim("b", 10), claim("a", 20));
        assert_eq!(hold(folder.path(), &first), Held::Ours);
        assert_eq!(hold(folder.path(), &claim("c", 0)), Held::By(first.clone()), "a second home that is new");
        assert_eq!(hold(folder.path(), &second), Held::Ours);
        assert_eq!(hold(folder.path(), &first), Held::By(second.clone()));
        assert_eq!(hold(folder.path(), &second), Held::Ours);
        write(folder.path(), &first).unwrap();
        assert_eq!(hold(folder.path(), &second), Held::Ours, "an older claim that was copied over ours");
        assert_eq!(read(folder.path()), Some(second.clone()));
        assert_eq!(hold(folder.path(), &again), Held::Ours);
        assert_eq!(hold(folder.path(), &second), Held::By(again));
        fs::write(folder.path().join(CLAIM), "half a cla").unwrap();
        assert_eq!(hold(folder.path(), &first), Held::Ours);
        assert_eq!(hold(&folder.path().join("gone"), &first), Held::Unknown);
    }

    #[tokio::test]
    async fn a_journal_belongs_to_the_home_that_opened_it_first() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (one, other) = (Home::at(one.path()), Home::at(other.path()));
        let journal = Journal::open_or_copy(&one.journal(), None).unwrap();
        assert!(bind(&journal, &one).await.unwrap() && bind(&journal, &one).await.unwrap());
        assert!(!bind(&journal, &other).await.unwrap() && !other.id().exists(), "a copy in a new home");
        number(&other).unwrap();
        assert!(!bind(&journal, &other).await.unwrap(), "a copy in a home with a number");
        fs::remove_file(one.id()).unwrap();
        assert!(!bind(&journal, &one).await.unwrap());
    }
}
