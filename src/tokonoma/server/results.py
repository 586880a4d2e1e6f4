"""How a value or an error leaves: structured content with its text twin, or the error text of the specifications."""

from typing import Any

import orjson

from tokonoma.core.call import Call
from tokonoma.core.clock import now, shown
from tokonoma.core.errors import Codes, Numbered, Refusal, code_of
from tokonoma.server.mcp.interface import Answer


def answer(call: Call, error: BaseException | None, codes: Codes) -> Answer:
    if error is not None:
        text = orjson.dumps(failure(call, error, codes)).decode()
        return _metered(call, Answer([_text(text)], is_error=True))
    body = _enveloped(call) if call.entry is not None and call.entry.envelope else call.body
    return _metered(call, Answer([_text(body.decode())], structured=body))


def _metered(call: Call, answer: Answer) -> Answer:
    """What is left of a limit, if one is set: as headers over HTTP, and in `_meta` for everybody."""
    quota = call.quota
    if quota is not None:
        facts = {"limit": quota.limit, "remaining": quota.remaining, "reset": quota.reset}
        answer.headers = {f"x-ratelimit-{name}": str(value) for name, value in facts.items()}
        if not quota.allowed:
            facts["retry_after"] = quota.wait
            answer.headers = {**answer.headers, "retry-after": str(quota.wait)}
        answer.meta = {"tokonoma/rate_limit": facts}
    return answer


def failure(call: Call, error: BaseException, codes: Codes) -> dict[str, Any]:
    """`{"error": {code, message, details}, request_id, trace_id}`, or `data` where a module's codes are numbers; a bare
    exception keeps its text to itself."""
    if isinstance(error, Refusal):
        message, details = error.message, error.details
        if error.reason:
            details = {"reason": error.reason, **details}
    else:
        message, details = "Something went wrong inside the server. Its log tells more under this request_id.", {}
    code = code_of(error, codes)
    if not isinstance(error, Refusal):
        code = codes.get(f"internal.{call.tool}", code)
    if f"http.{code}" in codes:  # where a specification gives its codes the statuses of HTTP
        details = {**details, "http_status": codes[f"http.{code}"]}
    return {"error": _told(code, message, details), **_ids(call)}


def _told(code: str | int | Numbered, message: str, details: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(code, Numbered):
        return {"code": code, "message": message, "details": details}
    data = {"type": code.type, "details": details, "timestamp": shown(now())}
    return {"code": code.number, "message": message, "data": data}


def _ids(call: Call) -> dict[str, str]:
    ids = {"request_id": call.request_id, "trace_id": call.trace_id}
    if call.entry is not None and call.entry.envelope:
        ids["policy_version"] = call.policy_version
    return ids


def _enveloped(call: Call) -> bytes:
    """The value as it left the guard, in the shape that its specification wants around every answer."""
    return orjson.dumps({"data": orjson.Fragment(call.body), **_ids(call)})


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
