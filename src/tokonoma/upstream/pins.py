"""Pins: what was approved of a tool, word for word, and what has changed since. Pure.

The hash covers everything by which an agent or this server decides: name, description, schema and annotations.
"""

import difflib
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import orjson

from tokonoma.core.module import Effect
from tokonoma.upstream.texts import strip_controls
from tokonoma.upstream.wire import JsonObject

ToolState = Literal["approved", "new", "changed", "gone"]

_PINNED = ("name", "description", "inputSchema", "annotations")
_MAX_DIFF = 40  # lines


@dataclass(frozen=True, slots=True)
class PinnedTool:
    """A tool of a server. `approved` is what the owner has agreed to, empty for a new one; `seen` what the server said
    last."""

    name: str  # at the server
    short: str  # here
    state: ToolState
    approved: JsonObject
    seen: JsonObject
    effect: Effect | None = None  # set by the owner; None: as the approved annotations say

    @property
    def definition(self) -> JsonObject:
        """What holds: never what was not approved."""
        return self.approved

    def find_effect(self) -> Effect:
        return self.effect or find_effect(self.approved)


def pick_pinned(tool: Mapping[str, Any]) -> JsonObject:
    """The parts of a tool that are pinned, and kept."""
    return {key: tool[key] for key in _PINNED if tool.get(key) is not None}


def hash_tool(tool: Mapping[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(pick_pinned(tool), option=orjson.OPT_SORT_KEYS)).hexdigest()


def find_effect(tool: Mapping[str, Any]) -> Effect:
    """What a tool does by its own annotations; one that says nothing may destroy."""
    hints: Any = tool.get("annotations")
    told = cast("JsonObject", hints) if isinstance(hints, dict) else {}
    if told.get("readOnlyHint") is True:
        return "read"
    return "write" if told.get("destructiveHint") is False else "destroy"


def is_idempotent(tool: Mapping[str, Any]) -> bool:
    hints: Any = tool.get("annotations")
    return isinstance(hints, dict) and cast("JsonObject", hints).get("idempotentHint") is True


def compare_tools(
    known: Sequence[PinnedTool], seen: Sequence[Mapping[str, Any]], shorts: Mapping[str, str]
) -> list[PinnedTool]:
    """The tools of a server as they are now: approved while nothing has changed, else held back. `shorts` has the names
    here."""
    before = {tool.name: tool for tool in known}
    found: list[PinnedTool] = []
    for each in seen:
        name, definition = str(each["name"]), pick_pinned(each)
        old = before.pop(name, None)
        if old is None or not old.approved:
            found.append(PinnedTool(name, shorts[name], "new", {}, definition))
        else:
            state = "approved" if hash_tool(definition) == hash_tool(old.approved) else "changed"
            found.append(PinnedTool(name, old.short, state, old.approved, definition, old.effect))
    return found + [replace(each, state="gone") for each in before.values() if each.approved]


def describe_change(tool: PinnedTool) -> list[str]:
    """What has changed since a tool was approved, as lines of a diff."""
    old, new = (_list_lines(each) for each in (tool.approved, tool.seen))
    lines = list(difflib.unified_diff(old, new, "approved", "now", lineterm="", n=1))[2:]
    return lines[:_MAX_DIFF] + ([f"… {len(lines) - _MAX_DIFF} more lines"] if len(lines) > _MAX_DIFF else [])


def _list_lines(tool: JsonObject) -> list[str]:
    text = orjson.dumps(strip_controls(tool), option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2).decode()
    return [line[:300] for line in text.splitlines()[:2000]]
