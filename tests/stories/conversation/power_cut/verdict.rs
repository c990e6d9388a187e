//! Checks of the promises, in the journal and at the other end of the wire.
//!
//! Typed messages and replies of the model each carry a unique token, so a loss is a missing token
//! and a double is a token that appears twice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use compline::id::PersonId;
use compline::trust::Scope;
use rusqlite::Connection;

use super::plot::Given;
use crate::support::channel::Channel;
use crate::support::every_channel::{CrashTest, Story};
use crate::support::power::PowerCut;
use crate::support::story::{ADA, BEN};

const MARK: &str = "(possibly repeated)";

/// Events outside the program.
#[derive(Default, Debug)]
pub struct Told {
    /// Sender and id of each message.
    pub said: Vec<(i64, i64)>,
    /// Sender and id of each command.
    pub commands: Vec<(i64, i64)>,
    pub stops: usize,
    /// Calls whose outcome the program could not know.
    pub trouble: usize,
    /// Set if a person could not be reached for a while.
    pub blocked: bool,
}

/// Tokens of the model's replies on the disk.
pub fn stored_replies(story: &Story) -> Vec<String> {
    let sql = "SELECT text || call FROM steps WHERE kind = 'model' AND state = 'done' AND text || call LIKE '%answer%'";
    rows(&open(&story.home), sql, |row| row.get::<_, String>(0)).iter().map(|reply| token_of(reply)).collect()
}

/// Checks that no work is left.
pub fn is_quiet(story: &Story) -> bool {
    let left = "SELECT (SELECT count(*) FROM messages WHERE state IN ('queued', 'claimed'))
        + (SELECT count(*) FROM turns WHERE state IN ('running', 'waiting')) + (SELECT count(*) FROM outbox WHERE state = 'pending')
        + (SELECT count(*) FROM summaries WHERE state IN ('wanted', 'standin'))
        + (SELECT count(*) FROM extractions WHERE state IN ('wanted', 'asked')) + (SELECT count(*) FROM compactions WHERE state = 'wanted')";
    story.count(left) == 0
}

/// Checks every promise.
pub fn judge(crash_test: &CrashTest, told: &Told, cuts: &[PowerCut], given: &[Given], stored: &[Vec<String>]) {
    let story = &crash_test.story;
    let db = open(&story.home);
    assert!(is_quiet(story), "something is left to do");
    the_journal_is_sound(&db);
    every_message_is_settled_once(&db, story, told);
    every_turn_ends_once(&db);
    order_is_kept(&db);
    let joins = crash_test.jobs_so_far().get("take messages in").copied().unwrap_or_default();
    no_reply_is_asked_for_again(&db, story, cuts, usize::try_from(joins).unwrap(), given, stored);
    every_reply_arrives(&db, story, told, cuts);
    every_conversation_is_written_down(&db);
    every_fact_is_kept_once(&db, &story.home);
    every_note_has_one_line(&story.home);
    what_gave_way_is_in_its_summary(&db);
    let unread = "SELECT count(*) FROM attachments a WHERE a.kind = 'document' AND a.state = 'here'
        AND NOT EXISTS (SELECT 1 FROM texts t WHERE t.message_id = a.message_id AND t.kind = 'file')";
    assert_eq!(one::<i64>(&db, unread), 0, "a file that is here was read");
}

