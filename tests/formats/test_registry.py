"""Which format a file or folder is in: by its content, file by file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from manent.errors import FormatError
from manent.formats.registry import detect
from manent.model.imported import ImportedConversation, Refusal

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def test_a_folder_of_several_formats_is_read_file_by_file(tmp_path: Path) -> None:  # I-1
    shutil.copytree(SAMPLES, tmp_path / "samples")
    (tmp_path / "samples" / "notes.jsonl").write_text('{"note": 1}\n', encoding="utf-8")
    (tmp_path / "samples" / "settings.json").write_text('{"theme": "dark"}', encoding="utf-8")

    found = detect(tmp_path / "samples")
    items = list(found.items)

    assert (found.format, found.files) == ("chatgpt + claude-ai + claude-code + openai-messages", 5)
    assert sum(isinstance(item, ImportedConversation) for item in items) == 10
    assert [item.reason for item in items if isinstance(item, Refusal)] == [
        "in no known format; left out",
        "a conversation without a 'mapping': there are no messages in it",
    ]


def test_a_folder_without_anything_known_is_refused(tmp_path: Path) -> None:  # I-1
    (tmp_path / "notes.json").write_text("{}", encoding="utf-8")

    with pytest.raises(FormatError):
        detect(tmp_path)


@pytest.mark.parametrize("kind", [[], {}, 5, None])
def test_a_block_of_a_kind_that_is_no_word_is_kept_as_it_came(tmp_path: Path, kind: object) -> None:  # I-1
    message = {"role": "user", "content": [{"type": kind, "text": "hi"}]}
    line = {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s1",
        "message": message,
        "timestamp": "2026-01-01T00:00:00Z",
    }
    path = tmp_path / "session.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")

    (conversation,) = detect(path).items

    assert isinstance(conversation, ImportedConversation)
    assert conversation.messages[0].parts[0].data == {"type": kind, "text": "hi"}  # type: ignore[union-attr]
