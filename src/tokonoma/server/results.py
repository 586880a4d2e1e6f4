"""From a finished call to its result: structured content and the same as text, or an error as text."""

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
    body = call.body
    if call.tool_info is not None and call.tool_info.envelope:
        body = orjson.dumps({"data": orjson.Fragment(body), **_request_ids(call)})
    content = [_text_block(body.decode()), *map(_content_block, call.blocks)]
    return _add_quota(call, ToolResult(content, structured=body))


def _add_quota(call: Call, result: ToolResult) -> ToolResult:
    """Add what is left of a rate limit, if one is set: as HTTP headers, and in `_meta`."""
    quota = call.quota
    if quota is not None:
        values = {"limit": quota.limit, "remaining": quota.remaining, "reset": quota.reset}
        result.headers = {f"x-ratelimit-{name}": str(value) for name, value in values.items()}
        if not quota.allowed:
            values["retry_after"] = quota.wait
            result.headers = {**result.headers, "retry-after": str(quota.wait)}
        result.meta = {"tokonoma/rate_limit": values}
    return result


def describe_error(find_codes: Callable[[str], ErrorCodes], call: Call, error: BaseException) -> dict[str, Any]:
    """Return the error of a call that is a step of another, by the codes of its own module."""
    return build_error(call, error, find_codes(call.module))


def build_error(call: Call, error: BaseException, codes: ErrorCodes) -> dict[str, Any]:
    """Return `{"error": {code, message, details}, request_id, trace_id}`, with `data` instead of `details` where a
    module's codes are numbers. The text of an exception that is not a refusal is not passed on."""
    if isinstance(error, Refusal):
        message, details = error.message, error.details
        if error.reason:
            details = {"reason": error.reason, **details}
    else:
        message, details = "Internal error. The server's log has details under this request_id.", {}
    code = find_error_code(error, codes)
    if not isinstance(error, Refusal):
        code = codes.get(f"internal.{call.tool}", code)
    if f"http.{code}" in codes:  # where a specification maps its codes to HTTP statuses
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


def _text_block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _content_block(block: ContentBlock) -> dict[str, Any]:
    """Return an image or a document in the shape of MCP."""
    if isinstance(block, ImageContent):
        return {"type": "image", "data": b64encode(block.data).decode(), "mimeType": block.media_type}
    resource = {"uri": block.uri, "mimeType": block.media_type}
    if isinstance(block.data, str):
        return {"type": "resource", "resource": {**resource, "text": block.data}}
    return {"type": "resource", "resource": {**resource, "blob": b64encode(block.data).decode()}}