fn the_journal_is_sound(db: &Connection) {
    assert_eq!(one::<String>(db, "PRAGMA integrity_check"), "ok");
    assert_eq!(one::<i64>(db, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

/// Messages that the channel handed over but that were cut off before they were stored cannot be
/// answered. Nothing else may be missing.
fn every_message_is_settled_once(db: &Connection, story: &Story, told: &Told) {
    let lost = story.fake.lost();
    let stored = |kind: &str, who: i64, id: i64| -> i64 {
        let name = story.fake.external_id(who, id);
        one(db, &format!("SELECT count(*) FROM messages WHERE kind = '{kind}' AND external_id = '{name}'"))
    };
    for (kind, all) in [("said", &told.said), ("command", &told.commands)] {
        for (who, id) in all {
            let times = stored(kind, *who, *id);
            assert!(times == 1 || (times == 0 && lost.contains(id)), "{kind} {id} of {who} is stored {times} times");
        }
    }
    let expected = told.commands.iter().filter(|(who, id)| stored("command", *who, *id) == 1).count() as i64;
    let commands: i64 = one(db, "SELECT count(*) FROM messages WHERE kind = 'command' AND state = 'answered'");
    let answers: i64 = one(db, "SELECT count(*) FROM outbox WHERE kind IN ('answer', 'refusal')");
    assert_eq!((commands, answers), (expected, expected), "commands and their answers");
    let odd = "SELECT coalesce(group_concat(m.state || ' ' || m.reason || ' in a turn that is ' || coalesce(t.state, 'nowhere')), '')
        FROM messages m LEFT JOIN turns t ON t.id = m.turn_id WHERE m.kind = 'said' AND NOT CASE m.state WHEN 'answered' THEN (m.reason = '' AND t.state = 'done') OR (m.reason = 'stopped' AND coalesce(t.state, 'stopped') = 'stopped')
        WHEN 'closed' THEN m.reason <> '' AND (t.id IS NULL OR t.state = 'gave_up') ELSE 0 END";
    assert_eq!(one::<String>(db, odd), "", "messages that are neither answered nor closed with a reason");
}

fn every_turn_ends_once(db: &Connection) {
    let replies = "SELECT count(*) FROM turns t WHERE (SELECT count(*) FROM messages m WHERE m.turn_id = t.id AND m.kind = 'reply')
        <> (t.state = 'done')";
    assert_eq!(one::<i64>(db, replies), 0, "a turn that is done has one reply, any other has none");
    let delivered = "SELECT count(*) FROM messages m WHERE kind = 'reply' AND (SELECT count(*) FROM outbox o WHERE o.message_id = m.id) <> 1";
    assert_eq!(one::<i64>(db, delivered), 0, "a reply is posted once");
    let cut_off =
        "SELECT count(*) FROM steps s JOIN turns t ON t.id = s.turn_id WHERE t.state = 'done' AND s.state <> 'done'";
    assert_eq!(one::<i64>(db, cut_off), 0, "a turn that is done has no step that is not");
}

fn order_is_kept(db: &Connection) {
    let crossed = "SELECT count(*) FROM messages a JOIN messages b ON a.stream_id = b.stream_id AND a.id < b.id
        WHERE a.kind = 'said' AND b.kind = 'said' AND a.turn_id > b.turn_id";
    assert_eq!(one::<i64>(db, crossed), 0, "turns take messages in order");
    let replies = "SELECT count(*) FROM messages a JOIN messages b ON a.stream_id = b.stream_id AND a.id < b.id
        WHERE a.kind = 'reply' AND b.kind = 'reply' AND a.turn_id > b.turn_id";
    assert_eq!(one::<i64>(db, replies), 0, "replies come in the order of what they answer");
    let apart = "SELECT count(*) FROM messages a JOIN messages b ON b.stream_id = a.stream_id AND b.kind = 'said' AND b.id =
        (SELECT min(id) FROM messages c WHERE c.stream_id = a.stream_id AND c.kind = 'said' AND c.id > a.id)
        JOIN conversations n ON n.id = b.conversation_id
        WHERE a.kind = 'said' AND (a.conversation_id <> b.conversation_id)
            <> (b.effective_at - a.effective_at > 6 * 3600 * 1000 OR (n.began_because = 'new' AND a.conversation_id <> n.id))";
    assert_eq!(
        one::<i64>(db, apart),
        0,
        "a conversation ends after six hours of silence or because somebody asked, and only then"
    );
}

fn no_reply_is_asked_for_again(
    db: &Connection,
    story: &Story,
    cuts: &[PowerCut],
    joins: usize,
    given: &[Given],
    stored: &[Vec<String>],
) {
    let kept = stored_replies(story);
    let all: BTreeSet<&String> = kept.iter().collect();
    assert_eq!(all.len(), kept.len(), "a reply of the model is stored once");
    for (cut, before) in stored.iter().enumerate() {
        let gone: Vec<_> = before.iter().filter(|reply| !all.contains(reply)).collect();
        assert!(gone.is_empty(), "stored before cut {cut} and asked for again: {gone:?}");
    }
    for person in [1, 2] {
        let lost =
            given.iter().filter(|reply| reply.scope == Scope::Person(PersonId(person)) && !all.contains(&reply.token));
        let lost: Vec<_> = lost.collect();
        let sql = format!("SELECT count(*) FROM turns WHERE person_id = {person} AND state IN ('stopped', 'gave_up')");
        let ended = usize::try_from(one::<i64>(db, &sql)).unwrap();
        assert!(
            lost.len() <= cuts.len() + ended + joins,
            "person {person}: more than one lost reply for each cut {cuts:?} and each of {joins} joined turns: {lost:?}"
        );
    }
}

fn every_reply_arrives(db: &Connection, story: &Story, told: &Told, cuts: &[PowerCut]) {
    for who in [ADA, BEN] {
        let person = if who == ADA { 1 } else { 2 };
        let sent = story.received_by(who);
        let sql = format!(
            "SELECT t.text FROM messages m JOIN texts t ON t.message_id = m.id JOIN outbox o ON o.message_id = m.id
             JOIN streams s ON s.id = m.stream_id WHERE m.kind = 'reply' AND o.state = 'sent' AND s.person_id = {person} ORDER BY m.id"
        );
        let replies = rows(db, &sql, |row| row.get::<_, String>(0));
        let expected: Vec<String> = replies.iter().flat_map(|reply| marks(reply)).collect();
        let seen: Vec<Vec<String>> = sent.iter().map(|text| marks(text)).collect();
        each_mark_arrives_once(&expected, &sent, &seen);
        let places: BTreeMap<&String, usize> = expected.iter().enumerate().map(|(place, mark)| (mark, place)).collect();
        let order: Vec<usize> =
            seen.iter().filter_map(|marks| marks.first().and_then(|mark| places.get(mark)).copied()).collect();
        assert!(order.is_sorted(), "{who} was sent things out of order: {order:?}");
        let doubtful = sent.iter().filter(|text| text.contains(MARK)).count();
        assert!(
            doubtful <= cuts.len() + told.trouble,
            "{who}: {doubtful} marked parts after {} cuts {cuts:?}",
            cuts.len()
        );
        let strange = seen.iter().flatten().find(|mark| !mark.starts_with(&format!("answer{who}x")));
        assert_eq!(strange, None, "{who} was sent what was meant for somebody else");
        let parts = format!(
            "SELECT count(*) FROM parts p JOIN outbox o ON o.id = p.outbox_id JOIN addresses a ON a.id = o.address_id
             WHERE p.state = 'sent' AND a.peer = '{}'",
            story.fake.peer(who)
        );
        // Repeated parts are marked and already counted; any surplus is growing answers that were
        // never finished. A cut may leave both.
        let known = usize::try_from(one::<i64>(db, &parts)).unwrap();
        let more = sent.len().saturating_sub(known + doubtful);
        assert!(
            more <= cuts.len() + told.trouble + told.stops,
            "{who} was sent {more} messages more than the journal knows and the cuts {cuts:?} explain: {:#?}",
            sent.iter().map(|text| text.chars().take(60).collect::<String>()).collect::<Vec<_>>()
        );
    }
    let failed: i64 = one(db, "SELECT count(*) FROM outbox WHERE state <> 'sent'");
    let why: String = one(
        db,
        "SELECT coalesce(group_concat(kind || ': ' || state || trouble), '') FROM outbox WHERE state <> 'sent'",
    );
    assert!(failed == 0 || told.blocked, "{failed} deliveries were given up: {why}");
}

fn each_mark_arrives_once(expected: &[String], sent: &[String], seen: &[Vec<String>]) {
    for mark in expected {
        let with: Vec<&String> =
            sent.iter().zip(seen).filter(|(_, marks)| marks.contains(mark)).map(|(text, _)| text).collect();
        assert!(!with.is_empty(), "{mark} never arrived");
        let plain = with.iter().filter(|text| !text.contains(MARK)).count();
        assert!(plain <= 1, "{mark} arrived {plain} times without a word about it");
    }
}

fn every_conversation_is_written_down(db: &Connection) {
    let missing = "SELECT count(*) FROM conversations c WHERE messages > 0 AND (SELECT count(*) FROM summaries s
        WHERE s.conversation_id = c.id AND s.last_message_id = c.last_message_id AND s.view = 'trusted' AND s.state = 'made') <> 1";
    assert_eq!(one::<i64>(db, missing), 0, "each conversation is written down once");
}

/// Marks of all paragraphs, in order: `answer1001x3z0z`, …
fn marks(text: &str) -> Vec<String> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| word.starts_with("answer") && word.ends_with('z') && word.matches('z').count() == 2)
        .map(str::to_owned)
        .collect()
}

