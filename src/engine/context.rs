//! Builds prompts block by block, so that consecutive requests share everything up to the newest
//! exchange:
//!
//! 1. the assistant's identity and the rules: a function of the files that they are made from;
//! 2. the opening of the conversation: the last summary, what is still open, and the conversations
//!    before it in two lines each;
//! 3. the exchanges so far, append-only;
//! 4. date, channel, memory and today's note, right before the newest message: whole at first, then
//!    only the sections that changed ([`super::context_sections`]); at the beginning of a
//!    conversation also what is recalled automatically;
//! 5. the newest message with its time.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::context_budget::{Block, ContextBudget, truncate_end, truncate_memory, truncate_start};
use super::context_sections::ContextSections;
use super::record::{ConsentAnswer, TurnRecord};
use super::{Engine, summarizer, summary};
use crate::config::Placement;
use crate::id::{ConversationId, MessageId};
use crate::memory::{Learnings, TurnFiles, memory_md, received_path};
use crate::model::{Message, RequestPart, Role};
use crate::people::{self, Party};
use crate::store::{
    Attachment, Conversation, ConversationKind, Db, Node, OpenItem, OpeningState, SentRow, StoredMessage, StoredText,
    SummaryContent, SummaryInputs, SummaryState, TextKind,
};
use crate::text::headings::below;
use crate::text::{defuse, estimate_tokens, shorten, words_in};
use crate::time::{Timestamp, Zone};
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::attachments::{self, ReceivedFile};
use crate::wording::{self, Language, prompt};

/// Usage of MEMORY.md, in per cent, from which the model is told how full the file is.
const NEARLY_FULL: usize = 80;
/// Number of conversations before the last one that the next one is shown, and maximum number of
/// characters of the second line of each.
const EARLIER: u32 = 3;
const EARLIER_LINE: usize = 240;
/// Highest level of a heading in a file, below our headings of the second level.
const BELOW_OURS: usize = 3;
/// Maximum number of open items in a prompt.
const MAX_OPEN: usize = 40;
/// Maximum number of messages shown that the person did not ask for.
const MAX_SENT: usize = 8;
/// Maximum number of characters shown of one of them.
const SENT_LENGTH: usize = 600;
/// Maximum number of characters shown of an edited message.
const EDIT_LENGTH: usize = 4_000;

/// Inputs of a turn, read once at its start: the automatically loaded files and the usable skills.
#[derive(Debug, Clone)]
pub struct TurnContext {
    /// Party of the stream.
    pub party: Party,
    /// Conversation, with its opening.
    pub conversation: Conversation,
    /// Channel that the answer goes to; blank if it goes to none.
    pub channel: String,
    /// Loaded files.
    pub loaded: TurnFiles,
    /// What is open in the party's life, one line each.
    pub open: Text,
    /// Language in which the party is addressed.
    pub language: Language,
    /// List of skills, one line each.
    pub skills: Text,
    /// Sources of that list.
    pub nodes: Vec<Node>,
}

/// Builds block 1.
pub fn identity(engine: &Engine, inputs: &TurnContext, budget: &ContextBudget) -> Text {
    let TurnContext { party, loaded, skills, conversation, .. } = inputs;
    let mut words = rules(engine, inputs);
    let mut label = Label::neutral();
    let about = party.person().map_or(prompt::ABOUT_GROUP.to_owned(), |person| prompt::about(&person.name));
    for (heading, file, block, name) in [
        (prompt::SOUL, &loaded.soul, Block::Soul, "SOUL.md"),
        (prompt::AGENTS, &loaded.agents, Block::Agents, "AGENTS.md"),
        (about.as_str(), &loaded.user, Block::User, "USER.md"),
    ] {
        let (text, of, _) = file.open();
        let text = below(&truncate_end(text.trim(), budget.block(block), name), BELOW_OURS);
        // Nobody talks with a run.
        let is_needed = block != Block::Soul || !conversation.kind.is_run();
        if is_needed && !text.is_empty() {
            words.push_str(&format!("\n\n## {heading}\n\n{text}"));
            label.absorb(of);
        }
    }
    let (skills, of, _) = skills.open();
    // A task may be one for a skill, and a reflection changes them; a heartbeat only checks its list.
    if conversation.kind != ConversationKind::Heartbeat && !skills.is_empty() {
        words.push_str("\n\n");
        words.push_str(skills.trim());
        label.absorb(of);
    }
    Labelled::new(Arc::from(words), label, party.scope())
}

