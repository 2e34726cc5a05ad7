"""How much hypothesis tries in a conformance test: enough to find what breaks, and few enough for a disk."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

sampled = settings(
    max_examples=25,
    deadline=None,  # a commit to a disk takes as long as it takes
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,  # all examples go into one store
        HealthCheck.differing_executors,  # several backends inherit the same test
        HealthCheck.too_slow,
    ],
    derandomize=True,  # the same everywhere: a backend conforms or it does not
    database=None,
)
"""The settings of a test whose examples all go into one store."""
