"""The conformance suite as a stranger runs it, in this process: which tests fail on a given backend."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from manent.storage.port import Backend
from manent.testing.conformance import Contract, OpenBackend

EVERY_CONTRACT = Path(__file__).with_name("every_contract.py")

OPTIONS = (
    f"--config-file={os.devnull}",
    f"--rootdir={EVERY_CONTRACT.parent}",
    "--import-mode=importlib",
    "--quiet",
    "--no-header",
    "--no-summary",
    "--exitfirst",
    "--capture=no",
    *(f"-pno:{plugin}" for plugin in ("cacheprovider", "faulthandler", "logging", "timeout", "xdist")),
)


class _Plugin:
    """Gives the backend, and remembers the tests whose own lines failed."""

    def __init__(self, open_in: Callable[[Path], OpenBackend]) -> None:
        self._open_in = open_in
        self.failed: list[str] = []
        self.passed: list[str] = []

    @pytest.fixture
    def open_backend(self, tmp_path: Path) -> Iterator[OpenBackend]:
        """The backend under test, in a folder of its own."""
        opened: list[Backend] = []
        open_one = self._open_in(tmp_path)

        def open_backend(name: str = "store") -> Backend:
            opened.append(open_one(name))
            return opened[-1]

        yield open_backend
        for backend in opened:
            backend.close()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember what failed, in a fixture as well, and what passed."""
        name = report.nodeid.rpartition("::")[2]
        if report.failed:
            self.failed.append(name)
        if report.when == "call" and report.passed:
            self.passed.append(name)


def first_failure(open_in: Callable[[Path], OpenBackend], contracts: Sequence[type[Contract]]) -> str | None:
    """
    Run some contracts on a backend until a test fails.

    Args:
        open_in: gives what opens the backend in a folder.
        contracts: those to run, in this order.

    Returns:
        The name of the test that failed, or None when all of them passed.
    """
    plugin = _Plugin(open_in)
    chosen = [f"{EVERY_CONTRACT}::Test{contract.__name__}" for contract in contracts]
    with tempfile.TemporaryDirectory() as folder:  # of its own: runs beside it sweep the common one
        pytest.main([*OPTIONS, f"--basetemp={folder}/run", *chosen], plugins=[plugin])
    assert plugin.failed or plugin.passed, "no test of the suite was run"
    return plugin.failed[0] if plugin.failed else None
