"""manual_hits: the lists behind a trace, a page at a time."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.modules.manual.addresses import ManualRef, build_ref
from tokonoma.modules.manual.cache import load_library
from tokonoma.modules.manual.judge import MAX_HITS
from tokonoma.modules.manual.stages import Signal
from tokonoma.modules.manual.trails import SearchTrace, load_trace

# Hits of one answer, up to which each shows every signal that found it. A longer list shows the strongest alone: it is
# read by an agent that pays for every character.
_FEW = 20

HitKind = Literal["candidates", "unscanned", "conflicts", "gaps", "integrated_top"]


Grouping = Literal["section", "file"]


class ManualHit(TypedDict):
    """One section; or, grouped, one file with its sections: first line, heading, score."""

    ref: NotRequired[ManualRef]
    title: NotRequired[str]
    signals: NotRequired[list[str]]
    score: NotRequired[float]
    reason: NotRequired[str]
    sections: NotRequired[list[tuple[int, str, float]]]


class ManualHits(TypedDict):
    items: list[ManualHit]
    total: int


def list_hits(
    desk: Desk,
    trace_id: str,
    kind: HitKind = "candidates",
    offset: Annotated[int, Field(ge=0)] = 0,
    limit: Annotated[int, Field(ge=1, le=MAX_HITS)] = 50,
    signals: Annotated[list[Signal] | None, Field(description="only those found by one of these")] = None,
    by: Annotated[
        Grouping, Field(description="file: as [line, title, score] under each file, half as long")
    ] = "section",
) -> ManualHits:
    """The sections that a manual_find found, best first, without their text; or what it could not look at, the
    contradictions, the gaps. From a score of 0.6 on, a section holds what was asked for by name."""
    listed = _visible_hits(desk, _select_list(load_trace(desk, trace_id), kind))
    if signals:
        wanted = set(signals)
        listed = [item for item in listed if wanted.intersection(item.get("signals", ()))]
    page = listed[offset : offset + limit]
    shown = 1 if len(page) > _FEW else None
    items = _group_by_file(page) if by == "file" else [_to_hit(each, shown) for each in page]
    return {"items": items, "total": len(listed)}


def _visible_hits(desk: Desk, listed: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A trace is half an hour old at most, but files and policies change: only what may be seen now is listed."""
    held = load_library(desk)

    def seen(found: dict[str, Any]) -> bool:
        place = held.corpus.positions.get((found["manual"], found["path"], found["line"]))
        return place is not None and place in held.visible.get(found["manual"], {}).get(found["path"], ())

    return [each for each in listed if "path" not in each or seen(each)]


def _select_list(trace: SearchTrace, kind: HitKind) -> Sequence[dict[str, Any]]:
    if kind == "unscanned":
        return [
            {"manual": manual, "path": path, "line": line, "title": "", "reason": reason}
            for (manual, path, line), reason in trace.unscanned
        ]
    if kind == "integrated_top":
        return trace.integrated
    return {"candidates": trace.candidates, "conflicts": trace.conflicts, "gaps": trace.gaps}[kind]


def _group_by_file(page: Iterable[dict[str, Any]]) -> list[ManualHit]:
    """In the order of the best section of each; what belongs to no file stays as it is."""
    files: dict[tuple[str, str], ManualHit] = {}
    items: list[ManualHit] = []
    for each in page:
        if "path" not in each:
            items.append(_to_hit(each, None))
            continue
        file = each["manual"], each["path"]
        if file not in files:
            files[file] = {"ref": _to_ref(each, line=None), "sections": []}
            items.append(files[file])
        files[file].setdefault("sections", []).append((each["line"], each["title"], each.get("score", 0.0)))
    return items


def _to_hit(found: dict[str, Any], signals: int | None) -> ManualHit:
    item: ManualHit = {"title": found["title"]}
    if "path" in found:
        item["ref"] = _to_ref(found, found["line"])
    if "signals" in found:
        item["signals"] = found["signals"][:signals]
    if "score" in found:
        item["score"] = found["score"]
    if "reason" in found:
        item["reason"] = found["reason"]
    return item


def _to_ref(found: dict[str, Any], line: int | None) -> ManualRef:
    ref = build_ref(found["manual"], found["path"], line, found.get("json_path"))
    del ref["target"]  # all of them are manuals: a list of hundreds need not say so hundreds of times
    return ref
