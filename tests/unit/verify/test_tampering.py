"""Every undeclared change of what is stored is found, by kind and address (C-3)."""

from __future__ import annotations

import re

import pytest

import manent
from manent.model.records import FindingKind, Report
from tests.unit.verify.victim import FAR, FIRST, LAST, MIDDLE, A, B, Column, Victim, columns_of

PLACES = pytest.mark.parametrize("number", [FIRST, MIDDLE, LAST], ids=["first", "middle", "last"])

MOVES = {
    "position": f"position + {FAR}",
    "stream": f"stream + {FAR}",
    "seq": "flipped(seq)",
    "writer": "flipped(writer)",
}
"""The columns of an event's own place, and what moves it to where nothing stands."""

IN_A = re.compile(r"(conversation:a|(message|turn|key|event):a#.+)\Z")


def test_an_untouched_store_has_no_finding(victim: Victim) -> None:  # C-3
    assert victim.verify() == Report(findings=(), streams=3, events=24, erased_leaves=0, unknown_kinds=0)


class TestEvents:
    """The table `events`."""

    @PLACES
    @pytest.mark.parametrize(
        "column", [each for each in columns_of("events") if each.name not in MOVES], ids=str
    )
    def test_a_changed_field_is_found_at_its_event(
        self, victim: Victim, column: Column, number: int
    ) -> None:  # C-3
        victim.tamper(f"UPDATE events SET {column.name} = {column.changed} WHERE {victim.where(number)}")

        assert victim.address(number) in victim.places()

    @PLACES
    @pytest.mark.parametrize("column", [each for each in columns_of("events") if each.is_nullable], ids=str)
    def test_an_emptied_field_is_found_at_its_event(
        self, victim: Victim, column: Column, number: int
    ) -> None:  # C-3
        victim.tamper(f"UPDATE events SET {column.name} = NULL WHERE {victim.where(number)}")

        assert victim.address(number) in victim.places()

    @PLACES
    @pytest.mark.parametrize("column", MOVES)
    def test_a_moved_event_is_found_in_its_conversation(
        self, victim: Victim, column: str, number: int
    ) -> None:  # C-3
        victim.tamper(f"UPDATE events SET {column} = {MOVES[column]} WHERE {victim.where(number)}")

        assert [place for place in victim.places() if IN_A.match(place)]

    def test_a_changed_seq_is_found_where_the_event_stands_now(self, victim: Victim) -> None:  # L-1
        victim.tamper(f"UPDATE events SET seq = seq + 1 WHERE {victim.where(MIDDLE)}")

        assert f"event:a#{victim.seq(MIDDLE) + 1}@{victim.writer}" in victim.places()

    def test_an_event_that_moved_with_its_leaves_is_out_of_order(self, victim: Victim) -> None:  # C-3
        victim.tamper(
            f"""UPDATE leaves SET leaf = leaf + ({FAR} << 16) WHERE {victim.leaves(MIDDLE)};
                UPDATE events SET position = position + {FAR} WHERE {victim.where(MIDDLE)}"""
        )

        assert (FindingKind.ORDER, victim.address(MIDDLE + 1)) in victim.found()

    def test_an_event_of_another_conversation_is_found_in_both(self, victim: Victim) -> None:  # C-3
        victim.tamper(f"UPDATE events SET stream = {B} WHERE {victim.where(MIDDLE)}")

        found = victim.found()
        assert (FindingKind.LINK, victim.address(MIDDLE - 1)) in found
        assert (FindingKind.CONTENT, f"event:b#{victim.seq(MIDDLE)}@{victim.writer}") in found

    def test_an_unknown_encoding_is_found_at_its_event(self, victim: Victim) -> None:  # C-1
        victim.tamper(f"UPDATE events SET encoding = 2 WHERE {victim.where(MIDDLE)}")

        assert (FindingKind.UNKNOWN_ENCODING, victim.address(MIDDLE)) in victim.found()

    @pytest.mark.parametrize(
        ("table", "column"),
        [("events", "kind"), ("leaves", "name"), ("messages", "role"), ("turns", "state"), ("streams", "id")],
    )
    def test_a_text_that_is_no_utf8_is_found_in_its_conversation(
        self, victim: Victim, table: str, column: str
    ) -> None:  # C-3
        row = {"leaves": victim.leaves(MIDDLE), "streams": "id = 'a'"}.get(table, f"stream = {A}")
        victim.tamper(f"UPDATE {table} SET {column} = CAST(x'ff' AS TEXT) WHERE {row}")

        assert (FindingKind.UNREADABLE, f"conversation:{victim.uid}") in victim.found()

    def test_a_register_that_is_no_json_is_found_in_its_conversation(self, victim: Victim) -> None:  # C-3
        with manent.open(victim.path) as store:
            store.conversation("a").rename("a title")
        victim.tamper(f"UPDATE registers SET value = x'7b' WHERE stream = {A} AND field = 'title'")

        assert (FindingKind.UNREADABLE, f"conversation:{victim.uid}") in victim.found()


