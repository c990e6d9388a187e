//! Changes by a restore to the people and tools that may act, shown before anything is changed.

use crate::config::{self, Changed, Config, Subject};
use crate::people::Role;
use crate::review::reveal::reveal;
use crate::store::{PersonRecord, PresentPeople, Readmission, RestoredPerson};
use crate::time::{Timestamp, Zone};
use crate::wording::restore as says;

/// The configuration change of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigChange {
    /// The archive has none.
    Absent,
    /// The present one stays; the archive's differs in that many keys.
    Kept(usize),
    /// There is no present one, and the archive's is not used.
    None,
    /// The archive's is used.
    Taken(Vec<Changed>),
}

/// The present home, as far as it determines access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::admin) enum PresentHome {
    /// Unused so far.
    Unused,
    /// Unreadable journal.
    Unreadable,
    /// All people who have or had access.
    Known(Vec<PersonRecord>),
}

impl PresentHome {
    /// The people to whom a restored journal may grant access; `None` for everyone. An
    /// unauthenticated archive grants access to no one by itself.
    pub(in crate::admin) fn admitted_people(&self, is_authentic: bool) -> Option<PresentPeople> {
        match self {
            Self::Known(records) => Some(PresentPeople { records: records.clone(), share_rows: is_authentic }),
            Self::Unused | Self::Unreadable => {
                (!is_authentic).then(|| PresentPeople { records: Vec::new(), share_rows: false })
            }
        }
    }
}

/// A person who may act after a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActingPerson {
    /// Name.
    pub name: String,
    /// Role.
    pub role: Role,
    /// Addresses.
    pub addresses: Vec<String>,
}

/// Changes by a restore to the people and tools that may act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Creation time of the archive.
    pub made_at: Timestamp,
    /// Age of the archive in days.
    pub days: u64,
    /// True if the archive is authentic.
    pub is_authentic: bool,
    /// True if the present journal is readable, and so shows whose access was revoked.
    pub is_readable: bool,
    /// People in the archive.
    pub people: Vec<RestoredPerson>,
    /// People with access here who are unknown in the archive.
    pub lost: Vec<(String, Role)>,
    /// Everyone who may act afterwards.
    pub acting: Vec<ActingPerson>,
    /// MCP tools whose acceptance becomes void.
    pub tools: Vec<String>,
    /// The configuration change.
    pub config: ConfigChange,
}

impl Difference {
    /// The owners after the restore, each with their addresses.
    pub fn owners(&self) -> Vec<String> {
        let owners = self.acting.iter().filter(|acting| acting.role == Role::Owner);
        owners
            .map(|owner| match owner.addresses.as_slice() {
                [] => line(&owner.name),
                addresses => line(&format!("{} ({})", owner.name, addresses.join(", "))),
            })
            .collect()
    }

    /// The whole difference as text, with hidden characters made visible for a terminal.
    pub fn shown(&self, zone: &Zone) -> String {
        let mut lines = vec![says::made(&zone.show(self.made_at), self.days)];
        lines.push(if self.is_authentic { says::AUTHENTIC } else { says::NOT_AUTHENTIC }.to_owned());
        if !self.is_readable {
            lines.push(says::UNREADABLE.to_owned());
        }
        lines.extend(self.rights());
        lines.extend(self.config_lines());
        lines.join("\n")
    }

    /// The people and tools that may act, as lines of text for a terminal.
    pub fn rights(&self) -> Vec<String> {
        let mut lines = vec![says::PEOPLE.to_owned()];
        let people = self.people_lines();
        lines.extend(if people.is_empty() { vec![says::NOBODY.to_owned()] } else { people });
        if !self.tools.is_empty() {
            lines.push(says::tools(&line(&self.tools.join(", "))));
        }
        lines
    }

    fn people_lines(&self) -> Vec<String> {
        let acts = |name: &str| self.acting.iter().find(|acting| is_same(&acting.name, name));
        let mut lines: Vec<String> = self
            .people
            .iter()
            .filter_map(|standing| {
                let name = line(&standing.name);
                match (acts(&standing.name), standing.fate) {
                    (Some(acting), _) if standing.is_in() => Some(of_acting(standing, acting)),
                    // Listed below.
                    (Some(_), _) => None,
                    (None, Readmission::Removed) => Some(says::removed(&name, standing.was)),
                    (None, Readmission::Unknown) => Some(says::unknown(&name, standing.was)),
                    (None, Readmission::Known | Readmission::Returns) => Some(says::undeclared(&name, standing.was)),
                }
            })
            .collect();
        let others = self.acting.iter().filter(|acting| {
            !self.people.iter().any(|standing| standing.is_in() && is_same(&standing.name, &acting.name))
        });
        lines.extend(others.map(|acting| says::by_configuration(&line(&acting.name), acting.role)));
        lines.extend(self.lost.iter().map(|(name, role)| says::not_in_backup(&line(name), *role)));
        lines
    }

