"""Names for files, made of text that somebody chose: never a path, never a device, never a control (N-2)."""

from __future__ import annotations

import unicodedata

NAME_BYTES_MAX = 80
_EXTENSION_MAX = 8


def slug(text: str) -> str:
    """
    A piece of a file's name out of any text: letters, marks and digits of any script, with `-` between.

    At most `NAME_BYTES_MAX` bytes of UTF-8; "" when nothing of the text can stand in a name.
    """
    normal = unicodedata.normalize("NFC", text[: 4 * NAME_BYTES_MAX])
    words = "".join(sign if _may_stand(sign) else " " for sign in normal).split()
    return _cut("-".join(words))


def file_name(text: str) -> str:
    """As `slug`, with the extension that the text ends in, where that is a plain one; else `file`."""
    stem, dot, extension = text.replace("\\", "/").rpartition("/")[2].rpartition(".")
    plain = extension.isascii() and extension.isalnum() and len(extension) <= _EXTENSION_MAX
    if not (dot and stem and plain):
        return slug(text) or "file"
    return f"{slug(stem) or 'file'}.{extension.lower()}"


def _may_stand(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "LMN" or sign == "_"


def _cut(name: str) -> str:
    """Whole characters only, and none that lost what it was put on."""
    kept = name.encode("utf-8", "ignore")[:NAME_BYTES_MAX].decode("utf-8", "ignore")
    return kept.strip("-")