class TestLeaves:
    """The table `leaves`."""

    @PLACES
    @pytest.mark.parametrize("leaf", [0, -1], ids=["skeleton", "last leaf"])
    @pytest.mark.parametrize(
        "column", [each for each in columns_of("leaves") if each.name != "leaf"], ids=str
    )
    def test_a_changed_field_is_found_at_its_event(
        self, victim: Victim, column: Column, number: int, leaf: int
    ) -> None:  # C-3
        victim.tamper(
            f"UPDATE leaves SET {column.name} = {column.changed} WHERE leaf = {victim.leaf(number, leaf)}"
        )

        assert victim.address(number) in victim.places()

    @pytest.mark.parametrize("leaf", [0, 1, -1], ids=["skeleton", "part", "native"])
    @pytest.mark.parametrize("column", ["salt", "data"])
    def test_an_emptied_field_is_found_at_its_event(
        self, victim: Victim, column: str, leaf: int
    ) -> None:  # C-3
        victim.tamper(f"UPDATE leaves SET {column} = NULL WHERE leaf = {victim.leaf(MIDDLE, leaf)}")

        assert (FindingKind.CONTENT, victim.address(MIDDLE)) in victim.found()

    def test_bytes_hidden_behind_a_packed_record_are_found(self, victim: Victim) -> None:  # C-3
        victim.tamper(
            f"UPDATE leaves SET data = CAST(data || x'00' AS BLOB) WHERE leaf = {victim.leaf(MIDDLE, -1)}"
        )

        assert victim.address(MIDDLE) in victim.places()

    @PLACES
    def test_a_leaf_that_readers_would_miss_is_found(self, victim: Victim, number: int) -> None:  # C-3
        victim.tamper(f"UPDATE leaves SET leaf = leaf + 1 WHERE leaf = {victim.leaf(number, -1)}")

        assert victim.found() == [(FindingKind.ORPHAN, victim.address(number))]

    def test_a_leaf_of_no_event_is_found_at_the_event_that_lost_it(self, victim: Victim) -> None:  # C-3
        victim.tamper(f"UPDATE leaves SET leaf = leaf + ({FAR} << 16) WHERE leaf = {victim.leaf(MIDDLE, 1)}")

        found = victim.found()
        assert (FindingKind.LINK, victim.address(MIDDLE)) in found
        assert (FindingKind.ORPHAN, f"leaves of position {victim.events[MIDDLE].position + FAR}") in found

    @pytest.mark.parametrize("leaf", [0, 1, 2, -1])
    def test_a_missing_leaf_is_found_at_its_event(self, victim: Victim, leaf: int) -> None:  # C-3
        victim.tamper(f"DELETE FROM leaves WHERE leaf = {victim.leaf(MIDDLE, leaf)}")

        assert victim.address(MIDDLE) in victim.places()

    def test_an_event_without_its_leaves_is_found(self, victim: Victim) -> None:  # C-3
        victim.tamper(f"DELETE FROM leaves WHERE {victim.leaves(MIDDLE)}")

        assert (FindingKind.LINK, victim.address(MIDDLE)) in victim.found()

    def test_leaves_that_changed_places_in_an_event_are_found(self, victim: Victim) -> None:  # C-3
        victim.tamper(_swap("leaves", "leaf", victim.leaf(MIDDLE, 1), victim.leaf(MIDDLE, 2), FAR << 16))

        assert (FindingKind.LINK, victim.address(MIDDLE)) in victim.found()

    def test_leaves_that_changed_places_between_events_are_found_at_both(self, victim: Victim) -> None:  # C-3
        victim.tamper(_swap("leaves", "leaf", victim.leaf(5, 1), victim.leaf(MIDDLE, 1), FAR << 16))

        assert {victim.address(5), victim.address(MIDDLE)} <= victim.places()

    def test_a_blanked_leaf_is_found_although_the_chain_holds(self, victim: Victim) -> None:  # C-2, C-3
        victim.tamper(_blank(victim, 1))

        report = victim.verify()
        assert {(found.kind, found.address) for found in report.findings} >= {
            (FindingKind.CONTENT, victim.address(MIDDLE))
        }
        assert report.erased_leaves == 1
        assert FindingKind.LINK not in {found.kind for found in report.findings}


