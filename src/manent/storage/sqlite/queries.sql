-- Every statement of the SQLite backend, in the order of the port. Values are parameters, columns are
-- named, and the fence is in the query: `:workspace` is a workspace's uid.
-- Queries that give one row a leaf leave the leaves of a message in whatever order: sorting would copy every
-- word; `rows.py` puts the few messages of several leaves in order.

-- ==== the store itself =============================================================================

-- name: begin_write
-- One writer at a time, known at once: a deferred transaction could fail after its first read.
BEGIN IMMEDIATE;

-- name: begin_read
-- A snapshot; it is fixed by its first read.
BEGIN;

-- name: commit
-- All of a transaction at once; in a rollback journal it may find readers in the way and is tried again.
COMMIT;

-- name: rollback
-- Nothing of a transaction stays; also how a snapshot ends.
ROLLBACK;

-- name: read_clock
-- The greatest seq given out (L-1). An append writes no clock: its own event is the newest one, and
-- whatever else takes or brings a seq raises `store.clock`. Also the first read of a snapshot.
SELECT max(clock, coalesce((SELECT seq FROM events ORDER BY position DESC LIMIT 1), 0)) FROM store;

-- name: read_info
-- What a store says of itself.
SELECT store_id, generation, source_key,
       max(clock, coalesce((SELECT seq FROM events ORDER BY position DESC LIMIT 1), 0)) AS clock,
       (SELECT coalesce(max(position), 0) FROM events) AS position
FROM store;

-- name: create_store
-- The one row of a new store.
INSERT INTO store (only_row, store_id, generation, source_key, clock)
VALUES (1, :store_id, :generation, :source_key, 0);

-- name: count_tables
-- Whether a file holds anything at all.
SELECT count(*) FROM sqlite_schema;

-- name: raise_clock
-- A seq that went to metadata, or was read from elsewhere: ours are greater from now on. The newest event is
-- counted in, since the one that comes after it may have a lower seq.
UPDATE store
SET clock = max(clock, :seq, coalesce((SELECT seq FROM events ORDER BY position DESC LIMIT 1), 0));

-- name: set_source_key
-- An empty store takes over the source key of what it imports.
UPDATE store SET source_key = :source_key;

-- name: renew_generation
-- Positions of before the copy mean nothing any more.
UPDATE store SET generation = :generation;

-- name: find_incarnation
-- This installation's incarnation in this file.
SELECT incarnation FROM installations WHERE fingerprint = :fingerprint;

-- name: put_incarnation
-- A new installation, or a copied or restored file.
INSERT INTO installations (fingerprint, incarnation) VALUES (:fingerprint, :incarnation)
ON CONFLICT (fingerprint) DO UPDATE SET incarnation = excluded.incarnation;

-- ==== workspaces and streams =======================================================================

-- name: find_workspace
-- The workspace that an alias leads to.
SELECT w.uid FROM workspace_aliases a JOIN workspaces w ON w.workspace = a.workspace
WHERE a.kind = :kind AND a.value = :value;

-- name: list_workspaces
-- Every workspace: for the owner, for exports, and to list over all of them.
SELECT uid FROM workspaces ORDER BY uid;

-- name: find_workspace_uid
-- Whether there is a workspace.
SELECT uid FROM workspaces WHERE uid = :workspace;

-- name: list_aliases
-- The names of one workspace.
SELECT a.kind, a.value FROM workspace_aliases a JOIN workspaces w ON w.workspace = a.workspace
WHERE w.uid = :workspace ORDER BY a.kind, a.value;

-- name: list_workspace_streams
-- The workspace's own streams, which hold deletions and holds; two after a merge.
SELECT s.uid FROM streams s JOIN workspaces w ON w.workspace = s.workspace
WHERE w.uid = :workspace AND s.id IS NULL AND NOT s.deleted ORDER BY s.uid;

-- name: put_workspace
-- A workspace appears with its first write; once more changes nothing.
INSERT INTO workspaces (uid) VALUES (:workspace) ON CONFLICT (uid) DO NOTHING;

-- name: put_alias
-- An alias that leads somewhere keeps leading there.
INSERT INTO workspace_aliases (kind, value, workspace)
SELECT :kind, :value, workspace FROM workspaces WHERE uid = :workspace
ON CONFLICT (kind, value) DO NOTHING;

-- name: move_alias
-- An alias leads elsewhere from now on.
INSERT INTO workspace_aliases (kind, value, workspace)
SELECT :kind, :value, workspace FROM workspaces WHERE uid = :workspace
ON CONFLICT (kind, value) DO UPDATE SET workspace = excluded.workspace;

-- name: drop_alias
-- An alias leads nowhere any more.
DELETE FROM workspace_aliases WHERE kind = :kind AND value = :value;

-- name: drop_workspace
-- A workspace from which everything was moved away; by their reference, its owners go with it.
DELETE FROM workspaces WHERE uid = :workspace
  AND NOT EXISTS (SELECT 1 FROM streams s WHERE s.workspace = workspaces.workspace)
  AND NOT EXISTS (SELECT 1 FROM workspace_aliases a WHERE a.workspace = workspaces.workspace);

-- name: put_stream
-- A conversation, or (id NULL) a workspace's own stream.
INSERT INTO streams (uid, workspace, id, deleted)
SELECT :uid, workspace, :id, :deleted FROM workspaces WHERE uid = :workspace;

-- name: find_stream_number
-- The small number that stands for a stream inside this file.
SELECT stream, deleted FROM streams WHERE uid = :uid;

-- name: find_stream
-- A stream's identity by its uid, which only a fenced look-up gives out.
SELECT s.uid, w.uid, s.id, s.deleted FROM streams s JOIN workspaces w ON w.workspace = s.workspace
WHERE s.uid = :uid;

