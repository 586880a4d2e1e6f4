"""What a service says about its limits: how each of them says "too often", and for how long."""

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

from tokonoma.services.providers import LimitDialect

LONGEST_PAUSE = 86_400.0
"""Seconds: longer than a day is a mistake, and callers are told a time at which it is worth to try again."""
_GOOGLE_REASONS = frozenset({"rateLimitExceeded", "userRateLimitExceeded"})


def is_refused_for_rate(dialect: LimitDialect, status: int, headers: Mapping[str, str], value: Any) -> bool:
    """Whether the service has turned a request away, untouched, because there were too many."""
    if status == 429:
        return True
    if status != 403:
        return False
    if dialect == "github":
        return "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"
    return dialect == "google" and not _GOOGLE_REASONS.isdisjoint(_list_reasons(value))


def is_overloaded(dialect: LimitDialect, status: int) -> bool:
    """Whether the service asks for a pause without saying that it has not taken the request."""
    return status == 529 and dialect == "notion"


def find_pause(status: int, headers: Mapping[str, str], at: int) -> float | None:
    """The seconds after which the service wants to be asked again; None if it does not say so. `at`: now, in
    milliseconds."""
    pause = parse_retry_after(headers.get("retry-after"), at)
    if pause is None and headers.get("x-ratelimit-remaining") == "0" and status in (403, 429):
        reset = _parse_number(headers.get("x-ratelimit-reset"))
        pause = None if reset is None else max(0.0, reset - at / 1000)
    return None if pause is None else min(pause, LONGEST_PAUSE)


def parse_retry_after(value: str | None, at: int) -> float | None:
    """Seconds, from a number or from a date; None for anything else. `at`: now, in milliseconds."""
    if value is None:
        return None
    seconds = _parse_number(value)
    if seconds is None:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - at / 1000
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds)


def _parse_number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _list_reasons(value: Any) -> list[str]:
    """The reasons in an error of Google: `{error: {errors: [{reason}]}}`."""
    error: Any = cast("dict[str, Any]", value).get("error") if isinstance(value, dict) else None
    errors: Any = cast("dict[str, Any]", error).get("errors") if isinstance(error, dict) else None
    found = cast("list[Any]", errors) if isinstance(errors, list) else []
    return [str(cast("dict[str, Any]", each).get("reason")) for each in found if isinstance(each, dict)]
