//! All text columns of the journal, with their scope and their redaction.
//!
//! A test reads the schema: every column that can hold text is in this list, or in the test's list
//! of columns that hold none.

/// Redaction of a column that contains erased words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnRedaction {
    /// Deletes matching lines.
    Lines,
    /// Deletes matching elements of a JSON list.
    List,
    /// Replaces the whole value by this one.
    Whole(&'static str),
    /// Deletes the row.
    Row,
    /// Deletes matching lines of a file version, as in the file itself. One without a line left, or
    /// that is not in its place yet, is deleted.
    Version,
    /// Redacts the text of a message of any kind.
    Text,
    /// Blanks a step of a turn.
    Step,
    /// Keeps the value unless the request covers it, and informs the person.
    Keep(KeptMatch),
}

/// Kind of match that stays unless the request covers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeptMatch {
    /// Part of a message.
    Message,
    /// Text of a reminder, which is covered like a message.
    Reminder,
    /// Content of a skill proposal.
    Proposal,
}

/// Category in which a redaction is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountAs {
    Entry,
    Version,
    Summary,
    Reminder,
    Copy,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct TextColumn {
    pub(super) table: &'static str,
    pub(super) column: &'static str,
    /// Condition for rows of scope `?1`.
    pub(super) rows: &'static str,
    pub(super) redaction: ColumnRedaction,
    pub(super) counts: CountAs,
    /// Expression for the conversation of a row, or `NULL`.
    pub(super) conversation: &'static str,
    /// Expression for the key of the item to which a row belongs, or for the path of its file;
    /// `NULL` for copies, which a person cannot leave out.
    pub(super) item: &'static str,
}

// The parentheses distinguish it from every other scope check.
const OWN: &str = "(scope = ?1)";
/// Entries for lines of memory files are deleted with those lines.
const FILE_ENTRY: &str = "scope = ?1 AND kind IN ('fact', 'note', 'day', 'text')";
const OTHER_ENTRY: &str = "scope = ?1 AND kind NOT IN ('fact', 'note', 'day', 'text')";
const OF_OUTBOX: &str = "outbox_id IN (SELECT id FROM outbox WHERE scope = ?1)";
/// Rows that concern the owners.
const OF_OWNERS: &str = "?1 IN (SELECT 'person:' || id FROM people WHERE role = 'owner')";
const OF_TURN: &str = "turn_id IN (SELECT id FROM turns WHERE scope = ?1)";
const OF_MESSAGE: &str = "id IN (SELECT inbox_id FROM messages WHERE scope = ?1) OR message_id IN (SELECT id FROM messages WHERE scope = ?1)";
const OF_FILE: &str = "file_id IN (SELECT id FROM files WHERE scope = ?1)";
const NONE: &str = "NULL";
const MESSAGE_ITEM: &str = "'message:' || message_id";
const SUMMARY_ITEM: &str = "'summary:' || conversation_id";
const REMINDER_ITEM: &str = "'reminder:' || id";
const PATH: &str = "path";
const PATH_OF_FILE: &str = "(SELECT f.path FROM files f WHERE f.id = file_id)";
const CONVERSATION: &str = "conversation_id";
const CONVERSATION_OF_SUMMARY: &str = "(SELECT s.conversation_id FROM summaries s WHERE s.id = summary_id)";
const SUMMARY_OF_ITEM: &str = "'summary:' || (SELECT s.conversation_id FROM summaries s WHERE s.id = summary_id)";
const CONVERSATION_OF_TURN: &str = "(SELECT u.conversation_id FROM turns u WHERE u.id = turn_id)";

impl TextColumn {
    /// Returns true for lines of files: there only lines with little else are deleted.
    pub(super) fn is_of_files(&self) -> bool {
        self.counts == CountAs::Version || self.rows == FILE_ENTRY
    }
}

