"""What a reader makes of a source, sorted by kind."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokonoma.transfer.importer import detect_format, find_reader
from tokonoma.transfer.model import ImportSource, MemoRecord, RelationRecord, Remark


@dataclass
class Read:
    format: str
    memos: dict[str, MemoRecord] = field(default_factory=dict)  # by their original id, or ours
    relations: list[tuple[str, str, str]] = field(default_factory=list)  # original ids and the tag
    lost: list[tuple[str, str]] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    carried: list[Any] = field(default_factory=list)


def read(path: Path, kind: str = "auto", **more: Any) -> Read:
    origin = ImportSource(path, detect_format(path) if kind == "auto" else kind, **more)
    found = Read(origin.format)
    names: dict[str, str] = {}
    for each in find_reader(origin)(origin):
        found.carried.append(each)
        if isinstance(each, Remark):
            (found.lost if each.lost else found.notes).append((each.place, each.why))
        elif isinstance(each, MemoRecord):
            name = each.metadata.get("imported_id", each.memo_id)
            names[each.memo_id] = name
            found.memos[name] = each
        elif isinstance(each, RelationRecord):
            ends = (names.get(each.source, each.source), names.get(each.target, each.target))
            found.relations.append((*ends, each.tag))
    return found


def files(root: Path, **contents: str | bytes) -> Path:
    """Files by their names, in which `__` stands for a slash: `files(root, notes__a="…")` makes notes/a.md."""
    for name, content in contents.items():
        path = root / (name.replace("__", "/") + ("" if "." in name else ".md"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def own_metadata(memo: MemoRecord) -> dict[str, Any]:
    """Without where it came from."""
    return {key: value for key, value in memo.metadata.items() if not key.startswith("imported_")}
