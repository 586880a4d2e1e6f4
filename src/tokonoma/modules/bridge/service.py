"""bridge_copy: what a service says becomes a file of the vault or a memo, and is not shown on its way.

Asking and writing are calls of their own for the same caller: masks, policy and journal hold as if it had made them.
"""

import json
from collections.abc import Generator
from typing import Annotated, Any, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.call import InnerStep
from tokonoma.core.concurrency import Deferred
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.field_paths import InvalidPath, parse_field_path
from tokonoma.core.ids import Opaque
from tokonoma.core.module import ToolInfo
from tokonoma.modules.bridge.copy import CopyLimits, Mode, ToPath

_MAX_CHARS = 1_000_000


class ServiceSource(TypedDict):
    """A call of a tool that reads in a service."""

    module: str
    tool: str
    params: NotRequired[dict[str, Any]]
    path: NotRequired[Annotated[str, Field(description="of the text in the answer, such as markdown or items.body")]]


class MemoTarget(TypedDict):
    title: NotRequired[str]
    namespace: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]


class ServiceCopyResponse(TypedDict):
    path: NotRequired[str]
    memo_id: NotRequired[Opaque]
    address: Opaque
    version: NotRequired[Opaque]
    copied_chars: int


def copy(
    desk: Desk,
    from_call: ServiceSource,
    to_path: ToPath | None = None,
    to_memo: MemoTarget | None = None,
    mode: Mode = "create",
    limits: CopyLimits | None = None,
) -> Deferred[ServiceCopyResponse]:
    """Copy what a service returns into a file of the vault (to_path) or a memo (to_memo). Without a path in from_call
    the whole answer is copied as JSON. The text is not returned."""
    if (to_path is None) == (to_memo is None):
        raise Invalid("Give either to_path or to_memo.", field="to_path")
    tool = desk.server.find_tool(from_call["module"], from_call["tool"], desk.principal)
    if not tool.outside or tool.effect != "read":
        raise Invalid(f"{tool.path} does not read in a service. For records here use copy_section.", field="from_call")
    keys = _parse_path(from_call.get("path", ""))
    most = (limits or {}).get("max_chars", _MAX_CHARS)
    target = _build_file_step(to_path, mode) if to_path is not None else _build_memo_step(to_memo or {})
    source = InnerStep(tool.module, tool.name, _add_field(tool, from_call.get("params", {}), keys))
    return desk.server.run_calls(desk.call, _run_steps(source, keys, target, most))


def _run_steps(
    source: InnerStep, keys: tuple[str, ...], target: InnerStep, most: int
) -> Generator[InnerStep, Any, ServiceCopyResponse]:
    answer = yield source
    text = _read_text(answer, keys)
    if len(text) > most:
        problem = f"The text has {len(text)} characters; limits.max_chars is {most}. Nothing was copied."
        raise Invalid(problem, field="limits", limit=most)
    written = yield InnerStep(target.module, target.tool, {**target.params, "content": text})
    if target.module == "memory":
        memo_id = written["memo_id"]
        return {"memo_id": memo_id, "address": f"tokonoma://memory/{memo_id}", "copied_chars": len(text)}
    facts: ServiceCopyResponse = {"path": written["path"], "address": written["address"], "copied_chars": len(text)}
    return {**facts, "version": written["version"]}


def _build_file_step(path: str, mode: str) -> InnerStep:
    if mode == "create":
        return InnerStep("vault", "create", {"path": path})
    return InnerStep("vault", "write", {"path": path, "mode": mode})


def _build_memo_step(memo: MemoTarget) -> InnerStep:
    return InnerStep("memory", "save", dict(memo))


def _parse_path(path: str) -> tuple[str, ...]:
    try:
        return parse_field_path(path) if path else ()
    except InvalidPath as error:
        raise Invalid(f"from_call.path: {error}", field="from_call") from None


def _add_field(tool: ToolInfo, params: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """Ask for the text, too, if the tool returns only some fields."""
    is_list = "has_more" in tool.output.get("properties", {})
    inner = keys[1:] if is_list and keys[:1] == ("items",) else keys
    if not tool.projects or not inner or "fields" in params:
        return params
    quoted = [json.dumps(key, ensure_ascii=False) for key in inner]
    return {**params, "fields": ["".join(f"[{key}]" for key in quoted)]}


def _read_text(answer: Any, keys: tuple[str, ...]) -> str:
    """The texts at the path, through lists; the whole answer as JSON if there is no path."""
    if not keys:
        return json.dumps(answer, ensure_ascii=False, indent=2)
    values: list[Any] = [answer]
    for key in keys:
        values = [each[key] for value in values for each in _list_objects(value) if key in each]
    texts = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2) for value in values]
    if not texts:
        raise Missing(f"The answer has nothing at {'.'.join(keys)!r}. Nothing was copied.", reason="path")
    return "\n\n".join(texts)


def _list_objects(value: Any) -> list[dict[str, Any]]:
    """An object, or the objects of a list."""
    listed = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [cast("dict[str, Any]", each) for each in listed if isinstance(each, dict)]
