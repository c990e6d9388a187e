//! Signed-in browsers: one-time links of `compline web` and `/web`, and the sessions of the page.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::TryRng;
use rand::rngs::SysRng;
use serde_json::json;
use url::Url;

use super::PeopleAdmin;
use super::answer::Answer;
use super::command::BrowserChange;
use super::run::Origin;
use crate::id::{PersonId, WebSessionId};
use crate::people::Person;
use crate::store::{CodeOrigin, Db, Theme, Tx, WebSession};
use crate::time::task::lock;
use crate::time::{Timestamp, Zone};
use crate::wording::gateway::no_such_person;
use crate::wording::page as says;
use crate::wording::review::Surface;

/// Validity of a sign-in code.
const CODE_LIFETIME: Duration = Duration::from_secs(2 * 60);

/// Addresses of the page.
#[derive(Debug, Clone, Default)]
pub struct PageAddress {
    public: Option<Url>,
    state: Arc<Mutex<PageState>>,
}

#[derive(Debug, Clone, Default)]
enum PageState {
    #[default]
    NotServed,
    Served(SocketAddr),
    Failed(String),
}

impl PageAddress {
    /// Creates the addresses of a page that is not served yet.
    pub fn new(public: Option<Url>) -> Self {
        Self { public, ..Self::default() }
    }

    /// Records where the page is served. Without it no link is made, so that no code is sent to
    /// another program at that address.
    pub fn served_at(&self, address: SocketAddr) {
        *lock(&self.state) = PageState::Served(address);
    }

    /// Records why the page is not served.
    pub fn failed(&self, why: String) {
        *lock(&self.state) = PageState::Failed(why);
    }

    /// Returns the reason why the page is not served although it should be.
    pub fn problem(&self) -> Option<String> {
        if let PageState::Failed(why) = &*lock(&self.state) { Some(why.clone()) } else { None }
    }

    /// Returns the address for a browser on this computer, while the page is served. It is the
    /// public one if the page listens to an address of the network.
    pub fn local(&self) -> Option<String> {
        let PageState::Served(address) = *lock(&self.state) else { return None };
        let host = match address.ip() {
            ip if ip.is_unspecified() => "localhost".to_owned(),
            ip if !ip.is_loopback() => return self.public.as_ref().map(Url::to_string),
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        Some(format!("http://{host}:{}/", address.port()))
    }

    fn public(&self) -> Option<String> {
        self.local().and_then(|_| self.public.as_ref().map(Url::to_string))
    }
}

/// Returns a random secret of that many bytes, in letters, digits, `-` and `_`.
///
/// # Errors
/// If the system cannot provide random bytes.
pub fn random_secret<const BYTES: usize>() -> anyhow::Result<String> {
    let mut bytes = [0; BYTES];
    SysRng.try_fill_bytes(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

impl PeopleAdmin<'_> {
    /// Signs browsers in or out.
    pub(super) async fn change_browsers(&self, origin: &Origin, change: &BrowserChange) -> anyhow::Result<Answer> {
        match change {
            BrowserChange::SignIn(name) => self.sign_in_link(origin, name.as_deref()).await,
            BrowserChange::EndAll(name) => self.end_browsers(name.as_deref()).await,
        }
    }

    async fn sign_in_link(&self, origin: &Origin, name: Option<&str>) -> anyhow::Result<Answer> {
        let (address, made_in) = match origin.surface() {
            Surface::Chat(_) => (self.page.public(), CodeOrigin::Chat),
            Surface::CommandLine => (self.page.local(), CodeOrigin::CommandLine),
        };
        let person = match name {
            Some(name) => self.person_named(name).await?,
            None => origin.caller().cloned(),
        };
        let Some(person) = person else { return Ok(Answer::refusal(no_such_person(name))) };
        let language = origin.surface().language();
        let Some(address) = address else {
            let why = match origin.surface() {
                Surface::Chat(_) => says::only_on_the_computer(language),
                Surface::CommandLine => self.page.problem().unwrap_or_else(|| says::NOT_SERVED.to_owned()),
            };
            return Ok(Answer::refusal(why));
        };
        let code = random_secret::<16>()?;
        let (now, id, secret) = (self.clock.now(), person.id, code.clone());
        let expires_at = now.plus(CODE_LIFETIME);
        let store = move |tx: Tx<'_>| tx.web_sessions().store_code(&secret, id, made_in, now, expires_at);
        self.journal.write("store a sign-in code", store).await?;
        let link = format!("{address}login#{code}");
        // The way for a telephone, if there is one.
        let public = self.page.public().map(|address| format!("{address}login#{code}"));
        let json =
            json!({ "name": person.name, "url": link, "public_url": public, "expires_at": expires_at.rfc3339() });
        Ok(Answer::ours(says::link(language, &person.name, &link), json))
    }

    async fn end_browsers(&self, name: Option<&str>) -> anyhow::Result<Answer> {
        let person: Option<Person> = match name {
            Some(name) => match self.person_named(name).await? {
                Some(person) => Some(person),
                None => return Ok(Answer::refusal(no_such_person(Some(name)))),
            },
            None => None,
        };
        let ended = self.end_sessions(person.map(|person| person.id)).await?;
        Ok(Answer::ours(says::ended(ended), json!({ "ended": ended })))
    }
}

/// Sessions of the page.
impl PeopleAdmin<'_> {
    /// Returns the person whom a code signs in.
    pub async fn person_of_code(&self, code: String) -> anyhow::Result<Option<Person>> {
        let now = self.clock.now();
        let found = self.journal.read(move |db| db.web_sessions().code(code.trim(), now)).await?;
        self.settle_expired(found.is_none()).await?;
        Ok(found)
    }

    /// Deletes what is over when something was refused, so that a clock that is set back later makes
    /// none of it valid again.
    async fn settle_expired(&self, is_refused: bool) -> anyhow::Result<()> {
        let now = self.clock.now();
        if is_refused && self.journal.read(move |db| db.web_sessions().has_expired(now)).await? {
            let settle = move |tx: Tx<'_>| tx.web_sessions().delete_expired(now);
            self.journal.write("forget expired web sessions", settle).await?;
        }
        Ok(())
    }

    /// Uses a code up and begins the session of a cookie, which ends unused after that time.
    /// Returns its person; `None` for a code that is unknown, used or expired.
    pub async fn begin_session(
        &self,
        code: String,
        cookie: String,
        browser: String,
        lasts: Duration,
    ) -> anyhow::Result<Option<Person>> {
        let now = self.clock.now();
        let begin = move |tx: Tx<'_>| tx.web_sessions().sign_in(code.trim(), &cookie, &browser, now, now.plus(lasts));
        self.journal.write("begin a web session", begin).await
    }

    /// Returns the session of a cookie, its person as they are now, and their time zone.
    pub async fn session(&self, cookie: String) -> anyhow::Result<Option<(WebSession, Person, Zone)>> {
        let (now, home) = (self.clock.now(), self.zone);
        let read = move |db: Db<'_>| {
            let Some((session, person)) = db.web_sessions().session(&cookie, now)? else { return Ok(None) };
            let zone = db.people().zone_of(person.id, home)?;
            Ok(Some((session, person, zone)))
        };
        let found = self.journal.read(read).await?;
        self.settle_expired(found.is_none()).await?;
        Ok(found)
    }

