"""Attachments and drafts in the store's own file."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

import apsw
from blake3 import blake3

from manent.codec.canonical import escape_name, unescape_name
from manent.errors import NotFoundError
from manent.storage.sqlite.reader import SQL, SqliteReader

CHUNK_BYTES = 256 * 1024


class _Source(Protocol):
    def writing(self) -> AbstractContextManager[apsw.Connection]: ...

    def reading(self) -> AbstractContextManager[SqliteReader]: ...


class Inside:
    """Blobs are read and written where a transaction is open already, by its connection."""

    def __init__(self, reader: SqliteReader) -> None:
        self._reader = reader

    def writing(self) -> AbstractContextManager[apsw.Connection]:
        """The connection of the transaction, which its commit keeps."""
        return nullcontext(self._reader.connection)

    def reading(self) -> AbstractContextManager[SqliteReader]:
        """The reader of the transaction, which sees its writes."""
        return nullcontext(self._reader)


class SqliteBlobs:
    """The port's `Blobs`."""

    def __init__(self, source: _Source) -> None:
        self._source = source

    def put(self, workspace: str, chunks: Iterable[bytes]) -> str:
        """See the port. One transaction: the blob is whole or absent."""
        hasher = blake3()
        uid = bytes.fromhex(workspace)
        with self._source.writing() as connection:
            passing = {"workspace": uid, "digest": secrets.token_bytes(33)}
            blob = connection.execute(SQL["put_blob"], passing).get
            for number, chunk in enumerate(_evenly(chunks)):
                hasher.update(chunk)
                values = {"blob": blob, "number": number, "data": chunk}
                connection.execute(SQL["put_chunk"], values)
            digest = hasher.digest()
            found = connection.execute(SQL["find_blob"], {"workspace": uid, "digest": digest}).fetchone()
            if found is None:
                connection.execute(SQL["name_blob"], {"blob": blob, "digest": digest})
            else:
                connection.execute(SQL["drop_blob"], passing).fetchall()
        return digest.hex()

    def get(self, workspace: str, digest: str) -> Iterator[bytes]:
        """See the port."""
        named = {"workspace": bytes.fromhex(workspace), "digest": bytes.fromhex(digest)}
        with self._source.reading() as reader:
            found = reader.connection.execute(SQL["find_blob"], named).fetchone()
            if found is None:
                raise NotFoundError("blob", digest)
            number = 0
            values = {"blob": found[0], "number": number}
            while (row := reader.connection.execute(SQL["read_chunk"], values).fetchone()) is not None:
                yield row[0]
                number += 1
                values["number"] = number

    def drop(self, workspace: str, digest: str) -> bool:
        """See the port."""
        named = {"workspace": bytes.fromhex(workspace), "digest": bytes.fromhex(digest)}
        with self._source.writing() as connection:
            return bool(connection.execute(SQL["drop_blob"], named).fetchall())

    def list_digests(self, workspace: str) -> Sequence[str]:
        """See the port."""
        with self._source.reading() as reader:
            found = reader.connection.execute(SQL["list_digests"], {"workspace": bytes.fromhex(workspace)})
            return [row[0].hex() for row in found]


def _evenly(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in chunks of at most `CHUNK_BYTES`, whatever the caller's were."""
    for chunk in chunks:
        for start in range(0, len(chunk), CHUNK_BYTES):
            yield chunk[start : start + CHUNK_BYTES]


class SqliteDrafts:
    """The port's `Drafts`."""

    def __init__(self, source: _Source) -> None:
        self._source = source

    def put(self, uid: str, draft_id: str, data: bytes) -> None:
        """See the port."""
        values = {"uid": bytes.fromhex(uid), "draft_id": escape_name(draft_id), "data": data}
        with self._source.writing() as connection:
            connection.execute(SQL["put_draft"], values)

    def get(self, uid: str, draft_id: str) -> bytes | None:
        """See the port."""
        values = {"uid": bytes.fromhex(uid), "draft_id": escape_name(draft_id)}
        with self._source.reading() as reader:
            row = reader.connection.execute(SQL["get_draft"], values).fetchone()
        return row[0] if row else None

    def drop(self, uid: str, draft_id: str) -> bool:
        """See the port."""
        values = {"uid": bytes.fromhex(uid), "draft_id": escape_name(draft_id)}
        with self._source.writing() as connection:
            return bool(connection.execute(SQL["drop_draft"], values).fetchall())

    def list_ids(self, uid: str) -> Sequence[str]:
        """See the port."""
        with self._source.reading() as reader:
            found = reader.connection.execute(SQL["list_drafts"], {"uid": bytes.fromhex(uid)})
            return [unescape_name(row[0]) for row in found]
