"""
What tests of manent and of what is built on it share: shipped, for strangers with a backend of their own.

`conformance` proves a backend; `strategies` and `builders` make what goes into one, `clocks` says when.
"""

import contextlib

with contextlib.suppress(ImportError):  # clocks and builders are of use without pytest
    import pytest

    pytest.register_assert_rewrite("manent.testing.conformance")
