//! Texts that a person makes their own: typed text, or an untrusted note that they have read.
//!
//! This file may mint trust. By giving one of these commands in their own chat or at the home's
//! command line, a person declares the text to be theirs, regardless of its origin. A person cannot
//! promote a text that they were not shown: the text is shown with a code, and only that code
//! promotes it. The code includes a secret of the home, so untrusted text cannot contain a valid
//! one. What becomes of the text: `memory::approved_text`.

use crate::admin::MemoryAdmin;
use serde_json::json;

use super::name::{self, Name};
use super::overview::INDEX;
use super::{MemoryFile, bytes, no_such_note, not_there};
use crate::admin::answer::{Answer, CommandError, ShownLabel, plain, sources};
use crate::memory::{
    self, Author, ChangeOrigin, NewContent, NoteDraft, PersonShare, Replaced, StoredNote, Workspace, WriteRefusal,
    WriteResult, memory_md, section, unless_refused,
};
use crate::people::{Party, Person};
use crate::review::diff::fenced;
use crate::review::reveal::reveal;
use crate::trust::{Label, Text};
use crate::wording::Language;
use crate::wording::memory as says;
use crate::wording::review::Surface;
use crate::wording::why::all_in_words;

/// Maximum length, in characters, of a text stored as a line. A longer one, or one with several
/// lines, becomes a note.
const LINE: usize = 500;
/// Maximum number of characters of such a note's title.
const TITLE: usize = 60;
/// Maximum size, in bytes, of a note promoted from a chat.
const IN_CHAT: usize = 12_000;
/// Number of digits in a code.
pub(in crate::admin) const CODE: usize = 10;
/// The setting that holds the secret of the codes.
const SECRET: &str = "promotion_secret";

