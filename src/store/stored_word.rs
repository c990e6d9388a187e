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

    use super::*;
    use crate::store::MessageKind;

    /// Checks that each word is written as given and read back, and that no other word is read.
    fn check<T: FromSql + ToSql + PartialEq + std::fmt::Debug>(name: &str, all: &[(T, &str)]) {
        let db = Connection::open_in_memory().unwrap();
        for (value, word) in all {
            assert_eq!(&db.query_row("SELECT ?1", [value], |row| row.get::<_, String>(0)).unwrap(), word);
            assert_eq!(&db.query_row("SELECT ?1", [word], |row| row.get::<_, T>(0)).unwrap(), value);
        }
        for unknown in ["", "bogus", "Said", "SAID"] {
            let error = db.query_row("SELECT ?1", [unknown], |row| row.get::<_, T>(0)).unwrap_err().to_string();
            assert!(error.contains(&format!("Unknown {name} {unknown:?}")), "{error}");
        }
        assert!(db.query_row("SELECT 7", [], |row| row.get::<_, T>(0)).is_err(), "{name}");
    }

    #[test]
    fn an_unknown_stored_word_is_an_error() {
        check(
            "MessageKind",
            &[
                (MessageKind::Said, "said"),
                (MessageKind::Command, "command"),
                (MessageKind::Reply, "reply"),
                (MessageKind::Task, "task"),
                (MessageKind::Reflection, "reflection"),
            ],
        );
    }
}
