"""From a finished call to its result: structured content, or an error as text, and where its text comes from."""

from base64 import b64encode
from collections.abc import Callable, Collection
from typing import Any

import orjson

from tokonoma.catalogue.registry import GATEWAY
from tokonoma.core.call import Call
from tokonoma.core.clock import format_time, now
from tokonoma.core.content import ContentBlock, ImageContent
from tokonoma.core.errors import DEFAULT_CODES, ErrorCodes, Missing, NumberedCode, Refusal, find_error_code
from tokonoma.core.log import log
from tokonoma.core.module import ToolInfo
from tokonoma.gateway import GATEWAY_TOOLS
from tokonoma.server.mcp.interface import ToolResult

_MAX_AUTHORS = 10  # by name; of others only the number
_MAX_CORRECTIONS = 20


def build_result(call: Call, error: BaseException | None, codes: ErrorCodes) -> ToolResult:
    if error is not None:
        text = _encode_error(call, error, codes)
        return _add_meta(call, ToolResult([{"type": "text", "text": text}], is_error=True))
    body = call.body
    if call.tool_info is not None and call.tool_info.envelope:
        body = orjson.dumps({"data": orjson.Fragment(body), **_request_ids(call)})
    return _add_meta(call, ToolResult([_content_block(block) for block in call.blocks], structured=body))


def _encode_error(call: Call, error: BaseException, codes: ErrorCodes) -> str:
    """A call whose error cannot be written as JSON is answered, too."""
    try:
        return orjson.dumps(build_error(call, error, codes)).decode()
    except TypeError:
        log("error", "error_details", tool=call.tool, request_id=call.request_id)
        return orjson.dumps(build_error(call, RuntimeError(), codes)).decode()


def _add_meta(call: Call, result: ToolResult) -> ToolResult:
    """Add where the text comes from, and what is left of a rate limit, if one is set: as HTTP headers too."""
    meta: dict[str, Any] = {"tokonoma/content": _describe_content(call)}
    result.meta = meta
    if call.corrections:  # for programs there, and as a text here, because few models are shown `_meta`
        meta["tokonoma/corrected"] = call.corrections[:_MAX_CORRECTIONS]
        text = f"Corrected: {'; '.join(call.corrections[:_MAX_CORRECTIONS])}."
        result.content = [*result.content, {"type": "text", "text": text}]
    quota = call.quota
    if quota is not None:
        values = {"limit": quota.limit, "remaining": quota.remaining, "reset": quota.reset}
        result.headers = {f"x-ratelimit-{name}": str(value) for name, value in values.items()}
        if not quota.allowed:
            values["retry_after"] = quota.wait
            result.headers = {**result.headers, "retry-after": str(quota.wait)}
        meta["tokonoma/rate_limit"] = values
    return result


def _describe_content(call: Call) -> dict[str, Any]:
    """Say who wrote the text of an answer, so that a client can keep data apart from instructions. Made here, from the
    catalogue, so that no tool can forget it. A batch has an entry for each module whose results it returns."""
    if call.tool_info is None:
        return {"origin": "server"}
    marks: dict[tuple[str, str], list[str]] = {}
    for id, tool in call.step_tools.items():
        marks.setdefault((_find_origin(tool), tool.module), []).append(id)
    steps = [
        {
            "origin": origin,
            "module": module,
            "ids": ids,
            **_list_authors(*(call.step_authors.get(id, ()) for id in ids)),
        }
        for (origin, module), ids in marks.items()
    ]
    # A meta-tool speaks for the server, unless it returns the text of records itself.
    origin = "stored" if call.tool_info.module == GATEWAY and call.authors else _find_origin(call.tool_info)
    mark = {"origin": origin, "module": call.tool_info.module, **_list_authors(call.authors)}
    return {**mark, "steps": steps} if steps else mark


def _list_authors(*groups: Collection[str]) -> dict[str, Any]:
    """Who wrote the records that an answer returns. Names are those of the journal, so none of them is `unknown`."""
    names = sorted({name or "unknown" for group in groups for name in group})
    listed: dict[str, Any] = {"authors": names[:_MAX_AUTHORS]} if names else {}
    return {**listed, "more_authors": len(names) - _MAX_AUTHORS} if len(names) > _MAX_AUTHORS else listed


def _find_origin(tool: ToolInfo) -> str:
    """`outside`: another service; `stored`: people, agents or files; `server`: this server itself."""
    if tool.outside:
        return "outside"
    is_own = tool.module == GATEWAY and tool.name in (*GATEWAY_TOOLS, "remember")
    return "server" if is_own else "stored"


def describe_error(find_codes: Callable[[str], ErrorCodes], call: Call, error: BaseException) -> dict[str, Any]:
    """Return the error of a call that is a step of another, by the codes of its own module."""
    return build_error(call, error, choose_codes(find_codes, call, error))


def choose_codes(find_codes: Callable[[str], ErrorCodes], call: Call, error: BaseException) -> ErrorCodes:
    """The codes of the call's module, if its caller sees the module. What a mask hides must fail like a module that
    does not exist, which has no codes of its own."""
    is_visible = call.tool_info is not None or (isinstance(error, Missing) and error.reason == "tool")
    return find_codes(call.module) if is_visible else DEFAULT_CODES


def build_error(call: Call, error: BaseException, codes: ErrorCodes) -> dict[str, Any]:
    """Return `{"error": {code, message, details}, request_id, trace_id}`, with `data` instead of `details` where a
    module's codes are numbers. The text of an exception that is not a refusal is not passed on."""
    if isinstance(error, Refusal):
        message, code = error.message, find_error_code(error, codes)
        details = {"reason": error.reason, **error.details} if error.reason else error.details
    else:
        message, details = "Internal error. The server's log has details under this request_id.", {}
        code = codes.get(f"internal.{call.tool}", find_error_code(error, codes))
    if f"http.{code}" in codes:  # where a specification maps its codes to HTTP statuses
        details = {**details, "http_status": codes[f"http.{code}"]}
    body: dict[str, Any] = {"code": code, "message": message, "details": details}
    if isinstance(code, NumberedCode):
        data = {"type": code.type, "details": details, "timestamp": format_time(now())}
        body = {"code": code.number, "message": message, "data": data}
    return {"error": body, **_request_ids(call)}


def _request_ids(call: Call) -> dict[str, str]:
    ids = {"request_id": call.request_id, "trace_id": call.trace_id}
    if call.tool_info is not None and call.tool_info.envelope:
        ids["policy_version"] = call.policy_version
    return ids


def _content_block(block: ContentBlock) -> dict[str, Any]:
    """Return an image or a document in the shape of MCP."""
    if isinstance(block, ImageContent):
        return {"type": "image", "data": b64encode(block.data).decode(), "mimeType": block.media_type}
    data = {"text": block.data} if isinstance(block.data, str) else {"blob": b64encode(block.data).decode()}
    return {"type": "resource", "resource": {"uri": block.uri, "mimeType": block.media_type, **data}}
