//! Enums stored as words: strum names the words, and [`stored_word!`] lets SQL parameters and rows
//! carry the enum itself. A word that the enum lacks is an error at the read, never a default.

use std::str::FromStr;

use rusqlite::types::{FromSqlError, FromSqlResult, ValueRef};

/// Implements `ToSql` and `FromSql` for enums that derive `EnumString` and `IntoStaticStr`.
macro_rules! stored_word {
    ($($name:ty),+ $(,)?) => {
        $(
            impl rusqlite::types::ToSql for $name {
                fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                    Ok(<&'static str>::from(*self).into())
                }
            }

            impl rusqlite::types::FromSql for $name {
                fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
                    crate::store::stored_word::read_word(value, stringify!($name))
                }
            }
        )+
    };
}
pub(super) use stored_word;

/// A stored word that its enum does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Unknown {name} {word:?}")]
struct UnknownWord {
    name: &'static str,
    word: String,
}

/// Reads a word as an enum.
///
/// # Errors
/// If the enum with that name does not have the word.
pub(super) fn read_word<T: FromStr>(value: ValueRef<'_>, name: &'static str) -> FromSqlResult<T> {
    let word = value.as_str()?;
    word.parse().map_err(|_| FromSqlError::other(UnknownWord { name, word: word.to_owned() }))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use rusqlite::types::{FromSql, ToSql};

    use crate::message::FileKind;
    use crate::people::Role;
    use crate::store::*;

    /// Checks that exactly these words are read, and are written as they were read.
    fn words<T: FromSql + ToSql>(name: &str, known: &str) {
        let db = Connection::open_in_memory().unwrap();
        let read = |word: &dyn ToSql| db.query_row("SELECT ?1", [word], |row| row.get::<_, T>(0));
        for word in known.split(' ') {
            let value = read(&word).unwrap_or_else(|error| panic!("{name}: {error}"));
            let written: String = db.query_row("SELECT ?1", [value], |row| row.get(0)).unwrap();
            assert_eq!(written, word, "{name}");
        }
        for unknown in ["", "bogus", &known.to_uppercase()] {
            let error = read(&unknown).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(&format!("Unknown {name} {unknown:?}")), "{name}: {error}");
        }
        assert!(read(&7).is_err() && read(&rusqlite::types::Null).is_err(), "{name}");
    }

    #[test]
    fn an_unknown_stored_word_is_an_error() {
        words::<ActionKind>("ActionKind", "create_skill change_skill promote_note memory configuration other");
        words::<ActionState>("ActionState", "new taken proposed kept suggested refused over_limit malformed");
        words::<AttachmentState>("AttachmentState", "remote here failed gone");
        words::<BoundaryReason>("BoundaryReason", "first silence new schedule");
        words::<ChangeState>("ChangeState", "intended done conflict");
        words::<ConversationKind>("ConversationKind", "chat reflection heartbeat task");
        words::<EntryKind>("EntryKind", "fact note day text file conversation reflection");
        words::<ExtractionCause>("ExtractionCause", "turns pressure compaction boundary");
        words::<ExtractionState>("ExtractionState", "wanted asked kept nothing given_up");
        words::<InboxOutcome>("InboxOutcome", "admitted command edit button unsupported stranger nothing unreadable");
        words::<FileKind>("FileKind", "photo voice sound document");
        words::<ErasureKind>("ErasureKind", "note fact said person");
        words::<ErasureState>("ErasureState", "wanted left done");
        words::<KeepState>("KeepState", "new open yes kept no expired changed");
        words::<MessageKind>("MessageKind", "said command reply task reflection");
        words::<MessageState>("MessageState", "queued claimed answered closed done");
        words::<MoveKind>("MoveKind", "rename hand_over");
        words::<MoveState>("MoveState", "wanted begun cleared");
        words::<OpeningState>("OpeningState", "none standin final");
        words::<OriginKind>("OriginKind", "turn reflection note import folder shipped");
        words::<OutboxKind>("OutboxKind", "reply notice answer reaction");
        words::<PartState>("PartState", "waiting sending sent failed");
        words::<ProposalState>("ProposalState", "pending approved rejected expired conflict");
        words::<QuestionState>("QuestionState", "open yes refused expired");
        words::<ReminderKind>("ReminderKind", "reminder task");
        words::<ReminderState>("ReminderState", "waiting done cancelled");
        words::<ReviewStage>("ReviewStage", "taint hash structure scan reviewer person");
        words::<Role>("Role", "guest member owner");
        words::<SkillState>("SkillState", "live held broken gone");
        words::<SlotState>("SlotState", "claimed working done quiet missed failed");
        words::<StageOutcome>("StageOutcome", "passed waits none skipped refused");
        words::<StepKind>("StepKind", "model tool");
        words::<SummaryInputs>("SummaryInputs", "trusted full");
        words::<SummaryState>("SummaryState", "wanted standin made void");
        words::<TextKind>("TextKind", "said quote transcript file edit carried");
        words::<TurnState>("TurnState", "running waiting done stopped gave_up");
    }
}
