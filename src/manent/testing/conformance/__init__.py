"""
The contract of the storage port, as tests: give one fixture, and your backend is proved.

    from manent.testing.conformance import BackendConformance

    class TestMine(BackendConformance):
        @pytest.fixture
        def open_backend(self, tmp_path):
            return lambda name="store": MyBackend(tmp_path / name)

`open_backend(name)` opens the store of that name, again where your backend keeps it; each test has a
`tmp_path` of its own, and so new stores. What your backend's `capabilities` deny is skipped, with the reason.
A test names the requirement that it proves, such as `# L-2`; `docs/requirements.md` says what that is. One
without a number proves a sentence of the port. A single contract, such as `AppendContract`, is used likewise.
"""

from manent.testing.conformance.contract import Contract, OpenBackend
from manent.testing.conformance.suite import CONTRACTS, BackendConformance

__all__ = ["CONTRACTS", "BackendConformance", "Contract", "OpenBackend"]
