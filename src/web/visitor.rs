//! Visitors of the page, and the access that a route asks of them.

use super::site_names::Via;
use crate::admin::Caller;
use crate::people::{Person, Role};
use crate::store::WebSession;
use crate::time::{Timestamp, Zone};
use crate::wording::review::Surface;
use crate::wording::{Language, Locale};

/// Permission to use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everyone who reaches the page.
    Anyone,
    /// A signed-in person.
    Member,
    /// A signed-in owner.
    Owner,
}

/// The signed-in person and their browser.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// The person, as they are now.
    pub person: Person,
    /// Their browser.
    pub session: WebSession,
    /// Name under which the request came.
    pub via: Via,
    /// Zone in which times are shown.
    pub zone: Zone,
    /// Time of the request.
    pub now: Timestamp,
}

impl Visitor {
    /// Returns the person as the giver of commands, who is answered in the language of the page.
    pub fn caller(&self) -> Caller {
        Caller { person: self.person.clone(), group: None, language: Some(Language::ENGLISH) }
    }

    /// Returns language, zone and time in which the page speaks.
    pub fn locale(&self) -> Locale {
        Locale { language: Language::ENGLISH, zone: self.zone, now: self.now }
    }

    /// Returns the surface on which refusals of typed reads are read.
    pub fn surface(&self) -> Surface {
        Surface::Chat(Language::ENGLISH)
    }

    /// Returns true if the person is an owner.
    pub fn is_owner(&self) -> bool {
        self.person.role == Role::Owner
    }
}
