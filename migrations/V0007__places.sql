-- Derived, and made anew by the next look at the tree. Each word begins with whose it is and whether it is trusted (`p3tgarden`), so that a question walks
-- only through words of its own scope and counts only them. `place` holds one word for the kind, and one each for category, section and agent where there is
-- such, so that whatever a question is limited to is decided inside the index. It keeps its words, because an index that does not still counts deleted rows
-- when it ranks, and one that is made anew would give other answers.
DROP TABLE entries_fts;
CREATE VIRTUAL TABLE entries_fts USING fts5 (
    name, body, place, detail = 'full', tokenize = 'porter unicode61 remove_diacritics 2'
);
-- What is newest of a scope, and what was of use last, is asked for at the beginning of each conversation.
CREATE INDEX entries_scope ON entries (scope, at);
CREATE INDEX entry_uses_last ON entry_uses (last_at);
-- The clock must not be behind the last word of any chat, and whoever writes down what is over looks for it after every turn.
CREATE INDEX conversations_last ON conversations (last_at) WHERE kind = 'chat';
CREATE INDEX conversations_to_write_down ON conversations (id) WHERE written_down = 0;
