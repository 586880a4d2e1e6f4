"""The error codes of the specification with their HTTP status (`http.CODE`), and errors that several tools raise."""

from tokonoma.core.errors import Conflict, ErrorCodes, Missing

_HTTP = {
    400: "VALIDATION_ERROR",
    401: "UNAUTHORIZED",
    403: "BOUNDARY_DENIED",
    404: "UNKNOWN_CLAIM NOT_FOUND",
    409: "CONFLICT DUPLICATE",
    410: "CONTEXT_EXPIRED",
    422: "INVALID_SCOPE INVALID_BOUNDARY INVALID_POLICY",
    424: "POLICY_MISSING",
    429: "RATE_LIMIT",
    499: "CANCELLED",
    500: "INTERNAL UPSERT_FAILED ACTIVATE_FAILED FEEDBACK_FAILED BOUNDARY_ERROR",
    503: "UNAVAILABLE",
    504: "TIMEOUT",
}

CODES: ErrorCodes = {
    "invalid": "VALIDATION_ERROR",
    "invalid.scope": "INVALID_SCOPE",
    "invalid.boundary": "INVALID_BOUNDARY",
    "invalid.policy": "INVALID_POLICY",
    "unauthenticated": "UNAUTHORIZED",
    "denied": "BOUNDARY_DENIED",
    "denied.owner": "UNAUTHORIZED",
    "denied.signature": "UNAUTHORIZED",
    "denied.secret": "INVALID_BOUNDARY",
    "missing": "UNKNOWN_CLAIM",
    "missing.tool": "NOT_FOUND",
    "missing.context": "NOT_FOUND",
    "missing.policy_version": "NOT_FOUND",
    "missing.policy": "POLICY_MISSING",
    "conflict": "CONFLICT",
    "conflict.duplicate": "DUPLICATE",
    "expired": "CONTEXT_EXPIRED",
    "limited": "RATE_LIMIT",
    "unready": "POLICY_MISSING",
    "unavailable": "UNAVAILABLE",
    "internal": "INTERNAL",
    "internal.upsert": "UPSERT_FAILED",
    "internal.activate": "ACTIVATE_FAILED",
    "internal.feedback": "FEEDBACK_FAILED",
    "internal.boundary.validate": "BOUNDARY_ERROR",
    **{f"http.{code}": status for status, codes in _HTTP.items() for code in codes.split()},
}


def unknown_claim(claim_id: str) -> Missing:
    return Missing(f"There is no claim {claim_id!r} here. Search again.", claim_id=claim_id)


def check_version(claim_id: str, revision: int, expected: int | None) -> None:
    if expected is not None and expected != revision:
        raise Conflict(
            f"The claim is at version {revision}, not {expected}. Read it, then try again. Nothing was changed.",
            reason="version",
            claim_id=claim_id,
            current_version=revision,
        )
