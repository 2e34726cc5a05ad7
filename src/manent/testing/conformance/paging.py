"""Pages: bounds are exclusive, and pages put together are the whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

from manent.model.ids import BEFORE_ALL, Stamp
from manent.model.log import LogEntry
from manent.model.rows import MessageEntry, Place, TurnRow
from manent.storage.port import Listing, Reader, Span
from manent.testing.builders import a_turn, said, sealed
from manent.testing.conformance.contract import Contract
from manent.testing.observations import all_pages
from manent.testing.workbench import ALL, Workbench

SIZES = [1, 2, 3, 5]
T = TypeVar("T")


class PagingContract(Contract):
    """What every read with a limit promises."""

    @pytest.fixture
    def uid(self, bench: Workbench) -> str:
        """A conversation of several writers: two share a seq, some came late, and turns have two messages."""
        uid = bench.conversation()
        bench.record(uid, a_turn("q1", "a1"), said("q2"))
        bench.adopt(*sealed(uid, a_turn("q5", "a5"), said("q6"), writer="bb" * 8, seq=50))
        bench.adopt(*sealed(uid, a_turn("q3", "a3"), said("q4"), writer="aa" * 8, seq=50))
        return uid

    @pytest.mark.parametrize("size", SIZES)
    def test_messages_in_pages_are_all_messages(self, bench: Workbench, uid: str, size: int) -> None:  # L-6
        whole = bench.messages(uid)

        forward = paged(bench, lambda r, last: r.read_messages(uid, _after(last, size)))
        backward = paged(bench, lambda r, last: r.read_messages(uid, _before(last, size)))

        assert forward == whole
        assert backward == whole[::-1]
        assert len(whole) == 9

    def test_a_span_lies_between_its_bounds_and_holds_neither(
        self, bench: Workbench, uid: str
    ) -> None:  # L-6
        places = [entry.place for entry in bench.messages(uid)]

        found = bench.messages(uid, Span(after=places[1], before=places[6]))
        end = bench.messages(uid, Span(after=places[1], before=places[6], newest_first=True, limit=2))

        assert [entry.place for entry in found] == places[2:6]
        assert [entry.place for entry in end] == [places[5], places[4]]

    def test_messages_of_one_event_can_be_on_two_pages(self, bench: Workbench, uid: str) -> None:  # L-6
        question, answer = bench.messages(uid)[:2]

        found = bench.messages(uid, Span(after=question.place, limit=1))

        assert found == [answer]
        assert question.place[:2] == answer.place[:2]

    def test_a_place_where_nothing_stands_is_a_bound_like_any(
        self, bench: Workbench, uid: str
    ) -> None:  # L-6
        whole = bench.messages(uid)
        first = whole[0]

        before_all = bench.messages(uid, Span(after=Place(first.seq, first.writer, -1)))
        between = bench.messages(uid, Span(after=Place(50, "ab" * 8, 0)))

        assert before_all == whole
        assert between == whole[-4:]

    @pytest.mark.parametrize("size", SIZES)
    def test_turns_in_pages_are_all_turns(self, bench: Workbench, uid: str, size: int) -> None:  # L-6
        whole = bench.read(lambda reader: list(reader.read_turns(uid, Span())))

        forward = paged(bench, lambda r, last: r.read_turns(uid, _after_turn(last, size)))
        backward = paged(bench, lambda r, last: r.read_turns(uid, _before_turn(last, size)))

        assert forward == whole
        assert backward == whole[::-1]
        assert [turn.stamp for turn in whole] == sorted(turn.stamp for turn in whole)
        assert len(whole) == 6

    @pytest.mark.parametrize("size", SIZES)
    def test_a_stream_in_pages_is_the_whole_stream(
        self, bench: Workbench, uid: str, size: int
    ) -> None:  # L-6
        pages = paged(bench, lambda r, last: r.read_stream(uid, _stamp(last), size))

        assert pages == bench.events(uid)
        assert len(pages) == 6

    @pytest.mark.parametrize("size", SIZES)
    def test_the_log_in_pages_is_the_whole_log(self, bench: Workbench, uid: str, size: int) -> None:  # L-6
        bench.append(bench.conversation("c2"), said("elsewhere"))

        pages = paged(bench, lambda r, last: r.read_log(last.position if last else 0, size))

        assert pages == bench.log()
        assert len(pages) == 7
        assert {entry.header.uid for entry in pages[:6]} == {uid}

    def test_paging_while_others_append_reads_what_is_there_in_the_end(
        self, bench: Workbench, uid: str
    ) -> None:  # L-6
        first = bench.read(lambda reader: reader.read_log(0, 4))
        bench.record(uid, said("meanwhile"))
        second = bench.read(lambda reader: reader.read_log(first[-1].position, 2))
        bench.record(uid, said("and more"))
        third = bench.read(lambda reader: reader.read_log(second[-1].position, ALL))

        assert [*first, *second, *third] == bench.log()

    def test_a_page_has_at_most_so_many_items(self, bench: Workbench, uid: str) -> None:  # L-6
        bench.record(bench.conversation("c2"), a_turn())

        lengths = bench.read(
            lambda reader: [
                len(reader.read_messages(uid, Span(limit=2))),
                len(reader.read_messages(uid, Span(newest_first=True, limit=2))),
                len(reader.read_turns(uid, Span(limit=2))),
                len(reader.read_turns(uid, Span(newest_first=True, limit=2))),
                len(reader.read_stream(uid, BEFORE_ALL, 2)),
                len(reader.read_log(0, 2)),
                len(reader.read_uids("", 2)),
                len(reader.list_conversations(Listing(None, True, 1))),
                len(reader.list_conversations(Listing(None, False, 1))),
            ]
        )

        assert lengths == [2, 2, 2, 2, 2, 2, 2, 1, 1]

    def test_a_limit_below_zero_is_no_limit_for_turns(self, bench: Workbench, uid: str) -> None:
        found = bench.read(lambda reader: reader.read_turns(uid, Span(limit=-1)))

        assert len(found) == 6


def paged(bench: Workbench, read: Callable[[Reader, T | None], Sequence[T]]) -> list[T]:
    """All items, page by page, each page in a read of its own; `read` is given the last item so far."""

    def next_page(last: T | None) -> Sequence[T]:
        return bench.read(lambda reader: read(reader, last))

    return all_pages(next_page)


def _after(last: MessageEntry | None, size: int) -> Span:
    return Span(after=last.place if last else None, limit=size)


def _before(last: MessageEntry | None, size: int) -> Span:
    return Span(before=last.place if last else None, newest_first=True, limit=size)


def _after_turn(last: TurnRow | None, size: int) -> Span:
    return Span(after=Place(*last.stamp, 7) if last else None, limit=size)


def _before_turn(last: TurnRow | None, size: int) -> Span:
    return Span(before=Place(*last.stamp, 7) if last else None, newest_first=True, limit=size)


def _stamp(last: LogEntry | None) -> Stamp:
    return last.header.stamp if last else BEFORE_ALL
