"""Which program a file or folder comes from."""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from tokonoma.core.errors import Invalid, Missing
from tokonoma.transfer import front, graph, jsonl, markdown, memories, vault
from tokonoma.transfer.carried import Metadata, Origin, Reader
from tokonoma.transfer.documents import document, object_of
from tokonoma.transfer.lines import objects
from tokonoma.transfer.walk import Unreadable, folder, text_of

_LOOKED_AT = 200  # notes of a folder, or lines of a file
_NOTES: Mapping[str, Reader] = {
    "tokonoma": markdown.read,
    "basic-memory": vault.basic_memory,
    "obsidian": vault.obsidian,
}
_FILES: Mapping[str, Reader] = {
    "tokonoma": jsonl.read,
    "mcp-memory": graph.read,
    "mcp-memory-service": memories.mcp_memory_service,
    "mem0": memories.mem0,
}
FORMATS = ("tokonoma", "mcp-memory", "mcp-memory-service", "basic-memory", "obsidian", "mem0")


def reader_of(origin: Origin) -> Reader:
    """What reads this source; Invalid if it cannot be of that format."""
    notes = _is_notes(origin.path)
    found = (_NOTES if notes else _FILES).get(origin.format)
    if found is None:
        wanted = "a file" if notes else "a folder, or a Markdown file"
        raise Invalid(f"{origin.path} cannot be of {origin.format}: that would be {wanted}.")
    return found


def format_of(path: Path) -> str:
    """Found out by looking inside; Invalid where that does not tell."""
    found = _of_notes(path) if _is_notes(path) else _of_lines(path) or _of_document(path)
    if found is None:
        raise Invalid(f"{path} looks like none of {', '.join(FORMATS)}. Say --from if you know what it is.")
    return found


def _is_notes(path: Path) -> bool:
    return path.is_dir() or path.suffix.lower() in (".md", ".markdown")


def _of_notes(path: Path) -> str:
    found = folder(path)
    if not found.notes:
        jsons = [ending for ending in found.others if ending in (".json", ".jsonl")]
        hint = " Name one of its JSON files instead." if jsons else ""
        raise Missing(f"There is no Markdown file in {path}.{hint}")
    fronts: list[Metadata] = []
    for inside in found.notes[:_LOOKED_AT]:
        try:
            text, _, _ = text_of(found.root, inside)
            block, _ = front.split(text)
            fronts.append(front.read(block) if block is not None else {})
        except (Unreadable, front.BadFront):
            continue
    some = [about for about in fronts if about]
    if sum("tokonoma" in about for about in some) * 2 > len(some):
        return "tokonoma"
    # Obsidian Publish knows permalinks too, but not a type beside each.
    return (
        "basic-memory" if sum({"permalink", "type"} <= about.keys() for about in some) * 2 > len(some) else "obsidian"
    )


def _of_lines(path: Path) -> str | None:
    """By the first line that is an object."""
    first = next((each for each in islice(objects(path), _LOOKED_AT) if isinstance(each, tuple)), None)
    if first is None:
        return None
    kind, raw = first[1].get("type"), first[1]
    if kind in (jsonl.TYPE, "memo") or (kind == "relation" and "source" in raw):
        return "tokonoma"
    return "mcp-memory" if kind in ("entity", "relation") else None


def _of_document(path: Path) -> str | None:
    value = document(path)
    whole, found = object_of(value), memories.listed(value)
    if isinstance(whole.get("entities"), list):
        return "mcp-memory"
    about = next((each for each in map(object_of, found or []) if each), Metadata())
    if "memory" in about:
        return "mem0"
    if "content_hash" in about or {"content", "tags"} <= about.keys() or {"document", "metadata"} <= about.keys():
        return "mcp-memory-service"
    if found:
        return None
    # An export of nothing still says whose it is.
    return "mcp-memory-service" if "memories" in whole else "mem0" if "results" in whole else None
