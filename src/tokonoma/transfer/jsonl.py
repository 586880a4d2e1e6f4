"""The own export as one file: a line of JSON for each memo and each relation, between a header and a footer line.

The header says what the file is, the footer how many records it has.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

from tokonoma.core.clock import format_time, normalize_date, parse_time
from tokonoma.core.errors import Invalid
from tokonoma.core.namespaces import normalize_namespace
from tokonoma.core.printable import escape_json
from tokonoma.transfer.files import read_objects
from tokonoma.transfer.model import ImportSource, MemoRecord, Metadata, RelationRecord, Remark, SourceError, SourceItem

FORMAT = 1
TYPE = "tokonoma"
_DATES = ("date", "valid_from", "valid_until")
_OPTIONAL = frozenset({"title", "metadata", "thread", "reason", "author", "supersedes", *_DATES})

FieldParser = Callable[[Any], Any]


def format_header(**about: object) -> bytes:
    return dump_line({"type": TYPE, "format": FORMAT, **about})


def format_record(record: MemoRecord | RelationRecord) -> bytes:
    return dump_line({"type": "memo" if isinstance(record, MemoRecord) else "relation", **to_json(record)})


def format_footer(memos: int, relations: int) -> bytes:
    return dump_line({"type": "end", "memos": memos, "relations": relations})


def dump_line(value: Metadata) -> bytes:
    # The same values, but a terminal that shows the file is not steered by them.
    return escape_json(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE).decode()).encode()


def read_jsonl(source: ImportSource) -> Iterator[SourceItem]:
    counts = {"memo": 0, "relation": 0}
    ended = False
    for each in read_objects(source.path):
        if isinstance(each, Remark):
            yield each
            continue
        number, raw = each
        place, kind = f"{source.path.name}:{number}", raw.get("type")
        if kind == TYPE:
            found = raw.get("format")
            if found != FORMAT:
                raise Invalid(f"This export has the format {found!r}; this program reads {FORMAT}. Update it.")
        elif kind == "end":
            ended = True
            for name, count in counts.items():
                if raw.get(f"{name}s") != count:
                    yield Remark(place, f"The export had {raw.get(f'{name}s')} {name}s, but {count} lines were found.")
        elif kind in ("memo", "relation"):
            counts[kind] += 1
            yield from _parse_line(raw, source, place)
        else:
            yield Remark(place, f"{str(kind)[:40]!r} is not a known type of line.")
    if not ended:
        yield Remark(source.path.name, "The last line is missing: the file is incomplete.")


def _parse_line(raw: Metadata, source: ImportSource, place: str) -> Iterator[SourceItem]:
    parse, fields = (parse_memo, _MEMO) if raw["type"] == "memo" else (parse_relation, _RELATION)
    try:
        yield parse(raw, source, place)
    except SourceError as error:
        yield Remark(place, str(error))
        return
    unknown = sorted(raw.keys() - fields.keys() - {"type"})
    if unknown:
        yield Remark(place, f"Unknown fields were dropped: {', '.join(unknown)[:200]}.", lost=False)


def to_json(record: MemoRecord | RelationRecord) -> Metadata:
    """The fields of a record as JSON, without empty ones."""
    fields: Metadata = {}
    for name in _MEMO if isinstance(record, MemoRecord) else _RELATION:
        value = getattr(record, name)
        if value is not None and (value or name not in _OPTIONAL):
            fields[name] = format_time(value) if name.endswith("_at") else value
    return fields


def parse_memo(raw: Mapping[str, Any], source: ImportSource, place: str) -> MemoRecord:
    return MemoRecord(**_parse_fields(raw, _MEMO, ("memo_id", "content"), source), place=place)


def parse_relation(raw: Mapping[str, Any], source: ImportSource, place: str) -> RelationRecord:
    return RelationRecord(**_parse_fields(raw, _RELATION, ("source", "target", "tag"), source), place=place)


def _parse_fields(
    raw: Mapping[str, Any], parsers: Mapping[str, FieldParser], required: tuple[str, ...], source: ImportSource
) -> Metadata:
    missing = [name for name in required if raw.get(name) is None]
    if missing:
        raise SourceError(f"{', '.join(missing)} is missing.")
    fields: Metadata = {"version": 1}
    for name, parse in parsers.items():
        if raw.get(name) is None:
            continue
        try:
            fields[name] = parse(raw[name])
        except (ValueError, OverflowError):
            raise SourceError(f"{name} is not valid: {str(raw[name])[:80]!r}.") from None
    try:
        fields["namespace"] = source.nest_namespace(normalize_namespace(fields.get("namespace", "/")))
    except Invalid as error:
        raise SourceError(error.message) from None
    return fields


def _require(*types: type) -> FieldParser:
    def check(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, types):
            raise ValueError
        return value

    return check


_parse_text, _parse_int, _parse_number = _require(str), _require(int), _require(int, float)


def _parse_moment(value: Any) -> int:
    return parse_time(_parse_text(value))


def _parse_date(value: Any) -> str:
    return normalize_date(_parse_text(value))


def _parse_ids(value: Any) -> list[str]:
    return [_parse_text(each) for each in _require(list)(value)]


# In the order in which they are written.
_MEMO: Mapping[str, FieldParser] = {
    **dict.fromkeys(("memo_id", "namespace", "title", "content"), _parse_text),
    "metadata": _require(dict),
    "thread": _parse_text,
    **dict.fromkeys(("created_at", "updated_at", "expires_at", "deleted_at"), _parse_moment),
    **dict.fromkeys(_DATES, _parse_date),
    "supersedes": _parse_ids,
    "version": _parse_int,
    "boundary": _parse_text,
    "author": _parse_text,
}
_RELATION: Mapping[str, FieldParser] = {
    **dict.fromkeys(("namespace", "source", "target", "tag"), _parse_text),
    "weight": lambda value: float(_parse_number(value)),
    "reason": _parse_text,
    **dict.fromkeys(("created_at", "updated_at"), _parse_moment),
    "version": _parse_int,
}
