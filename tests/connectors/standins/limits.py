"""A service's own words for trouble, as steps of a script: an error of any status, and its rate limit."""

import time
from typing import Literal

from .faults import Fault, answer
from .service import Refused, Service


def make_error(service: Service, status: int, message: str = "Something is wrong", code: str = "") -> Fault:
    """An error as this service words it."""
    return Fault("answer", service.refuse(Refused(status, message, code)))


def make_limit(service: Service, seconds: int, kind: Literal["usual", "primary", "overload"] = "usual") -> Fault:
    """Too many requests: try again after so many seconds. GitHub has two kinds; Notion has one for its overload."""
    wait = {"Retry-After": str(seconds)}
    if service.name == "github":
        if kind == "primary":
            reset = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + seconds)}
            return answer(403, {"message": "API rate limit exceeded for user ID 1."}, reset)
        return answer(403, {"message": "You have exceeded a secondary rate limit."}, wait)
    if service.name == "notion":
        status, code = (529, "service_overload") if kind == "overload" else (429, "rate_limited")
        return answer(status, {"object": "error", "status": status, "code": code, "message": "Slow down."}, wait)
    if service.name == "google_calendar":  # says nothing about the time
        errors = [{"domain": "usageLimits", "reason": "rateLimitExceeded", "message": "Rate Limit Exceeded"}]
        return answer(403, {"error": {"code": 403, "message": "Rate Limit Exceeded", "errors": errors}})
    if service.name == "microsoft_todo":
        return answer(429, {"error": {"code": "TooManyRequests", "message": "Throttled", "innerError": {}}}, wait)
    if service.name in ("jira", "confluence"):
        return answer(429, {"errorMessages": ["Rate limit exceeded."], "errors": {}}, wait)
    return answer(429, {"message": "Too many requests"}, wait)