class TestForgeries:
    """Changes of whole events."""

    def test_a_missing_event_is_found_at_the_one_before_it(self, victim: Victim) -> None:  # C-3
        victim.tamper(
            f"""DELETE FROM leaves WHERE {victim.leaves(MIDDLE)};
                DELETE FROM events WHERE {victim.where(MIDDLE)}"""
        )

        assert (FindingKind.LINK, victim.address(MIDDLE - 1)) in victim.found()

    def test_the_leaves_of_a_missing_event_are_found_too(self, victim: Victim) -> None:  # C-3
        victim.tamper(f"DELETE FROM events WHERE {victim.where(MIDDLE)}")

        place = f"leaves of position {victim.events[MIDDLE].position}"
        assert (FindingKind.ORPHAN, place) in victim.found()

    def test_a_missing_first_event_is_found_at_the_second(self, victim: Victim) -> None:  # C-2
        victim.tamper(
            f"DELETE FROM leaves WHERE {victim.leaves(FIRST)}; DELETE FROM events WHERE {victim.where(FIRST)}"
        )

        assert (FindingKind.GENESIS, victim.address(1)) in victim.found()

    def test_an_event_that_was_put_between_two_is_found(self, victim: Victim) -> None:  # C-3
        victim.tamper(
            f"""INSERT INTO events
                SELECT {FAR}, stream, seq + 1, writer, kind, schema_version, encoding, claim_ns, event_id,
                       prev_hash
                FROM events WHERE {victim.where(MIDDLE)};
                INSERT INTO leaves SELECT {FAR} << 16 | leaf & 65535, name, packed, salt, data, digest
                FROM leaves WHERE {victim.leaves(MIDDLE)}"""
        )

        assert f"event:a#{victim.seq(MIDDLE) + 1}@{victim.writer}" in victim.places()

    def test_contents_that_changed_places_are_found_at_both(self, victim: Victim) -> None:  # C-3
        one, two = victim.events[5].position, victim.events[MIDDLE].position
        victim.tamper(
            f"""UPDATE leaves SET leaf = leaf + ({FAR} << 16) WHERE {victim.leaves(5)};
                UPDATE leaves SET leaf = leaf + (({one} - {two}) << 16) WHERE {victim.leaves(MIDDLE)};
                UPDATE leaves SET leaf = leaf - (({FAR} + {one} - {two}) << 16)
                WHERE leaf >> 16 = {one + FAR}"""
        )

        assert {victim.address(5), victim.address(MIDDLE)} <= victim.places()

    def test_events_that_changed_places_are_found_at_both(self, victim: Victim) -> None:  # C-3
        victim.tamper(_swap("events", "seq", victim.seq(5), victim.seq(MIDDLE), FAR))

        assert {victim.address(5), victim.address(MIDDLE)} <= victim.places()

    def test_exchanged_times_are_found_at_both(self, victim: Victim) -> None:  # C-3
        one, two = victim.events[5].header.claim_ns, victim.events[MIDDLE].header.claim_ns
        victim.tamper(
            f"""UPDATE events SET claim_ns = {two} WHERE {victim.where(5)};
                UPDATE events SET claim_ns = {one} WHERE {victim.where(MIDDLE)}"""
        )

        assert {victim.address(5), victim.address(MIDDLE)} <= victim.places()

    def test_a_cut_tail_is_found_at_the_last_event_that_is_left(self, victim: Victim) -> None:  # C-3
        victim.tamper(_drop(f"seq >= {victim.seq(-3)}"))

        assert (FindingKind.CUT_TAIL, victim.address(-4)) in victim.found()

    def test_a_conversation_without_its_events_is_found(self, victim: Victim) -> None:  # C-3
        victim.tamper(_drop("TRUE"))

        assert (FindingKind.CUT_TAIL, f"event:a#0@{victim.writer}") in victim.found()

    def test_a_conversation_without_events_and_tips_is_found_by_its_rows(self, victim: Victim) -> None:  # C-3
        victim.tamper(_drop("TRUE") + f"; DELETE FROM tips WHERE stream = {A}")

        assert victim.found() == [(FindingKind.READ_MODEL, "conversation:a")]

    def test_a_conversation_that_is_gone_with_everything_is_found_by_a_receipt_only(
        self, victim: Victim
    ) -> None:  # C-4
        tables = ("tips", "registers", "conversation_keys", "conversations", "messages", "turns")
        victim.tamper(
            _drop("TRUE")
            + "".join(f"; DELETE FROM {table} WHERE stream = {A}" for table in (*tables, "idempotency_keys"))
            + "; DELETE FROM streams WHERE id = 'a'"
        )

        assert victim.found() == []
        assert victim.found(victim.receipt) == [(FindingKind.RECEIPT, f"position {victim.receipt.position}")]


