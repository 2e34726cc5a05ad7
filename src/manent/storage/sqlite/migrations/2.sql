-- From format 1 to 2: deletions, owners, links, and what `latest_open` may offer.

ALTER TABLE streams ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;

CREATE TABLE owners (
    workspace INTEGER NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    writer BLOB NOT NULL,
    host TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started INTEGER,
    claimed_ns INTEGER NOT NULL,
    heartbeat_ns INTEGER NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE links (
    stream INTEGER NOT NULL REFERENCES streams,
    seq INTEGER NOT NULL,
    writer BLOB NOT NULL,
    relation TEXT NOT NULL,
    to_uid TEXT NOT NULL,
    message_id TEXT,
    PRIMARY KEY (stream, seq, writer)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_target ON links (to_uid);

ALTER TABLE conversations ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN spawned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN ended INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN
    resumable INTEGER NOT NULL GENERATED ALWAYS AS (NOT (imported OR spawned OR ended)) VIRTUAL;
DROP INDEX conversations_by_activity;
CREATE INDEX conversations_by_activity ON conversations (workspace, resumable, activity_seq);

-- What the projections would have made of the log: links first, from the skeletons of their events.
-- `name_in` gives a text of a skeleton as names are kept, NULL where there is none; a skeleton that nobody can
-- read tells no link.
INSERT INTO links (stream, seq, writer, relation, to_uid, message_id)
SELECT stream, seq, writer, relation, to_uid, message_id FROM (
    SELECT e.stream, e.seq, e.writer, name_in(l.data, 'relation') AS relation,
           name_in(l.data, 'to_uid') AS to_uid, name_in(l.data, 'message_id') AS message_id
    FROM events e JOIN leaves l ON l.leaf = e.position << 16
    WHERE e.kind = 'conversation_linked' AND e.schema_version = 1
    UNION ALL
    SELECT e.stream, e.seq, e.writer, 'forked_from',
           name_in(l.data, 'from_uid'), name_in(l.data, 'from_message_id')
    FROM events e JOIN leaves l ON l.leaf = e.position << 16
    WHERE e.kind = 'conversation_forked' AND e.schema_version = 1
)
WHERE relation IS NOT NULL AND to_uid IS NOT NULL;

UPDATE conversations
SET spawned = EXISTS (SELECT 1 FROM links k WHERE k.stream = conversations.stream AND k.relation = 'spawned_by'),
    ended = EXISTS (SELECT 1 FROM registers r WHERE r.stream = conversations.stream
                    AND r.field = 'end_reason' AND r.value IS NOT NULL),
    imported = coalesce((
        SELECT EXISTS (SELECT 1 FROM leaves l WHERE l.leaf >= e.position << 16 AND l.leaf < (e.position + 1) << 16
                       AND l.name IN ('origin', 'source'))
        FROM events e JOIN leaves k ON k.leaf = e.position << 16
        WHERE e.stream = conversations.stream AND e.schema_version = 1 AND k.data IS NOT NULL
          AND e.kind IN ('conversation_created', 'turn_appended', 'turn_started', 'turn_ended', 'message_added',
                         'message_completed', 'clarification_batch_opened', 'clarification_answer_submitted',
                         'clarification_batch_dismissed', 'source_updated')
        ORDER BY e.seq DESC, e.writer DESC LIMIT 1), 0);
