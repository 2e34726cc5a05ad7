"""What was imported and what was masked, awaited."""

from __future__ import annotations

from manent.aio.twins import Twin, long_write, read
from manent.history.imports import Imports
from manent.history.masked_secrets import Secrets


class AsyncImports(Twin[Imports]):
    """`Imports` for an event loop: the same calls, awaited. Get it from `AsyncStore.imports`."""

    list = read(Imports.list)
    undo = long_write(Imports.undo)


class AsyncSecrets(Twin[Secrets]):
    """`Secrets` for an event loop: the same calls, awaited. Get it from `AsyncStore.secrets`."""

    list = read(Secrets.list)