class TestTips:
    """The table `tips`, `streams`, and the clock."""

    @pytest.mark.parametrize("column", columns_of("tips"), ids=str)
    def test_a_changed_tip_is_found_at_the_last_event(self, victim: Victim, column: Column) -> None:  # C-3
        victim.tamper(f"UPDATE tips SET {column.name} = {column.changed} WHERE stream = {A}")

        assert victim.address(LAST) in victim.places()

    @pytest.mark.parametrize("column", ["seq", "count"])
    def test_a_tip_that_was_set_back_is_found(self, victim: Victim, column: str) -> None:  # C-3
        victim.tamper(f"UPDATE tips SET {column} = {column} - 1 WHERE stream = {A}")

        assert victim.found() == [(FindingKind.TIP, victim.address(LAST))]

    def test_a_missing_tip_is_found(self, victim: Victim) -> None:  # C-3
        victim.tamper(f"DELETE FROM tips WHERE stream = {A}")

        assert victim.found() == [(FindingKind.TIP, victim.address(LAST))]

    def test_tips_that_changed_places_are_found_in_both_conversations(self, victim: Victim) -> None:  # C-3
        victim.tamper(_swap("tips", "stream", A, B, FAR))

        places = victim.places()
        assert victim.address(LAST) in places
        assert [place for place in places if place.startswith("event:b#")]

    def test_another_inner_identity_is_found_from_the_first_event_on(self, victim: Victim) -> None:  # C-2
        victim.tamper("UPDATE streams SET uid = flipped(uid) WHERE id = 'a'")

        assert victim.found()[0] == (FindingKind.CONTENT, victim.address(FIRST))

    def test_a_conversation_in_another_workspace_is_found(self, victim: Victim) -> None:  # N-1
        victim.tamper(
            """INSERT INTO workspaces (uid) VALUES (x'00112233445566778899aabbccddeeff');
               UPDATE streams SET workspace = last_insert_rowid() WHERE id = 'b'"""
        )

        assert victim.found() == [(FindingKind.READ_MODEL, "conversation:b")]

    def test_a_conversation_in_no_workspace_is_found(self, victim: Victim) -> None:  # N-1
        victim.tamper(f"UPDATE streams SET workspace = {FAR} WHERE id = 'a'")

        assert (FindingKind.ORPHAN, f"conversation:{victim.uid}") in victim.found()

    def test_a_clock_that_was_set_back_behind_a_title_is_found(self, victim: Victim) -> None:  # L-1
        victim.tamper(
            f"""UPDATE registers SET seq = 900 WHERE stream = {A} AND field = 'title';
                UPDATE store SET clock = 899"""
        )

        assert victim.found() == [(FindingKind.CLOCK, "store")]


