//! What a restore changes in who and what may act, shown before anything is changed.

use crate::config::{self, Changed, Config, Subject};
use crate::people::Role;
use crate::review::reveal::reveal;
use crate::store::{PersonRecord, PresentPeople, Readmission, RestoredPerson};
use crate::time::{Timestamp, Zone};
use crate::wording::restore as says;

/// What becomes of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigChange {
    /// There is none in the archive.
    Absent,
    /// The present one stays; that of the archive differs in so many keys.
    Kept(usize),
    /// There is none, and that of the archive is not taken.
    None,
    /// That of the archive is taken.
    Taken(Vec<Changed>),
}

/// The present home, as far as it says who may act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Present {
    /// Nothing happened in it yet.
    Unused,
    /// Its journal cannot be read.
    Unreadable,
    /// Everybody who is or was let in.
    Known(Vec<PersonRecord>),
}

impl Present {
    /// The people whom a restored journal may let in; `None` for everybody. An archive that nothing
    /// authenticates lets nobody in by itself.
    pub(super) fn let_in(&self, is_authentic: bool) -> Option<PresentPeople> {
        match self {
            Self::Known(records) => Some(PresentPeople { records: records.clone(), share_rows: is_authentic }),
            Self::Unused | Self::Unreadable => {
                (!is_authentic).then(|| PresentPeople { records: Vec::new(), share_rows: false })
            }
        }
    }
}

/// Somebody who may act after a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acting {
    /// Their name.
    pub name: String,
    /// Their role.
    pub role: Role,
    /// Where they are reached.
    pub addresses: Vec<String>,
}

/// What a restore changes in who and what may act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// When the archive was made.
    pub made_at: Timestamp,
    /// How many days ago.
    pub days: u64,
    /// Whether it is authentic.
    pub is_authentic: bool,
    /// Whether the present journal can tell who was removed.
    pub is_readable: bool,
    /// People of the archive.
    pub people: Vec<RestoredPerson>,
    /// People who are let in here and unknown in the archive.
    pub lost: Vec<(String, Role)>,
    /// Everybody who may act afterwards.
    pub acting: Vec<Acting>,
    /// Outside tools whose acceptance is void.
    pub tools: Vec<String>,
    /// The configuration.
    pub config: ConfigChange,
}

impl Difference {
    /// The owners after the restore, each with where they are reached.
    pub fn owners(&self) -> Vec<String> {
        let owners = self.acting.iter().filter(|acting| acting.role == Role::Owner);
        owners
            .map(|owner| match owner.addresses.as_slice() {
                [] => line(&owner.name),
                addresses => line(&format!("{} ({})", owner.name, addresses.join(", "))),
            })
            .collect()
    }

    /// The whole difference as text, without a character that a terminal would not show.
    pub fn shown(&self, zone: &Zone) -> String {
        let mut lines = vec![says::made(&zone.show(self.made_at), self.days)];
        lines.push(if self.is_authentic { says::AUTHENTIC } else { says::NOT_AUTHENTIC }.to_owned());
        if !self.is_readable {
            lines.push(says::UNREADABLE.to_owned());
        }
        lines.push(says::PEOPLE.to_owned());
        let people = self.people_lines();
        lines.extend(if people.is_empty() { vec![says::NOBODY.to_owned()] } else { people });
        if !self.tools.is_empty() {
            lines.push(says::tools(&line(&self.tools.join(", "))));
        }
        lines.extend(self.config_lines());
        lines.join("\n")
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
                    // Told below.
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

fn of_acting(standing: &RestoredPerson, acting: &Acting) -> String {
    let shown = says::person(&line(&acting.name), acting.role, &line(&acting.addresses.join(", ")));
    let shown = if standing.was == acting.role { shown } else { says::other_role(&shown, standing.was) };
    match standing.refused.as_slice() {
        [] => shown,
        refused => says::refused_addresses(&shown, &line(&refused.join(", "))),
    }
}

/// A text in one line, with hidden characters written out: names and values come from the archive.
fn line(text: &str) -> String {
    reveal(&text.replace(['\n', '\r', '\t'], "\u{240a}"))
}

fn is_same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Everybody who may act once a home with that journal is started with that configuration.
pub(super) fn acting(people: &[RestoredPerson], config: Option<&Config>) -> Vec<Acting> {
    let declared = config.map_or(&[][..], |config| &config.people);
    let named = |name: &str| declared.iter().find(|person| is_same(&person.name, name));
    let stays = |standing: &&RestoredPerson| {
        standing.is_in() && (!standing.declared || config.is_none()) && named(&standing.name).is_none()
    };
    let mut acting: Vec<Acting> = declared.iter().map(|person| of_config(person, people)).collect();
    acting.extend(people.iter().filter(stays).map(|standing| Acting {
        name: standing.name.clone(),
        role: standing.role,
        addresses: standing.addresses.clone(),
    }));
    acting.sort_by_key(|acting| std::cmp::Reverse(acting.role));
    acting
}

fn of_config(person: &config::Person, people: &[RestoredPerson]) -> Acting {
    let telegram = person.telegram.map(|id| format!("telegram {id}"));
    let signal = person.signal.as_ref().map(|account| format!("signal {account}"));
    let mut addresses: Vec<String> = telegram.into_iter().chain(signal).collect();
    let known = people.iter().filter(|standing| standing.is_in() && is_same(&standing.name, &person.name));
    for address in known.flat_map(|standing| &standing.addresses) {
        if !addresses.contains(address) {
            addresses.push(address.clone());
        }
    }
    Acting { name: person.name.clone(), role: person.role, addresses }
}

/// People who are let in here, and of whom the archive knows nothing.
pub(super) fn lost(present: &Present, people: &[RestoredPerson], acting: &[Acting]) -> Vec<(String, Role)> {
    let Present::Known(members) = present else { return Vec::new() };
    let known = |name: &str| {
        people.iter().any(|standing| is_same(&standing.name, name))
            || acting.iter().any(|acting| is_same(&acting.name, name))
    };
    let lost = members.iter().filter(|member| !member.is_removed && !known(&member.name));
    lost.map(|member| (member.name.clone(), member.role)).collect()
}
