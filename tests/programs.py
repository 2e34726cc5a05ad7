"""The programs that tests run in child processes. No test tools are imported here."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

import manent
from manent.errors import ManentError
from manent.history.messages import BEGINNING
from manent.model.paging import place_to_cursor
from manent.opening import open_backend
from tests.processes import ready


def hold_the_lock(path: str, seconds: float) -> None:
    """Keep a write transaction open for that long, once told to go."""
    backend = open_backend(path)
    with backend.transaction():
        ready()
        time.sleep(seconds)
    backend.close()


def create_and_append(path: str, name: str, turns: int, wait: float) -> str:
    """Begin a conversation and append turns to it; its id."""
    ready()
    with manent.open(path, wait=wait) as store:
        conversation = store.create(name)
        for number in range(turns):
            conversation.append_turn(f"{name} {number}", "so it is")
        return conversation.id


def append_turns(path: str, conversation_id: str, name: str, turns: int, wait: float = 20.0) -> list[int]:
    """Append turns to a conversation; their seqs."""
    with manent.open(path, wait=wait) as store:
        conversation = store.conversation(conversation_id)
        ready()
        return [conversation.append_turn(f"{name} {number}", "so it is").seq for number in range(turns)]


def append_once(path: str, conversation_id: str, question: str, answer: str, key: str | None) -> list[Any]:
    """Append one turn, perhaps with an idempotency key; its seq, answer and message ids."""
    with manent.open(path) as store:
        turn = store.conversation(conversation_id).append_turn(question, answer, idempotency_key=key)
        return [turn.seq, turn.answer, list(turn.message_ids)]


def append_as(path: str, conversation_id: str) -> str:
    """Append one turn; the writer that this process is."""
    with manent.open(path) as store:
        return store.conversation(conversation_id).append_turn("who?", "I").writer


def append_and_die(path: str, conversation_id: str, backup: str, seconds: float) -> None:
    """In a process that is killed: append for some time, copy the store to `backup`, append as long again."""
    pid = os.fork()
    if pid == 0:
        store = manent.open(path)
        conversation = store.conversation(conversation_id)
        _append_for(conversation, seconds)
        with (
            contextlib.closing(apsw.Connection(path)) as there,
            contextlib.closing(apsw.Connection(backup)) as here,
            here.backup("main", there, "main") as copying,
        ):
            copying.step()
        _append_for(conversation, seconds)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)


def _append_for(conversation: manent.Conversation, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        conversation.append_turn("at work", "so it is")
        time.sleep(0.01)


def flat_out(path: str, conversation_id: str, seconds: float) -> int:
    """Append as fast as it goes for that long; how many turns."""
    with manent.open(path) as store:
        conversation = store.conversation(conversation_id)
        ready()
        deadline = time.monotonic() + seconds
        count = 0
        while time.monotonic() < deadline:
            conversation.append_turn("flat out", "so it is")
            count += 1
        return count


def open_at_once(path: str, name: str, threads: int, turns: int) -> list[str]:
    """Open a store in each of some threads at the same moment and append; what went wrong."""
    barrier = threading.Barrier(threads + 1)
    errors: list[str] = []

    def work(number: int) -> None:
        barrier.wait()
        try:
            with manent.open(path, wait=60.0) as store:
                conversation = store.conversation(key="all", create=True)
                for turn in range(turns):
                    conversation.append_turn(f"{name}.{number} {turn}", "so it is")
        except (ManentError, OSError) as error:
            errors.append(f"{type(error).__name__}: {error}")

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    ready()
    barrier.wait()
    for worker in workers:
        worker.join()
    return errors


def read_all(path: str, read_only: bool = True) -> list[list[str]]:
    """The questions of every conversation, the most recently active first."""
    with manent.open(path, read_only=read_only) as store:
        return [
            [turn.question for turn in store.conversation(summary.id).turns()]
            for summary in store.list(limit=1_000)
        ]


def read_and_refuse(path: str, read_only: bool) -> list[Any]:
    """Bound by rights: the questions that can be read, and name and text of the error that a write raises."""
    obey_rights()
    with manent.open(path, read_only=read_only) as store:
        return [_questions(store), *_refusal(store)]


def make_where_one_may_not(path: str) -> list[str]:
    """Bound by rights: the name and text of the error that making a store raises."""
    obey_rights()
    try:
        manent.open(path).close()
    except ManentError as error:
        return [type(error).__name__, str(error)]
    return ["", ""]


def write_once_it_may(path: str, folder: str) -> list[Any]:
    """Bound by rights: the error of a write in a read-only folder, and the questions once it is not."""
    obey_rights()
    with manent.open(path) as store:
        refused = _refusal(store)
        Path(folder).chmod(0o700)
        store.conversation(store.list()[0].id).append_turn("afterwards", "so it is")
        return [refused[0], _questions(store)]


def read_twice(path: str) -> list[Any]:
    """Bound by rights: the questions that can be read, before and after somebody else writes."""
    obey_rights()
    with manent.open(path, read_only=True) as store:
        before = _questions(store)
        ready()
        return [before, _questions(store)]


def _questions(store: manent.Store) -> list[str]:
    found = [store.conversation(summary.id) for summary in store.list()]
    return [turn.question for conversation in found for turn in conversation.turns()]


def _refusal(store: manent.Store) -> list[str]:
    try:
        store.create("more")
    except ManentError as error:
        return [type(error).__name__, str(error)]
    return ["", ""]


def obey_rights() -> None:
    """Give up what root may do beyond the rights of files: even root then cannot write where nobody may."""
    if os.geteuid() == 0:
        header, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        if ctypes.CDLL(None, use_errno=True).capset(header, nothing):
            raise OSError(ctypes.get_errno(), "capset")


def make_under_umask_zero(path: str) -> dict[str, int]:
    """Make a store where the system hides nothing by itself; the rights of everything that appeared."""
    os.umask(0)
    with manent.open(path) as store:
        store.create("private").append_turn("q", "a")
        folder = Path(path).parent
        places = [folder.parent, folder, *folder.iterdir()]
        return {place.name: place.stat().st_mode & 0o777 for place in places}


def read_at_first(path: str, conversation_id: str, what: str) -> list[int]:
    """Read what a person looks at first; how many rows, and the most memory that was ever used, in bytes."""
    with manent.open(path) as store:
        conversation = store.conversation(conversation_id)
        reads: dict[str, Callable[[], int]] = {
            "nothing": lambda: 0,
            "list 20": lambda: len(store.list(limit=20)),
            "first page": lambda: len(conversation.messages(limit=50, after=place_to_cursor(BEGINNING))),
            "newest page": lambda: len(conversation.messages(limit=50)),
            "last 20 turns": lambda: len(conversation.turns(limit=20)),
        }
        return [reads[what](), most_memory_bytes()]


def most_memory_bytes() -> int:
    """The most memory that this program had; what Python's `resource` says counts that of its parent too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024