-- name: move_stream
-- A stream is in another workspace, or has another id, from now on.
UPDATE streams SET workspace = (SELECT workspace FROM workspaces WHERE uid = :workspace), id = :id, deleted = :deleted
WHERE stream = :stream;

-- name: move_conversation
-- The lists of the other workspace show it.
UPDATE conversations SET workspace = (SELECT workspace FROM workspaces WHERE uid = :workspace) WHERE stream = :stream;

-- name: move_key
-- Its key is looked up in the other workspace; the primary key refuses one that is taken there.
UPDATE conversation_keys SET workspace = (SELECT workspace FROM workspaces WHERE uid = :workspace) WHERE stream = :stream;

-- name: mark_deleted
-- What is left of a conversation has no id; the headers of its events stay.
UPDATE streams SET id = NULL, deleted = 1 WHERE stream = :stream;

-- name: drop_registers
-- Metadata of a deleted conversation.
DELETE FROM registers WHERE stream = :stream;

-- name: find_ids
-- An exact id inside one workspace.
SELECT s.uid, w.uid, s.id FROM streams s JOIN workspaces w ON w.workspace = s.workspace
WHERE w.uid = :workspace AND s.id = :id;

-- name: find_ids_of_all
-- An exact id in every workspace: the owner's look-up.
SELECT s.uid, w.uid, s.id FROM streams s JOIN workspaces w ON w.workspace = s.workspace
WHERE s.id = :id ORDER BY w.uid;

-- name: find_prefix
-- Ids from :prefix up to :beyond, the first text after all that begin with it. Case-sensitive.
SELECT s.uid, w.uid, s.id FROM streams s JOIN workspaces w ON w.workspace = s.workspace
WHERE w.uid = :workspace AND s.id >= :prefix AND s.id < :beyond ORDER BY s.id LIMIT :limit;

-- name: find_prefix_of_all
-- The same in every workspace: the owner's look-up.
SELECT s.uid, w.uid, s.id FROM streams s JOIN workspaces w ON w.workspace = s.workspace
WHERE s.id >= :prefix AND s.id < :beyond ORDER BY s.id, w.uid LIMIT :limit;

-- name: find_by_key
-- The caller's own name, exact, inside one workspace.
SELECT s.uid, w.uid, s.id
FROM conversation_keys k
JOIN streams s ON s.stream = k.stream
JOIN workspaces w ON w.workspace = k.workspace
WHERE k.key = :key AND w.uid = :workspace;

-- name: find_by_key_of_all
-- The same in every workspace: the owner's look-up.
SELECT s.uid, w.uid, s.id
FROM conversation_keys k
JOIN streams s ON s.stream = k.stream
JOIN workspaces w ON w.workspace = k.workspace
WHERE k.key = :key ORDER BY w.uid;

-- name: read_uids
-- Streams in the order of their uids, which is that of exports and of receipts.
SELECT uid FROM streams WHERE uid > :after ORDER BY uid LIMIT :limit;

-- name: find_orphan_events
-- Events of a stream that is gone: only tampering leaves any.
SELECT e.position, e.seq, e.writer FROM events e
WHERE NOT EXISTS (SELECT 1 FROM streams s WHERE s.stream = e.stream) ORDER BY e.position;

-- name: find_orphan_leaves
-- Leaves of an event that is gone: only tampering leaves any.
SELECT DISTINCT l.leaf >> 16 FROM leaves l
WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.position = l.leaf >> 16) ORDER BY 1;

-- name: find_torn_leaves
-- Leaves that do not follow the one before, so that readers miss them: only tampering makes any.
SELECT DISTINCT coalesce(s.id, lower(hex(s.uid))), e.seq, e.writer
FROM leaves l
JOIN events e ON e.position = l.leaf >> 16
JOIN streams s ON s.stream = e.stream
WHERE l.leaf & 65535 > 0 AND NOT EXISTS (SELECT 1 FROM leaves k WHERE k.leaf = l.leaf - 1)
ORDER BY e.position;

-- name: find_forged_keys
-- Keys of conversations that have none: only tampering makes any.
SELECT coalesce(s.id, lower(hex(s.uid))) FROM conversation_keys k
JOIN streams s ON s.stream = k.stream
WHERE NOT EXISTS (SELECT 1 FROM registers r
                  WHERE r.stream = k.stream AND r.field = 'key' AND r.value IS NOT NULL)
ORDER BY 1;

-- ==== the log ======================================================================================

-- name: find_tip
-- What the next event of a writer links to.
SELECT seq, hash, count FROM tips WHERE stream = :stream AND writer = :writer;

-- name: insert_event
-- The header; its position is the next one of the file.
INSERT INTO events (stream, seq, writer, kind, schema_version, encoding, claim_ns, event_id, prev_hash)
VALUES (:stream, :seq, :writer, :kind, :schema_version, :encoding, :claim_ns, :event_id, :prev_hash);

-- name: insert_leaf
-- One leaf, under the number that its event and its place in it make.
INSERT INTO leaves (leaf, name, packed, salt, data, digest)
VALUES (:leaf, :name, :packed, :salt, :data, :digest);

-- name: put_tip
-- The chain of one writer in one stream goes on to here.
INSERT INTO tips (stream, writer, seq, hash, count) VALUES (:stream, :writer, :seq, :hash, :count)
ON CONFLICT (stream, writer) DO UPDATE
SET seq = excluded.seq, hash = excluded.hash, count = excluded.count;

-- name: read_tips
-- The recorded ends of a stream's chains, which verify compares with what is there.
SELECT t.writer, t.seq, t.hash, t.count FROM tips t JOIN streams s ON s.stream = t.stream
WHERE s.uid = :uid ORDER BY t.writer;