/// Rules for the kind of conversation.
fn rules(engine: &Engine, inputs: &TurnContext) -> String {
    let (agent, kind) = (engine.agent.as_str(), inputs.conversation.kind);
    let Party::One(person) = &inputs.party else { return prompt::group_rules(agent) };
    let rules = prompt::PersonalRules {
        agent,
        person: &person.name,
        is_owner: person.role == people::Role::Owner,
        gap: engine.conversation.gap,
        keeps_memory: engine.memory.enabled,
        heartbeat: engine.heartbeat,
    };
    let rules = match kind {
        ConversationKind::Chat | ConversationKind::Piped | ConversationKind::Imported => rules.chat(),
        ConversationKind::Heartbeat | ConversationKind::Task => rules.run(),
        ConversationKind::Reflection => rules.reflection(),
    };
    prompt::in_language(rules, inputs.language)
}

/// Returns the conversation with its opening, which is fixed on its first turn, except for one swap
/// when the real summary of the previous conversation replaces the stand-in.
pub async fn opening(engine: &Arc<Engine>, id: ConversationId, loaded: &TurnFiles) -> anyhow::Result<Conversation> {
    let current = engine.journal.read(move |db| db.conversations().conversation(id)).await?;
    let current = current.ok_or_else(|| anyhow::anyhow!("Conversation {id} is not there"))?;
    if current.opening_state == OpeningState::Final {
        return Ok(current);
    }
    let of = current.clone();
    let before = engine.journal.read(move |db| db.conversations().conversations_before(&of, 1)).await?;
    if let Some(previous) = before.first().filter(|previous| previous.messages > 0) {
        let previous = previous.clone();
        let (id, last) = (previous.id, previous.last_message);
        let known = engine.journal.read(move |db| db.summaries().has_summary(id, last)).await?;
        if !known {
            summarizer::request(engine, &previous).await?;
            engine.wake_summarizer();
        }
    }
    let (of, zone) = (current.clone(), engine.zone_of(current.scope).await?);
    let (summaries, state) = engine.journal.read(move |db| compose(db, &of, zone)).await?;
    let learned = learned(engine, current.scope, loaded).await?;
    let (summaries, mut label, scope) = (summaries.open().0, summaries.label().clone(), current.scope);
    label.absorb(learned.label());
    let Learnings { rules, lessons } = learned.open().0;
    let parts = [rules.as_str(), summaries, lessons].into_iter().map(str::trim).filter(|part| !part.is_empty());
    let opening = Some(parts.collect::<Vec<_>>().join("\n\n")).filter(|words| !words.is_empty());
    let opening: Option<Text> = opening.map(|words| Labelled::new(Arc::from(words), label, scope));
    if state == current.opening_state {
        return Ok(current);
    }
    let (to_store, of) = (opening.clone(), current.id);
    engine
        .journal
        .write("fix an opening", move |tx| tx.conversations().set_opening(of, to_store.as_ref(), state))
        .await?;
    Ok(Conversation { opening, opening_state: state, ..current })
}

/// Lessons from corrections and failures, without those that a loaded file states in the same
/// words; blank if there are none.
async fn learned(engine: &Arc<Engine>, scope: Scope, loaded: &TurnFiles) -> anyhow::Result<Labelled<Learnings>> {
    let nothing = Labelled::new(Learnings::default(), Label::neutral(), scope);
    let Some(party) = engine.journal.read(move |db| db.people().party_of(scope)).await? else {
        return Ok(nothing);
    };
    let known = KnownStatements::of(loaded);
    let learnings = engine.workspace.notes().learnings(&party, |words| known.holds(words)).await?;
    // Only text derived from trusted text alone is loaded automatically.
    Ok(if learnings.label().is_trusted() { learnings } else { nothing })
}

/// Number of words from which a statement is compared: shorter ones mean little by themselves.
const STATEMENT: usize = 3;

