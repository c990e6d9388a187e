//! Identity of the entries of `[[people]]`: the person of the journal that each means.
//!
//! The same address is the same person, regardless of the name. A name alone means a person only if
//! nothing contradicts it: the person has access, and the configuration never gave them an address,
//! or gives them none now. A Signal number can be reassigned to another subscriber, so after its
//! owner was removed it counts only together with the name.

use crate::id::PersonId;
use crate::store::KnownPerson;

/// Identifying data of an entry in `[[people]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfiguredPerson {
    pub(super) name: String,
    /// Adapter and peer of each address.
    pub(super) addresses: Vec<(String, String)>,
}

impl ConfiguredPerson {
    /// Returns `true` if a new person of this entry may be an earlier one after all, for an owner
    /// to decide.
    pub(super) fn may_mean(&self, person: &KnownPerson) -> bool {
        self.has_name_of(person) || self.shares(&person.declared)
    }

    pub(super) fn has_name_of(&self, person: &KnownPerson) -> bool {
        self.name.to_lowercase() == person.name.to_lowercase()
    }

    fn shares(&self, addresses: &[(String, String)]) -> bool {
        self.addresses.iter().any(|address| addresses.contains(address))
    }

    fn shares_lasting(&self, person: &KnownPerson) -> bool {
        let is_number = |peer: &str| peer.starts_with('+');
        let counts = |(_, peer): &&(String, String)| self.has_name_of(person) || !is_number(peer);
        self.addresses.iter().filter(counts).any(|address| person.declared.contains(address))
    }
}

type Round = fn(&ConfiguredPerson, &KnownPerson) -> bool;

/// Criteria that match an entry with a person, strongest first.
const ROUNDS: &[Round] = &[
    |entry, known| known.is_in && entry.shares(&known.declared),
    // Homes from before addresses were stored with their people.
    |entry, known| known.is_in && known.by_config && known.declared.is_empty() && entry.shares(&known.linked),
    |entry, known| {
        let is_open = known.declared.is_empty() || entry.addresses.is_empty();
        known.is_in && known.by_config && is_open && entry.has_name_of(known)
    },
    |entry, known| known.is_in && !known.by_config && entry.shares(&known.linked),
    |entry, known| {
        let is_open = known.linked.is_empty() || entry.addresses.is_empty();
        known.is_in && !known.by_config && is_open && entry.has_name_of(known)
    },
    |entry, known| !known.is_in && entry.shares_lasting(known),
];

