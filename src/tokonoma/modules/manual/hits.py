"""manual_hits: the lists behind a trace, page by page, with the lines that match."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Refusal
from tokonoma.modules.manual.account import list_still_left_out
from tokonoma.modules.manual.evidence import Evidence, SearchedTerms, find_evidence
from tokonoma.modules.manual.json_text import decode_escapes
from tokonoma.modules.manual.model import (
    MAX_HITS,
    ManualFileKey,
    SectionKey,
    cite_manuals,
)
from tokonoma.modules.manual.refs import ManualReader
from tokonoma.modules.manual.stages import Signal
from tokonoma.modules.manual.traces import FoundSection, ManualHit, SearchTrace, build_hit, load_trace, section_key

# Up to this number of hits, each shows every signal that found it. A longer list shows only the strongest, because an
# agent pays for every character.
_FEW = 20
_NO_EVIDENCE = Evidence(())

HitKind = Literal["candidates", "unscanned", "conflicts", "gaps", "integrated_top", "summary"]
Grouping = Literal["section", "file"]


class ReadParams(TypedDict):
    trace_id: str


class ManualHits(TypedDict):
    items: list[ManualHit]
    total: int
    gone: NotRequired[Annotated[int, Field(description="hits of the search that are not there any more")]]
    read_with: NotRequired[Annotated[ReadParams, Field(description="pass this to manual_read")]]
    unindexed: NotRequired[Annotated[int, Field(description="files that are named when they are indexed")]]
    summary: NotRequired[Annotated[dict[str, Any], Field(description="with kind summary: as manual_find returned it")]]


def list_hits(
    desk: Desk,
    trace_id: str,
    kind: HitKind = "candidates",
    offset: Annotated[int, Field(ge=0)] = 0,
    limit: Annotated[int, Field(ge=1, le=MAX_HITS)] = 50,
    signals: Annotated[list[Signal] | None, Field(description="only hits found by one of these")] = None,
    by: Annotated[Grouping, Field(description="file: grouped by file, half as long")] = "section",
    evidence: Annotated[bool, Field(description="false: without lines")] = True,
    context: Annotated[int, Field(ge=0, le=2, description="lines before and after each")] = 0,
) -> ManualHits:
    """List the sections that a manual_find found, best first, with the lines that match; or the sections and files that
    it did not search, with the reason, the contradictions, the gaps. From a score of 0.6 on, a section contains the
    topic by name."""
    trace, reader = load_trace(desk, trace_id), ManualReader(desk)
    if kind == "summary":
        return {"items": [], "total": len(trace.candidates), "summary": trace.summary}
    saved: Sequence[ManualHit] = [] if kind == "unscanned" else getattr(trace, kind)
    listed = _locate_hits(reader, saved)
    gone, unindexed = len(saved) - len(listed), 0
    if kind == "unscanned":
        listed, unindexed = _list_unscanned(reader, trace)
        listed += _list_left_out(reader, trace)
    if signals:
        wanted = set(signals)
        listed = [item for item in listed if wanted.intersection(item.get("signals", ()))]
    page = listed[offset : offset + limit]
    cite_manuals(desk)
    if evidence and kind != "unscanned":
        _add_evidence(reader, page, trace.terms, context)
    if len(page) > _FEW:
        for item in page:
            if "signals" in item:
                item["signals"] = item["signals"][:1]
    items = _group_by_file(page) if by == "file" else page
    answer: ManualHits = {"items": items, "total": len(listed), "read_with": {"trace_id": trace_id}}
    if gone:
        answer["gone"] = gone
    if unindexed:
        answer["unindexed"] = unindexed
    return answer


def _list_unscanned(reader: ManualReader, trace: SearchTrace) -> tuple[list[ManualHit], int]:
    """Sections; and whole files, of those that were not indexed or have changed since. A file that is still not indexed
    is not classified: it is named to the owner, for others it is counted."""
    library = reader.library
    pending, is_owner = set(library.list_pending(None)), reader.desk.principal.kind == "owner"
    sections, files = list[ManualHit](), dict[ManualFileKey, str]()
    for key, reason in trace.unscanned:
        if reason != "indexing" and key in library.corpus.positions and key[:2] not in pending:
            sections.append(build_hit(key, "") | {"reason": reason})
        else:
            files.setdefault(key[:2], "indexing" if reason == "indexing" else "changed")
    listed, unindexed = _locate_hits(reader, sections), 0
    for file, reason in files.items():
        if file[1] in library.visible.get(file[0], ()) or (is_owner and file in pending):
            listed.append(build_hit((*file, 1), "") | {"reason": reason})
        elif file in pending:
            unindexed += 1
    return listed, unindexed


def _list_left_out(reader: ManualReader, trace: SearchTrace) -> list[ManualHit]:
    """The files that could not be searched, by their path below the manuals."""
    listed: list[ManualHit] = []
    for each in list_still_left_out(reader.desk, reader.library, trace.left_out):
        hit: ManualHit = {"title": each.path, "reason": each.reason}
        listed.append(hit if each.files == 1 else {**hit, "files": each.files})
    return listed


def _locate_hits(reader: ManualReader, listed: Sequence[ManualHit]) -> list[ManualHit]:
    """The hits where they are now: files and policies may have changed since the search. What was not searched has no
    hash."""
    corpus = reader.library.corpus
    found: list[ManualHit] = []
    for each in listed:
        key = section_key(each)
        if key is None or "ref" not in each:
            found.append(each)
            continue
        position = corpus.positions.get(key)
        indexed = corpus.sections[position].hash if position is not None else ""
        state, section = reader.find_section(key, each["ref"].get("hash", indexed))
        if section is None:
            continue
        known = each["ref"].get("json_path", "") if state == "same" else ""
        each |= build_hit(section.key, each.get("title", ""), section.hash, section.json_path or known)
        if state == "changed":
            each["title"], each["changed"] = section.title, True
        found.append(each)
    return found


def _add_evidence(reader: ManualReader, page: Iterable[ManualHit], terms: SearchedTerms, context: int) -> None:
    for each in page:
        key = section_key(each)
        if key is None:
            continue
        reader.desk.check()
        shown = _find_evidence(reader, key, terms, context)
        each["lines"] = [*shown.lines]
        if shown.more:
            each["more"] = shown.more


def _find_evidence(reader: ManualReader, key: SectionKey, terms: SearchedTerms, context: int) -> Evidence:
    section = reader.library.corpus.sections[reader.library.corpus.positions[key]]
    try:
        file = reader.open_file(section.manual, section.path)
    except Refusal:  # it changed a moment ago
        return _NO_EVIDENCE
    lines = file.lines[section.line - 1 : section.own_end]
    return find_evidence(lines, section.line, terms, context, decode_escapes if file.is_json else str)


def _group_by_file(page: Iterable[ManualHit]) -> list[ManualHit]:
    """In the order of the best section of each file; a hit without a file stays as it is."""
    files: dict[tuple[str, str], ManualHit] = {}
    items: list[ManualHit] = []
    for each in page:
        if "ref" not in each:
            items.append(each)
            continue
        ref = each["ref"]
        file = ref["manual_id"], ref["path"]
        if file not in files:
            files[file] = {"ref": {"manual_id": file[0], "path": file[1]}, "sections": []}
            items.append(files[file])
        place: tuple[int, str] = ref.get("start_line", 1), each.get("title", "")
        section = *place, each.get("score", 0.0), ref.get("hash", "")
        shown: FoundSection = (*section, each["lines"], each.get("more", 0)) if "lines" in each else section
        files[file].setdefault("sections", []).append(shown)
    return items