/// Token of a text, such as `answer1001x3`.
fn token_of(text: &str) -> String {
    let from = text.split("answer").nth(1).unwrap_or_default();
    let token: String = from.chars().take_while(|letter| letter.is_ascii_digit() || *letter == 'x').collect();
    format!("answer{token}")
}

fn open(home: &Path) -> Connection {
    Connection::open(home.join("compline.db")).unwrap()
}

fn one<T: rusqlite::types::FromSql>(db: &Connection, sql: &str) -> T {
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn rows<T>(db: &Connection, sql: &str, read: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
    let mut query = db.prepare(sql).unwrap();
    query.query_map([], |row| read(row)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Checks that each extracted fact is in its file once and is found once, and that no message was
/// read twice for it.
fn every_fact_is_kept_once(db: &Connection, home: &Path) {
    let known = texts_below(home).join("\n");
    let kept = rows(db, "SELECT facts FROM extractions WHERE state = 'kept'", |row| row.get::<_, String>(0));
    for fact in kept.iter().flat_map(|facts| facts.match_indices("Thing ").map(|(at, _)| &facts[at..])) {
        let key = &fact[..=fact.find('z').unwrap()];
        assert_eq!(known.matches(&format!("**{key}**")).count(), 1, "{key} stands once");
        let found = rows(db, &format!("SELECT count(*) FROM entries WHERE name = '{key}'"), |row| row.get::<_, i64>(0));
        assert!(found[0] <= 1, "{key} is found {} times", found[0]);
    }
    let overlaps =
        "SELECT count(*) FROM extractions a JOIN extractions b ON a.conversation_id = b.conversation_id AND a.id < b.id
        WHERE a.state = 'kept' AND b.state = 'kept'
        AND a.after_message < b.upto_message AND b.after_message < a.upto_message";
    assert_eq!(rows(db, overlaps, |row| row.get::<_, i64>(0)), [0], "a message was read twice");
}

/// Checks that each note has one line in the index, each line a note, and that no daily line
/// appears twice.
fn every_note_has_one_line(home: &Path) {
    for folder in ["workspace/memory", "workspace/people/2-ben/memory"] {
        let folder = home.join(folder);
        let Ok(index) = std::fs::read_to_string(folder.join("MEMORY.md")) else { continue };
        let lines: Vec<&str> = index.lines().filter(|line| line.starts_with("- [note ")).collect();
        let files = std::fs::read_dir(&folder).unwrap().filter_map(|file| file.unwrap().file_name().into_string().ok());
        let notes: Vec<String> = files.filter(|name| name.starts_with("note-")).collect();
        for note in &notes {
            assert_eq!(lines.iter().filter(|line| line.contains(&format!("({note})"))).count(), 1, "{note}: {index}");
        }
        assert_eq!(lines.len(), notes.len(), "{index}");
    }
    for text in texts_below(home) {
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("] line answer")).collect();
        let once: BTreeSet<&str> = lines.iter().map(|line| line.split_once("] ").unwrap().1).collect();
        assert_eq!(lines.len(), once.len(), "{text}");
    }
}

/// Checks that the pointer of each conversation is at its newest summary.
fn what_gave_way_is_in_its_summary(db: &Connection) {
    let torn = "SELECT count(*) FROM conversations c WHERE c.compacted_upto > 0 AND NOT EXISTS (
        SELECT 1 FROM compactions k WHERE k.conversation_id = c.id AND k.state = 'made' AND k.upto_turn = c.compacted_upto
        AND k.summary <> '')";
    assert_eq!(rows(db, torn, |row| row.get::<_, i64>(0)), [0]);
}

/// Markdown files of the workspace and of the learnings outside it.
fn texts_below(home: &Path) -> Vec<String> {
    let (mut left, mut texts) = (vec![home.join("workspace"), home.join("experience")], Vec::new());
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            let path = entry.path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                texts.extend(std::fs::read_to_string(&path));
            }
        }
    }
    texts
}
