"""The export of all modules: a folder with one file of JSON lines for each, and the files of the vault and the manuals.

tokonoma.json     what the folder is, and a hash of every file in it
memory.jsonl      memos and relations, as `tokonoma export` writes them
items.jsonl       items with their links, and every version of the current state
claims.jsonl      claims, as `tokonoma claims export` writes them
vault, manuals    the files, if they were asked for
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from tokonoma.core.errors import Invalid
from tokonoma.transfer.files import read_objects, replace_file
from tokonoma.transfer.jsonl import dump_line
from tokonoma.transfer.model import Metadata, Remark

MANIFEST = "tokonoma.json"
TYPE = "tokonoma-export"
FORMAT = 1
MEMORY, ITEMS, CLAIMS = "memory.jsonl", "items.jsonl", "claims.jsonl"
_ITEMS_TYPE = "tokonoma-items"
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class ExportedFile:
    path: str  # below the folder, with slashes
    size: int
    sha256: str


def is_whole_export(path: Path) -> bool:
    return path.is_dir() and (path / MANIFEST).is_file()


def write_manifest(folder: Path, files: Sequence[ExportedFile], **about: object) -> None:
    """Last of all: a folder without it is no complete export."""
    listed = [{"path": each.path, "size": each.size, "sha256": each.sha256} for each in files]
    manifest = {"type": TYPE, "format": FORMAT, **about, "files": listed}
    with replace_file(folder / MANIFEST) as file:
        file.write(json.dumps(manifest, ensure_ascii=False, indent=1).encode() + b"\n")


def read_manifest(folder: Path) -> list[ExportedFile]:
    """The files of the export; Invalid if one is missing or differs from what was exported."""
    try:
        manifest: Any = json.loads((folder / MANIFEST).read_bytes())
        files = [ExportedFile(str(each["path"]), int(each["size"]), str(each["sha256"])) for each in manifest["files"]]
        kind, found = manifest["type"], manifest["format"]
    except (ValueError, KeyError, TypeError):
        raise Invalid(f"{folder / MANIFEST} is damaged: it does not list the files of an export.") from None
    if kind != TYPE or found != FORMAT:
        raise Invalid(f"This export has the format {found!r}; this program reads {FORMAT}. Update it.")
    for each in files:
        parts = PurePosixPath(each.path).parts
        if not parts or parts[0] == "/" or ".." in parts:
            raise Invalid(f"{folder / MANIFEST} names a file outside of the export: {each.path!r}.")
        path = folder.joinpath(*parts)
        if path.is_symlink() or not path.is_file() or describe_file(folder, each.path) != each:
            raise Invalid(f"{path} is missing, or is not the file that was exported. Nothing was imported.")
    return files


def describe_file(folder: Path, inside: str) -> ExportedFile:
    digest, size = hashlib.sha256(), 0
    with (folder / inside).open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return ExportedFile(inside, size, digest.hexdigest())


def format_items_header(**about: object) -> bytes:
    return dump_line({"type": _ITEMS_TYPE, "format": FORMAT, **about})


def format_item(item: Mapping[str, Any]) -> bytes:
    return dump_line({"record": "item", **item})


def format_state(state: Mapping[str, Any]) -> bytes:
    return dump_line({"record": "state", **state})


def format_items_footer(items: int, states: int) -> bytes:
    return dump_line({"type": "end", "items": items, "states": states})


def read_items(path: Path) -> Iterator[tuple[str, str, Metadata] | Remark]:
    """`item` or `state`, its place in the file, and its fields."""
    for each in read_objects(path):
        if isinstance(each, Remark):
            yield each
            continue
        number, raw = each
        place, record = f"{path.name}:{number}", raw.pop("record", None)
        if record in ("item", "state"):
            yield record, place, raw
        elif raw.get("type") not in (_ITEMS_TYPE, "end"):
            yield Remark(place, "It is not a known type of line.")
