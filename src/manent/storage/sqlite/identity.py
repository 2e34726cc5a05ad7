"""Who writes: an installation in a file, renewed where the file was copied or restored (L-4)."""

from __future__ import annotations

import secrets
import time

import apsw

from manent.codec.chain import writer_id
from manent.storage.installation import Installation, Place, Seen
from manent.storage.sqlite.reader import SQL, SqliteReader

REMEMBERED_S = 1.0
"""
How old the installation's memory of a store's clock may grow while a handle writes. A copy that was taken
after it, and is put back when the process was killed, could not be told from the file itself.
"""


class Identity:
    """The writer of one handle: found with its first write, told apart from that of a copy."""

    def __init__(self, path: str, installation: Installation | None) -> None:
        self._path = path
        self._given = installation
        self._incarnation = ""
        self._remember_at = 0.0

    @property
    def _installation(self) -> Installation:
        if self._given is None:
            self._given = Installation.here()
        return self._given

    def recall(self, reader: SqliteReader) -> str | None:
        """The writer that the next write would be by, without writing; None for one that is to be made."""
        incarnation = reader.find_incarnation(self._installation.fingerprint)
        if incarnation is None or not self._is_same_file(reader, incarnation):
            return None
        return writer_id(self._installation.fingerprint, incarnation)

    def find(self, connection: apsw.Connection) -> str:
        """
        The writer, inside a write transaction; makes one where there is none, or the file is another one.

        The memory is written before the commit: whoever then finds the incarnation also finds it known.
        Where it cannot be written, nobody could tell a restored file later, so every handle is a new writer.
        """
        reader = SqliteReader(connection)
        fingerprint = self._installation.fingerprint
        incarnation = reader.find_incarnation(fingerprint)
        if incarnation is not None and self._is_same_file(reader, incarnation):
            self._incarnation = incarnation
            if self.remember(reader):
                return writer_id(fingerprint, incarnation)
        if incarnation is not None:
            connection.execute(SQL["renew_generation"], {"generation": secrets.token_bytes(16)})
            connection.execute(SQL["drop_owners"])
        self._incarnation = secrets.token_hex(16)
        values = {"fingerprint": fingerprint, "incarnation": self._incarnation}
        connection.execute(SQL["put_incarnation"], values)
        self.remember(reader)
        return writer_id(fingerprint, self._incarnation)

    def _is_same_file(self, reader: SqliteReader, incarnation: str) -> bool:
        """Whether this installation has written to this very file, and not to a later state of it."""
        info = reader.info()
        seen = self._installation.recall(info.store_id, Place.of(self._path))
        return seen is not None and seen.incarnation == incarnation and seen.clock <= info.clock

    def remember(self, reader: SqliteReader) -> bool:
        """Keep the clock in the installation's memory: by it an older copy in this place is known as one."""
        self._remember_at = time.monotonic() + REMEMBERED_S
        info = reader.info()
        seen = Seen(self._incarnation, info.clock)
        return self._installation.remember(info.store_id, Place.of(self._path), seen)

    def remember_now_and_then(self, connection: apsw.Connection) -> None:
        """Keep the clock once in `REMEMBERED_S` seconds."""
        if time.monotonic() >= self._remember_at:
            self.remember(SqliteReader(connection))
