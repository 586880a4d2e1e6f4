"""bridge_copy_trace: all that a search found becomes one file of the vault, each part with where it comes from."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, FoundPlace, Record
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.ids import Opaque
from tokonoma.files.folder import MAX_FILE_BYTES
from tokonoma.files.text import file_address
from tokonoma.modules.bridge.copy import CopyLimits, Mode, ToPath, check_target, count_lines, write_copy

_SEARCHED_MODULES = ("manual", "vault")
_MAX_SOURCES = 50  # addresses in a response


class TraceCopyResponse(TypedDict):
    path: str
    address: Opaque
    mode: str
    version: Opaque
    previous_version: NotRequired[Opaque]
    hits: Annotated[int, Field(description="that were copied")]
    parts: int
    left_out: Annotated[dict[str, int], Field(description="changed, missing: hits that are not as they were found")]
    sources: Annotated[list[Opaque], Field(description="the first 50 parts")]
    copied_chars: int
    copied_lines: int
    bytes: int
    lines: int


def copy_trace(
    desk: Desk,
    trace_id: Annotated[str, Field(max_length=100, description="of manual_find or vault_find")],
    to_path: ToPath,
    signals: Annotated[list[str] | None, Field(description="only hits found by one of these")] = None,
    min_score: Annotated[float, Field(ge=0, le=1, description="manual_find: 0.6 names the topic")] = 0.0,
    mode: Mode = "create",
    limits: CopyLimits | None = None,
) -> TraceCopyResponse:
    """Copy all hits of a search into one file of the vault, each after a comment with its address, lines and hash. No
    text is returned. Hits that changed since, or that you may not see any more, are left out and counted."""
    parts = check_target(desk, to_path)
    if parts[-1].lower().endswith(".json"):
        raise Invalid("to_path: comments cannot stand in a JSON file. Copy into a .md file.", field="to_path")
    wanted = [
        place
        for place in _list_found(desk, trace_id)
        if place.score >= min_score and (not signals or set(signals).intersection(place.signals))
    ]
    places, records = list[FoundPlace](), list[Record]()
    for place in _join_places([each for each in wanted if not each.problem]):
        try:
            records.append(desk.read(place.address))
            places.append(place)
        except Missing:
            wanted = [_mark_missing(each, place) for each in wanted]
    if not places:
        raise Invalid("No hit of this search is left to copy. Search again, or with other signals.", field="trace_id")
    text = "\n".join(map(_format_part, places, records))
    most = (limits or {}).get("max_chars", MAX_FILE_BYTES)
    if len(text) > most:
        problem = f"The hits have {len(text)} characters; limits.max_chars is {most}. Nothing was copied."
        raise Invalid(problem, field="limits", limit=most)
    change = write_copy(desk, parts, mode, text, records)
    problems = {each.rank: each.problem for each in wanted}
    left_out = Counter(problem for problem in problems.values() if problem)
    response: TraceCopyResponse = {
        "path": change.path,
        "address": file_address(change.path),
        "mode": mode,
        "version": change.version,
        "hits": len(problems) - left_out.total(),
        "parts": len(places),
        "left_out": dict(left_out),
        "sources": [place.address for place in places[:_MAX_SOURCES]],
        "copied_chars": len(text),
        "copied_lines": count_lines(text),
        "bytes": change.size,
        "lines": change.lines,
    }
    if change.previous_version is not None:
        response["previous_version"] = change.previous_version
    return response


def _list_found(desk: Desk, trace_id: str) -> Sequence[FoundPlace]:
    for module in _SEARCHED_MODULES:
        found = desk.list_found(module, trace_id)
        if found is not None:
            return found
    problem = f"There is no trace {trace_id!r}; traces expire after 30 minutes. Search again."
    raise Missing(problem, trace_id=trace_id)


def _join_places(found: Sequence[FoundPlace]) -> list[FoundPlace]:
    """Each line once: places that overlap are one part. Files in the order of their best hits, parts by their lines."""
    best: dict[str, int] = {}
    for place in found:
        best[place.file] = min(place.rank, best.get(place.file, place.rank))
    joined: list[FoundPlace] = []
    for place in sorted(found, key=lambda each: (best[each.file], each.lines)):
        last = joined[-1] if joined else None
        if last is not None and last.file == place.file and place.lines[0] <= last.lines[1]:
            if place.lines[1] <= last.lines[1]:
                continue
            place = _with_lines(place, (last.lines[1] + 1, place.lines[1]))
        joined.append(place)
    return joined


def _with_lines(place: FoundPlace, lines: tuple[int, int]) -> FoundPlace:
    address = f"{place.file}#L{lines[0]}-L{lines[1]}"
    return FoundPlace(address, place.file, lines, place.signals, place.score, place.rank)


def _mark_missing(place: FoundPlace, gone: FoundPlace) -> FoundPlace:
    is_gone = place.file == gone.file and place.lines[0] <= gone.lines[1] and gone.lines[0] <= place.lines[1]
    if not is_gone:
        return place
    return FoundPlace(place.address, place.file, place.lines, place.signals, place.score, place.rank, "missing")


def _format_part(place: FoundPlace, record: Record) -> str:
    digest = hashlib.sha256(record.text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    source = place.file.replace("--", "-%2D")  # two hyphens could end the comment
    comment = f"<!-- source: {source}, lines {place.lines[0]}-{place.lines[1]}, sha256 {digest} -->"
    return f"{comment}\n{record.text}" + ("" if record.text.endswith("\n") else "\n")