class TestReadModel:
    """The tables of the read model."""

    @pytest.mark.parametrize("message", ["q1", "a1", "a2"])
    @pytest.mark.parametrize("column", columns_of("messages"), ids=str)
    def test_a_changed_message_row_is_found(
        self, victim: Victim, column: Column, message: str
    ) -> None:  # P-1
        victim.tamper(
            f"""UPDATE messages SET {column.name} = {column.changed}
                WHERE stream = {A} AND message_id = '{message}'"""
        )

        assert victim.found() == [(FindingKind.READ_MODEL, f"message:a#{message}")]

    @pytest.mark.parametrize("column", columns_of("messages"), ids=str)
    def test_a_changed_message_row_of_a_whole_turn_is_found(
        self, victim: Victim, column: Column
    ) -> None:  # P-1
        victim.tamper(
            f"""UPDATE messages SET {column.name} = {column.changed}
                WHERE stream = {A} AND seq = {victim.seq(LAST)} AND ordinal = 1"""
        )

        found = [(kind, place.split(".")[0]) for kind, place in victim.found()]
        assert found == [(FindingKind.READ_MODEL, f"message:a#{victim.seq(LAST)}")]

    @pytest.mark.parametrize(
        "column",
        [each for each in columns_of("conversations", "messages", "turns") if each.is_nullable],
        ids=str,
    )
    def test_an_emptied_field_is_found(self, victim: Victim, column: Column) -> None:  # P-1
        victim.tamper(
            f"""UPDATE {column.table} SET {column.name} = NULL WHERE stream = {A}
                AND {column.name} = (SELECT min({column.name}) FROM {column.table} WHERE stream = {A})"""
        )

        assert [kind for kind, _ in victim.found()] == [FindingKind.READ_MODEL]

    @pytest.mark.parametrize("number", [1, 2, 4], ids=["whole turn", "message", "turn_started"])
    @pytest.mark.parametrize("column", columns_of("turns"), ids=str)
    def test_a_changed_turn_row_is_found(self, victim: Victim, column: Column, number: int) -> None:  # P-1
        victim.tamper(f"UPDATE turns SET {column.name} = {column.changed} WHERE {victim.where(number)}")

        assert victim.found() == [(FindingKind.READ_MODEL, f"turn:a#{victim.seq(number)}")]

    @pytest.mark.parametrize("column", columns_of("conversations"), ids=str)
    def test_a_changed_conversation_row_is_found(self, victim: Victim, column: Column) -> None:  # P-1, N-1
        victim.tamper(f"UPDATE conversations SET {column.name} = {column.changed} WHERE stream = {A}")

        assert victim.found() == [(FindingKind.READ_MODEL, "conversation:a")]

    @pytest.mark.parametrize("column", columns_of("idempotency_keys"), ids=str)
    def test_a_changed_idempotency_key_is_found(self, victim: Victim, column: Column) -> None:  # L-7
        victim.tamper(f"UPDATE idempotency_keys SET {column.name} = {column.changed} WHERE {victim.where(1)}")

        assert [kind for kind, _ in victim.found()] == [FindingKind.READ_MODEL]
        assert [place for place in victim.places() if place.startswith("key:a#")]

    @pytest.mark.parametrize("column", columns_of("conversation_keys"), ids=str)
    def test_a_changed_key_of_a_conversation_is_found(self, victim: Victim, column: Column) -> None:  # C-3
        victim.tamper(f"UPDATE conversation_keys SET {column.name} = {column.changed}")

        assert victim.found() == [(FindingKind.READ_MODEL, "conversation:a")]

    def test_a_key_that_nobody_gave_is_found(self, victim: Victim) -> None:  # C-3
        victim.tamper(
            f"""INSERT INTO conversation_keys
                SELECT 'telegram:2', workspace, stream FROM streams WHERE stream = {B}"""
        )

        assert victim.found() == [(FindingKind.ORPHAN, "conversation:b")]

    def test_messages_that_show_each_others_words_are_found(self, victim: Victim) -> None:  # P-1
        one, two = victim.events[5].position, victim.events[6].position
        victim.tamper(
            f"""UPDATE messages SET position = {two} WHERE stream = {A} AND message_id = 'q2';
                UPDATE messages SET position = {one} WHERE stream = {A} AND message_id = 'a2'"""
        )

        assert victim.found() == [(FindingKind.READ_MODEL, "message:a#q2")]

    def test_a_missing_message_row_is_found(self, victim: Victim) -> None:  # P-1
        victim.tamper(f"DELETE FROM messages WHERE stream = {A} AND message_id = 'q2'")

        assert victim.found() == [(FindingKind.READ_MODEL, "message:a#q2")]

    def test_a_message_row_that_nobody_wrote_is_found(self, victim: Victim) -> None:  # P-1
        victim.tamper(
            f"""CREATE TEMP TABLE forged AS SELECT * FROM messages WHERE stream = {A} AND message_id = 'q2';
                UPDATE forged SET seq = {FAR}, message_id = 'forged';
                INSERT INTO messages SELECT * FROM forged"""
        )

        assert victim.found() == [(FindingKind.READ_MODEL, "message:a#forged")]


def _swap(table: str, column: str, one: object, two: object, aside: int) -> str:
    """Exchange two values of a column that is unique."""
    return f"""UPDATE {table} SET {column} = {column} + {aside} WHERE {column} = {one};
               UPDATE {table} SET {column} = {one} WHERE {column} = {two};
               UPDATE {table} SET {column} = {two} WHERE {column} = {one} + {aside}"""


def _drop(which: str) -> str:
    """Remove events of `a` with their leaves."""
    return f"""DELETE FROM leaves WHERE leaf >> 16 IN
                   (SELECT position FROM events WHERE stream = {A} AND {which});
               DELETE FROM events WHERE stream = {A} AND {which}"""


def _blank(victim: Victim, leaf: int) -> str:
    """Take a leaf of the middle event away as erasing does, with the right digest, and declare nothing."""
    digest = victim.digest(MIDDLE, leaf).hex()
    return f"""UPDATE leaves SET data = NULL, salt = NULL, packed = 0, digest = x'{digest}'
               WHERE leaf = {victim.leaf(MIDDLE, leaf)}"""
