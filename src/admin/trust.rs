//! `/trust`: what in the caller's open conversation came from outside, what of it they sent
//! themselves and vouch for, and which tools are used there without a question.
//!
//! A person vouches only for what they sent and were shown whole: a picture, or the text of a file
//! or a pipe. The answer shows it with a code, and only that code stores the grant. It holds in
//! this conversation, for notes and reminders; what leaves is still asked about. Forwards, web
//! pages and outside tools cannot be vouched for. The list also names what was allowed although no
//! loaded skill names it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::MemoryAdmin;
use super::answer::{Answer, CommandError, Render, RenderContext, ShownLabel, plain};
use super::conversation_end::ConversationEnds;
use crate::id::ConversationId;
use crate::memory;
use crate::message::file_type;
use crate::people::Person;
use crate::review::diff::fenced;
use crate::review::reveal::reveal;
use crate::store::{
    Attachment, AttachmentState, CallPattern, Db, FolderState, GrantKind, GrantRow, MessageKind, NewGrant,
    StoredMessage, StoredText, Tx, vouched,
};
use crate::tool::skill_policy::SkillPolicy;
use crate::trust::{Label, Scope, Source};
use crate::wording::trust as says;
use crate::wording::why::source_in;
use crate::wording::{Language, Sentence};

/// Maximum size, in bytes, of a text that a person is shown to vouch for it.
const IN_CHAT: usize = 12_000;

/// Text from outside in a conversation.
pub(super) struct ConversationTrust {
    conversation: ConversationId,
    /// Join of everything that it has read.
    label: Label,
    /// The person's own messages, in order.
    items: Vec<SentItem>,
    /// Files of the person in which only some lines came from outside, by path.
    files: Vec<String>,
    grants: Vec<GrantRow>,
}

/// A message with files, or with piped text, that the person sent.
struct SentItem {
    message: StoredMessage,
    files: Vec<Attachment>,
    texts: Vec<StoredText>,
    /// Untrusted sources of all of it.
    sources: BTreeSet<Source>,
}

impl ConversationTrust {
    /// Reads a person's open conversation; `None` if there is none.
    pub(super) fn read(db: Db<'_>, person: &Person, ends: &ConversationEnds) -> anyhow::Result<Option<Self>> {
        let Some(mut open) = Self::without_items(db, person, ends)? else { return Ok(None) };
        for message in db.messages().messages_of(open.conversation)? {
            if message.kind == MessageKind::Said && message.person == Some(person.id) && !message.gone {
                open.items.extend(SentItem::read(db, message)?);
            }
        }
        Ok(Some(open))
    }

    fn without_items(db: Db<'_>, person: &Person, ends: &ConversationEnds) -> anyhow::Result<Option<Self>> {
        let Some(stream) = db.conversations().stream_of(person.id)? else { return Ok(None) };
        let newest = db.conversations().newest_conversation(stream)?;
        let Some(open) = newest.filter(|newest| ends.of(newest).is_none()) else { return Ok(None) };
        let grants = db.grants().grants_in(open.id)?;
        let label = Label::join_of(&db.grants().labels_in(open.id)?).vouched_for(&vouched(&grants));
        let files = match db.folders().folder_of(Scope::Person(person.id))? {
            FolderState::At(folder) => {
                let mixed = db.file_versions().mixed_files_in(open.id)?;
                mixed.iter().filter_map(|path| memory::path_in_folder(&folder, path)).collect()
            }
            _ => Vec::new(),
        };
        Ok(Some(Self { conversation: open.id, label, items: Vec::new(), files, grants }))
    }

    /// Returns the label of a person's open conversation, and the policy of its loaded skills.
    pub(super) fn marks(db: Db<'_>, person: &Person, ends: &ConversationEnds) -> anyhow::Result<(Label, SkillPolicy)> {
        let Some(open) = Self::without_items(db, person, ends)? else {
            return Ok((Label::neutral(), SkillPolicy::default()));
        };
        Ok((open.label, SkillPolicy::read(db, open.conversation)?))
    }

    /// Returns the sources that no message of the person brought.
    fn other_sources(&self, language: Language) -> Vec<String> {
        let others = self.label.sources().filter(|source| !self.items.iter().any(|item| item.sources.contains(source)));
        let mut words: Vec<String> = others.map(|source| source_in(language, source)).collect();
        words.dedup();
        words
    }
}

