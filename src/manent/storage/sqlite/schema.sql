-- The schema of a store, format 2. `PRAGMA user_version` holds the format, `application_id` "mnnt".
-- Older formats are brought here by the scripts in `migrations`, which give the same tables and columns.
-- Times are nanoseconds since 1970 UTC. Identities are bytes of their hexadecimal form.

-- The store itself: one row. `clock`: no seq given out is above both it and the newest event's (L-1).
CREATE TABLE store (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    store_id BLOB NOT NULL,
    generation BLOB NOT NULL,
    source_key BLOB NOT NULL,
    clock INTEGER NOT NULL
) STRICT;

-- Who writes here: an installation's fingerprint and its incarnation in this very file.
CREATE TABLE installations (
    fingerprint TEXT PRIMARY KEY,
    incarnation TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE workspaces (
    workspace INTEGER PRIMARY KEY,
    uid BLOB NOT NULL UNIQUE
) STRICT;

CREATE TABLE workspace_aliases (
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    workspace INTEGER NOT NULL REFERENCES workspaces,
    PRIMARY KEY (kind, value)
) STRICT, WITHOUT ROWID;

-- A conversation's identity, or (id NULL) a workspace's own stream, or what is left of a deleted conversation.
CREATE TABLE streams (
    stream INTEGER PRIMARY KEY,
    uid BLOB NOT NULL UNIQUE,
    workspace INTEGER NOT NULL REFERENCES workspaces,
    id TEXT,
    deleted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX streams_by_id ON streams (workspace, id) WHERE id IS NOT NULL;
CREATE INDEX streams_of_all_by_id ON streams (id) WHERE id IS NOT NULL;

-- ---- the log ------------------------------------------------------------------------------------

CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL REFERENCES streams,
    seq INTEGER NOT NULL,
    writer BLOB NOT NULL,
    kind TEXT NOT NULL,
    schema_version INTEGER NOT NULL,
    encoding INTEGER NOT NULL,
    claim_ns INTEGER,
    event_id BLOB NOT NULL,
    prev_hash BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_by_stream ON events (stream, seq, writer);

-- leaf = position * 65536 + number. An erased leaf keeps its digest only. `packed`: data is deflated.
CREATE TABLE leaves (
    leaf INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    packed INTEGER NOT NULL,
    salt BLOB,
    data BLOB,
    digest BLOB
) STRICT;

CREATE TABLE tips (
    stream INTEGER NOT NULL REFERENCES streams,
    writer BLOB NOT NULL,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (stream, writer)
) STRICT, WITHOUT ROWID;

-- ---- metadata -----------------------------------------------------------------------------------

-- `value` is JSON in UTF-8; NULL says that the register was unset.
CREATE TABLE registers (
    stream INTEGER NOT NULL REFERENCES streams,
    field TEXT NOT NULL,
    value BLOB,
    seq INTEGER NOT NULL,
    writer BLOB NOT NULL,
    PRIMARY KEY (stream, field)
) STRICT, WITHOUT ROWID;

-- The register `key`, findable.
CREATE TABLE conversation_keys (
    key TEXT NOT NULL,
    workspace INTEGER NOT NULL REFERENCES workspaces,
    stream INTEGER NOT NULL UNIQUE REFERENCES streams,
    PRIMARY KEY (key, workspace)
) STRICT, WITHOUT ROWID;

-- ---- owners -------------------------------------------------------------------------------------

-- Which process a conversation belongs to, by its id: it may be owned before it is there. Never exported.
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

-- ---- the read model: dropped and rebuilt from the log at any time ----------------------------------

-- imported: what was said last was not said here. spawned: another conversation runs this one.
-- ended: the register `end_reason` is set. resumable: what `latest_open` may offer; it leads the index so that
-- one index serves it and the lists, which read both halves.
CREATE TABLE conversations (
    stream INTEGER PRIMARY KEY REFERENCES streams,
    workspace INTEGER NOT NULL,
    activity_seq INTEGER NOT NULL,
    activity_writer BLOB NOT NULL,
    head TEXT,
    head_seq INTEGER NOT NULL,
    head_writer BLOB NOT NULL,
    linear INTEGER NOT NULL,
    claim_first_ns INTEGER,
    claim_max_ns INTEGER,
    imported INTEGER NOT NULL DEFAULT 0,
    spawned INTEGER NOT NULL DEFAULT 0,
    ended INTEGER NOT NULL DEFAULT 0,
    resumable INTEGER NOT NULL GENERATED ALWAYS AS (NOT (imported OR spawned OR ended)) VIRTUAL
) STRICT;
CREATE INDEX conversations_by_activity ON conversations (workspace, resumable, activity_seq);

-- Words stay in `leaves`: `leaf_count` of them from `first_leaf` of the event at `position`.
-- message_id: NULL where it is made of the place. parent_seq, parent_writer, parent_ordinal: where the parent
-- stands; parent_id: its id where that is not made of its place, or where it is not there.
-- turn: 0 in no turn, 1 in the turn that its own event began, 2 in the turn (turn_seq, turn_writer).
-- content_seq, content_writer: the stamp of the last edit; NULL while nobody edited.
-- state: 0 present, 1 removed, 2 detached.
CREATE TABLE messages (
    stream INTEGER NOT NULL REFERENCES streams,
    seq INTEGER NOT NULL,
    writer BLOB NOT NULL,
    ordinal INTEGER NOT NULL,
    message_id TEXT,
    parent_seq INTEGER,
    parent_writer BLOB,
    parent_ordinal INTEGER,
    parent_id TEXT,
    role TEXT NOT NULL,
    turn INTEGER NOT NULL,
    turn_seq INTEGER,
    turn_writer BLOB,
    position INTEGER NOT NULL,
    first_leaf INTEGER NOT NULL,
    leaf_count INTEGER NOT NULL,
    content_seq INTEGER,
    content_writer BLOB,
    state INTEGER NOT NULL,
    hidden INTEGER NOT NULL,
    has_details INTEGER NOT NULL,
    claim_ns INTEGER,
    PRIMARY KEY (stream, seq, writer, ordinal)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX messages_by_id ON messages (stream, message_id) WHERE message_id IS NOT NULL;
CREATE INDEX messages_by_turn ON messages (stream, turn_seq, turn_writer) WHERE turn = 2;

-- turn_id: NULL where it is made of the stamp.
-- state_seq, state_writer: the stamp of the last change of state; NULL while it is the first one.
CREATE TABLE turns (
    stream INTEGER NOT NULL REFERENCES streams,
    seq INTEGER NOT NULL,
    writer BLOB NOT NULL,
    turn_id TEXT,
    position INTEGER NOT NULL,
    state TEXT NOT NULL,
    state_seq INTEGER,
    state_writer BLOB,
    implicit INTEGER NOT NULL,
    has_details INTEGER NOT NULL,
    PRIMARY KEY (stream, seq, writer)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX turns_by_id ON turns (stream, turn_id) WHERE turn_id IS NOT NULL;

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

CREATE TABLE idempotency_keys (
    stream INTEGER NOT NULL REFERENCES streams,
    key_digest BLOB NOT NULL,
    seq INTEGER NOT NULL,
    writer BLOB NOT NULL,
    PRIMARY KEY (stream, key_digest)
) STRICT, WITHOUT ROWID;

-- ---- blobs and drafts -------------------------------------------------------------------------------

CREATE TABLE blobs (
    blob INTEGER PRIMARY KEY,
    workspace BLOB NOT NULL,
    digest BLOB NOT NULL,
    UNIQUE (workspace, digest)
) STRICT;

CREATE TABLE blob_chunks (
    blob INTEGER NOT NULL REFERENCES blobs ON DELETE CASCADE,
    number INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (blob, number)
) STRICT;

CREATE TABLE drafts (
    uid BLOB NOT NULL,
    draft_id TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (uid, draft_id)
) STRICT;
