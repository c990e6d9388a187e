//! Check of the replica from which another machine could take over.

use super::Finding;
use crate::admin::standby::{self, claim};
use crate::config::Config;
use crate::wording::cli::split_fix;
use crate::wording::{doctor as says, standby as of_standby};

/// Checks the configured replica, if there is one: that its journal is there, and who serves.
pub fn check(config: &Config) -> Option<Finding> {
    let folder = config.replica.as_deref()?;
    let stream = standby::stream(folder);
    if !stream.is_dir() {
        let text = of_standby::no_replica(&stream);
        let (what, fix) = split_fix(&text);
        return Some(Finding::wrong(says::STANDBY, what, fix));
    }
    let ours = std::fs::read_to_string(config.home.id()).unwrap_or_default();
    Some(match claim::read(folder) {
        Some(claim) if claim.home != ours.trim() => {
            let since = claim.taken_over_at(&config.zone);
            Finding::note(says::STANDBY, &of_standby::served_by(&claim.computer, since.as_deref()), says::FIX_STANDBY)
        }
        claim => Finding::ok(says::STANDBY, &says::replica(folder, claim.is_some())),
    })
}