    /// Records that a session is used, which prolongs it.
    pub async fn prolong_session(&self, id: WebSessionId, lasts: Duration) -> anyhow::Result<()> {
        let now = self.clock.now();
        let touch = move |tx: Tx<'_>| tx.web_sessions().touch(id, now, now.plus(lasts));
        self.journal.write("record use of a web session", touch).await
    }

    /// Returns the browsers of a person, last seen first.
    pub async fn browsers(&self, person: PersonId) -> anyhow::Result<Vec<WebSession>> {
        let now = self.clock.now();
        self.journal.read(move |db| db.web_sessions().of_person(person, now)).await
    }

    /// Stores a browser's own settings.
    pub async fn set_display(&self, id: WebSessionId, theme: Theme, shortcuts: bool) -> anyhow::Result<()> {
        let set = move |tx: Tx<'_>| tx.web_sessions().set_display(id, theme, shortcuts);
        self.journal.write("store a browser's settings", set).await
    }

    /// Records up to when the start page has been read in a browser.
    pub async fn mark_seen(&self, id: WebSessionId, until: Timestamp) -> anyhow::Result<()> {
        let mark = move |tx: Tx<'_>| tx.web_sessions().set_looked_at(id, until);
        self.journal.write("mark the start page as seen", mark).await
    }

    /// Signs one browser of a person out.
    pub async fn end_session(&self, id: WebSessionId, person: PersonId) -> anyhow::Result<()> {
        let end = move |tx: Tx<'_>| tx.web_sessions().end(id, person).map(drop);
        self.journal.write("end a web session", end).await
    }

    /// Signs all browsers of a person, or of everyone, out, and voids their links. Returns how many
    /// were signed in.
    pub async fn end_sessions(&self, person: Option<PersonId>) -> anyhow::Result<usize> {
        self.journal.write("end web sessions", move |tx: Tx<'_>| tx.web_sessions().end_all(person)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_link_is_made_before_the_page_is_served() {
        let page = PageAddress::new(Some("https://a.example".parse().unwrap()));
        assert_eq!((page.local(), page.public()), (None, None));
        page.served_at("[::1]:7420".parse().unwrap());
        assert_eq!(page.local().as_deref(), Some("http://[::1]:7420/"));
        assert_eq!(page.public().as_deref(), Some("https://a.example/"));
        // Under its own address it would be refused.
        page.served_at("192.168.1.5:7420".parse().unwrap());
        assert_eq!(page.local().as_deref(), Some("https://a.example/"));
    }

    #[test]
    fn a_secret_is_random_and_fits_an_address() {
        let secrets = [random_secret::<16>().unwrap(), random_secret::<16>().unwrap()];
        assert_ne!(secrets[0], secrets[1]);
        assert!(secrets.iter().all(|secret| secret.len() == 22));
        assert!(secrets.concat().chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)));
    }
}
