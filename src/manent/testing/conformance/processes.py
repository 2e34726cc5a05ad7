"""Several processes at one store: opening it, writing to it, being killed, being forked."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from multiprocessing.connection import Connection
from typing import Any

import pytest

from manent.storage.port import Backend
from manent.testing.builders import pending, said
from manent.testing.conformance.concurrency import append_batches, breaks_in_the_chain
from manent.testing.conformance.contract import Contract, OpenBackend, require
from manent.testing.workbench import Workbench

PROCESSES = 4
PATIENCE_S = 30
Work = Callable[[Connection], object]


class Child:
    """A forked process that does some work and talks over a pipe."""

    def __init__(self, work: Work) -> None:
        self._pipe, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("fork").Process(target=work, args=(theirs,))
        with warnings.catch_warnings():
            # Python warns of threads in the parent; the child uses nothing that another thread could hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()

    def say(self, word: object) -> None:
        """Send the child something that it waits for."""
        self._pipe.send(word)

    def hear(self) -> Any:
        """What the child says next."""
        assert self._pipe.poll(PATIENCE_S), "the child says nothing"
        return self._pipe.recv()

    def kill(self) -> None:
        """Kill it, as `kill -9` does."""
        self._process.kill()
        self._process.join()

    def end(self) -> None:
        """Wait until it has ended well."""
        self._process.join(PATIENCE_S)
        assert self._process.exitcode == 0, "the child failed; its traceback is on stderr"

    def release(self) -> None:
        """Give everything back, whatever state it is in."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self._pipe.close()


StartChild = Callable[[Work], Child]


class ProcessContract(Contract):
    """What a backend that several processes may open promises."""

    @pytest.fixture
    def start_child(self, open_backend: OpenBackend) -> Iterator[StartChild]:
        """Starts processes; skips where only one may open a store, or where there is no fork."""
        with closing(open_backend("probe")) as probe:
            require(probe, "processes")
        if not hasattr(os, "fork"):
            pytest.skip("this system has no fork")
        children: list[Child] = []

        def start(work: Work) -> Child:
            children.append(Child(work))
            return children[-1]

        yield start
        for child in children:
            child.release()

    def test_processes_open_a_new_store_at_once(
        self, open_backend: OpenBackend, start_child: StartChild
    ) -> None:  # D-6
        def work(pipe: Connection) -> None:
            name = pipe.recv()
            with closing(open_backend()) as backend:
                bench = Workbench(backend)
                bench.record(bench.conversation(name), said(name))

        children = [start_child(work) for _ in range(PROCESSES)]
        for number, child in enumerate(children):
            child.say(f"c{number}")
        for child in children:
            child.end()

        with closing(open_backend()) as backend:
            bench = Workbench(backend)
            assert sorted(bench.listed(bench.workspace())) == ["c0", "c1", "c2", "c3"]
            assert len(bench.read(lambda reader: reader.list_workspaces())) == 1

    def test_processes_never_share_a_seq_and_lose_nothing(
        self, open_backend: OpenBackend, start_child: StartChild
    ) -> None:  # L-4
        with closing(open_backend()) as backend:
            uid = Workbench(backend).conversation()

        def work(pipe: Connection) -> None:
            with closing(open_backend()) as backend:
                pipe.send(sum(append_batches(Workbench(backend), uid, str(os.getpid()))))

        children = [start_child(work) for _ in range(PROCESSES)]
        written = sum(child.hear() for child in children)
        for child in children:
            child.end()

        with closing(open_backend()) as backend:
            events = Workbench(backend).events(uid)
        assert len(events) == len({entry.header.stamp for entry in events}) == written
        assert len({entry.header.writer for entry in events}) == 1
        assert breaks_in_the_chain(events) == []

    def test_what_was_appended_survives_a_kill(
        self, open_backend: OpenBackend, start_child: StartChild
    ) -> None:  # D-1
        def work(pipe: Connection) -> None:
            bench = Workbench(open_backend())
            uid = bench.conversation()
            bench.record(uid, said("acknowledged"))
            pipe.send(uid)
            pipe.recv()

        child = start_child(work)
        uid = child.hear()
        child.kill()

        with closing(open_backend()) as backend:
            assert Workbench(backend).texts(uid) == ["acknowledged"]

    def test_a_kill_inside_a_transaction_leaves_nothing_and_no_lock(
        self, open_backend: OpenBackend, start_child: StartChild
    ) -> None:  # D-2
        def work(pipe: Connection) -> None:
            bench = Workbench(open_backend())
            uid = bench.conversation()
            with bench.backend.transaction() as tx:
                tx.append(uid, pending(said("lost")))
                pipe.send(uid)
                pipe.recv()

        child = start_child(work)
        uid = child.hear()
        child.kill()

        with closing(open_backend()) as backend:
            bench = Workbench(backend)
            bench.record(uid, said("kept"))
            assert bench.texts(uid) == ["kept"]
            assert len(bench.events(uid)) == 1

    def test_a_process_sees_what_another_one_committed(
        self, open_backend: OpenBackend, start_child: StartChild
    ) -> None:  # L-5
        def work(pipe: Connection) -> None:
            with closing(open_backend()) as backend:
                pipe.send("open")
                uid = pipe.recv()
                pipe.send(Workbench(backend).texts(uid))

        child = start_child(work)
        child.hear()
        with closing(open_backend()) as backend:
            bench = Workbench(backend)
            uid = bench.conversation()
            bench.record(uid, said("hi"))
            child.say(uid)

            assert child.hear() == ["hi"]
        child.end()

    def test_a_store_that_was_forked_works_on_both_sides(
        self, bench: Workbench, start_child: StartChild
    ) -> None:  # D-7
        uid = bench.conversation()
        bench.record(uid, said("before"))

        child = start_child(lambda _: bench.record(uid, said("in the child")))
        child.end()
        bench.record(uid, said("in the parent"))

        events = bench.events(uid)
        assert bench.texts(uid) == ["before", "in the child", "in the parent"]
        assert breaks_in_the_chain(events) == []

    def test_what_a_forked_child_wrote_outlives_its_parent(
        self, backend: Backend, open_backend: OpenBackend, start_child: StartChild
    ) -> None:  # D-1, D-7
        bench = Workbench(backend)
        uid = bench.conversation()
        bench.record(uid, said("before"))

        def work(pipe: Connection) -> None:
            bench.record(uid, said("beside the parent"))
            pipe.send("written")
            pipe.recv()
            bench.record(uid, said("after the parent"))
            bench.backend.close()

        child = start_child(work)
        child.hear()
        backend.close()
        child.say("closed")
        child.end()

        with closing(open_backend()) as again:
            texts = Workbench(again).texts(uid)
        assert texts == ["before", "beside the parent", "after the parent"]