impl SentItem {
    fn read(db: Db<'_>, message: StoredMessage) -> anyhow::Result<Option<Self>> {
        let (files, mut texts) = (db.attachments().attachments_of(message.id)?, db.messages().texts_of(message.id)?);
        texts.retain(|text| !text.text.label().is_trusted());
        let labels = files.iter().map(|file| &file.label).chain(texts.iter().map(|text| text.text.label()));
        let sources: BTreeSet<Source> = labels.flat_map(Label::sources).cloned().collect();
        Ok((!sources.is_empty()).then_some(Self { message, files, texts, sources }))
    }

    fn is_own(&self) -> bool {
        self.sources.iter().all(Source::can_be_vouched_for)
    }

    /// Returns its files by name; the names are words from outside.
    fn name(&self, language: Language, shown: &mut ShownLabel) -> String {
        let mut names: Vec<String> = Vec::new();
        for file in &self.files {
            shown.also(&file.label);
            names.push(match file.remote.name.trim() {
                "" if file_type::is_picture(&file.remote) => says::PICTURE.in_language(language).into_string(),
                "" => says::UNNAMED.in_language(language).into_string(),
                name => plain(name),
            });
        }
        if names.is_empty() {
            names.extend(self.sources.iter().map(|source| source_in(language, source)));
        }
        names.join(", ")
    }

    /// Returns the reason why it cannot be shown whole, if any.
    fn trouble(&self) -> Option<Sentence> {
        if !self.is_own() {
            return Some(says::NOT_YOURS);
        }
        let has_text = |file: &Attachment| {
            let own = Source::file(file.id);
            self.texts.iter().any(|text| text.text.label().sources().any(|source| *source == own))
        };
        for file in &self.files {
            match file.state {
                AttachmentState::Remote => return Some(says::NOT_READ_YET),
                _ if file.is_part => return Some(says::TOO_LONG),
                AttachmentState::Here if file_type::is_picture(&file.remote) || has_text(file) => {}
                _ => return Some(says::CANNOT_SHOW),
            }
        }
        None
    }
}

impl MemoryAdmin<'_> {
    /// Returns what came from outside in a person's open conversation.
    pub(super) async fn conversation_trust(
        &self,
        person: &Person,
        language: Language,
    ) -> Result<ConversationTrust, CommandError> {
        let (person, ends) = (person.clone(), self.reports().ends());
        let found = self.journal.read(move |db| ConversationTrust::read(db, &person, &ends)).await?;
        Ok(found.ok_or_else(|| Answer::refusal(says::NO_CONVERSATION.in_language(language)))?)
    }

    /// Shows something that a person sent, with the code to vouch for it, or does it if the code is
    /// given.
    pub(super) async fn vouch(
        &self,
        person: &Person,
        number: usize,
        code: &str,
        context: &RenderContext<'_>,
    ) -> Result<Answer, CommandError> {
        let language = context.language();
        let refusal = |why: Sentence| Answer::refusal(why.in_language(language));
        let found = self.conversation_trust(person, language).await?;
        let item = number.checked_sub(1).and_then(|place| found.items.get(place));
        let Some(item) = item else { return Ok(refusal(says::NO_SUCH_ITEM)) };
        if let Some(why) = item.trouble() {
            return Ok(refusal(why));
        }
        let mut shown = ShownLabel::nothing();
        let (name, at) = (item.name(language, &mut shown), context.near(item.message.effective_at));
        let texts: Vec<String> =
            item.texts.iter().map(|text| fenced(&reveal(shown.words::<Arc<str>>(&text.text)))).collect();
        if texts.iter().map(String::len).sum::<usize>() > IN_CHAT {
            return Ok(refusal(says::TOO_LONG));
        }
        let sources: Vec<&str> = item.sources.iter().map(Source::as_str).collect();
        let digest = memory::digest(texts.join("\n").as_bytes());
        let about = format!("trust\n{}\n{}\n{}\n{digest}", found.conversation, item.message.id, sources.join(" "));
        let expected = self.code_under(&about).await?;
        if code.is_empty() {
            let lines: Vec<String> = std::iter::once(says::shown_head(language, &at, &name))
                .chain(texts)
                .chain([says::how_to_vouch(language, number, &expected)])
                .collect();
            let button = (says::BUTTON.in_language(language).into_string(), format!("/trust {number} {expected}"));
            let json = json!({ "number": number, "code": expected });
            return Ok(Answer::showing(shown, lines.join("\n\n"), json).with_buttons(vec![button]));
        }
        if code != expected {
            return Ok(refusal(says::WRONG_CODE));
        }
        let (subjects, label) = (item.sources.clone(), found.label.clone());
        let (conversation, person, scope, at) =
            (found.conversation, person.id, Scope::Person(person.id), self.clock.now());
        let give = move |tx: Tx<'_>| {
            let known = tx.grants().vouched_in(conversation)?;
            for source in subjects.iter().filter(|source| !known.contains(source)) {
                let (kind, subject, sources, uses) = (GrantKind::Source, source.as_str(), &label, None);
                let covers = "";
                tx.grants().give(&NewGrant {
                    conversation,
                    person,
                    kind,
                    subject,
                    covers,
                    sources,
                    uses,
                    scope,
                    at,
                })?;
            }
            Ok(())
        };
        self.journal.write("vouch for a source", give).await?;
        Ok(Answer::showing(shown, says::vouched(language, &name), json!({ "vouched": true })))
    }

    /// Takes back everything that a person allowed in their open conversation.
    pub(super) async fn take_back(&self, person: &Person, language: Language) -> Result<Answer, CommandError> {
        let conversation = self.conversation_trust(person, language).await?.conversation;
        let now = self.clock.now();
        let take_back = move |tx: Tx<'_>| tx.grants().take_back(conversation, now);
        let count = self.journal.write("take a grant back", take_back).await?;
        Ok(match count {
            0 => Answer::refusal(says::NOTHING_TO_TAKE_BACK.in_language(language)),
            count => Answer::ours(says::taken_back(language, count), json!({ "taken_back": count })),
        })
    }
}

