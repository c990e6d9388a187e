-- What is left to do or to decide: one row each, until somebody settles or drops it. A summary closes some and opens new ones.
CREATE TABLE open_items (
    id INTEGER PRIMARY KEY AUTOINCREMENT,         -- its number
    text TEXT NOT NULL,                           -- its words
    label TEXT NOT NULL,                          -- where they came from
    scope TEXT NOT NULL,                          -- whose it is
    opened_at INTEGER NOT NULL,                   -- opened
    summary_id INTEGER REFERENCES summaries (id), -- summary that opened it; null for the person
    state TEXT NOT NULL,                          -- open, done, dropped
    closed_at INTEGER,                            -- closed; null while it is open
    closed_by INTEGER REFERENCES summaries (id),  -- summary that closed it; null for the person or the assistant
    not_before INTEGER                            -- put off until then; null for shown
) STRICT;
CREATE INDEX open_items_scope ON open_items (scope, state);
CREATE INDEX open_items_summary ON open_items (summary_id) WHERE summary_id IS NOT NULL;
CREATE INDEX open_items_closed ON open_items (closed_by) WHERE closed_by IS NOT NULL;

-- What the newest summary of each scope left open.
INSERT INTO open_items (text, label, scope, opened_at, summary_id, state)
SELECT item.value, s.label, s.scope, coalesce(s.made_at, s.wanted_at), s.id, 'open'
FROM summaries s, json_each(s.pending) item
WHERE s.label = 'trusted' AND item.type = 'text' AND s.id IN (
    SELECT max(n.id) FROM summaries n JOIN conversations c ON c.id = n.conversation_id
    WHERE n.view = 'trusted' AND n.state IN ('standin', 'made') AND c.kind = 'chat' GROUP BY n.scope
);