const fn own(
    table: &'static str,
    column: &'static str,
    redaction: ColumnRedaction,
    counts: CountAs,
    conversation: &'static str,
) -> TextColumn {
    TextColumn { table, column, rows: OWN, redaction, counts, conversation, item: NONE }
}

const fn of(
    table: &'static str,
    column: &'static str,
    rows: &'static str,
    redaction: ColumnRedaction,
    counts: CountAs,
) -> TextColumn {
    TextColumn { table, column, rows, redaction, counts, conversation: NONE, item: NONE }
}

const fn of_item(item: &'static str, column: TextColumn) -> TextColumn {
    TextColumn { item, ..column }
}

/// All text columns. Referring rows come before their targets. File contents come last, because
/// they lead to the source messages.
pub(super) const TEXT_COLUMNS: &[TextColumn] = &[
    of_item(
        MESSAGE_ITEM,
        own(
            "texts",
            "text",
            ColumnRedaction::Text,
            CountAs::Copy,
            "(SELECT m.conversation_id FROM messages m WHERE m.id = message_id)",
        ),
    ),
    of_item(MESSAGE_ITEM, own("attachments", "name", ColumnRedaction::Keep(KeptMatch::Message), CountAs::Copy, NONE)),
    own("steps", "text", ColumnRedaction::Step, CountAs::Copy, CONVERSATION_OF_TURN),
    own("steps", "call", ColumnRedaction::Step, CountAs::Copy, CONVERSATION_OF_TURN),
    own("turns", "context", ColumnRedaction::Lines, CountAs::Copy, CONVERSATION),
    own("turns", "recalled", ColumnRedaction::Lines, CountAs::Copy, CONVERSATION),
    own("turns", "reacted", ColumnRedaction::Lines, CountAs::Copy, CONVERSATION),
    own("questions", "call", ColumnRedaction::Whole("{}"), CountAs::Copy, CONVERSATION),
    own("questions", "covers", ColumnRedaction::Whole("nothing"), CountAs::Copy, CONVERSATION),
    own("grants", "subject", ColumnRedaction::Whole(""), CountAs::Copy, CONVERSATION),
    of_item(SUMMARY_ITEM, own("summaries", "title", ColumnRedaction::Whole("…"), CountAs::Summary, CONVERSATION)),
    of_item(SUMMARY_ITEM, own("summaries", "topics", ColumnRedaction::List, CountAs::Summary, CONVERSATION)),
    of_item(SUMMARY_ITEM, own("summaries", "decisions", ColumnRedaction::List, CountAs::Summary, CONVERSATION)),
    of_item(SUMMARY_ITEM, own("summaries", "preferences", ColumnRedaction::List, CountAs::Summary, CONVERSATION)),
    of_item(SUMMARY_ITEM, own("summaries", "pending", ColumnRedaction::List, CountAs::Summary, CONVERSATION)),
    of_item(
        SUMMARY_OF_ITEM,
        own("open_items", "text", ColumnRedaction::Row, CountAs::Summary, CONVERSATION_OF_SUMMARY),
    ),
    of_item(SUMMARY_ITEM, own("compactions", "summary", ColumnRedaction::Lines, CountAs::Summary, CONVERSATION)),
    own("extractions", "facts", ColumnRedaction::List, CountAs::Summary, CONVERSATION),
    own("extractions", "corrections", ColumnRedaction::List, CountAs::Summary, CONVERSATION),
    own("conversations", "opening", ColumnRedaction::Lines, CountAs::Summary, "id"),
    own("reflections", "title", ColumnRedaction::Whole("…"), CountAs::Summary, NONE),
    own("actions", "title", ColumnRedaction::Whole("…"), CountAs::Summary, NONE),
    own("actions", "payload", ColumnRedaction::Whole("{}"), CountAs::Summary, NONE),
    own("imports", "name", ColumnRedaction::Whole(""), CountAs::Copy, NONE),
    own("keeps", "shown", ColumnRedaction::Row, CountAs::Copy, NONE),
    own("keeps", "instead_of", ColumnRedaction::Row, CountAs::Copy, NONE),
    own("keeps", "path", ColumnRedaction::Row, CountAs::Copy, NONE),
    of_item(
        REMINDER_ITEM,
        own("reminders", "text", ColumnRedaction::Keep(KeptMatch::Reminder), CountAs::Reminder, NONE),
    ),
    own("proposals", "rationale", ColumnRedaction::Keep(KeptMatch::Proposal), CountAs::Copy, NONE),
    own("verdicts", "note", ColumnRedaction::Keep(KeptMatch::Proposal), CountAs::Copy, NONE),
    own("verdicts", "findings", ColumnRedaction::Keep(KeptMatch::Proposal), CountAs::Copy, NONE),
    of(
        "skill_files",
        "bytes",
        "proposal_id IN (SELECT id FROM proposals WHERE scope = ?1)",
        ColumnRedaction::Keep(KeptMatch::Proposal),
        CountAs::Copy,
    ),
    of("strangers", "name", OF_OWNERS, ColumnRedaction::Whole(""), CountAs::Copy),
    own("outbox", "text", ColumnRedaction::Lines, CountAs::Copy, NONE),
    own("outbox", "buttons", ColumnRedaction::Whole("[]"), CountAs::Copy, NONE),
    of("parts", "rich", OF_OUTBOX, ColumnRedaction::Lines, CountAs::Copy),
    of("parts", "plain", OF_OUTBOX, ColumnRedaction::Lines, CountAs::Copy),
    of("parts", "buttons", OF_OUTBOX, ColumnRedaction::Whole("[]"), CountAs::Copy),
    of("parts", "file", OF_OUTBOX, ColumnRedaction::Whole("gone"), CountAs::Copy),
    of("enclosures", "what", OF_TURN, ColumnRedaction::Row, CountAs::Copy),
    of("inbox", "raw", OF_MESSAGE, ColumnRedaction::Whole(""), CountAs::Copy),
    of("entries", "category", OTHER_ENTRY, ColumnRedaction::Row, CountAs::Entry),
    of_item(PATH, of("entries", "category", FILE_ENTRY, ColumnRedaction::Row, CountAs::Entry)),
    of("entries", "name", OTHER_ENTRY, ColumnRedaction::Row, CountAs::Entry),
    of("entries", "text", OTHER_ENTRY, ColumnRedaction::Row, CountAs::Entry),
    of_item(PATH, of("entries", "name", FILE_ENTRY, ColumnRedaction::Row, CountAs::Entry)),
    of_item(PATH, of("entries", "text", FILE_ENTRY, ColumnRedaction::Row, CountAs::Entry)),
    of_item(PATH_OF_FILE, of("file_contents", "content", OF_FILE, ColumnRedaction::Version, CountAs::Version)),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::Journal;

    /// Columns without personal text: states, ids, digests, labels, and names defined by adapters
    /// or our own program. Columns recognised by name are left out by [`is_plain`].
    const NO_WORDS: &[&str] = &[
        "addresses.account",
        "addresses.adapter",
        "addresses.alias",
        "addresses.peer",
        "attachments.mime",
        "attachments.path",
        "attachments.reference",
        "attachments.text_path",
        "compactions.model",
        "conversations.began_because",
        "conversations.opening_label",
        "conversations.opening_state",
        "cursors.account",
        "cursors.adapter",
        "cursors.cursor",
        "decisions.act",
        "decisions.decider",
        "decisions.outcome",
        "decisions.skill",
        "decisions.way",
        "declared_addresses.adapter",
        "declared_addresses.peer",
        "deleted_ahead.sender",
        "embeddings.model",
        "embeddings.vector",
        "entries.path",
        "entries.section",
        "entry_uses.key",
        "extractions.model",
        "files.author",
        "files.passages",
        "files.path",
        "files.replaces",
        "forgettings.choice",
        "forgettings.counts",
        "forgettings.needles",
        "forgettings.target",
        "health_changes.part",
        "groups.account",
        "groups.adapter",
        "groups.allowed_as",
        "groups.chat",
        "grants.covers",
        "grants.sources",
        "guests.sender",
        "heartbeats.inputs",
        "inbox.account",
        "inbox.adapter",
        "inbox.fate",
        "indexed.path",
        "indexed.stamp",
        "keeps.replaces",
        "messages.album",
        "messages.also",
        "meta.key",
        "folder_moves.source",
        "folder_moves.target",
        "meta.value",
        "outbox.decision",
        "outbox.quotes",
        "outbox.urgency",
        "outside_tools.description",
        "outside_tools.marks",
        "outside_tools.name",
        "outside_tools.schema",
        "outside_tools.server",
        "pairing_codes.name",
        "parts.form",
        "people.channel_language",
        "people.declared",
        "people.ended",
        "people.folder",
        "people.language",
        "people.name",
        "people.own_language",
        "people.own_zone",
        "people.prefer",
        "people.quiet_hours",
        "people.zone",
        "proposals.base",
        "proposals.change",
        "proposals.content",
        "proposals.new_name",
        "proposals.nonce",
        "proposals.skill",
        "proposals.standing",
        "reactions.emoji",
        "reactions.told",
        "reflections.report",
        "reminders.cron",
        "skill_changes.base",
        "skill_changes.skill",
        "skill_files.path",
        "skill_versions.hosts",
        "skill_versions.skill",
        "skills.description",
        "skills.installed",
        "skills.name",
        "skills.shipped",
        "skills.title",
        "slots.job",
        "slots.period",
        "slots.wish",
        "spending.day",
        "spending.model",
        "spending.purpose",
        "steps.model",
        "steps.tool",
        "strangers.adapter",
        "strangers.account",
        "strangers.sender",
        "strangers.guess_day",
        "strangers.told_day",
        "summaries.model",
        "summaries.view",
        "turns.context_label",
        "unindexed.path",
        "verdicts.outcome",
        "verdicts.stage",
        "web_codes.began_by",
        "web_sessions.began_by",
        "web_sessions.browser",
        "web_sessions.theme",
    ];

    fn is_plain(column: &str) -> bool {
        matches!(
            column,
            "state"
                | "kind"
                | "label"
                | "scope"
                | "digest"
                | "trouble"
                | "reason"
                | "cause"
                | "external_id"
                | "origin"
                | "role"
                | "day"
                | "key"
                | "child"
                | "parent"
                | "node"
                | "accepted_digest"
        )
    }

    #[tokio::test]
    async fn every_column_that_can_hold_words_is_thought_of() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&folder.path().join("j.db"), None).unwrap();
        let columns = journal.read(|db| {
            let mut query = db.prepare(
                "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'
                 AND c.type IN ('TEXT', 'BLOB') AND m.name NOT LIKE '%\\_fts%' ESCAPE '\\'",
            )?;
            let rows = query.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        });
        let known = |table: &str, column: &str| {
            TEXT_COLUMNS.iter().any(|place| place.table == table && place.column == column)
                || NO_WORDS.contains(&format!("{table}.{column}").as_str())
                || is_plain(column)
        };
        let columns = columns.await.unwrap();
        let unknown: Vec<_> = columns.iter().filter(|(table, column)| !known(table, column)).collect();
        assert_eq!(unknown, Vec::<&(String, String)>::new());
        let all: BTreeSet<String> = columns.iter().map(|(table, column)| format!("{table}.{column}")).collect();
        let listed = TEXT_COLUMNS.iter().map(|place| format!("{}.{}", place.table, place.column));
        let gone: Vec<String> =
            listed.chain(NO_WORDS.iter().map(|name| (*name).to_owned())).filter(|name| !all.contains(name)).collect();
        assert_eq!(gone, Vec::<String>::new(), "These are listed and do not exist");
    }
}