-- name: read_stream
-- Events of a stream in causal order with their leaves, one row a leaf (a leafless event gives one row).
SELECT e.position, s.uid, e.writer, e.seq, e.kind, e.schema_version, e.claim_ns, e.event_id, e.prev_hash,
       e.encoding, l.name, l.data, l.salt, l.digest, l.packed
FROM (
    SELECT v.* FROM events v
    WHERE v.stream = (SELECT stream FROM streams WHERE uid = :uid)
      AND v.seq >= :seq AND (v.seq > :seq OR v.writer > :writer)
    ORDER BY v.seq, v.writer LIMIT :limit
) e
JOIN streams s ON s.stream = e.stream
LEFT JOIN leaves l ON l.leaf >= e.position << 16 AND l.leaf < (e.position + 1) << 16
ORDER BY e.seq, e.writer, l.leaf;

-- name: read_log
-- Events of the store by position, one row a leaf.
SELECT e.position, s.uid, e.writer, e.seq, e.kind, e.schema_version, e.claim_ns, e.event_id, e.prev_hash,
       e.encoding, l.name, l.data, l.salt, l.digest, l.packed
FROM (SELECT v.* FROM events v WHERE v.position > :after ORDER BY v.position LIMIT :limit) e
JOIN streams s ON s.stream = e.stream
LEFT JOIN leaves l ON l.leaf >= e.position << 16 AND l.leaf < (e.position + 1) << 16
ORDER BY e.position, l.leaf;

-- name: find_entry
-- One event of a stream, one row a leaf.
SELECT e.position, s.uid, e.writer, e.seq, e.kind, e.schema_version, e.claim_ns, e.event_id, e.prev_hash,
       e.encoding, l.name, l.data, l.salt, l.digest, l.packed
FROM streams s
JOIN events e ON e.stream = s.stream AND e.seq = :seq AND e.writer = :writer
LEFT JOIN leaves l ON l.leaf >= e.position << 16 AND l.leaf < (e.position + 1) << 16
WHERE s.uid = :uid
ORDER BY l.leaf;

-- name: find_leaves_to_erase
-- The leaves of one event that still have their bytes.
SELECT l.leaf, l.name, l.packed, l.salt, l.data FROM leaves l
JOIN events e ON l.leaf >= e.position << 16 AND l.leaf < (e.position + 1) << 16
WHERE e.stream = :stream AND e.seq = :seq AND e.writer = :writer AND l.data IS NOT NULL;

-- name: erase_leaf
-- The bytes and the salt go (secure_delete overwrites them), the digest stays: the chain holds.
UPDATE leaves SET data = NULL, salt = NULL, packed = 0, digest = :digest WHERE leaf = :leaf;

-- ==== metadata =====================================================================================

-- name: put_register
-- The greater stamp wins.
INSERT INTO registers (stream, field, value, seq, writer) VALUES (:stream, :field, :value, :seq, :writer)
ON CONFLICT (stream, field) DO UPDATE
SET value = excluded.value, seq = excluded.seq, writer = excluded.writer
WHERE (excluded.seq, excluded.writer) > (seq, writer);

-- name: read_registers
-- All metadata of a conversation.
SELECT r.field, r.value, r.seq, r.writer FROM registers r JOIN streams s ON s.stream = r.stream
WHERE s.uid = :uid ORDER BY r.field;

-- name: set_ended
-- The register `end_reason` was set or unset; `latest_open` looks at this.
UPDATE conversations SET ended = :ended WHERE stream = :stream;

-- name: drop_key
-- A conversation gives up its key, before it takes another one.
DELETE FROM conversation_keys WHERE stream = :stream;

-- name: put_key
-- The key is findable; the primary key refuses it to a second conversation of the workspace.
INSERT INTO conversation_keys (key, workspace, stream)
SELECT :key, workspace, stream FROM streams WHERE stream = :stream;

-- ==== owners =======================================================================================

-- name: put_owner
-- Who owns a conversation, there or not yet.
INSERT INTO owners (workspace, id, epoch, writer, host, boot_id, namespace, pid, started, claimed_ns, heartbeat_ns)
SELECT workspace, :id, :epoch, :writer, :host, :boot_id, :namespace, :pid, :started, :claimed_ns, :heartbeat_ns
FROM workspaces WHERE uid = :workspace
ON CONFLICT (workspace, id) DO UPDATE SET
    epoch = excluded.epoch, writer = excluded.writer, host = excluded.host, boot_id = excluded.boot_id,
    namespace = excluded.namespace, pid = excluded.pid, started = excluded.started,
    claimed_ns = excluded.claimed_ns, heartbeat_ns = excluded.heartbeat_ns;

-- name: drop_owner
-- Nobody owns it.
DELETE FROM owners WHERE workspace = (SELECT workspace FROM workspaces WHERE uid = :workspace) AND id = :id;

-- name: drop_owner_of_stream
-- Nobody owns a conversation that goes.
DELETE FROM owners
WHERE (workspace, id) IN (SELECT s.workspace, s.id FROM streams s WHERE s.stream = :stream AND s.id IS NOT NULL);

-- name: drop_owners
-- Nobody owns anything in a file that was copied or restored: its owners live with the other one.
DELETE FROM owners;

-- name: list_owners
-- Who owns what in a workspace, for merging it.
SELECT o.id, o.epoch, o.writer, o.host, o.boot_id, o.namespace, o.pid, o.started, o.claimed_ns, o.heartbeat_ns
FROM owners o JOIN workspaces w ON w.workspace = o.workspace
WHERE w.uid = :workspace ORDER BY o.id;