def interrupt_often(path: str, conversation_id: str, interrupts: int) -> list[int]:
    """Append under a rain of signals that raise; how many turns returned, and how many interrupts came."""

    class Interrupted(BaseException):
        """A signal came."""

    def interrupt(_number: int, _frame: object) -> None:
        raise Interrupted

    done = came = 0
    with manent.open(path, wait=1.0) as store:
        conversation = store.conversation(conversation_id)
        signal.signal(signal.SIGALRM, interrupt)
        while came < interrupts:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0002 + 0.0001 * (came % 37))
                while True:
                    conversation.append_turn(f"{done}", "so it is")
                    done += 1
            except Interrupted:
                came += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        conversation.append_turn("after all that", "so it is")
    return [done, came]


def import_until_killed(path: str, transactions: int) -> None:
    """Import the source of the tests of interrupts; be ready for the end before a transaction commits."""
    from manent.history import batching
    from manent.history.import_records import Keeper
    from tests.unit.history.sources import the_source

    noted = Keeper.note
    seen: list[str] = []

    def note(self: Keeper, *arguments: Any, **more: Any) -> str:
        stream = noted(self, *arguments, **more)
        seen.append(stream)
        if len(seen) == transactions:
            ready()
        return stream

    vars(batching)["BATCH_MESSAGES"] = 3
    setattr(Keeper, "note", note)  # noqa: B010 - a method that a checker would not let go
    with manent.open(path, workspace="demo") as store:
        store.import_items(the_source(), format="test")


