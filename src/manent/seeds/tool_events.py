"""Tool events as `ConversationStore` keeps them: which tool ran, and a digest of what it was given."""

from __future__ import annotations

import json
from typing import Any

from blake3 import blake3

from manent.model.parts import ToolEvent, check_json

_DIGITS = 16


def tool_event_from_call(
    tool: str, args: dict[str, Any], ok: bool = True, duration_ms: int | None = None
) -> ToolEvent:
    """
    A tool event of a call; the values of its arguments are in it as a hash only.

    Args:
        tool: the tool's name, as it was called.
        args: the arguments, a JSON object.
        ok: whether it worked.
        duration_ms: how long it took, in milliseconds; None is "not measured".

    Returns:
        An event whose digest is the sorted names of the arguments, which a search finds, then `b3:` and 16
        hexadecimal digits of the BLAKE3 of the arguments as JSON with sorted keys.

    Raises:
        InputError: the arguments cannot be JSON.
    """
    check_json(args, "args")
    canonical = json.dumps(args, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    hashed = blake3(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    digest = " ".join([*sorted(args), f"b3:{hashed}"])
    return ToolEvent(tool, args_digest=digest, ok=ok, duration_ms=duration_ms)