impl MemoryAdmin<'_> {
    /// Stores a text as the person's own. The same text is stored only once.
    pub(in crate::admin) async fn remember(
        &self,
        person: &Person,
        text: &str,
        language: Language,
    ) -> anyhow::Result<Answer> {
        if !self.reads_memory() {
            return Ok(Answer::refusal(says::SWITCHED_OFF.in_language(language)));
        }
        let origin = self.change_by(person, "remember");
        // A person who never wrote has no files yet.
        let day = self.zone.day(origin.now);
        self.workspace.load(&origin.who, origin.now, &day).await?;
        if text.contains('\n') || text.chars().count() > LINE {
            return self.remember_note(&origin, text, language).await;
        }
        if let Some((key, value)) = memory_md::split_key(text) {
            return self.remember_fact(&origin, key, value, language).await;
        }
        let line = text.to_owned();
        let make = move |old: Option<&str>| Ok(NewContent::Text(with_line(old.unwrap_or_default(), &line, &day)));
        match self.workspace.versions().change(&origin, INDEX, make).await {
            Ok(written) => self.remembered(&origin.who, INDEX, &written, None, language).await,
            Err(error) => Ok(refused(INDEX, error.refusal()?, language)),
        }
    }

    /// Stores a fact where one with the same key exists already, regardless of its author.
    async fn remember_fact(
        &self,
        origin: &ChangeOrigin,
        key: &str,
        value: &str,
        language: Language,
    ) -> anyhow::Result<Answer> {
        match self.workspace.notes().store_value(origin, key, value).await {
            Ok(kept) => self.remembered(&origin.who, &kept.path, &kept.written, shown_of(&kept), language).await,
            Err(error) => Ok(refused(INDEX, error.refusal()?, language)),
        }
    }

    async fn remembered(
        &self,
        who: &Party,
        path: &str,
        written: &WriteResult,
        instead_of: Option<&str>,
        language: Language,
    ) -> anyhow::Result<Answer> {
        let name = if path == INDEX { "MEMORY.md" } else { name::visible_path(path) };
        let page = unless_refused(self.page(who, &[path.to_owned()]).await)?;
        let gauge = page.map_or_else(String::new, |page| page.gauge(language));
        let json = json!({ "path": path, "changed": written.version.is_some() });
        Ok(match (written.version.is_some(), written.label.is_trusted()) {
            (false, _) => Answer::ours(says::known_already(language, name), json),
            (true, true) => Answer::ours(says::remembered(language, name, &gauge, instead_of), json),
            (true, false) => Answer::ours(says::REMEMBERED_UNREAD.in_language(language), json),
        })
    }

    async fn remember_note(&self, origin: &ChangeOrigin, text: &str, language: Language) -> anyhow::Result<Answer> {
        let first = text.lines().map(|line| line.trim_matches(['#', ' '])).find(|line| !line.is_empty());
        let title = crate::text::shorten(first.unwrap_or_default(), TITLE);
        let note = NoteDraft { title, content: text.to_owned(), kind: "user".to_owned() };
        Ok(match self.workspace.notes().remember(origin, &note).await {
            Ok(kept) => {
                let json = json!({ "path": kept.path, "changed": kept.written.version.is_some() });
                let instead_of = shown_of(&kept);
                Answer::ours(says::remembered_as_note(language, &kept.path, bytes(text.len()), instead_of), json)
            }
            Err(error) => refused(INDEX, error.refusal()?, language),
        })
    }

    /// Shows an untrusted note with the code that promotes it, or promotes it if the code is given.
    pub async fn promote_note(
        &self,
        person: &Person,
        typed: &str,
        code: &str,
        surface: Surface,
    ) -> Result<Answer, CommandError> {
        let Some(name) = Name::read(typed) else { return Ok(no_such_note(surface)) };
        let origin = self.change_by(person, "promote");
        let page = self.untrusted_page(&origin.who, &name, surface).await?;
        let (outside, digest) = match self.workspace.files().outside_of(&origin.who, &page.path).await {
            Ok(outside) => outside,
            Err(error) => return Err(not_there(error.refusal()?, surface).into()),
        };
        let replaced = self.workspace.versions().replaced_by_pending(&origin.who, &page.path).await?;
        let expected_code = self.code_of(&page.path, &digest, replaced.as_ref()).await?;
        if code.is_empty() {
            return Ok(to_be_promoted(&page, &outside, replaced.as_ref(), &expected_code, surface));
        }
        if code != expected_code {
            return Ok(Answer::refusal(says::wrong_code(&name::short(&page.path), surface)));
        }
        Ok(match self.workspace.versions().promote(&origin, &page.path, &digest, replaced.as_ref()).await {
            Ok(kept) => promoted(surface.language(), &kept, self.reads_memory()),
            Err(error) => refused(&page.path, error.refusal()?, surface.language()),
        })
    }

    /// The first untrusted file of that name.
    async fn untrusted_page(&self, who: &Party, name: &Name, surface: Surface) -> Result<MemoryFile, CommandError> {
        let mut own = None;
        for path in name.untrusted_paths() {
            match self.page(who, &[path]).await {
                Ok(page) if !page.text.label().is_trusted() => return Ok(page),
                Ok(page) => own = own.or(Some(page.path)),
                Err(error) => match error.refusal()? {
                    memory::AccessRefusal::Missing => {}
                    why => return Err(not_there(why, surface).into()),
                },
            }
        }
        Err(match own {
            Some(path) => Answer::refusal(says::yours_already(surface.language(), &plain(name::visible_path(&path)))),
            None => no_such_note(surface),
        }
        .into())
    }

    /// The code for exactly that text at that path, and for what it replaces.
    async fn code_of(&self, path: &str, digest: &str, replaced: Option<&Replaced>) -> anyhow::Result<String> {
        let replaced = replaced.map_or_else(String::new, |replaced| format!("\n{}", replaced.digest));
        self.code_under(&format!("{path}\n{digest}{replaced}")).await
    }

    /// The code for a text shown to a person. Only the program can compute it.
    pub(in crate::admin) async fn code_under(&self, shown: &str) -> anyhow::Result<String> {
        let secret = self.journal.read(|db| db.settings().fact(SECRET)).await?;
        let secret = match secret {
            Some(secret) => secret,
            None => {
                let fresh = format!("{:032x}", rand::random::<u128>());
                let keep = move |tx: crate::store::Tx<'_>| match tx.settings().fact(SECRET)? {
                    Some(known) => Ok(known),
                    None => tx.settings().set_fact(SECRET, &fresh).map(|()| fresh),
                };
                self.journal.write("make a secret", keep).await?
            }
        };
        let code = memory::digest(format!("{secret}\n{shown}").as_bytes());
        Ok(code.chars().take(CODE).collect())
    }

    /// The origin of a change that a person orders in their own files.
    pub(in crate::admin) fn change_by(&self, person: &Person, cause: &'static str) -> ChangeOrigin {
        ChangeOrigin {
            who: Party::One(person.clone()),
            label: Label::trusted(),
            author: Author::Person,
            cause,
            from: Vec::new(),
            person: PersonShare::default(),
            now: self.clock.now(),
        }
    }
}