impl Render for ConversationTrust {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let (vouched, language) = (vouched(&self.grants), context.language());
        let words = |sentence: Sentence| sentence.in_language(language).into_string();
        let mut lines = Vec::new();
        for (item, number) in self.items.iter().zip(1..) {
            let state = match item.is_own() {
                false => says::FOREIGN,
                true if item.sources.is_subset(&vouched) => says::VOUCHED,
                true => says::OPEN,
            };
            let at = context.near(item.message.effective_at);
            lines.push(says::item(number, &at, &item.name(language, shown), &words(state)));
        }
        let others = self.other_sources(language);
        let mut blocks = vec![match self.label.is_trusted() {
            true => words(says::NOTHING_FROM_OUTSIDE),
            false => words(says::HEAD),
        }];
        blocks.extend((!lines.is_empty()).then(|| lines.join("\n")));
        blocks.extend((!others.is_empty()).then(|| says::others(language, &others.join("; "))));
        blocks.extend(self.files.iter().map(|path| says::file(language, &plain(path))));
        blocks.extend(self.items.iter().any(SentItem::is_own).then(|| words(says::HOW)));
        let tools = self.grants.iter().filter(|grant| grant.kind == GrantKind::Tool);
        blocks.extend(tools.map(|grant| {
            let varying: Vec<String> =
                CallPattern::decode(&grant.covers).varying.iter().map(|place| reveal(place)).collect();
            says::tool(language, &grant.subject, grant.uses_left, &varying)
        }));
        let allowed = self.grants.iter().filter(|grant| grant.kind == GrantKind::Destination);
        blocks.extend(allowed.map(|grant| says::destination(language, &reveal(&grant.subject))));
        blocks.join("\n\n")
    }

    fn json(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        let vouched = vouched(&self.grants);
        let items = self.items.iter().zip(1..).map(|(item, number)| {
            json!({
                "number": number,
                "what": item.name(context.language(), shown),
                "own": item.is_own(),
                "vouched": item.sources.is_subset(&vouched),
            })
        });
        json!({
            "conversation": self.conversation,
            "trusted": self.label.is_trusted(),
            "items": items.collect::<Value>(),
            "sources": self.label.sources().map(Source::as_str).collect::<Value>(),
            "tools": self.grants.iter().filter(|grant| grant.kind == GrantKind::Tool).map(|grant| grant.subject.as_str()).collect::<Value>(),
        })
    }
}
