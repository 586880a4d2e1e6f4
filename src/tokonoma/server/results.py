"""How a value or an error leaves: structured content with its text twin, or the error text of the specifications."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import orjson

from tokonoma.core.call import Call
from tokonoma.core.clock import format_time, now
from tokonoma.core.content import ContentBlock, ImageContent
from tokonoma.core.errors import ErrorCodes, NumberedCode, Refusal, find_error_code
from tokonoma.server.mcp.interface import ToolResult


def build_result(call: Call, error: BaseException | None, codes: ErrorCodes) -> ToolResult:
    if error is not None:
        text = orjson.dumps(build_error(call, error, codes)).decode()
        return _add_quota(call, ToolResult([_text_block(text)], is_error=True))
    body = _wrap_envelope(call) if call.tool_info is not None and call.tool_info.envelope else call.body
    content = [_text_block(body.decode()), *map(_content_block, call.blocks)]
    return _add_quota(call, ToolResult(content, structured=body))


def _add_quota(call: Call, answer: ToolResult) -> ToolResult:
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


def describe_error(find_codes: Callable[[str], ErrorCodes], call: Call, error: BaseException) -> dict[str, Any]:
    """The error of a call that is a step of another, by the codes of its own module."""
    return build_error(call, error, find_codes(call.module))


def build_error(call: Call, error: BaseException, codes: ErrorCodes) -> dict[str, Any]:
    """`{"error": {code, message, details}, request_id, trace_id}`, or `data` where a module's codes are numbers; a bare
    exception keeps its text to itself."""
    if isinstance(error, Refusal):
        message, details = error.message, error.details
        if error.reason:
            details = {"reason": error.reason, **details}
    else:
        message, details = "Something went wrong inside the server. Its log tells more under this request_id.", {}
    code = find_error_code(error, codes)
    if not isinstance(error, Refusal):
        code = codes.get(f"internal.{call.tool}", code)
    if f"http.{code}" in codes:  # where a specification gives its codes the statuses of HTTP
        details = {**details, "http_status": codes[f"http.{code}"]}
    return {"error": _format_error(code, message, details), **_request_ids(call)}


def _format_error(code: str | int | NumberedCode, message: str, details: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(code, NumberedCode):
        return {"code": code, "message": message, "details": details}
    data = {"type": code.type, "details": details, "timestamp": format_time(now())}
    return {"code": code.number, "message": message, "data": data}


def _request_ids(call: Call) -> dict[str, str]:
    ids = {"request_id": call.request_id, "trace_id": call.trace_id}
    if call.tool_info is not None and call.tool_info.envelope:
        ids["policy_version"] = call.policy_version
    return ids


def _wrap_envelope(call: Call) -> bytes:
    """The value as it left the guard, in the shape that its specification wants around every answer."""
    return orjson.dumps({"data": orjson.Fragment(call.body), **_request_ids(call)})


def _text_block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _content_block(block: ContentBlock) -> dict[str, Any]:
    """Images and documents in the shapes of MCP."""
    if isinstance(block, ImageContent):
        return {"type": "image", "data": b64encode(block.data).decode(), "mimeType": block.media_type}
    resource = {"uri": block.uri, "mimeType": block.media_type}
    if isinstance(block.data, str):
        return {"type": "resource", "resource": {**resource, "text": block.data}}
    return {"type": "resource", "resource": {**resource, "blob": b64encode(block.data).decode()}}
