//! Types that a row of a query is read as.

use std::sync::Arc;

use rusqlite::Row;
use rusqlite::types::FromSql;

use crate::trust::{Labelled, Text};

/// A type that a row is read as. `K` tells the compiler which of the forms below it has.
pub(super) trait FromRow<K>: Sized {
    /// Reads the row.
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self>;
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
/// of another name (`field: "column"`), and computed fields (`with |row| { field: expression }`).
macro_rules! from_row {
    (
        $name:ty { $($field:ident $(: $column:literal)?),* $(,)? }
        $(with |$row:ident| { $($other:ident: $value:expr),+ $(,)? })?
    ) => {
        impl crate::store::from_row::FromRow<crate::store::from_row::Record> for $name {
            fn from_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                $(let $row = row;)?
                Ok(Self {
                    $($field: row.get(crate::store::from_row::from_row!(@ $field $($column)?))?,)*
                    $($($other: $value,)+)?
                })
            }
        }
    };
    (@ $field:ident) => { stringify!($field) };
    (@ $field:ident $column:literal) => { $column };
}
pub(super) use from_row;

/// Reads the text in a column, with the label and scope of its row.
pub(super) fn text(row: &Row<'_>, column: &str) -> rusqlite::Result<Text> {
    let words: Arc<str> = row.get(column)?;
    Ok(Labelled::new(words, row.get("label")?, row.get("scope")?))
}
