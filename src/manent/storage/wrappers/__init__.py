"""
Backends around backends: each has the type of what it wraps, so they go around each other as well.

    read_only(backend)             every write raises ReadOnlyError
    faulty(backend, FaultPlan(3))  a transaction fails at its third statement
    traced(backend, sink)          every call is told to `sink`: name, duration, how many, never content
"""

from manent.storage.wrappers.faults import FaultPlan, faulty
from manent.storage.wrappers.refusal import read_only
from manent.storage.wrappers.tracing import Call, traced
from manent.storage.wrappers.wrapper import Wrapper

__all__ = ["Call", "FaultPlan", "Wrapper", "faulty", "read_only", "traced"]
