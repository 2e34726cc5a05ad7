"""How an open store stands: a real read, a real write that is rolled back, and a look at every chain."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from manent.errors import ManentError, StoreBusyError
from manent.history import messages
from manent.history.messages import Window
from manent.history.runtime import Target
from manent.history.store import Store
from manent.model.health import Check, Facts
from manent.storage.port import Listing


class _RolledBackError(Exception):
    """Ends the trial of a write before it is one."""


def probe(store: Store) -> Iterator[Check]:
    """
    Read and write for a trial.

    Args:
        store: the owner's handle, so that the newest message of all is read.
    """
    if store.wal_fallback_notice:
        yield Check(name="fallback", state="notice", said=store.wal_fallback_notice)
    yield _read(store)
    yield _write(store)
    yield Check(
        name="index",
        state="notice",
        said="there is none in this release: a search reads every message of its workspace",
    )


def look_through(store: Store, progress: Callable[[int], None]) -> Check:
    """The summary of `Store.verify`; `progress` is called with the number of events."""
    try:
        report = store.verify(progress=progress)
    except ManentError as error:
        return Check(name="verify", state="wrong", said=str(error))
    looked: Facts = {
        "events": report.events,
        "streams": report.streams,
        "findings": len(report.findings),
    }
    if report.ok:
        return Check(name="verify", state="ok", said=f"{report.events:,} events, no finding", facts=looked)
    return Check(
        name="verify",
        state="wrong",
        said=f"{len(report.findings):,} findings in {report.events:,} events",
        advice="`manent verify` lists them. Keep a copy, and compare with a backup or an export.",
        facts=looked,
    )


def _read(store: Store) -> Check:
    """Read the newest message, if there is one."""
    began = time.perf_counter()
    try:
        with store._runtime.backend.reading() as reader:
            reader.info()
            for entry in reader.list_conversations(Listing(None, newest_first=True, limit=1)):
                target = Target(entry.uid, entry.id, workspace=entry.workspace)
                messages.read_page(reader, target, Window.of(1, None, None, "active"))
    except ManentError as error:
        return Check(name="read", state="wrong", said=str(error), advice="`manent verify` looks further.")
    took_ms = _since_ms(began)
    said = f"the newest message was read in {took_ms} ms"
    return Check(name="read", state="ok", said=said, facts={"took_ms": took_ms})


def _write(store: Store) -> Check:
    """Take the write lock and write, then roll back; what the disk does at a commit is not tried."""
    began = time.perf_counter()
    try:
        with store._runtime.backend.transaction() as tx:
            tx.tick()
            raise _RolledBackError
    except _RolledBackError:
        took_ms = _since_ms(began)
    except StoreBusyError as error:
        advice = "Wait until the other process has written, or end it; --wait waits longer."
        return Check(name="write", state="wrong", said=str(error), advice=advice)
    except ManentError as error:
        return Check(name="write", state="wrong", said=str(error))
    said = f"a write was begun, made and rolled back in {took_ms} ms"
    return Check(name="write", state="ok", said=said, facts={"took_ms": took_ms})


def _since_ms(began: float) -> float:
    return round((time.perf_counter() - began) * 1_000, 1)
