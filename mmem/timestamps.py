"""Timestamps: ISO 8601 in, stored as given; now in UTC with milliseconds."""

import re
import time
from datetime import UTC, date, datetime
from functools import lru_cache

# A date, or a date and time in the extended format (RFC 3339's shapes, seconds and zone optional).
_SHAPE = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(Z|z|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII
)


def now() -> str:
    """Return this moment as `2026-01-31T09:30:00.000Z`."""
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    return f"{_second(seconds)}.{nanoseconds // 1_000_000:03d}Z"


@lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def is_timestamp(text: str) -> bool:
    """Tell whether a text is an ISO 8601 date, or date and time, that the calendar has."""
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        return False
    day, minutes, seconds, zone = shape.groups()
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    if minutes is None:
        return True
    hour, minute = int(minutes[:2]), int(minutes[3:])
    second = int(seconds or 0)
    in_day = (hour <= 23 and minute <= 59 and second <= 60) or (hour, minute, second) == (24, 0, 0)  # 60: a leap second
    return in_day and (zone is None or zone in "Zz" or _is_offset(zone))


def instant(text: str | None) -> float | None:
    """Return the moment that a timestamp means, in seconds since 1970; None for what isn't one.

    Without a zone it is UTC's, and a date is its first moment.
    """
    shape = _SHAPE.fullmatch(text or "")
    if shape is None or not is_timestamp(text or ""):
        return None
    day, minutes, seconds, zone = shape.groups()
    midnight = datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC).timestamp()
    if minutes is None:
        return midnight
    fraction = re.search(r"[.,](\d+)", text or "")
    within = int(minutes[:2]) * 3600 + int(minutes[3:]) * 60 + int(seconds or 0)
    return midnight + within + float(f"0.{fraction[1] if fraction else 0}") - _offset(zone)


def _offset(zone: str | None) -> int:
    """Return a zone's distance from UTC in seconds."""
    if zone is None or zone in "Zz":
        return 0
    digits = zone[1:].replace(":", "")
    return (int(digits[:2]) * 3600 + int(digits[2:] or 0) * 60) * (-1 if zone[0] == "-" else 1)


def _is_offset(zone: str) -> bool:
    digits = zone[1:].replace(":", "")
    return int(digits[:2]) <= 23 and int(digits[2:] or 0) <= 59