/// Statements of the loaded files: lines, sentences, and values of facts, by their words alone.
struct KnownStatements(BTreeSet<String>);

impl KnownStatements {
    fn of(loaded: &TurnFiles) -> Self {
        let files = [
            &loaded.user,
            &loaded.memory,
            &loaded.rules,
            &loaded.today,
            &loaded.agent,
            &loaded.experience,
            &loaded.agents,
        ];
        let mut known = BTreeSet::new();
        for line in files.iter().flat_map(|file| file.open().0.lines()) {
            let line = memory_md::item_text(line).unwrap_or(line);
            let value = line.split_once("**:").map_or(line, |(_, value)| value);
            let sentences = value.split_inclusive(['.', '!', '?', ';']);
            known.extend(sentences.chain([line, value]).map(words_alone).filter(|words| !words.is_empty()));
        }
        Self(known)
    }

    fn holds(&self, statement: &str) -> bool {
        let words = words_alone(statement);
        words.split(' ').count() >= STATEMENT && self.0.contains(&words)
    }
}

/// Returns the words of a text in lower case, without punctuation.
fn words_alone(text: &str) -> String {
    words_in(text).map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// An earlier conversation in an opening.
struct EarlierConversation {
    id: ConversationId,
    day: String,
    summary: SummaryContent,
    /// True if it has a fuller summary, because it read something from outside.
    has_outside: bool,
}

fn compose(db: Db<'_>, current: &Conversation, zone: Zone) -> anyhow::Result<(Text, OpeningState)> {
    let earlier = db.conversations().conversations_before(current, 1 + EARLIER)?;
    let (mut last, mut before, mut state) = (None, Vec::new(), OpeningState::Final);
    let mut label = Label::neutral();
    for (index, conversation) in earlier.iter().enumerate() {
        let Some(summary) = db.summaries().summary_of(conversation.id, SummaryInputs::Trusted)? else { continue };
        // Only text derived from trusted text alone is loaded automatically.
        if !summary.content.label().is_trusted() {
            continue;
        }
        label.absorb(summary.content.label());
        // A stand-in whose summary is still being made may be swapped once for the real one.
        if index == 0 && summary.state == SummaryState::Standin && summary.retry_at < Timestamp::NEVER {
            state = OpeningState::Standin;
        }
        let shown = EarlierConversation {
            id: conversation.id,
            day: zone.day(conversation.opened_at),
            summary: summary.content.open().0.clone(),
            has_outside: db.summaries().summary_of(conversation.id, SummaryInputs::Full)?.is_some(),
        };
        match index {
            0 => last = Some((shown, zone.show_short(conversation.last_at))),
            _ => before.push(shown),
        }
    }
    let words = opening_text(last.as_ref(), &before, zone);
    Ok((Labelled::new(Arc::from(words), label, current.scope), state))
}

/// Renders the opening of the next conversation: the last summary, and up to three conversations before the last in two lines each. A conversation without typed
/// messages has no title and nothing to summarise.
fn opening_text(last: Option<&(EarlierConversation, String)>, before: &[EarlierConversation], zone: Zone) -> String {
    let mut blocks = Vec::new();
    if let Some((last, ended)) = last.filter(|(last, _)| !last.summary.title.is_empty()) {
        let mut words = prompt::previous(ended, zone.name(), &last.summary.title);
        words.push_str(&summary::lists(&last.summary));
        blocks.push(words);
    }
    if let Some((last, _)) = last.filter(|(last, _)| last.has_outside) {
        blocks.push(prompt::fuller_summary(last.id, &last.day));
    }
    let mut lines = Vec::new();
    for EarlierConversation { id, day, summary, has_outside } in before {
        if !summary.title.is_empty() {
            lines.push(format!("- {day}: {}", summary.title));
            lines.extend(summary::in_one_line(summary, EARLIER_LINE).map(|line| format!("  {line}")));
        }
        lines.extend(has_outside.then(|| format!("  {}", prompt::fuller_summary(*id, day))));
    }
    if !lines.is_empty() {
        blocks.push(format!("## {}\n\n{}", prompt::EARLIER, lines.join("\n")));
    }
    blocks.join("\n\n")
}

/// Dynamic block of a turn, with its label.
#[derive(Debug)]
pub struct ContextBlock {
    sections: ContextSections,
    label: Label,
    scope: Scope,
}

impl ContextBlock {
    /// Renders what differs from the sections that were shown: everything if there are none.
    pub fn since(&self, shown: &ContextSections) -> Text {
        let words = self.sections.since(shown);
        let label = if words.is_empty() { Label::neutral() } else { self.label.clone() };
        Labelled::new(Arc::from(words), label, self.scope)
    }
}

/// Renders the open items of a party that are not put off, the newest of them if there are many.
pub fn open_items(items: &[OpenItem], zone: Zone, now: Timestamp, scope: Scope) -> Text {
    let due: Vec<&OpenItem> = items.iter().filter(|item| !item.is_put_off(now)).collect();
    let left_out = due.len().saturating_sub(MAX_OPEN);
    let (mut label, mut lines) = (Label::neutral(), Vec::new());
    lines.extend((left_out > 0).then(|| prompt::older_items(left_out)));
    for item in due.into_iter().skip(left_out) {
        let (words, of, _) = item.text.open();
        label.absorb(of);
        lines.push(format!("- {}", prompt::open_item(item.id.0, words, &zone.day(item.opened_at))));
    }
    Labelled::new(Arc::from(lines.join("\n")), label, scope)
}

/// Builds block 4.
pub fn dynamic(inputs: &TurnContext, zone: Zone, now: Timestamp, budget: &ContextBudget) -> ContextBlock {
    let TurnContext { loaded, channel, conversation, .. } = inputs;
    let (mut sections, mut label) = (ContextSections::default(), Label::neutral());
    sections.add_line(prompt::NOW, &prompt::today(&zone.show_day(now), zone.name()));
    if let Some(channel) = prompt::channel(channel) {
        sections.add_line(prompt::CHANNEL, channel);
    }
    for (heading, file, block) in
        [(prompt::MEMORY, &loaded.memory, Block::Memory), (prompt::TODAY, &loaded.today, Block::Today)]
    {
        let (text, of, _) = file.open();
        let fitted = match block {
            Block::Memory => truncate_memory(text.trim(), budget.block(block)),
            _ => truncate_start(text.trim(), budget.block(block), prompt::TODAYS_FILE),
        };
        let mut shown = below(&fitted, BELOW_OURS);
        if shown.is_empty() {
            continue;
        }
        if block == Block::Memory && loaded.memory_percent >= NEARLY_FULL {
            shown.push_str(&format!("\n\n{}", prompt::nearly_full(loaded.memory_percent)));
        }
        sections.add(heading, &defused(&shown));
        label.absorb(of);
    }
    for (heading, block) in [
        (memory_md::RULES, &loaded.rules),
        (prompt::OPEN, &inputs.open),
        (wording::agent_memory::AGENT_MEMORY, &loaded.agent),
        (wording::agent_memory::SUPPLEMENTARY, &loaded.experience),
    ] {
        let (text, of, _) = block.open();
        if !text.is_empty() {
            sections.add(heading, &defused(&below(text, BELOW_OURS)));
            label.absorb(of);
        }
    }
    ContextBlock { sections, label, scope: conversation.scope }
}

/// Escapes text so that it cannot close the frame around the context: facts come from a model, and
/// notes from any source.
fn defused(words: &str) -> String {
    defuse(words, "context")
}

/// Estimated tokens of these texts together.
pub fn guess(texts: &[&Text]) -> u64 {
    texts.iter().map(|text| estimate_tokens(text.open().0)).sum()
}

/// A picture of the newest message, for a model with vision.
#[derive(Debug, Clone)]
pub struct Picture {
    /// MIME type.
    pub mime: Arc<str>,
    /// Image data.
    pub bytes: Arc<[u8]>,
    /// Label of the file.
    pub label: Label,
    /// Message that it came with.
    pub of: MessageId,
}

/// Builds blocks 4 and 5 of a turn as one user message.
pub fn question(record: &TurnRecord, zone: Zone, pictures: &[Picture], placement: Placement) -> Message {
    let scope = record.turn.scope;
    let mut question = Message::new(Role::User);
    for block in [&record.turn.context, &record.turn.recalled] {
        if placement == Placement::Tail && !block.open().0.is_empty() {
            question.push_text(block.clone());
        }
    }
    if !record.reacted.is_empty() {
        // The text quotes the beginnings of messages, so it takes the label of everything that its
        // turn has read.
        let reacted = Arc::from(record.reacted.as_str());
        question.push_text(Labelled::new(reacted, record.turn.label.clone(), scope));
    }
    if let Some(sent) = sent(&record.sent, &record.turn.label, zone, scope, record.turn.claimed_at) {
        question.push_text(sent);
    }
    for edit in &record.edits {
        let (words, label, scope) = edit.text.open();
        let at = zone.show_short(edit.message.effective_at);
        let heading = prompt::edited_since(edit.speaker.as_deref(), &at);
        let framed = prompt::framed(&heading, label, &shorten(words, EDIT_LENGTH));
        question.push_text(Labelled::new(Arc::from(framed), label.clone(), scope));
    }
    for message in &record.messages {
        let texts = record.texts.iter().filter(|text| text.message == message.id && text.kind != TextKind::Edit);
        let files = record.attachments.iter().filter(|file| file.message == message.id);
        let speaker = record.speakers.get(&message.id).map(String::as_str);
        for part in message_parts(message, speaker, texts, files, zone, scope) {
            question.push_text(part);
        }
    }
    if let Some(answer) = record.answer() {
        let at = zone.show_short(record.turn.claimed_at);
        let words = match answer {
            ConsentAnswer::Yes => prompt::they_agreed(&at),
            ConsentAnswer::No => prompt::they_declined(&at),
            ConsentAnswer::Silence => prompt::they_were_silent(&at),
        };
        question.push_text(wording::own(words, scope));
    }
    let is_gone = |of| record.messages.iter().any(|message| message.id == of && message.gone);
    for picture in pictures.iter().filter(|picture| !is_gone(picture.of)) {
        let part = RequestPart::Image { mime: Arc::clone(&picture.mime), bytes: Arc::clone(&picture.bytes) };
        question.push(Labelled::new(part, picture.label.clone(), scope));
    }
    question
}

/// A picture that a tool put before the model.
#[derive(Debug, Clone)]
pub struct ShownPicture {
    /// Name of its file.
    pub name: String,
    /// MIME type.
    pub mime: Arc<str>,
    /// Image data.
    pub bytes: Arc<[u8]>,
    /// Label of the file.
    pub label: Label,
}

/// Builds the message with the newest `most` pictures of a turn's tools; `None` if there are none.
pub fn shown(pictures: &[ShownPicture], most: usize, scope: Scope) -> Option<Message> {
    let mut message = Message::new(Role::User);
    for ShownPicture { name, mime, bytes, label } in pictures.iter().skip(pictures.len().saturating_sub(most)) {
        message.push_text(Labelled::new(Arc::from(attachments::picture(name)), label.clone(), scope));
        let part = RequestPart::Image { mime: Arc::clone(mime), bytes: Arc::clone(bytes) };
        message.push(Labelled::new(part, label.clone(), scope));
    }
    (!pictures.is_empty()).then_some(message)
}

/// Returns whether a turn is shown the words of a message that went to the person without being
/// asked for: nothing that its request does not hold anyway had a part in them.
pub fn is_shown(row: &SentRow, request: &Label) -> bool {
    row.text.label().is_trusted() || request.bears(row.text.label())
}

/// Renders what went to the person without being asked for, so that an answer to it is understood.
/// A text that the turn is not shown is only named, so that it never taints the turn; `None` if
/// there is nothing. What was decided by then is said. `request` is the label of what the turn is shown
/// besides.
pub fn sent(rows: &[SentRow], request: &Label, zone: Zone, scope: Scope, now: Timestamp) -> Option<Text> {
    let mut label = Label::neutral();
    let left_out = rows.len().saturating_sub(MAX_SENT);
    let mut lines: Vec<String> = (left_out > 0).then(|| prompt::sent_before(left_out)).into_iter().collect();
    for row in rows.iter().skip(left_out) {
        let (words, of, _) = row.text.open();
        let (at, cause) = (zone.show_short(row.at), row.cause.to_string());
        lines.push(match (words.is_empty(), is_shown(row, request)) {
            (true, _) => prompt::sent_and_deleted(&at, &cause),
            (false, true) => {
                label.absorb(of);
                prompt::sent(&at, &cause, &defuse(&shorten(words, SENT_LENGTH), "sent"))
            }
            (false, false) => prompt::sent_from_outside(&at, &cause, row.conversation.map(|of| (of, row.message))),
        });
        let decided = row.decided.as_ref().filter(|(_, at)| *at <= now);
        if let (Some((state, _)), Some(line)) = (decided, lines.last_mut()) {
            line.push_str(&prompt::decided_since(state));
        }
    }
    (!lines.is_empty()).then(|| Labelled::new(Arc::from(prompt::sent_block(&lines)), label, scope))
}

fn message_parts<'a>(
    message: &StoredMessage,
    speaker: Option<&str>,
    texts: impl Iterator<Item = &'a StoredText>,
    files: impl Iterator<Item = &'a Attachment>,
    zone: Zone,
    scope: Scope,
) -> Vec<Text> {
    let time = match speaker {
        Some(speaker) => format!("[{}] {speaker}:", zone.show_short(message.effective_at)),
        None => format!("[{}]", zone.show_short(message.effective_at)),
    };
    if message.gone {
        let gone = if message.is_forgotten() { prompt::forgotten(&time) } else { prompt::gone(&time) };
        return vec![wording::own(gone, scope)];
    }
    let (names, mut texts): (Vec<_>, Vec<_>) = texts.partition(|text| text.kind == TextKind::ForwardedFrom);
    let name = names.first();
    // A file alone may be passed on too.
    if !texts.iter().any(|text| text.kind == TextKind::Said) {
        texts.extend(name);
    }
    let from = name.map_or("", |name| &**name.text.open().0);
    let mut parts: Vec<Text> = texts.into_iter().map(|text| framed(text, message, &time, from)).collect();
    for file in files {
        // The name is the sender's: it travels as labelled text, never as the program's own.
        let words = attachments::received(&ReceivedFile {
            kind: file.remote.kind,
            name: &file.remote.name,
            mime: &file.remote.mime,
            trouble: &file.trouble,
            path: received_path(&file.path),
            text: received_path(&file.text_path),
            is_part: file.is_part,
        });
        parts.push(Labelled::new(Arc::from(format!("{time}\n{words}")), file.label.clone(), scope));
    }
    if parts.is_empty() {
        parts.push(wording::own(prompt::nothing_said(&time), scope));
    }
    parts
}

