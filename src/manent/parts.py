"""The parts of messages, and what rides along with a turn, under their public names."""

from manent.model.parts import (
    AnyPart,
    Citation,
    FilePart,
    NoticePart,
    OpaquePart,
    Part,
    PhantomReach,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolEvent,
    ToolResultPart,
    Usage,
)

__all__ = [
    "AnyPart",
    "Citation",
    "FilePart",
    "NoticePart",
    "OpaquePart",
    "Part",
    "PhantomReach",
    "ReasoningPart",
    "TextPart",
    "ToolCallPart",
    "ToolEvent",
    "ToolResultPart",
    "Usage",
]