-- name: find_owner
-- The owner as recorded, alive or not.
SELECT o.epoch, o.writer, o.host, o.boot_id, o.namespace, o.pid, o.started, o.claimed_ns, o.heartbeat_ns
FROM owners o JOIN workspaces w ON w.workspace = o.workspace
WHERE w.uid = :workspace AND o.id = :id;

-- ==== the read model: changes ======================================================================

-- name: touch_conversation
-- Activity moves up only; claims keep their first and their running maximum (R-2). What has no id is no
-- conversation, and is in no list.
INSERT INTO conversations (stream, workspace, activity_seq, activity_writer, head, head_seq, head_writer,
                           linear, claim_first_ns, claim_max_ns, imported, ended)
SELECT stream, workspace, :seq, :writer, NULL, -1, x'', 1, :claim_ns, :claim_ns, coalesce(:imported, 0),
       EXISTS (SELECT 1 FROM registers r
               WHERE r.stream = :stream AND r.field = 'end_reason' AND r.value IS NOT NULL)
FROM streams WHERE stream = :stream AND id IS NOT NULL
ON CONFLICT (stream) DO UPDATE SET
    activity_seq = excluded.activity_seq,
    activity_writer = excluded.activity_writer,
    claim_first_ns = coalesce(claim_first_ns, excluded.claim_first_ns),
    claim_max_ns = max(coalesce(claim_max_ns, excluded.claim_max_ns),
                       coalesce(excluded.claim_max_ns, claim_max_ns)),
    imported = coalesce(:imported, imported)
WHERE (excluded.activity_seq, excluded.activity_writer) > (activity_seq, activity_writer);

-- name: put_message
-- A message keeps the place of its first appearance.
INSERT INTO messages (stream, seq, writer, ordinal, message_id, parent_seq, parent_writer, parent_ordinal,
                      parent_id, role, turn, turn_seq, turn_writer, position, first_leaf, leaf_count, state, hidden, has_details, claim_ns)
VALUES (:stream, :seq, :writer, :ordinal, :message_id, :parent_seq, :parent_writer, :parent_ordinal,
        :parent_id, :role, :turn, :turn_seq, :turn_writer, :position, :first_leaf, :leaf_count, :state, :hidden, :has_details, :claim_ns)
ON CONFLICT DO NOTHING;

-- name: set_content
-- Later words win; the row points to them, the words themselves stay where they were written.
UPDATE messages
SET position = :position, first_leaf = :first_leaf, leaf_count = :leaf_count,
    content_seq = :seq, content_writer = :writer
WHERE stream = :stream AND seq = :at_seq AND writer = :at_writer AND ordinal = :at_ordinal
  AND (:seq, :writer) > (coalesce(content_seq, seq), coalesce(content_writer, writer));

-- name: set_message_state
-- A message leaves the tree, or is put back by a refold.
UPDATE messages SET state = :state
WHERE stream = :stream AND seq = :at_seq AND writer = :at_writer AND ordinal = :at_ordinal;

-- name: set_head
-- The later head wins.
UPDATE conversations SET head = :head, linear = :linear, head_seq = :seq, head_writer = :writer
WHERE stream = :stream AND (:seq, :writer) > (head_seq, head_writer);

-- name: put_turn
-- A turn keeps the stamp of the event that began it.
INSERT INTO turns (stream, seq, writer, turn_id, position, state, implicit, has_details)
VALUES (:stream, :seq, :writer, :turn_id, :position, :state, :implicit, :has_details)
ON CONFLICT DO NOTHING;

-- name: set_turn_state
-- The later state wins.
UPDATE turns SET state = :state, state_seq = :seq, state_writer = :writer
WHERE stream = :stream AND seq = :at_seq AND writer = :at_writer
  AND (:seq, :writer) > (coalesce(state_seq, seq), coalesce(state_writer, writer));

-- name: put_link
-- One event tells one relation.
INSERT INTO links (stream, seq, writer, relation, to_uid, message_id)
VALUES (:stream, :seq, :writer, :relation, :to_uid, :message_id)
ON CONFLICT DO NOTHING;

-- name: mark_spawned
-- Another conversation runs this one.
UPDATE conversations SET spawned = 1 WHERE stream = :stream;

-- name: put_idempotency_key
-- The first event under a key keeps it.
INSERT INTO idempotency_keys (stream, key_digest, seq, writer)
VALUES (:stream, :key_digest, :seq, :writer)
ON CONFLICT DO NOTHING;

-- name: clear_conversation
-- Before a refold: the conversation's own row.
DELETE FROM conversations WHERE stream = :stream;

-- name: clear_messages
-- Before a refold: its messages.
DELETE FROM messages WHERE stream = :stream;

-- name: clear_turns
-- Before a refold: its turns.
DELETE FROM turns WHERE stream = :stream;

-- name: clear_links
-- Before a refold: its relations to others.
DELETE FROM links WHERE stream = :stream;

-- name: clear_idempotency_keys
-- Before a refold: its idempotency keys.
DELETE FROM idempotency_keys WHERE stream = :stream;

-- ==== the read model: reads ========================================================================

-- name: find_row
-- The fold of one conversation as a whole.
SELECT s.uid, c.activity_seq, c.activity_writer, c.head, c.head_seq, c.head_writer, c.linear,
       c.claim_first_ns, c.claim_max_ns, c.imported, c.spawned, w.uid
FROM streams s JOIN conversations c ON c.stream = s.stream JOIN workspaces w ON w.workspace = c.workspace
WHERE s.uid = :uid;

