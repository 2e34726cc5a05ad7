"""
Each contract as a class of its own, for whatever `open_backend` a plugin gives.

Not collected with the other tests: `suite_run` runs it on backends that have a planted fault.
"""

from __future__ import annotations

from manent.testing.conformance import CONTRACTS

for _contract in CONTRACTS:
    globals()[f"Test{_contract.__name__}"] = type(f"Test{_contract.__name__}", (_contract,), {})
