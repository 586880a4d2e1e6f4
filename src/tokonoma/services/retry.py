"""What follows a request that has failed: another try, or which error. Pure functions."""

from dataclasses import dataclass
from typing import Any, Literal

from tokonoma.core.errors import Limited, Refusal, Unavailable

MAX_TRIES = 3
_FIRST_PAUSE = 0.5  # seconds before the second try; twice as long before each further one
_UNKNOWN_PAUSE = 30  # seconds that a caller should wait if the service has named none
_CHECK = "It may have taken effect: check before you repeat it."

FailureKind = Literal["unsent", "interrupted", "unreadable", "too_long", "redirect", "limited", "overloaded", "status"]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request has given no usable answer."""

    kind: FailureKind
    status: int = 0
    pause: float | None = None  # seconds that the service has asked for
    words: str = ""  # the service's own, without secrets

    @property
    def is_outage(self) -> bool:
        """Whether it says that the service does not work, and not that it did not like the request."""
        return self.kind in ("unsent", "interrupted", "unreadable", "overloaded") or self.status >= 500

    @property
    def is_unauthorized(self) -> bool:
        return self.kind == "status" and self.status == 401


def is_repeatable(method: str, repeatable: bool) -> bool:
    """Whether a request may be sent again although the service may have taken it."""
    return repeatable or method in ("GET", "HEAD")


def choose_pause(failure: Failure, safe: bool, tries: int, left: float, jitter: float) -> float | None:
    """The seconds until the next try; None if there is none. `safe`: the request is repeatable; `tries`: how often it
    was sent; `left`: the seconds that the call has; `jitter`: a factor around 1, so that many callers do not return at
    the same moment."""
    if tries >= MAX_TRIES or not _may_repeat(failure, safe):
        return None
    pause = failure.pause if failure.pause is not None else _FIRST_PAUSE * 2 ** (tries - 1) * jitter
    return pause if pause < left else None


def _may_repeat(failure: Failure, safe: bool) -> bool:
    if failure.kind in ("unsent", "limited"):  # the service has not taken it
        return True
    if failure.kind == "status":
        return safe and (failure.status >= 500 or failure.status in (408, 425))
    return safe and failure.kind in ("interrupted", "unreadable", "overloaded")


def build_refusal(failure: Failure, service: str, safe: bool) -> Refusal:
    """The error that a caller sees."""
    details: dict[str, Any] = {"service": service}
    if failure.status:
        details["http_status"] = failure.status
    if failure.pause is not None:
        details["retry_after"] = round_up(failure.pause)
    if failure.kind == "limited" or (failure.kind == "overloaded" and safe):
        seconds = details["retry_after"] = round_up(failure.pause) if failure.pause is not None else _UNKNOWN_PAUSE
        return Limited(f"{service} allows no more requests now. Try again in {seconds} seconds.", **details)
    message = _explain(failure, service)
    if not safe and failure.is_outage and failure.kind != "unsent":
        message = f"{message} {_CHECK}"
    if failure.words:
        details["says"] = failure.words
    return Unavailable(message, reason="external", **details)


def round_up(seconds: float) -> int:
    return max(1, int(seconds + 0.999))


def _explain(failure: Failure, service: str) -> str:
    match failure.kind:
        case "unsent":
            return f"{service} cannot be reached. Nothing was sent."
        case "interrupted":
            return f"The connection to {service} broke before its answer was complete."
        case "unreadable":
            return f"The answer of {service} cannot be read."
        case "too_long":
            return f"The answer of {service} is too long. Ask for less at once."
        case "redirect":
            return f"{service} redirects to another address (status {failure.status}), which is not followed."
        case _:
            verb = "failed" if failure.status >= 500 else "refused the request"
            return f"{service} {verb} (status {failure.status})" + (f": {failure.words}" if failure.words else ".")
