"""What kind of file it is, as the end of its name tells: the same on every machine."""

from __future__ import annotations

_MEDIA_TYPES = {
    "csv": "text/csv",
    "gif": "image/gif",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "json": "application/json",
    "md": "text/markdown",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "pdf": "application/pdf",
    "png": "image/png",
    "txt": "text/plain",
    "wav": "audio/wav",
    "webp": "image/webp",
}


def media_type_of(name: str) -> str:
    """The type of a file called `name`, or of a bare suffix such as `png`; empty where that does not tell."""
    return _MEDIA_TYPES.get(name.rpartition(".")[2].lower(), "")
