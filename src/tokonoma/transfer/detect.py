"""Which program a file or folder comes from."""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from tokonoma.core.errors import Invalid, Missing
from tokonoma.transfer import front, graph, jsonl, markdown, memories, vault
from tokonoma.transfer.carried import ImportSource, Metadata, Reader
from tokonoma.transfer.documents import as_object, load_document
from tokonoma.transfer.lines import read_objects
from tokonoma.transfer.walk import UnreadableFile, read_note, scan_folder

_SAMPLE_SIZE = 200  # notes of a folder, or lines of a file
_NOTE_READERS: Mapping[str, Reader] = {
    "tokonoma": markdown.read_markdown,
    "basic-memory": vault.read_basic_memory,
    "obsidian": vault.read_obsidian,
}
_FILE_READERS: Mapping[str, Reader] = {
    "tokonoma": jsonl.read_jsonl,
    "mcp-memory": graph.read_graph,
    "mcp-memory-service": memories.read_mcp_memory_service,
    "mem0": memories.read_mem0,
}
FORMATS = ("tokonoma", "mcp-memory", "mcp-memory-service", "basic-memory", "obsidian", "mem0")


def find_reader(origin: ImportSource) -> Reader:
    """What reads this source; Invalid if it cannot be of that format."""
    notes = _holds_notes(origin.path)
    found = (_NOTE_READERS if notes else _FILE_READERS).get(origin.format)
    if found is None:
        wanted = "a file" if notes else "a folder, or a Markdown file"
        raise Invalid(f"{origin.path} cannot be of {origin.format}: that would be {wanted}.")
    return found


def detect_format(path: Path) -> str:
    """Found out by looking inside; Invalid where that does not tell."""
    found = _detect_notes(path) if _holds_notes(path) else _detect_lines(path) or _detect_document(path)
    if found is None:
        raise Invalid(f"{path} looks like none of {', '.join(FORMATS)}. Say --from if you know what it is.")
    return found


def _holds_notes(path: Path) -> bool:
    return path.is_dir() or path.suffix.lower() in (".md", ".markdown")


def _detect_notes(path: Path) -> str:
    found = scan_folder(path)
    if not found.notes:
        jsons = [ending for ending in found.others if ending in (".json", ".jsonl")]
        hint = " Name one of its JSON files instead." if jsons else ""
        raise Missing(f"There is no Markdown file in {path}.{hint}")
    fronts: list[Metadata] = []
    for inside in found.notes[:_SAMPLE_SIZE]:
        try:
            text, _, _ = read_note(found.root, inside)
            block, _ = front.split_front_matter(text)
            fronts.append(front.parse_front_matter(block) if block is not None else {})
        except (UnreadableFile, front.FrontMatterError):
            continue
    some = [about for about in fronts if about]
    if sum("tokonoma" in about for about in some) * 2 > len(some):
        return "tokonoma"
    # Obsidian Publish knows permalinks too, but not a type beside each.
    return (
        "basic-memory" if sum({"permalink", "type"} <= about.keys() for about in some) * 2 > len(some) else "obsidian"
    )


def _detect_lines(path: Path) -> str | None:
    """By the first line that is an object."""
    first = next((each for each in islice(read_objects(path), _SAMPLE_SIZE) if isinstance(each, tuple)), None)
    if first is None:
        return None
    kind, raw = first[1].get("type"), first[1]
    if kind in (jsonl.TYPE, "memo") or (kind == "relation" and "source" in raw):
        return "tokonoma"
    return "mcp-memory" if kind in ("entity", "relation") else None


def _detect_document(path: Path) -> str | None:
    value = load_document(path)
    whole, found = as_object(value), memories.find_memory_list(value)
    if isinstance(whole.get("entities"), list):
        return "mcp-memory"
    about = next((each for each in map(as_object, found or []) if each), Metadata())
    if "memory" in about:
        return "mem0"
    if "content_hash" in about or {"content", "tags"} <= about.keys() or {"document", "metadata"} <= about.keys():
        return "mcp-memory-service"
    if found:
        return None
    # An export of nothing still says whose it is.
    return "mcp-memory-service" if "memories" in whole else "mem0" if "results" in whole else None