/// Returns a text with its time and, if a person did not type it, in a frame that says so; `from` is
/// the name of its author if they passed it on.
fn framed(text: &StoredText, message: &StoredMessage, time: &str, from: &str) -> Text {
    let (words, label, scope) = text.text.open();
    let framed = match text.kind {
        TextKind::Agreed => format!("{time}\n{words}"),
        TextKind::Said if label.is_trusted() => format!("{time}\n{words}"),
        TextKind::Transcript => format!("{time}\n{}\n{words}", prompt::SPOKEN),
        TextKind::Quote => format!("{time}\n{}", prompt::framed(prompt::QUOTED, label, words)),
        TextKind::File => format!("{time}\n{}", prompt::framed(prompt::FILE, label, words)),
        TextKind::Carried => format!("{time}\n{}", prompt::framed(prompt::CARRIED, label, words)),
        TextKind::Said if message.guest.is_some() => {
            format!("{time}\n{}", prompt::framed(prompt::GUEST_WRITES, label, words))
        }
        TextKind::ForwardedFrom => format!("{time}\n{}", prompt::passed_on(label, from, "")),
        TextKind::Said | TextKind::Edit => format!("{time}\n{}", prompt::passed_on(label, from, words)),
    };
    Labelled::new(Arc::from(framed), label.clone(), scope)
}

/// Builds the message with the summary of a conversation's older part, framed as reference and not
/// as a request.
pub fn summarised(summary: &Text) -> Message {
    let (words, label, scope) = summary.open();
    let framed = prompt::framed(prompt::OLDER_PART, label, words);
    Message::of(Role::User, Labelled::new(Arc::from(framed), label.clone(), scope))
}