    fn config_lines(&self) -> Vec<String> {
        let changed = match &self.config {
            ConfigChange::Absent => return vec![says::CONFIG_ABSENT.to_owned()],
            ConfigChange::None => return vec![says::CONFIG_NONE.to_owned()],
            ConfigChange::Kept(0) => return vec![says::CONFIG_SAME.to_owned()],
            ConfigChange::Kept(differences) => return vec![says::config_kept(*differences)],
            ConfigChange::Taken(changed) if changed.is_empty() => return vec![says::CONFIG_SAME.to_owned()],
            ConfigChange::Taken(changed) => changed,
        };
        let subjects = [Subject::People, Subject::Programs, Subject::Secrets, Subject::Settings];
        let mut lines = vec![says::CONFIG_TAKEN.to_owned()];
        for (subject, heading) in subjects.into_iter().zip(says::SUBJECTS) {
            let of_subject: Vec<&Changed> = changed.iter().filter(|one| one.subject == subject).collect();
            lines.extend((!of_subject.is_empty()).then(|| heading.to_owned()));
            for one in of_subject {
                let key = line(&one.key);
                lines.extend(one.before.as_ref().map(|value| says::unset(&key, &line(value))));
                lines.extend(one.after.as_ref().map(|value| says::set(&key, &line(value))));
            }
        }
        lines
    }
}

fn of_acting(standing: &RestoredPerson, acting: &ActingPerson) -> String {
    let shown = says::person(&line(&acting.name), acting.role, &line(&acting.addresses.join(", ")));
    let shown = if standing.was == acting.role { shown } else { says::other_role(&shown, standing.was) };
    match standing.refused.as_slice() {
        [] => shown,
        refused => says::refused_addresses(&shown, &line(&refused.join(", "))),
    }
}

/// Returns a text on one line, with hidden characters made visible: names and values come from the
/// archive.
fn line(text: &str) -> String {
    reveal(&text.replace(['\n', '\r', '\t'], "\u{240a}"))
}

fn is_same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Everyone who may act once a home with that journal is started with that configuration.
pub(in crate::admin) fn acting(people: &[RestoredPerson], config: Option<&Config>) -> Vec<ActingPerson> {
    let declared = config.map_or(&[][..], |config| &config.people);
    let named = |name: &str| declared.iter().find(|person| is_same(&person.name, name));
    let stays = |standing: &&RestoredPerson| {
        standing.is_in() && (!standing.declared || config.is_none()) && named(&standing.name).is_none()
    };
    let mut acting: Vec<ActingPerson> = declared.iter().map(|person| of_config(person, people)).collect();
    acting.extend(people.iter().filter(stays).map(|standing| ActingPerson {
        name: standing.name.clone(),
        role: standing.role,
        addresses: standing.addresses.clone(),
    }));
    acting.sort_by_key(|acting| std::cmp::Reverse(acting.role));
    acting
}

fn of_config(person: &config::Person, people: &[RestoredPerson]) -> ActingPerson {
    let declared = person.addresses().into_iter().map(|(channel, peer)| format!("{} {peer}", channel.name()));
    let mut addresses: Vec<String> = declared.collect();
    let known = people.iter().filter(|standing| standing.is_in() && is_same(&standing.name, &person.name));
    for address in known.flat_map(|standing| &standing.addresses) {
        if !addresses.contains(address) {
            addresses.push(address.clone());
        }
    }
    ActingPerson { name: person.name.clone(), role: person.role, addresses }
}

/// People with access here who are unknown in the archive.
pub(in crate::admin) fn lost(
    present: &PresentHome,
    people: &[RestoredPerson],
    acting: &[ActingPerson],
) -> Vec<(String, Role)> {
    let PresentHome::Known(members) = present else { return Vec::new() };
    let known = |name: &str| {
        people.iter().any(|standing| is_same(&standing.name, name))
            || acting.iter().any(|acting| is_same(&acting.name, name))
    };
    let lost = members.iter().filter(|member| !member.is_removed && !known(&member.name));
    lost.map(|member| (member.name.clone(), member.role)).collect()
}
