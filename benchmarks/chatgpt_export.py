"""
A ChatGPT export of a wished size, the same bytes each time: one line of JSON, as the product writes it.

    python -m benchmarks.chatgpt_export PATH [BYTES]

Long and short texts in English, Korean and Chinese, code, tools, branches, hidden context, and now and then
a secret that was made up: about one in a thousand messages.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PARAGRAPHS = 400
CONVERSATION_NODES = (4, 60)
FIRST_TIME = 1_700_000_000.0

_ENGLISH = (
    "the record keeps every word that was said and the order in which it was said so that a reader "
    "can find it again years later without asking whoever wrote it down because nothing depends on memory"
)
_KOREAN = (
    "회의에서 정한 내용을 문서에 적어 두고 다음 주까지 검토한 뒤 "
    "담당자에게 결과를 알려 주세요 일정은 그대로입니다"
)
_CHINESE = (
    "数据库在写入之前会先记录日志因此即使断电也不会丢失已经确认的消息请把这段话翻译成英文并解释每一步的原因"
)
_CODE = (
    "```python\nfor row in connection.execute(query, {limit}):\n"
    '    print(f"{row.name!r}: {row.total:>8}")\n```'
)
_STYLE = ("english", "english", "english", "korean", "chinese", "code")


def write_export(path: Path, size: int, seed: int = 1) -> int:
    """Write at least `size` bytes of an export to a file; return the number of messages."""
    chance = random.Random(seed)
    pool = [_paragraph(chance) for _ in range(PARAGRAPHS)]
    messages = written = number = 0
    with path.open("wb") as stream:
        while written < size:
            conversation, nodes = _conversation(chance, pool, number)
            piece = json.dumps(conversation, ensure_ascii=False).encode()
            written += stream.write((b"[" if number == 0 else b", ") + piece)
            messages += nodes
            number += 1
        stream.write(b"]")
    return messages


def _paragraph(chance: random.Random) -> str:
    style = chance.choice(_STYLE)
    if style == "code":
        return _CODE
    if style == "chinese":
        start = chance.randrange(len(_CHINESE) // 2)
        return f"{_CHINESE[start:]}。"
    words = (_KOREAN if style == "korean" else _ENGLISH).split()
    return " ".join(chance.choices(words, k=chance.randrange(15, 60))).capitalize() + "."


def _text(chance: random.Random, pool: list[str], longest: int) -> str:
    text = "\n\n".join(chance.choices(pool, k=chance.randrange(1, longest)))
    if chance.random() < 0.001:
        text += " The key is sk-" + "".join(chance.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=48))
    return f"{chance.getrandbits(32):08x} {text}"


def _conversation(chance: random.Random, pool: list[str], number: int) -> tuple[dict[str, Any], int]:
    uid = _uuid(chance)
    time = FIRST_TIME + number * 3600.0
    nodes: dict[str, dict[str, Any]] = {}
    root = _uuid(chance)
    nodes[root] = {"id": root, "message": None, "parent": None, "children": []}
    context = _add(nodes, _uuid(chance), root, _message("system", "", None, weight=0.0))
    at = context
    for step in range(chance.randrange(*CONVERSATION_NODES)):
        parent = at if chance.random() > 0.05 else nodes[at]["parent"]
        for message in _said(chance, pool, step, time + step * 7.25):
            at = parent = _add(nodes, _uuid(chance), parent, message)
    conversation = {
        "title": f"Conversation {number}",
        "create_time": time,
        "update_time": time + 600.5,
        "mapping": nodes,
        "moderation_results": [],
        "current_node": at,
        "conversation_id": uid,
        "gizmo_id": None,
        "is_archived": False,
        "safe_urls": [],
        "default_model_slug": "model-large",
        "id": uid,
    }
    return conversation, len(nodes) - 1


def _said(chance: random.Random, pool: list[str], step: int, time: float) -> Iterator[dict[str, Any]]:
    if step % 2 == 0:
        yield _message("user", _text(chance, pool, 3), time)
        return
    if chance.random() < 0.1:
        call = {"query": chance.choice(pool)[:40], "limit": 5}
        yield _message("assistant", json.dumps(call), time, recipient="search.find")
        yield _message("tool", _text(chance, pool, 8), time + 1.0, name="search.find")
    yield _message("assistant", _text(chance, pool, 12), time + 2.5)


def _message(
    role: str,
    text: str,
    time: float | None,
    *,
    weight: float = 1.0,
    recipient: str = "all",
    name: str | None = None,
) -> dict[str, Any]:
    metadata: dict[str, Any] = {"message_type": None, "timestamp_": "absolute"}
    if role == "assistant":
        metadata |= {
            "finish_details": {"type": "stop", "stop_tokens": [200002]},
            "citations": [],
            "content_references": [],
            "is_complete": True,
            "model_slug": "model-large",
            "default_model_slug": "auto",
        }
    return {
        "author": {"role": role, "name": name, "metadata": {}},
        "create_time": time,
        "update_time": None,
        "content": {"content_type": "text", "parts": [text]},
        "status": "finished_successfully",
        "end_turn": True if role == "assistant" else None,
        "weight": weight,
        "metadata": metadata,
        "recipient": recipient,
        "channel": None,
    }


def _add(nodes: dict[str, dict[str, Any]], uid: str, parent: str, message: dict[str, Any]) -> str:
    nodes[parent]["children"].append(uid)
    nodes[uid] = {"id": uid, "message": {"id": uid, **message}, "parent": parent, "children": []}
    return uid


def _uuid(chance: random.Random) -> str:
    digits = f"{chance.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


if __name__ == "__main__":
    print(write_export(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 50_000_000))