/// `MEMORY.md` with the text added to its recent facts.
fn with_line(old: &str, text: &str, day: &str) -> String {
    let known = section::read(old, memory_md::RECENT).unwrap_or_default();
    let same = |line: &str| {
        let rest = line.strip_prefix("- ").and_then(|line| line.strip_prefix(text));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    };
    if known.lines().any(same) {
        return old.to_owned();
    }
    section::append(old, memory_md::RECENT, &format!("- {text} ({day})\n"))
}

/// Returns the replaced text as it is shown to a person.
pub(in crate::admin) fn shown_of(kept: &StoredNote) -> Option<&str> {
    kept.instead_of.as_ref().map(|old| old.shown.as_str())
}

/// Shows every passage from outside, whole.
fn to_be_promoted(
    page: &MemoryFile,
    outside: &Text,
    replaced: Option<&Replaced>,
    code: &str,
    surface: Surface,
) -> Answer {
    let mut shown = ShownLabel::nothing();
    let words: &str = shown.words::<std::sync::Arc<str>>(outside);
    let (label, short, language) = (page.text.label(), name::short(&page.path), surface.language());
    let sources_in_words = plain(&all_in_words(language, label));
    let mut lines =
        vec![says::note_head(&page.path, &page.gauge(language)), says::from_outside(language, &sources_in_words)];
    let whole = surface == Surface::CommandLine || words.len() <= IN_CHAT;
    let mut buttons = Vec::new();
    if whole {
        lines.push(fenced(&reveal(words)));
        lines.extend(replaced.map(|replaced| says::keep_instead_of(language, &replaced.shown)));
        lines.push(says::how_to_promote(&short, code, surface));
        buttons.push((says::PROMOTE_BUTTON.in_language(language).into_string(), format!("/promote {short} {code}")));
    } else {
        lines.push(says::too_long_to_promote(language, &short));
    }
    let json = json!({
        "note": short,
        "path": page.path,
        "sources": sources(label),
        "text": words,
        "code": whole.then_some(code),
    });
    let buttons = if surface.is_chat() { buttons } else { Vec::new() };
    Answer::showing(shown, lines.join("\n\n"), json).with_buttons(buttons)
}

fn promoted(language: Language, kept: &StoredNote, read: bool) -> Answer {
    Answer::ours(
        says::promoted(language, &plain(name::visible_path(&kept.path)), shown_of(kept), read),
        json!({ "path": kept.path, "promoted": true }),
    )
}

/// The refusal that explains why nothing was written.
pub(in crate::admin) fn refused(path: &str, why: WriteRefusal, language: Language) -> Answer {
    Answer::refusal(match why {
        WriteRefusal::TooLarge(most) => {
            says::full(language, &plain(name::visible_path(path)), most, Workspace::size_limit(path))
        }
        WriteRefusal::Unreadable(path) => says::broken(language, &plain(&path)),
        why => not_kept(language, &why),
    })
}

/// The sentence for a refusal that concerns neither size nor an unreadable file.
pub(in crate::admin) fn not_kept(language: Language, why: &WriteRefusal) -> String {
    let code = match why {
        WriteRefusal::Impossible(words) => return says::not_kept(language, &plain(words)),
        WriteRefusal::Elsewhere => "elsewhere",
        WriteRefusal::Foreign => "foreign",
        WriteRefusal::OwnersHand => "owners-hand",
        WriteRefusal::Untrusted => "untrusted",
        _ => "not-text",
    };
    says::not_kept(language, &says::write_refused(language, code))
}
