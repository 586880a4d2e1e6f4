"""manual_hits: the lists behind a trace, a page at a time."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.modules.manual.addresses import Ref, ref_of
from tokonoma.modules.manual.cache import library
from tokonoma.modules.manual.judge import PAGE
from tokonoma.modules.manual.stages import Signal
from tokonoma.modules.manual.trails import Trace, fetched

# Hits of one answer, up to which each shows every signal that found it. A longer list shows the strongest alone: it is
# read by an agent that pays for every character.
_FEW = 20

Kind = Literal["candidates", "unscanned", "conflicts", "gaps", "integrated_top"]


Grouping = Literal["section", "file"]


class Item(TypedDict):
    """One section; or, grouped, one file with its sections: first line, heading, score."""

    ref: NotRequired[Ref]
    title: NotRequired[str]
    signals: NotRequired[list[str]]
    score: NotRequired[float]
    reason: NotRequired[str]
    sections: NotRequired[list[tuple[int, str, float]]]


class Items(TypedDict):
    items: list[Item]
    total: int


def hits(
    desk: Desk,
    trace_id: str,
    kind: Kind = "candidates",
    offset: Annotated[int, Field(ge=0)] = 0,
    limit: Annotated[int, Field(ge=1, le=PAGE)] = 50,
    signals: Annotated[list[Signal] | None, Field(description="only those found by one of these")] = None,
    by: Annotated[
        Grouping, Field(description="file: as [line, title, score] under each file, half as long")
    ] = "section",
) -> Items:
    """The sections that a manual_find found, best first, without their text; or what it could not look at, the
    contradictions, the gaps. From a score of 0.6 on, a section holds what was asked for by name."""
    listed = _shown(desk, _listed(fetched(desk, trace_id), kind))
    if signals:
        wanted = set(signals)
        listed = [item for item in listed if wanted.intersection(item.get("signals", ()))]
    page = listed[offset : offset + limit]
    shown = 1 if len(page) > _FEW else None
    items = _by_file(page) if by == "file" else [_item(each, shown) for each in page]
    return {"items": items, "total": len(listed)}


def _shown(desk: Desk, listed: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A trace is half an hour old at most, but files and policies change: only what may be seen now is listed."""
    held = library(desk)

    def seen(found: dict[str, Any]) -> bool:
        place = held.stock.places.get((found["manual"], found["path"], found["line"]))
        return place is not None and place in held.seen.get(found["manual"], {}).get(found["path"], ())

    return [each for each in listed if "path" not in each or seen(each)]


def _listed(trace: Trace, kind: Kind) -> Sequence[dict[str, Any]]:
    if kind == "unscanned":
        return [
            {"manual": manual, "path": path, "line": line, "title": "", "reason": reason}
            for (manual, path, line), reason in trace.unscanned
        ]
    if kind == "integrated_top":
        return trace.integrated
    return {"candidates": trace.candidates, "conflicts": trace.conflicts, "gaps": trace.gaps}[kind]


def _by_file(page: Iterable[dict[str, Any]]) -> list[Item]:
    """In the order of the best section of each; what belongs to no file stays as it is."""
    files: dict[tuple[str, str], Item] = {}
    items: list[Item] = []
    for each in page:
        if "path" not in each:
            items.append(_item(each, None))
            continue
        file = each["manual"], each["path"]
        if file not in files:
            files[file] = {"ref": _ref(each, line=None), "sections": []}
            items.append(files[file])
        files[file].setdefault("sections", []).append((each["line"], each["title"], each.get("score", 0.0)))
    return items


def _item(found: dict[str, Any], signals: int | None) -> Item:
    item: Item = {"title": found["title"]}
    if "path" in found:
        item["ref"] = _ref(found, found["line"])
    if "signals" in found:
        item["signals"] = found["signals"][:signals]
    if "score" in found:
        item["score"] = found["score"]
    if "reason" in found:
        item["reason"] = found["reason"]
    return item


def _ref(found: dict[str, Any], line: int | None) -> Ref:
    ref = ref_of(found["manual"], found["path"], line, found.get("json_path"))
    del ref["target"]  # all of them are manuals: a list of hundreds need not say so hundreds of times
    return ref
