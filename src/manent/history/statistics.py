"""Statistics: counts by query, never by counters that could drift."""

from __future__ import annotations

from collections import Counter

from manent.model.records import Statistics
from manent.model.rows import Measures


def to_statistics(found: Measures) -> Statistics:
    """Counts as readers get them."""
    return Statistics(
        conversations=found.conversations,
        turns=Counter(found.turns),
        messages=Counter(found.messages),
        first_ns=found.claim_first_ns,
        last_ns=found.claim_max_ns,
        tokens={name: total for name, (_, total) in sorted(found.tokens.items())},
        reports={name: count for name, (count, _) in sorted(found.tokens.items())},
    )


NOTHING = Measures(0, {}, {}, {}, None, None)
"""What there is in a workspace that nobody wrote to."""