def fill_up(path: str, conversation_id: str, room_bytes: int) -> list[Any]:
    """Append under a limit of file sizes until an error, lift it and go on; what returned, and the error."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    acknowledged: list[str] = []
    with manent.open(path) as store:
        conversation = store.conversation(conversation_id)

        def append() -> None:
            acknowledged.append(conversation.append_turn(f"turn {len(acknowledged)}", "x" * 2_000).question)

        append()
        limit = (
            max(place.stat().st_size for place in Path(path).parent.glob(f"{Path(path).name}*")) + room_bytes
        )
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        try:
            while True:
                append()
        except ManentError as error:
            failure = type(error).__name__
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        append()
    return [acknowledged, failure]


def fork_and_append(path: str, conversation_id: str) -> int:
    """
    Append here and, through the same handle, in a forked child; both end well.

    The parent closes before the child goes on, and the child is killed after its last append: what it got
    acknowledged stays (D-7, D-1).
    """
    store = manent.open(path)
    conversation = store.conversation(conversation_id)
    conversation.append_turn("before", "the fork")
    to_parent, to_child = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        conversation.append_turn("child", "first")
        os.write(to_parent[1], b"1")
        os.read(to_child[0], 1)
        conversation.append_turn("child", "second")
        os.kill(os.getpid(), signal.SIGKILL)
    os.read(to_parent[0], 1)
    conversation.append_turn("parent", "first")
    store.close()
    os.write(to_child[1], b"1")
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def fork_and_leave(path: str, conversation_id: str) -> int:
    """Append in a forked child that leaves by `sys.exit`, while the parent goes on; the child's exit code."""
    with manent.open(path) as store:
        conversation = store.conversation(conversation_id)
        conversation.append_turn("before", "the fork")
        pid = os.fork()
        if pid == 0:
            conversation.append_turn("child", "so it is")
            sys.exit(0)
        conversation.append_turn("parent", "so it is")
        _, status = os.waitpid(pid, 0)
        conversation.append_turn("parent", "afterwards")
        return os.waitstatus_to_exitcode(status)


def fork_beside_a_transaction(path: str, conversation_id: str, seconds: float) -> int:
    """Fork while another thread holds a transaction for some time; the child's exit code."""
    backend = open_backend(path)
    store = manent.open(path)
    conversation = store.conversation(conversation_id)
    held = threading.Event()

    def hold() -> None:
        with backend.transaction():
            held.set()
            time.sleep(seconds)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    pid = os.fork()
    if pid == 0:
        conversation.append_turn("child", "so it is")
        sys.exit(0)
    holder.join()
    conversation.append_turn("parent", "so it is")
    _, status = os.waitpid(pid, 0)
    store.close()
    backend.close()
    return os.waitstatus_to_exitcode(status)


def fork_inside_a_transaction(path: str, uid: str) -> list[str]:
    """Fork in the middle of a transaction of one's own; how it ended in the child, and in the parent."""
    backend = open_backend(path)
    read_end, write_end = os.pipe()
    said = "committed"
    try:
        with backend.transaction() as tx:
            tx.put_metadata(uid, "title", "renamed")
            pid = os.fork()
    except ManentError as error:
        said = str(error)
    if pid == 0:
        os.write(write_end, said.encode())
        os._exit(0)
    os.waitpid(pid, 0)
    backend.close()
    return [os.read(read_end, 10_000).decode(), said]


def fork_inside_a_read(path: str, conversation_id: str) -> list[Any]:
    """Fork in the middle of a read of one's own; how the child's append ended."""
    store = manent.open(path)
    lines = store.export_lines()
    next(lines)
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        said = "appended"
        try:
            store.conversation(conversation_id).append_turn("child", "so it is")
        except ManentError as error:
            said = str(error)
        os.write(write_end, said.encode())
        os._exit(0)
    os.waitpid(pid, 0)
    said = os.read(read_end, 10_000).decode()
    rest = sum(1 for _ in lines)
    store.conversation(conversation_id).append_turn("parent", "so it is")
    store.close()
    return [said, rest > 0]


def read_until_told(path: str) -> int:
    """Read a store over and over until the input ends; how often."""
    count = 0
    done = threading.Event()
    ready()

    def wait_for_the_end() -> None:
        with contextlib.suppress(OSError):
            sys.stdin.read()
        done.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    with manent.open(path) as store:
        while not done.is_set():
            store.list()
            count += 1
    return count