-- name: find_checked_row
-- The same for `verify`: a row that stands in the lists of another workspace is none, nor one that lists take
-- for ended or open against its register.
SELECT s.uid, c.activity_seq, c.activity_writer, c.head, c.head_seq, c.head_writer, c.linear,
       c.claim_first_ns, c.claim_max_ns, c.imported, c.spawned, w.uid
FROM streams s JOIN conversations c ON c.stream = s.stream AND c.workspace = s.workspace
JOIN workspaces w ON w.workspace = c.workspace
WHERE s.uid = :uid
  AND c.ended = EXISTS (SELECT 1 FROM registers r
                        WHERE r.stream = c.stream AND r.field = 'end_reason' AND r.value IS NOT NULL);

-- name: find_message
-- A message by an id that is not made of its place.
SELECT m.seq, m.writer, m.ordinal, m.message_id, m.parent_seq, m.parent_writer, m.parent_ordinal, m.parent_id,
       m.role, m.turn, m.turn_seq, m.turn_writer,
       m.position, m.first_leaf, m.leaf_count, coalesce(m.content_seq, m.seq),
       coalesce(m.content_writer, m.writer), m.state, m.hidden,
       m.has_details, m.claim_ns
FROM streams s JOIN messages m ON m.stream = s.stream
WHERE s.uid = :uid AND m.message_id = :message_id;

-- name: find_message_at
-- A message by its place.
SELECT m.seq, m.writer, m.ordinal, m.message_id, m.parent_seq, m.parent_writer, m.parent_ordinal, m.parent_id,
       m.role, m.turn, m.turn_seq, m.turn_writer,
       m.position, m.first_leaf, m.leaf_count, coalesce(m.content_seq, m.seq),
       coalesce(m.content_writer, m.writer), m.state, m.hidden,
       m.has_details, m.claim_ns
FROM streams s JOIN messages m ON m.stream = s.stream
WHERE s.uid = :uid AND m.seq = :seq AND m.writer = :writer AND m.ordinal = :ordinal AND m.message_id IS NULL;

-- name: find_place
-- Where a message stands whose id is not made of its place.
SELECT seq, writer, ordinal FROM messages WHERE stream = :stream AND message_id = :message_id;

-- name: find_turn_place
-- Where a turn stands whose id is not made of its stamp.
SELECT seq, writer FROM turns WHERE stream = :stream AND turn_id = :turn_id;

-- name: read_message_rows
-- Rows of the tree after a place, in causal order, without their words.
SELECT m.seq, m.writer, m.ordinal, m.message_id, m.parent_seq, m.parent_writer, m.parent_ordinal, m.parent_id,
       m.role, m.turn, m.turn_seq, m.turn_writer,
       m.position, m.first_leaf, m.leaf_count, coalesce(m.content_seq, m.seq),
       coalesce(m.content_writer, m.writer), m.state, m.hidden,
       m.has_details, m.claim_ns
FROM messages m
WHERE m.stream = (SELECT stream FROM streams WHERE uid = :uid)
  AND m.seq >= :seq AND (m.seq, m.writer, m.ordinal) > (:seq, :writer, :ordinal)
ORDER BY m.seq, m.writer, m.ordinal;

-- name: read_checked_message_rows
-- All rows of a tree for `verify`. Columns that contradict each other (the place and the id of a parent, half
-- a stamp) give a state that no log gives.
SELECT m.seq, m.writer, m.ordinal, m.message_id, m.parent_seq, m.parent_writer, m.parent_ordinal, m.parent_id,
       m.role, m.turn, m.turn_seq, m.turn_writer,
       m.position, m.first_leaf, m.leaf_count, coalesce(m.content_seq, m.seq),
       coalesce(m.content_writer, m.writer),
       CASE WHEN m.parent_id IS NOT NULL
             AND (m.parent_seq, m.parent_writer, m.parent_ordinal) IS NOT (p.seq, p.writer, p.ordinal) THEN -1
            WHEN (m.parent_seq IS NULL) + (m.parent_writer IS NULL) + (m.parent_ordinal IS NULL) IN (1, 2) THEN -1
            WHEN (m.content_seq IS NULL) <> (m.content_writer IS NULL) THEN -1
            ELSE m.state
       END,
       m.hidden, m.has_details, m.claim_ns
FROM messages m
LEFT JOIN messages p ON p.stream = m.stream AND p.message_id = m.parent_id
                    AND (p.seq, p.writer, p.ordinal) < (m.seq, m.writer, m.ordinal)
WHERE m.stream = (SELECT stream FROM streams WHERE uid = :uid)
ORDER BY m.seq, m.writer, m.ordinal;

-- name: find_turn
-- A turn by an id that is not made of its stamp.
SELECT t.seq, t.writer, t.turn_id, t.position, t.state, coalesce(t.state_seq, t.seq),
       coalesce(t.state_writer, t.writer), t.implicit, t.has_details
FROM streams s JOIN turns t ON t.stream = s.stream WHERE s.uid = :uid AND t.turn_id = :turn_id;

-- name: find_turn_at
-- A turn by the stamp of the event that began it.
SELECT t.seq, t.writer, t.turn_id, t.position, t.state, coalesce(t.state_seq, t.seq),
       coalesce(t.state_writer, t.writer), t.implicit, t.has_details
FROM streams s JOIN turns t ON t.stream = s.stream
WHERE s.uid = :uid AND t.seq = :seq AND t.writer = :writer;

-- name: read_turns_forward
-- A stretch of turns from its beginning; both bounds are exclusive.
SELECT t.seq, t.writer, t.turn_id, t.position, t.state, coalesce(t.state_seq, t.seq),
       coalesce(t.state_writer, t.writer), t.implicit, t.has_details
FROM turns t
WHERE t.stream = (SELECT stream FROM streams WHERE uid = :uid)
  AND (t.seq, t.writer) > (:after_seq, :after_writer)
  AND (t.seq, t.writer) < (:before_seq, :before_writer)
