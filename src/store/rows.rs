//! Reads rows (as values, tuples and structs; words as enums) and inserts them.
//!
//! strum names the words of a stored enum, and [`stored_word!`] lets SQL parameters and rows carry
//! the enum itself. A word that the enum lacks is an error at the read, never a default.

use std::str::FromStr;
use std::sync::Arc;

use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};

use crate::trust::{Labelled, Text};

/// A type that a row is read as. `K` tells the compiler which of the forms below it has.
pub(super) trait FromRow<K>: Sized {
    /// Reads the row.
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self>;
}

/// A struct with the beginning of the queries for it.
pub(super) trait Selected: FromRow<Record> {
    /// `SELECT … FROM …`.
    const SELECT: &str;
}

/// A row read as the value of its first column.
pub(super) enum Value {}
/// A row read as a tuple, by position.
pub(super) enum Tuple {}
/// A row read as a struct, by the names of its columns.
pub(super) enum Record {}

impl<T: FromSql> FromRow<Value> for T {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        row.get(0)
    }
}

macro_rules! tuples {
    ($($($name:ident $index:literal)+;)+) => {
        $(
            impl<$($name: FromSql),+> FromRow<Tuple> for ($($name,)+) {
                fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
                    Ok(($(row.get::<_, $name>($index)?,)+))
                }
            }
        )+
    };
}

tuples! {
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
}

/// Declares how a struct is read from a row: fields in columns of the same name, fields in columns
/// of another name (`field: "column"`), SQL expressions (`field = "expression"`), and computed
/// fields (`with |row| { field: expression }`).
///
/// `Struct from "table"` also declares the beginning of its queries. Columns of computed fields
/// follow the table: `Struct from "table", "text, label, scope"`. A query with a join has a
/// constant of its own: `Struct from SELECT`.
macro_rules! from_row {
    (
        $name:ident from $table:literal $(, $columns:literal)? {
            $first:ident $(: $first_column:literal)?
            $(, $field:ident $(: $column:literal)? $(= $expression:literal)?)* $(,)?
        }
        $($computed:tt)*
    ) => {
        impl crate::store::rows::Selected for $name {
            const SELECT: &str = concat!(
                "SELECT ", crate::store::rows::from_row!(@column $first $($first_column)?),
                $(", ", crate::store::rows::from_row!(@column $field $($column)? $(= $expression)?),)*
                $(", ", $columns,)? " FROM ", $table
            );
        }
        crate::store::rows::from_row! {
            $name { $first $(: $first_column)? $(, $field $(: $column)?)* } $($computed)*
        }
    };
    ($name:ident from $select:ident $($fields:tt)*) => {
        impl crate::store::rows::Selected for $name {
            const SELECT: &str = $select;
        }
        crate::store::rows::from_row! { $name $($fields)* }
    };
    (
        $name:ident { $($field:ident $(: $column:literal)?),* $(,)? }
        $(with |$row:ident| { $($other:ident: $value:expr),+ $(,)? })?
    ) => {
        impl crate::store::rows::FromRow<crate::store::rows::Record> for $name {
            fn from_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                $(let $row = row;)?
                let mut columns = crate::store::rows::Columns::of(row);
                Ok(Self {
                    $($field: columns.read(crate::store::rows::from_row!(@column $field $($column)?))?,)*
                    $($($other: $value,)+)?
                })
            }
        }
    };
    (@column $field:ident) => { stringify!($field) };
    (@column $field:ident $column:literal) => { $column };
    (@column $field:ident = $expression:literal) => { concat!($expression, " AS ", stringify!($field)) };
}
pub(super) use from_row;

/// Reads the text in a column, with the label and scope of its row.
pub(super) fn text(row: &Row<'_>, column: &str) -> rusqlite::Result<Text> {
    let mut columns = Columns::of(row);
    let words: Arc<str> = columns.read(column)?;
    Ok(Labelled::new(words, columns.read("label")?, columns.read("scope")?))
}

/// The columns of a row, read by name. Most queries have them in the order of the reads, so the
/// next one is tried before a search through all.
pub(super) struct Columns<'a> {
    row: &'a Row<'a>,
    next: usize,
}

impl<'a> Columns<'a> {
    /// The columns, from the first on.
    pub(super) const fn of(row: &'a Row<'a>) -> Self {
        Self { row, next: 0 }
    }

    /// Reads the column of that name.
    pub(super) fn read<T: FromSql>(&mut self, name: &str) -> rusqlite::Result<T> {
        let statement = self.row.as_ref();
        let is_next = statement.column_name(self.next).is_ok_and(|next| next == name);
        let place = if is_next { self.next } else { statement.column_index(name)? };
        self.next = place + 1;
        self.row.get(place)
    }
}

