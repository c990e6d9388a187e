//! Browsers that are signed in, and the one-time codes that sign one in.
//!
//! Codes and cookies are random and stored as digests. A session belongs to a person with the role
//! of its beginning: removal and any change of role end it, and it is read again for each request.

use rusqlite::params;
use sha2::{Digest, Sha256};
use strum::{EnumString, IntoStaticStr};

use crate::id::{PersonId, WebSessionId};
use crate::people::{Person, Role};
use crate::store::handles::{WebSessions, WebSessionsMut};
use crate::store::rows::{from_row, insert, stored_word};
use crate::time::Timestamp;

/// Maximum number of open codes of a person; the oldest is void after that.
const OPEN_CODES: u32 = 3;

/// Origin of a sign-in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum CodeOrigin {
    /// `compline web`
    CommandLine,
    /// `/web` in a direct chat.
    Chat,
}

/// Colours of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Theme {
    /// As the browser prefers.
    System,
    /// Dark text on light ground.
    Light,
    /// Light text on dark ground.
    Dark,
}

stored_word!(CodeOrigin, Theme);

/// A signed-in browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebSession {
    /// Row id.
    pub id: WebSessionId,
    /// Person.
    pub person: PersonId,
    /// Their role at sign-in.
    pub role: Role,
    /// Origin of its code.
    pub origin: CodeOrigin,
    /// The browser's own words for itself: any text.
    pub browser: String,
    /// Sign-in.
    pub began_at: Timestamp,
    /// Last request, to the hour.
    pub seen_at: Timestamp,
    /// End without further requests.
    pub expires_at: Timestamp,
    /// Time up to which the start page has been read.
    pub looked_at: Timestamp,
    /// Colours.
    pub theme: Theme,
    /// True if single keys are shortcuts.
    pub shortcuts: bool,
}

from_row! {
    WebSession from "web_sessions" {
        id, person: "person_id", role, origin: "began_by", browser, began_at, seen_at, expires_at, looked_at, theme, shortcuts
    }
}

fn digest(secret: &str) -> String {
    hex::encode(Sha256::digest(secret))
}

impl WebSessions<'_> {
    /// Returns the person whom a code signs in.
    pub fn code(&self, code: &str, now: Timestamp) -> anyhow::Result<Option<Person>> {
        let person: Option<PersonId> = self.db.first(
            "SELECT person_id FROM web_codes WHERE digest = ?1 AND expires_at > ?2",
            params![digest(code), now],
        )?;
        person.map_or(Ok(None), |id| self.db.people().person(id))
    }

    /// Returns the session of a cookie with its person, as they are now.
    pub fn session(&self, cookie: &str, now: Timestamp) -> anyhow::Result<Option<(WebSession, Person)>> {
        let session: Option<WebSession> =
            self.db.row("WHERE digest = ?1 AND expires_at > ?2", params![digest(cookie), now])?;
        let Some(session) = session else { return Ok(None) };
        let person = self.db.people().person(session.person)?.filter(|person| person.role == session.role);
        Ok(person.map(|person| (session, person)))
    }

    /// Returns the browsers of a person, last seen first.
    pub fn of_person(&self, person: PersonId, now: Timestamp) -> anyhow::Result<Vec<WebSession>> {
        self.db.rows("WHERE person_id = ?1 AND expires_at > ?2 ORDER BY seen_at DESC, id DESC", params![person, now])
    }

    /// Returns whether a code or session that is over is still stored.
    pub fn has_expired(&self, now: Timestamp) -> anyhow::Result<bool> {
        self.db.one(
            "SELECT EXISTS (SELECT 1 FROM web_codes WHERE expires_at <= ?1)
             OR EXISTS (SELECT 1 FROM web_sessions WHERE expires_at <= ?1)",
            [now],
        )
    }

    /// Returns the number of browsers of everyone.
    pub fn count(&self, now: Timestamp) -> anyhow::Result<usize> {
        self.db.count("SELECT count(*) FROM web_sessions WHERE expires_at > ?1", [now])
    }
}

impl WebSessionsMut<'_> {
    /// Deletes what is over, so that no clock that is set back makes it valid again.
    pub fn delete_expired(&self, now: Timestamp) -> anyhow::Result<()> {
        self.db.run("DELETE FROM web_codes WHERE expires_at <= ?1", [now])?;
        self.db.run("DELETE FROM web_sessions WHERE expires_at <= ?1", [now])
    }

    /// Stores a code that signs a person in, once.
    pub fn store_code(
        &self,
        code: &str,
        person: PersonId,
        origin: CodeOrigin,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> anyhow::Result<()> {
        self.delete_expired(now)?;
        self.db.run(
            "DELETE FROM web_codes WHERE digest IN (SELECT digest FROM web_codes WHERE person_id = ?1
             ORDER BY expires_at DESC LIMIT -1 OFFSET ?2)",
            params![person, OPEN_CODES - 1],
        )?;
        self.db.run(
            "INSERT INTO web_codes (digest, person_id, began_by, expires_at) VALUES (?1, ?2, ?3, ?4)",
            params![digest(code), person, origin, expires_at],
        )
    }

    /// Uses a code up and begins the session of `cookie`. Returns its person; `None` for a code
    /// that is unknown, used or expired.
    pub fn sign_in(
        &self,
        code: &str,
        cookie: &str,
        browser: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> anyhow::Result<Option<Person>> {
        self.delete_expired(now)?;
        let Some(person) = self.code(code, now)? else { return Ok(None) };
        let origin: CodeOrigin = self.db.one("SELECT began_by FROM web_codes WHERE digest = ?1", [digest(code)])?;
        self.db.run("DELETE FROM web_codes WHERE digest = ?1", [digest(code)])?;
        let _: WebSessionId = insert!(self.db, "web_sessions" {
            digest: digest(cookie), person_id: person.id, role: person.role, began_by: origin, browser,
            began_at: now, seen_at: now, expires_at, looked_at: now
        })?;
        Ok(Some(person))
    }

    /// Records that a session was used, and postpones its end.
    pub fn touch(&self, id: WebSessionId, now: Timestamp, expires_at: Timestamp) -> anyhow::Result<()> {
        self.db.run("UPDATE web_sessions SET seen_at = ?2, expires_at = ?3 WHERE id = ?1", params![id, now, expires_at])
    }

    /// Records that the start page was read.
    pub fn set_looked_at(&self, id: WebSessionId, at: Timestamp) -> anyhow::Result<()> {
        self.db.run("UPDATE web_sessions SET looked_at = ?2 WHERE id = ?1", params![id, at])
    }

    /// Stores a browser's own settings.
    pub fn set_display(&self, id: WebSessionId, theme: Theme, shortcuts: bool) -> anyhow::Result<()> {
        self.db.run("UPDATE web_sessions SET theme = ?2, shortcuts = ?3 WHERE id = ?1", params![id, theme, shortcuts])
    }

    /// Ends a session of a person. Returns false if they have no such session.
    pub fn end(&self, id: WebSessionId, person: PersonId) -> anyhow::Result<bool> {
        self.db.changed("DELETE FROM web_sessions WHERE id = ?1 AND person_id = ?2", params![id, person])
    }

    /// Ends all sessions of a person, or of everyone, and voids the codes. Returns the number of
    /// sessions that ended.
    pub fn end_all(&self, person: Option<PersonId>) -> anyhow::Result<usize> {
        self.db.run("DELETE FROM web_codes WHERE ?1 IS NULL OR person_id = ?1", [person])?;
        self.db.execute("DELETE FROM web_sessions WHERE ?1 IS NULL OR person_id = ?1", [person])
    }
}