ORDER BY t.seq, t.writer LIMIT :limit;

-- name: read_turns_backward
-- The same from the end.
SELECT t.seq, t.writer, t.turn_id, t.position, t.state, coalesce(t.state_seq, t.seq),
       coalesce(t.state_writer, t.writer), t.implicit, t.has_details
FROM turns t
WHERE t.stream = (SELECT stream FROM streams WHERE uid = :uid)
  AND (t.seq, t.writer) > (:after_seq, :after_writer)
  AND (t.seq, t.writer) < (:before_seq, :before_writer)
ORDER BY t.seq DESC, t.writer DESC LIMIT :limit;

-- name: read_checked_turns
-- All turns of a conversation for `verify`; half a stamp gives a state that no log gives.
SELECT t.seq, t.writer, t.turn_id, t.position,
       CASE WHEN (t.state_seq IS NULL) = (t.state_writer IS NULL) THEN t.state ELSE '' END,
       coalesce(t.state_seq, t.seq), coalesce(t.state_writer, t.writer), t.implicit, t.has_details
FROM turns t
WHERE t.stream = (SELECT stream FROM streams WHERE uid = :uid)
ORDER BY t.seq, t.writer;

-- name: read_keys
-- All idempotency keys of a conversation, for verify.
SELECT k.key_digest, k.seq, k.writer FROM idempotency_keys k JOIN streams s ON s.stream = k.stream
WHERE s.uid = :uid ORDER BY k.key_digest;

-- name: find_key
-- The event that an idempotency key stands for.
SELECT k.seq, k.writer FROM idempotency_keys k JOIN streams s ON s.stream = k.stream
WHERE s.uid = :uid AND k.key_digest = :key_digest;

-- name: read_messages_forward
-- A stretch of messages with their words, one row a leaf (a message without words gives one row).
SELECT m.seq, m.writer, m.ordinal, m.message_id, m.parent_seq, m.parent_writer, m.parent_ordinal, m.parent_id,
       m.role, m.turn, m.turn_seq, m.turn_writer, m.state,
       m.hidden, m.has_details, m.claim_ns, l.name, l.data, l.packed
FROM (
    SELECT n.* FROM messages n
    WHERE n.stream = (SELECT stream FROM streams WHERE uid = :uid)
      AND (n.seq, n.writer, n.ordinal) > (:after_seq, :after_writer, :after_ordinal)
      AND (n.seq, n.writer, n.ordinal) < (:before_seq, :before_writer, :before_ordinal)
    ORDER BY n.seq, n.writer, n.ordinal LIMIT :limit
) m
LEFT JOIN leaves l ON l.leaf >= (m.position << 16) + m.first_leaf
                  AND l.leaf < (m.position << 16) + m.first_leaf + m.leaf_count
ORDER BY m.seq, m.writer, m.ordinal;

-- name: read_messages_backward
-- The same from the end.
SELECT m.seq, m.writer, m.ordinal, m.message_id, m.parent_seq, m.parent_writer, m.parent_ordinal, m.parent_id,
       m.role, m.turn, m.turn_seq, m.turn_writer, m.state,
       m.hidden, m.has_details, m.claim_ns, l.name, l.data, l.packed
FROM (
    SELECT n.* FROM messages n
    WHERE n.stream = (SELECT stream FROM streams WHERE uid = :uid)
      AND (n.seq, n.writer, n.ordinal) > (:after_seq, :after_writer, :after_ordinal)
      AND (n.seq, n.writer, n.ordinal) < (:before_seq, :before_writer, :before_ordinal)
    ORDER BY n.seq DESC, n.writer DESC, n.ordinal DESC LIMIT :limit
) m
LEFT JOIN leaves l ON l.leaf >= (m.position << 16) + m.first_leaf
                  AND l.leaf < (m.position << 16) + m.first_leaf + m.leaf_count
ORDER BY m.seq DESC, m.writer DESC, m.ordinal DESC;

-- name: read_branch
-- A message and its ancestors with their words, newest first, one row a leaf. A parent that stands later was
-- not there when its child came: nothing hangs under it, and no cycle can form. `named`: the parent has an id
-- of its own, else only the message whose id is made of the place is meant.
WITH RECURSIVE branch (depth, stream, seq, writer, ordinal, named) AS (
    SELECT 1, stream, :seq, :writer, :ordinal, 1 FROM streams WHERE uid = :uid
    UNION ALL
    SELECT b.depth + 1, b.stream, m.parent_seq, m.parent_writer, m.parent_ordinal, m.parent_id IS NOT NULL
    FROM branch b CROSS JOIN messages m
      ON m.stream = b.stream AND m.seq = b.seq AND m.writer = b.writer AND m.ordinal = b.ordinal
     AND (b.named OR m.message_id IS NULL)
    WHERE b.depth < :limit
      AND (m.parent_seq, m.parent_writer, m.parent_ordinal) < (m.seq, m.writer, m.ordinal)
)
SELECT m.seq, m.writer, m.ordinal, m.message_id, m.parent_seq, m.parent_writer, m.parent_ordinal, m.parent_id,
       m.role, m.turn, m.turn_seq, m.turn_writer, m.state,
       m.hidden, m.has_details, m.claim_ns, l.name, l.data, l.packed
FROM branch b
CROSS JOIN messages m
  ON m.stream = b.stream AND m.seq = b.seq AND m.writer = b.writer AND m.ordinal = b.ordinal
 AND (b.named OR m.message_id IS NULL)
LEFT JOIN leaves l ON l.leaf >= (m.position << 16) + m.first_leaf
                  AND l.leaf < (m.position << 16) + m.first_leaf + m.leaf_count
