"""From the result of an upstream tool to a value and content blocks. Pure."""

import binascii
from base64 import b64decode
from collections.abc import Mapping
from typing import Any, cast

import orjson

from tokonoma.core.content import ContentBlock, ImageContent, ResourceContent, RichResult
from tokonoma.core.errors import Refusal, Unavailable
from tokonoma.upstream.schemas import MAX_LEVELS, measure_depth
from tokonoma.upstream.texts import clean_text, strip_controls
from tokonoma.upstream.wire import JsonObject

MAX_BLOCK_BYTES = 8 * 2**20
"""Bytes of all images and documents of one answer."""

_MAX_ERROR = 4000  # characters
_MAX_TYPE = 100
_MAX_URI = 2000


def read_result(server: str, result: JsonObject) -> RichResult[JsonObject]:
    """The value that `batch` refers into: the structured content, else JSON in the text, else `{text}`. Images and
    documents follow as blocks. Unavailable if the tool says that it has failed."""
    if measure_depth(result) > MAX_LEVELS:
        message = f"The MCP server {server} answered with more than {MAX_LEVELS} levels."
        raise Unavailable(message, reason="external", server=server)
    content = _list_objects(result.get("content"))
    texts = [each["text"] for each in content if each.get("type") == "text" and isinstance(each.get("text"), str)]
    if result.get("isError") is True:
        raise to_refusal(server, "\n".join(texts) or "The tool failed without a reason.")
    blocks, notes = _build_blocks(content)
    value = _find_value(result.get("structuredContent"), texts)
    for name, note in notes.items():
        value.setdefault(name, note)
    return RichResult(strip_controls(value), blocks)


def read_contents(server: str, result: JsonObject) -> RichResult[JsonObject]:
    """What `resources/read` brought: the texts as a value, everything else as blocks."""
    contents = _list_objects(result.get("contents"))
    content = [{"type": "resource", "resource": each} for each in contents]
    texts = [each for each in contents if isinstance(each.get("text"), str)]
    blocks, notes = _build_blocks([each for each in content if "blob" in each["resource"]])
    listed = [{"uri": _take_text(each, "uri", _MAX_URI), "text": each["text"]} for each in texts]
    return RichResult(strip_controls({"contents": listed, **notes}), blocks)


def to_refusal(server: str, text: str) -> Refusal:
    """The words of a failed tool. They are data, as any answer: the guard screens them."""
    message = f"The MCP server {server} says: {clean_text(text, _MAX_ERROR)}"
    return Unavailable(message, reason="external", server=server)


def _find_value(structured: Any, texts: list[str]) -> JsonObject:
    if isinstance(structured, dict):
        return dict(cast("JsonObject", structured))
    if structured is not None:
        return {"items": structured} if isinstance(structured, list) else {"value": structured}
    joined = "\n".join(texts)
    start = joined.lstrip()[:1]
    if start in ("{", "["):
        try:
            found: Any = orjson.loads(joined)
        except ValueError:
            found = None
        if isinstance(found, dict):
            return cast("JsonObject", found)
        if isinstance(found, list):
            return {"items": found}
    return {"text": joined}


def _build_blocks(content: list[JsonObject]) -> tuple[list[ContentBlock], JsonObject]:
    """Blocks, and what is said beside them: links to resources, and how many blocks were too large."""
    blocks: list[ContentBlock] = []
    links: list[JsonObject] = []
    left, omitted = MAX_BLOCK_BYTES, 0
    for each in content:
        kind = each.get("type")
        if kind == "resource_link":
            fields = {name: _take_text(each, name, _MAX_URI) for name in ("uri", "name", "mimeType")}
            links.append({name: text for name, text in fields.items() if text})
            continue
        block = _build_block(each, len(blocks))
        if block is None:
            omitted += kind not in (None, "text")
            continue
        if len(block.data) > left:
            omitted += 1
        else:
            left -= len(block.data)
            blocks.append(block)
    return blocks, {**({"links": links} if links else {}), **({"blocks_omitted": omitted} if omitted else {})}


def _build_block(each: JsonObject, number: int) -> ContentBlock | None:
    kind = each.get("type")
    if kind in ("image", "audio"):
        data = _decode(each.get("data"))
        media_type = _take_text(each, "mimeType", _MAX_TYPE) or "application/octet-stream"
        if data is None:
            return None
        return (
            ImageContent(data, media_type) if kind == "image" else ResourceContent(f"audio:{number}", data, media_type)
        )
    resource: Any = each.get("resource")
    if kind != "resource" or not isinstance(resource, dict):
        return None
    document = cast("JsonObject", resource)
    uri = _take_text(document, "uri", _MAX_URI)
    text, media_type = document.get("text"), _take_text(document, "mimeType", _MAX_TYPE)
    if isinstance(text, str):
        return ResourceContent(uri, strip_controls(text), media_type or "text/plain")
    data = _decode(document.get("blob"))
    return None if data is None else ResourceContent(uri, data, media_type or "application/octet-stream")


def _decode(data: Any) -> bytes | None:
    if not isinstance(data, str) or len(data) > 2 * MAX_BLOCK_BYTES:
        return None
    try:
        return b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None


def _take_text(value: Mapping[str, Any], name: str, most: int) -> str:
    return clean_text(value.get(name), most)


def _list_objects(value: Any) -> list[JsonObject]:
    return [each for each in cast("list[Any]", value) if isinstance(each, dict)] if isinstance(value, list) else []


def read_resources(page: JsonObject) -> JsonObject:
    """A page of `resources/list`."""
    names = ("uri", "name", "title", "description", "mimeType")
    found = [
        {name: _take_text(each, name, 1000) for name in names if isinstance(each.get(name), str)}
        for each in _list_objects(page.get("resources"))
    ]
    cursor = page.get("nextCursor")
    return {"resources": found, **({"next_cursor": cursor} if isinstance(cursor, str) else {})}


def read_messages(result: JsonObject) -> JsonObject:
    """What `prompts/get` brought."""
    messages = strip_controls(_list_objects(result.get("messages")))
    return {"description": clean_text(result.get("description")), "messages": messages}
