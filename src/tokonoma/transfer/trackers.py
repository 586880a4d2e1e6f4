"""Items of other trackers: the formats, how each is recognised, and what their readers share.

Every issue gets a uid that is made from where it comes from, so that importing a source again finds the same items.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tokonoma.core.errors import Invalid
from tokonoma.transfer.files import as_text
from tokonoma.transfer.items import ItemFields, read_pages
from tokonoma.transfer.model import Remark

_ID_NAMESPACE = uuid.UUID("5f0c6f5e-3a0b-5d5c-9d0e-747261636b21")
_MAX_TITLE = 200
_SQLITE = b"SQLite format 3\0"

SourcePage = tuple[str, ItemFields] | Remark
TrackerReader = Callable[[Path], Iterator[SourcePage]]


def make_uid(*origin: str) -> str:
    """The same for the same issue in every import."""
    return str(uuid.uuid5(_ID_NAMESPACE, "\n".join(origin)))


def build_item(place: str, uid: str, title: str, content: str, **fields: Any) -> Iterator[SourcePage]:
    """The page of an issue. A title that is too long is cut, and stands above the content as a whole."""
    title = " ".join(title.split()) or "(without a title)"
    if len(title) > _MAX_TITLE:
        yield Remark(place, f"Its title has {len(title)} characters: the whole title is in the content.", lost=False)
        title, content = f"{title[: _MAX_TITLE - 1]}…", f"{title}\n\n{content}"
    given = {name: value for name, value in fields.items() if value not in (None, "")}
    lists: ItemFields = {"tags": [], "comments": [], "links": [], "aliases": []}
    yield place, {**lists, **given, "uid": uid, "title": title, "content": content.strip("\n"), "foreign": True}


def build_link(uid: str, to: str, kind: str) -> dict[str, str]:
    return {"to": to, "uid": uid, "kind": kind}


def choose_status(place: str, word: str, words: Mapping[str, str], default: str) -> tuple[str, list[Remark]]:
    """The status that a word of the source means; a remark if it is not known."""
    known = words.get(" ".join(word.lower().replace("_", " ").split()))
    if known is not None:
        return known, []
    return default, [Remark(place, f"The status {word[:40]!r} is not known here: it became {default}.", lost=False)]


def split_labels(value: Any) -> list[str]:
    listed: Sequence[Any] = value.split(",") if isinstance(value, str) else value or ()
    return [text for each in listed if (text := as_text(each).strip())]


def find_reader(path: Path, kind: str) -> tuple[str, TrackerReader]:
    """The name of the format and its reader; `auto` recognises it."""
    # Imported late: each format needs another part of the library.
    from tokonoma.transfer import beads, github_issues, linear_csv

    readers: dict[str, TrackerReader] = {
        "markdown": read_pages,
        "github": github_issues.read_github,
        "linear": linear_csv.read_linear,
        "beads": beads.read_beads,
    }
    name = _detect(path) if kind == "auto" else kind
    return name, readers[name]


def _detect(path: Path) -> str:
    from tokonoma.transfer.beads import find_beads_file

    if path.is_dir():
        return "beads" if find_beads_file(path) is not None else "markdown"
    with path.open("rb") as file:
        if file.read(len(_SQLITE)) == _SQLITE:
            return "beads"
    found = {".jsonl": "beads", ".csv": "linear", ".json": "github", ".md": "markdown"}.get(path.suffix.lower())
    if found is None:
        raise Invalid(f"The format of {path} is not known. Name it with --format.", reason="format")
    return found