ORDER BY b.depth;

-- name: read_own_messages
-- Messages that stand in the event that began their turn, for a stretch of turns, both ends included.
SELECT m.seq, m.writer, m.ordinal, m.message_id, m.parent_seq, m.parent_writer, m.parent_ordinal, m.parent_id,
       m.role, m.turn, m.turn_seq, m.turn_writer, m.state,
       m.hidden, m.has_details, m.claim_ns, l.name, l.data, l.packed
FROM messages m
LEFT JOIN leaves l ON l.leaf >= (m.position << 16) + m.first_leaf
                  AND l.leaf < (m.position << 16) + m.first_leaf + m.leaf_count
WHERE m.stream = (SELECT stream FROM streams WHERE uid = :uid) AND m.turn = 1
  AND (m.seq, m.writer) >= (:first_seq, :first_writer) AND (m.seq, m.writer) <= (:last_seq, :last_writer)
ORDER BY m.seq, m.writer, m.ordinal;

-- name: read_joined_messages
-- Messages that joined one of a stretch of turns, both ends included.
SELECT m.seq, m.writer, m.ordinal, m.message_id, m.parent_seq, m.parent_writer, m.parent_ordinal, m.parent_id,
       m.role, m.turn, m.turn_seq, m.turn_writer, m.state,
       m.hidden, m.has_details, m.claim_ns, l.name, l.data, l.packed
FROM messages m INDEXED BY messages_by_turn
LEFT JOIN leaves l ON l.leaf >= (m.position << 16) + m.first_leaf
                  AND l.leaf < (m.position << 16) + m.first_leaf + m.leaf_count
WHERE m.stream = (SELECT stream FROM streams WHERE uid = :uid) AND m.turn = 2
  AND (m.turn_seq, m.turn_writer) >= (:first_seq, :first_writer)
  AND (m.turn_seq, m.turn_writer) <= (:last_seq, :last_writer)
ORDER BY m.turn_seq, m.turn_writer, m.seq, m.writer, m.ordinal;

-- name: count_conversations
-- How many conversations a workspace lists.
SELECT count(*) FROM conversations WHERE workspace = (SELECT workspace FROM workspaces WHERE uid = :workspace);

-- name: list_newest
-- Conversations by activity. Those that moved after :as_of take part with the activity that they had
-- then, so that paging shows each exactly once; those that began after it do not.
SELECT s.uid, s.id, w.uid, ranked.rank, c.activity_seq, c.activity_writer, c.head, c.head_seq,
       c.head_writer, c.linear, c.claim_first_ns, c.claim_max_ns, c.imported, c.spawned
FROM (
    SELECT * FROM (
        SELECT c.stream AS stream, c.activity_seq AS rank FROM conversations c
        JOIN streams s ON s.stream = c.stream
        WHERE c.workspace = (SELECT workspace FROM workspaces WHERE uid = :workspace)
          AND c.resumable = :resumable AND c.activity_seq <= min(:as_of, :rank)
          AND (c.activity_seq < :rank OR s.uid < :uid)
        ORDER BY c.activity_seq DESC, s.uid DESC LIMIT :limit
    )
    UNION ALL
    SELECT * FROM (
        SELECT c.stream, (SELECT max(e.seq) FROM events e WHERE e.stream = c.stream AND e.seq <= :as_of
                          AND e.kind IN (SELECT value FROM json_each(:content_kinds))) AS rank
        FROM conversations c
        WHERE c.workspace = (SELECT workspace FROM workspaces WHERE uid = :workspace)
          AND c.resumable = :resumable AND c.activity_seq > :as_of
    )
) ranked
JOIN conversations c ON c.stream = ranked.stream
JOIN streams s ON s.stream = ranked.stream
JOIN workspaces w ON w.workspace = s.workspace
WHERE ranked.rank IS NOT NULL AND (ranked.rank, s.uid) < (:rank, :uid)
ORDER BY ranked.rank DESC, s.uid DESC LIMIT :limit;

-- name: list_oldest
-- As list_newest, the least recently active first.
SELECT s.uid, s.id, w.uid, ranked.rank, c.activity_seq, c.activity_writer, c.head, c.head_seq,
       c.head_writer, c.linear, c.claim_first_ns, c.claim_max_ns, c.imported, c.spawned
FROM (
    SELECT * FROM (
        SELECT c.stream AS stream, c.activity_seq AS rank FROM conversations c
        JOIN streams s ON s.stream = c.stream
        WHERE c.workspace = (SELECT workspace FROM workspaces WHERE uid = :workspace)
          AND c.resumable = :resumable AND c.activity_seq >= :rank AND c.activity_seq <= :as_of
          AND (c.activity_seq > :rank OR s.uid > :uid)
        ORDER BY c.activity_seq, s.uid LIMIT :limit
    )
    UNION ALL
    SELECT * FROM (
        SELECT c.stream, (SELECT max(e.seq) FROM events e WHERE e.stream = c.stream AND e.seq <= :as_of
                          AND e.kind IN (SELECT value FROM json_each(:content_kinds))) AS rank
        FROM conversations c
        WHERE c.workspace = (SELECT workspace FROM workspaces WHERE uid = :workspace)
          AND c.resumable = :resumable AND c.activity_seq > :as_of
    )
) ranked
JOIN conversations c ON c.stream = ranked.stream
JOIN streams s ON s.stream = ranked.stream
JOIN workspaces w ON w.workspace = s.workspace
WHERE ranked.rank IS NOT NULL AND (ranked.rank, s.uid) > (:rank, :uid)
ORDER BY ranked.rank, s.uid LIMIT :limit;

