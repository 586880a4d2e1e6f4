"""Our own export in one file: a line for each memo, then one for each relation, between a first and a last line that
say what it is and how much it holds."""

from collections.abc import Iterator

import orjson

from tokonoma.core.errors import Invalid
from tokonoma.transfer.carried import Carried, Memo, Metadata, Origin, Relation, Remark
from tokonoma.transfer.lines import objects
from tokonoma.transfer.records import BadRecord, memo_object, memo_of, relation_object, relation_of, unknown

FORMAT = 1
TYPE = "tokonoma"


def first(**about: object) -> bytes:
    return _line({"type": TYPE, "format": FORMAT, **about})


def line(record: Memo | Relation) -> bytes:
    if isinstance(record, Memo):
        return _line({"type": "memo", **memo_object(record)})
    return _line({"type": "relation", **relation_object(record)})


def last(memos: int, relations: int) -> bytes:
    return _line({"type": "end", "memos": memos, "relations": relations})


def read(origin: Origin) -> Iterator[Carried]:
    counted = {"memo": 0, "relation": 0}
    ended = False
    for each in objects(origin.path):
        if isinstance(each, Remark):
            yield each
            continue
        number, raw = each
        place, kind = f"{origin.path.name}:{number}", raw.get("type")
        if kind == TYPE:
            check(raw)
        elif kind == "end":
            ended = True
            yield from _counted(raw, counted, place)
        elif kind in ("memo", "relation"):
            counted[kind] += 1
            yield from _record(raw, origin, place)
        else:
            yield Remark(place, f"{str(kind)[:40]!r} is no type of a line.")
    if not ended:
        yield Remark(origin.path.name, "The last line is missing: the file was cut off, or is a part of an export.")


def check(header: Metadata) -> None:
    """Whether the first line is one that can be read here."""
    if header.get("format") != FORMAT:
        raise Invalid(f"This export has the format {header.get('format')!r}; this program reads {FORMAT}. Update it.")


def _counted(raw: Metadata, counted: dict[str, int], place: str) -> Iterator[Remark]:
    for name, found in counted.items():
        said = raw.get(f"{name}s")
        if said != found:
            yield Remark(place, f"The export had {said} {name}s, and {found} lines are here.")


def _record(raw: Metadata, origin: Origin, place: str) -> Iterator[Carried]:
    try:
        yield memo_of(raw, origin, place) if raw["type"] == "memo" else relation_of(raw, origin, place)
    except BadRecord as error:
        yield Remark(place, str(error))
        return
    extra = unknown(raw)
    if extra:
        yield Remark(place, f"Unknown fields were left out: {', '.join(extra)[:200]}.", lost=False)


def _line(told: Metadata) -> bytes:
    return orjson.dumps(told, option=orjson.OPT_APPEND_NEWLINE)