/// Inserts a row of named values and returns its id:
/// `insert!(db, "table" { column: value, column })`.
macro_rules! insert {
    ($db:expr, $table:literal { $column:ident $(: $value:expr)? $(, $columns:ident $(: $values:expr)?)* $(,)? }) => {
        $db.insert(
            concat!(
                "INSERT INTO ", $table, " (", stringify!($column), $(", ", stringify!($columns),)* ") VALUES (?",
                $(crate::store::rows::insert!(@mark $columns),)* ")"
            ),
            rusqlite::params![
                crate::store::rows::insert!(@value $column $($value)?),
                $(crate::store::rows::insert!(@value $columns $($values)?)),*
            ],
        )
    };
    (@mark $column:ident) => { ", ?" };
    (@value $column:ident) => { $column };
    (@value $column:ident $value:expr) => { $value };
}
pub(super) use insert;

/// Implements `ToSql` and `FromSql` for enums that derive `EnumString` and `IntoStaticStr`, and
/// `as_str` for those listed without `foreign`.
macro_rules! stored_word {
    ($($name:ty),+ $(,)?) => {
        crate::store::rows::stored_word! { foreign $($name),+ }
        $(
            impl $name {
                /// Returns the word by which it is stored and shown.
                pub fn as_str(self) -> &'static str {
                    self.into()
                }
            }
        )+
    };
    (foreign $($name:ty),+) => {
        $(
            impl rusqlite::types::ToSql for $name {
                fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                    Ok(<&'static str>::from(*self).into())
                }
            }

            impl rusqlite::types::FromSql for $name {
                fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
                    crate::store::rows::read_word(value, stringify!($name))
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
        words::<BoundaryReason>("BoundaryReason", "first silence new piped schedule");
        words::<ChangeState>("ChangeState", "intended done conflict");
        words::<ConversationKind>("ConversationKind", "chat piped reflection heartbeat task");
        words::<EntryKind>("EntryKind", "fact note day text file conversation reflection");
        words::<ExtractionCause>("ExtractionCause", "turns pressure compaction boundary");
        words::<ExtractionState>("ExtractionState", "wanted asked kept nothing given_up");
        words::<GrantKind>("GrantKind", "source tool destination");
        words::<HealthState>("HealthState", "well off ill");
        words::<InboxOutcome>("InboxOutcome", "admitted command edit button unsupported stranger nothing unreadable");
        words::<FileKind>("FileKind", "photo voice sound document");
        words::<ErasureKind>("ErasureKind", "note fact said person");
        words::<ErasureState>("ErasureState", "wanted left done");
        words::<KeepState>("KeepState", "new open yes kept no expired changed");
        words::<MessageKind>("MessageKind", "said command reply task reflection");
        words::<MessageState>("MessageState", "queued claimed answered closed done");
        words::<MoveState>("MoveState", "begun cleared");
        words::<OpeningState>("OpeningState", "none standin final");
        words::<OriginKind>("OriginKind", "turn reflection note import folder shipped");
        words::<OutboxKind>("OutboxKind", "reply notice answer reaction");
        words::<PartState>("PartState", "waiting sending sent failed");
        words::<Clearance>("Clearance", "clean careful tainted");
        words::<ProposalState>("ProposalState", "pending approved rejected expired conflict");
        words::<QuestionState>("QuestionState", "open yes refused expired");
        words::<ReminderKind>("ReminderKind", "reminder task");
        words::<ReminderState>("ReminderState", "waiting done cancelled");
        words::<ReviewStage>("ReviewStage", "taint hash structure scan effects reviewer person");
        words::<Role>("Role", "guest member owner");
        words::<SkillState>("SkillState", "live held broken gone");
        words::<SlotState>("SlotState", "claimed working done quiet missed failed");
        words::<SlotWish>("SlotWish", "told waits");
        words::<StageOutcome>("StageOutcome", "passed waits none skipped refused");
        words::<StepKind>("StepKind", "model tool");
        words::<SummaryInputs>("SummaryInputs", "trusted full");
        words::<SummaryState>("SummaryState", "wanted standin made void");
        words::<TextKind>("TextKind", "said quote transcript file edit carried");
        words::<UnansweredReason>(
            "UnansweredReason",
            "no_answer refused model_away too_slow cut_off stopped not_allowed deleted forgotten restored never_asked \
             still_running nobody_to_tell",
        );
        words::<TurnState>("TurnState", "running waiting done stopped gave_up");
    }
}
