"""
Times as sources state them, turned into claims: nanoseconds since 1970 UTC, exactly.

An unknown time stays unknown. Numbers carry no unit, so it is told by range: between the years 2000 and
2100 the ranges of seconds, milliseconds, microseconds and nanoseconds do not meet.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

SECOND_NS = 1_000_000_000
EARLIEST_NS = 946_684_800 * SECOND_NS
"""2000-01-01 UTC: what is earlier is no time of a conversation with a machine."""

LATEST_NS = 4_102_444_800 * SECOND_NS
"""2100-01-01 UTC, excluded."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS_MAX = 40
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,30}))?\s?(?:([Zz])|([+-])(\d\d):?(\d\d)?)?",
    re.ASCII,
)
_NUMBER = re.compile(r"[0-9]{1,25}(?:\.[0-9]{1,25})?", re.ASCII)


class Claim(NamedTuple):
    """A time that a source states; without `ns`, `problem` says why, or is None for a plain absence."""

    ns: int | None
    problem: str | None = None


UNKNOWN = Claim(None)


def read_claim(value: Any) -> Claim:
    """
    Read a time in any of the usual spellings.

    Args:
        value: ISO 8601 with a zone, a number of s, ms, µs or ns, or such a number as text. None, "" and 0
            mean that the source knows no time.

    Returns:
        A claim. `problem` is `unreadable_time`, `time_without_zone` or `time_out_of_range`.
    """
    if value is None or value == "" or (value == 0 and not isinstance(value, str)):
        return UNKNOWN
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return Claim(None, "unreadable_time")
    if isinstance(value, int) and value.bit_length() > 4 * _DIGITS_MAX:
        return Claim(None, "time_out_of_range")
    return _read_number(Decimal(repr(value)))


def _read_text(text: str) -> Claim:
    text = text.strip()
    if (found := _ISO.fullmatch(text)) is not None:
        return _read_iso(found)
    if _NUMBER.fullmatch(text):
        number = Decimal(text)
        return _read_number(number) if number else UNKNOWN
    return Claim(None, "unreadable_time")


def _read_iso(found: re.Match[str]) -> Claim:
    fraction, zulu, sign, hours, minutes = found.group(7, 8, 9, 10, 11)
    if zulu is None and sign is None:
        return Claim(None, "time_without_zone")
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return Claim(None, "unreadable_time")
    since = moment - _EPOCH
    if sign is not None:
        away = timedelta(hours=int(hours), minutes=int(minutes or 0))
        since += away if sign == "-" else -away
    whole = (since.days * 86_400 + since.seconds) * SECOND_NS
    return _in_range(whole + int((fraction or "").ljust(9, "0")[:9]))


def _read_number(number: Decimal) -> Claim:
    for unit_ns in (SECOND_NS, 1_000_000, 1_000, 1):
        claim = _in_range(int(number * unit_ns))
        if claim.ns is not None:
            return claim
    return Claim(None, "time_out_of_range")


def _in_range(ns: int) -> Claim:
    return Claim(ns) if EARLIEST_NS <= ns < LATEST_NS else Claim(None, "time_out_of_range")
