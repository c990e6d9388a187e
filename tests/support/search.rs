//! Search of messages by words alone.

use compline::search::{MessageMatches, find_messages};
use compline::store::{Db, MessageQuery};
use compline::trust::Scope;

/// Best matches among the messages of a scope.
pub fn find(
    db: Db<'_>,
    scope: Scope,
    words: &str,
    untrusted_too: bool,
    limit: usize,
) -> anyhow::Result<MessageMatches> {
    find_messages(db, &MessageQuery { words, untrusted_too, limit, ..MessageQuery::of(scope) })
}
