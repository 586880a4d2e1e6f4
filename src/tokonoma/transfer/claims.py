"""Claims as one file: a line of JSON for each claim with all that belongs to it, between a header and a footer line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokonoma.core.errors import Invalid
from tokonoma.transfer.files import read_objects
from tokonoma.transfer.jsonl import dump_line
from tokonoma.transfer.model import Metadata, Remark

FORMAT = 1
TYPE = "tokonoma-claims"


def format_header(**about: object) -> bytes:
    return dump_line({"type": TYPE, "format": FORMAT, **about})


def format_claim(claim: Metadata) -> bytes:
    """Without empty fields."""
    return dump_line({"type": "claim", **{name: value for name, value in claim.items() if value not in (None, [])}})


def format_footer(claims: int) -> bytes:
    return dump_line({"type": "end", "claims": claims})


def read_claims(path: Path) -> Iterator[tuple[str, Metadata] | Remark]:
    """Each claim with its place in the file; a remark for every line that is none."""
    count, ended = 0, False
    for each in read_objects(path):
        if isinstance(each, Remark):
            yield each
            continue
        number, raw = each
        place, kind = f"{path.name}:{number}", raw.pop("type", None)
        if kind == TYPE:
            if raw.get("format") != FORMAT:
                message = f"This export has the format {raw.get('format')!r}; this program reads {FORMAT}. Update it."
                raise Invalid(message)
        elif kind == "claim":
            count += 1
            yield place, {**_empty_lists(), **raw}
        elif kind == "end":
            ended = True
            if raw.get("claims") != count:
                yield Remark(place, f"The export had {raw.get('claims')} claims, but {count} lines were found.")
        else:
            yield Remark(place, f"{str(kind)[:40]!r} is not a known type of line.")
    if not ended:
        yield Remark(path.name, "The last line is missing: the file is incomplete.")


def _empty_lists() -> dict[str, Any]:
    return {name: [] for name in ("evidences", "entities", "relations", "events", "feedback")}
