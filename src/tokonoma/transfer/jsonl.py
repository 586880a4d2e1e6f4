"""Our own export in one file: a line for each memo, then one for each relation, between a first and a last line that
say what it is and how much it holds."""

from collections.abc import Iterator

import orjson

from tokonoma.core.errors import Invalid
from tokonoma.transfer.carried import ImportSource, Metadata, Remark, SourceRecord, TransferMemo, TransferRelation
from tokonoma.transfer.lines import read_objects
from tokonoma.transfer.records import (
    RecordError,
    find_unknown_fields,
    memo_to_json,
    parse_memo,
    parse_relation,
    relation_to_json,
)

FORMAT = 1
TYPE = "tokonoma"


def format_header(**about: object) -> bytes:
    return _dump_line({"type": TYPE, "format": FORMAT, **about})


def format_record(record: TransferMemo | TransferRelation) -> bytes:
    if isinstance(record, TransferMemo):
        return _dump_line({"type": "memo", **memo_to_json(record)})
    return _dump_line({"type": "relation", **relation_to_json(record)})


def format_footer(memos: int, relations: int) -> bytes:
    return _dump_line({"type": "end", "memos": memos, "relations": relations})


def read_jsonl(origin: ImportSource) -> Iterator[SourceRecord]:
    counted = {"memo": 0, "relation": 0}
    ended = False
    for each in read_objects(origin.path):
        if isinstance(each, Remark):
            yield each
            continue
        number, raw = each
        place, kind = f"{origin.path.name}:{number}", raw.get("type")
        if kind == TYPE:
            check_header(raw)
        elif kind == "end":
            ended = True
            yield from _check_counts(raw, counted, place)
        elif kind in ("memo", "relation"):
            counted[kind] += 1
            yield from _parse_record(raw, origin, place)
        else:
            yield Remark(place, f"{str(kind)[:40]!r} is no type of a line.")
    if not ended:
        yield Remark(origin.path.name, "The last line is missing: the file was cut off, or is a part of an export.")


def check_header(header: Metadata) -> None:
    """Whether the first line is one that can be read here."""
    if header.get("format") != FORMAT:
        raise Invalid(f"This export has the format {header.get('format')!r}; this program reads {FORMAT}. Update it.")


def _check_counts(raw: Metadata, counted: dict[str, int], place: str) -> Iterator[Remark]:
    for name, found in counted.items():
        said = raw.get(f"{name}s")
        if said != found:
            yield Remark(place, f"The export had {said} {name}s, and {found} lines are here.")


def _parse_record(raw: Metadata, origin: ImportSource, place: str) -> Iterator[SourceRecord]:
    try:
        yield parse_memo(raw, origin, place) if raw["type"] == "memo" else parse_relation(raw, origin, place)
    except RecordError as error:
        yield Remark(place, str(error))
        return
    extra = find_unknown_fields(raw)
    if extra:
        yield Remark(place, f"Unknown fields were left out: {', '.join(extra)[:200]}.", lost=False)


def _dump_line(told: Metadata) -> bytes:
    return orjson.dumps(told, option=orjson.OPT_APPEND_NEWLINE)