/// Returns the person that each entry means; `None` for a new one. No two entries mean the same
/// person.
pub(super) fn persons_meant(entries: &[ConfiguredPerson], known: &[KnownPerson]) -> Vec<Option<PersonId>> {
    let mut meant: Vec<Option<PersonId>> = vec![None; entries.len()];
    for round in ROUNDS {
        // If several people match, the name decides.
        for by_name in [true, false] {
            for (index, entry) in entries.iter().enumerate() {
                let fits = |person: &&KnownPerson| {
                    round(entry, person) && (!by_name || entry.has_name_of(person)) && !meant.contains(&Some(person.id))
                };
                let found = known.iter().find(fits).map(|person| person.id);
                if let Some(place @ None) = meant.get_mut(index) {
                    *place = found;
                }
            }
        }
    }
    meant
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(of: &[&str]) -> Vec<(String, String)> {
        let adapter = |peer: &str| if peer.starts_with(['+', 'u']) { "signal" } else { "telegram" };
        of.iter().map(|peer| (adapter(peer).to_owned(), (*peer).to_owned())).collect()
    }

    fn entry(name: &str, of: &[&str]) -> ConfiguredPerson {
        ConfiguredPerson { name: name.to_owned(), addresses: addresses(of) }
    }

    /// A person of the configuration with access.
    fn known(id: i64, name: &str, declared: &[&str]) -> KnownPerson {
        let linked = addresses(declared);
        KnownPerson {
            id: PersonId(id),
            name: name.into(),
            is_in: true,
            by_config: true,
            declared: linked.clone(),
            linked,
        }
    }

    fn removed(person: KnownPerson) -> KnownPerson {
        KnownPerson { is_in: false, linked: Vec::new(), ..person }
    }

    fn paired(person: KnownPerson) -> KnownPerson {
        KnownPerson { by_config: false, declared: Vec::new(), ..person }
    }

    /// A person of an older home, whose addresses exist only as links.
    fn from_before(person: KnownPerson) -> KnownPerson {
        KnownPerson { declared: Vec::new(), ..person }
    }

    fn meant(entries: &[ConfiguredPerson], people: &[KnownPerson]) -> Vec<i64> {
        persons_meant(entries, people).into_iter().map(|id| id.map_or(0, |id| id.0)).collect()
    }

    #[test]
    fn the_same_address_is_the_same_person() {
        let (ada, carl) = (|| known(1, "Ada", &["11", "u1"]), || known(2, "Carl", &["22"]));
        assert_eq!(meant(&[entry("Ada L", &["11"])], &[ada()]), [1], "renamed");
        assert_eq!(meant(&[entry("Ada", &["22"]), entry("Carl", &["11"])], &[ada(), carl()]), [2, 1], "swapped");
        assert_eq!(meant(&[entry("Ada", &["12", "u1"])], &[ada()]), [1], "one of two is enough");
        assert_eq!(meant(&[entry("Ada", &["11"]), entry("Ada S", &["u1"])], &[ada()]), [1, 0], "nobody is two");
        assert_eq!(meant(&[entry("Ada S", &["u1"]), entry("Ada", &["11"])], &[ada()]), [0, 1], "the name decides");
        let legacy = [from_before(ada()), from_before(carl())];
        assert_eq!(
            meant(&[entry("Ada", &["22"]), entry("Carl", &["11"])], &legacy),
            [2, 1],
            "on the day of the upgrade"
        );
        assert_eq!(meant(&[entry("Zoe", &["33"])], &[paired(known(3, "Mallory", &["33"]))]), [3], "who was paired");
    }

    #[test]
    fn a_name_is_a_person_only_while_nothing_speaks_against_it() {
        let ada = || known(1, "Ada", &["11"]);
        assert_eq!(meant(&[entry("Ada", &["12"])], &[ada()]), [0], "another address");
        assert_eq!(meant(&[entry("ada", &[])], &[ada()]), [1], "none any more");
        assert_eq!(meant(&[entry("Ada", &["11"])], &[known(1, "Ada", &[])]), [1], "a first one");
        assert_eq!(meant(&[entry("Ada", &["12"])], &[from_before(ada())]), [1], "on the day of the upgrade");
        assert_eq!(meant(&[entry("Ada", &["12"])], &[paired(ada())]), [0], "paired from another address");
        assert_eq!(meant(&[entry("Ada", &["12"])], &[paired(known(1, "Ada", &[]))]), [1], "paired, and without any");
        assert_eq!(meant(&[entry("Ada", &[])], &[removed(ada())]), [0], "removed");
        let terminal_and_paired = [known(1, "Ada", &[]), paired(known(2, "Ada Phone", &["11"]))];
        assert_eq!(meant(&[entry("Ada", &["11"])], &terminal_and_paired), [1], "her phone is joined to her");
    }

    #[test]
    fn a_removed_person_is_recognised_by_their_permanent_identifier() {
        let mallory = || removed(known(1, "Mallory", &["66", "+431"]));
        assert_eq!(meant(&[entry("Mallory", &["66"])], &[mallory()]), [1]);
        assert_eq!(meant(&[entry("Mal", &["66"])], &[mallory()]), [1]);
        assert_eq!(meant(&[entry("Mallory", &["+431"])], &[mallory()]), [1]);
        assert_eq!(meant(&[entry("Zoe", &["+431"])], &[mallory()]), [0], "a number may be another's by now");
        assert_eq!(meant(&[entry("Mallory", &["67"])], &[mallory()]), [0]);
    }
}
