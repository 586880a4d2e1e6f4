"""manual_hits: the lists behind a trace, a page at a time."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.modules.manual.addresses import Ref, ref_of
from tokonoma.modules.manual.holding import visible
from tokonoma.modules.manual.index import refresh
from tokonoma.modules.manual.stages import Signal
from tokonoma.modules.manual.trace import Trace, fetched

_SIGNALS = 2  # shown, the strongest first: a list of hundreds is read by an agent that pays for every character

Kind = Literal["candidates", "unscanned", "conflicts", "gaps", "integrated_top"]


class Item(TypedDict):
    ref: NotRequired[Ref]
    title: str
    signals: NotRequired[list[str]]
    score: NotRequired[float]
    reason: NotRequired[str]


class Items(TypedDict):
    items: list[Item]
    total: int


def hits(
    desk: Desk,
    trace_id: str,
    kind: Kind = "candidates",
    offset: Annotated[int, Field(ge=0)] = 0,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    signals: Annotated[list[Signal] | None, Field(description="only those found by one of these")] = None,
) -> Items:
    """The sections that a manual_find found, best first, without their text; or what it could not look at, the
    contradictions, the gaps."""
    refresh(desk)
    listed = _shown(desk, _listed(fetched(desk, trace_id), kind))
    if signals:
        wanted = set(signals)
        listed = [item for item in listed if wanted.intersection(item.get("signals", ()))]
    return {"items": [_item(each) for each in listed[offset : offset + limit]], "total": len(listed)}


def _shown(desk: Desk, listed: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A trace is half an hour old at most, but files and policies change: only what may be seen now is listed."""
    seen = {(manual, path, line) for manual, path, line in visible(desk)}
    return [each for each in listed if "path" not in each or (each["manual"], each["path"], each["line"]) in seen]


def _listed(trace: Trace, kind: Kind) -> Sequence[dict[str, Any]]:
    if kind == "unscanned":
        return [
            {"manual": manual, "path": path, "line": line, "title": "", "reason": reason}
            for (manual, path, line), reason in trace.unscanned
        ]
    if kind == "integrated_top":
        return trace.integrated
    return {"candidates": trace.candidates, "conflicts": trace.conflicts, "gaps": trace.gaps}[kind]


def _item(found: dict[str, Any]) -> Item:
    item: Item = {"title": found["title"]}
    if "path" in found:
        ref = ref_of(found["manual"], found["path"], found["line"], found.get("json_path"))
        del ref["target"]  # all of them are manuals: a list of hundreds need not say so hundreds of times
        item["ref"] = ref
    if "signals" in found:
        item["signals"] = found["signals"][:_SIGNALS]
    if "score" in found:
        item["score"] = found["score"]
    if "reason" in found:
        item["reason"] = found["reason"]
    return item