-- name: find_open_turn
-- The first turn that was begun by itself and has not ended.
SELECT t.seq, t.writer, t.turn_id, t.position, t.state, coalesce(t.state_seq, t.seq),
       coalesce(t.state_writer, t.writer), t.implicit, t.has_details
FROM turns t
WHERE t.stream = (SELECT stream FROM streams WHERE uid = :uid) AND t.state = 'open' AND NOT t.implicit
ORDER BY t.seq, t.writer LIMIT 1;

-- name: read_links
-- The relations of one conversation to others.
SELECT k.seq, k.writer, k.relation, k.to_uid, k.message_id, s.uid FROM links k JOIN streams s ON s.stream = k.stream
WHERE s.uid = :uid ORDER BY k.seq, k.writer;

-- name: read_links_to
-- The relations of others to one conversation.
SELECT k.seq, k.writer, k.relation, k.to_uid, k.message_id, s.uid FROM links k JOIN streams s ON s.stream = k.stream
WHERE k.to_uid = :uid ORDER BY k.seq, k.writer, s.uid;

-- name: measure
-- Counts by what they count, over one conversation (:uid) of a workspace, all of a workspace, or everything.
-- Usage is that of the event that put a message, once also where a turn put two. Whole numbers are added up
-- in two halves of 32 bits, since their sum may be none that SQLite has; what is no JSON is nothing here.
WITH chosen AS (
    SELECT c.stream FROM conversations c JOIN streams s ON s.stream = c.stream
    WHERE s.uid = :uid
      AND (:workspace IS NULL OR s.workspace = (SELECT workspace FROM workspaces WHERE uid = :workspace))
    UNION ALL
    SELECT c.stream FROM conversations c
    WHERE :uid IS NULL AND c.workspace = (SELECT workspace FROM workspaces WHERE uid = :workspace)
    UNION ALL
    SELECT c.stream FROM conversations c WHERE :uid IS NULL AND :workspace IS NULL
)
SELECT 'conversations', '', count(*), 0, 0 FROM chosen
UNION ALL
SELECT 'messages', m.role, count(*), 0, 0 FROM chosen x JOIN messages m ON m.stream = x.stream
WHERE m.state = 0 GROUP BY m.role
UNION ALL
SELECT 'turns', t.state, count(*), 0, 0 FROM chosen x JOIN turns t ON t.stream = x.stream GROUP BY t.state
UNION ALL
SELECT 'first', '', 0, min(c.claim_first_ns), 0 FROM chosen x JOIN conversations c ON c.stream = x.stream
UNION ALL
SELECT 'last', '', 0, max(c.claim_max_ns), 0 FROM chosen x JOIN conversations c ON c.stream = x.stream
UNION ALL
SELECT typeof(u.value), u.key, count(*),
       sum(CASE typeof(u.value) WHEN 'integer' THEN u.value >> 32 ELSE u.value END),
       sum(CASE typeof(u.value) WHEN 'integer' THEN u.value & 4294967295 ELSE 0 END)
FROM (SELECT DISTINCT m.stream, m.seq, m.writer FROM chosen x JOIN messages m ON m.stream = x.stream
      WHERE m.has_details) told
JOIN events e ON e.stream = told.stream AND e.seq = told.seq AND e.writer = told.writer
JOIN leaves l ON l.leaf >= e.position << 16 AND l.leaf < (e.position + 1) << 16 AND l.name = 'usage'
JOIN json_each(CASE WHEN json_valid(CAST(l.data AS TEXT)) THEN CAST(l.data AS TEXT) END) u
WHERE u.key IN (SELECT value FROM json_each(:fields)) AND u.type IN ('integer', 'real')
GROUP BY u.key, typeof(u.value);

-- ==== blobs and drafts =============================================================================

-- name: find_blob
-- A blob of one workspace: equal bytes in another one are another blob.
SELECT blob FROM blobs WHERE workspace = :workspace AND digest = :digest;

-- name: put_blob
-- A blob begins under a passing name.
INSERT INTO blobs (workspace, digest) VALUES (:workspace, :digest) RETURNING blob;

-- name: put_chunk
-- Its bytes, in pieces that fit memory.
INSERT INTO blob_chunks (blob, number, data) VALUES (:blob, :number, :data);

-- name: name_blob
-- A blob is written under a passing name and gets its digest once its last byte is known.
UPDATE blobs SET digest = :digest WHERE blob = :blob;

-- name: read_chunk
-- One piece of a blob.
SELECT data FROM blob_chunks WHERE blob = :blob AND number = :number;

-- name: drop_blob
-- A blob and, by its reference, all of its pieces.
DELETE FROM blobs WHERE workspace = :workspace AND digest = :digest RETURNING blob;

-- name: list_digests
-- What a sweep of one workspace compares with what is still cited.
SELECT digest FROM blobs WHERE workspace = :workspace ORDER BY digest;

-- name: put_draft
-- The whole state of a draft; the one before is gone.
INSERT INTO drafts (uid, draft_id, data) VALUES (:uid, :draft_id, :data)
ON CONFLICT (uid, draft_id) DO UPDATE SET data = excluded.data;

-- name: get_draft
-- The last state of a draft.
SELECT data FROM drafts WHERE uid = :uid AND draft_id = :draft_id;

-- name: drop_draft
-- The draft became a message, or was given up.
DELETE FROM drafts WHERE uid = :uid AND draft_id = :draft_id RETURNING 1;

-- name: drop_drafts
-- The drafts of a conversation that goes.
DELETE FROM drafts WHERE uid = :uid;

-- name: list_drafts
-- The drafts of one conversation.
SELECT draft_id FROM drafts WHERE uid = :uid ORDER BY draft_id;
