"""Our own records as JSON objects, as they stand in a line of an export, and back again. Pure."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from tokonoma.core import namespaces as spaces
from tokonoma.core.clock import format_time, parse_time
from tokonoma.core.errors import Invalid
from tokonoma.transfer.carried import ImportSource, Metadata, TransferMemo, TransferRelation


class RecordError(Exception):
    """The object is no memo or relation of ours; the message says why."""


def memo_to_json(memo: TransferMemo) -> Metadata:
    """Without what is empty: a line is read by people too."""
    told: Metadata = {"memo_id": memo.memo_id, "namespace": memo.namespace}
    told |= {"title": memo.title} if memo.title else {}
    told |= {"content": memo.content}
    told |= {"metadata": memo.metadata} if memo.metadata else {}
    told |= {"thread": memo.thread} if memo.thread else {}
    for name in ("created_at", "updated_at", "expires_at", "deleted_at"):
        moment = getattr(memo, name)
        told |= {name: format_time(moment)} if moment is not None else {}
    return told | {"version": memo.version, "boundary": memo.boundary}


def relation_to_json(relation: TransferRelation) -> Metadata:
    told: Metadata = {
        "namespace": relation.namespace,
        "source": relation.source,
        "target": relation.target,
        "tag": relation.tag,
        "weight": relation.weight,
    }
    told |= {"reason": relation.reason} if relation.reason else {}
    for name in ("created_at", "updated_at"):
        moment = getattr(relation, name)
        told |= {name: format_time(moment)} if moment is not None else {}
    return told | {"version": relation.version}


def parse_memo(raw: Mapping[str, Any], origin: ImportSource, place: str) -> TransferMemo:
    found = _parse_fields(raw, _MEMO, ("memo_id", "content"))
    found["namespace"] = _nest_namespace(origin, found.get("namespace", "/"))
    found.setdefault("version", 1)
    return TransferMemo(**found, place=place)


def parse_relation(raw: Mapping[str, Any], origin: ImportSource, place: str) -> TransferRelation:
    found = _parse_fields(raw, _RELATION, ("source", "target", "tag"))
    found["namespace"] = _nest_namespace(origin, found.get("namespace", "/"))
    found.setdefault("version", 1)
    return TransferRelation(**found, place=place)


def find_unknown_fields(raw: Mapping[str, Any]) -> list[str]:
    """Fields that nothing here knows: of another version, or somebody's own."""
    known = _RELATION if raw.get("type") == "relation" else _MEMO
    return sorted(raw.keys() - known.keys() - {"type"})


def _parse_fields(
    raw: Mapping[str, Any], fields: Mapping[str, Callable[[Any], Any]], required: tuple[str, ...]
) -> Metadata:
    missing = [name for name in required if raw.get(name) is None]
    if missing:
        raise RecordError(f"{', '.join(missing)} is missing.")
    found: Metadata = {}
    for name, made in fields.items():
        if raw.get(name) is None:
            continue
        try:
            found[name] = made(raw[name])
        except (ValueError, OverflowError):
            raise RecordError(f"{name} is not right: {str(raw[name])[:80]!r}.") from None
    return found


def _nest_namespace(origin: ImportSource, namespace: str) -> str:
    try:
        return origin.nest_namespace(spaces.normalize_namespace(namespace))
    except Invalid as error:
        raise RecordError(error.message) from None


def _require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _require_object(value: Any) -> Metadata:
    if not isinstance(value, dict):
        raise ValueError
    return cast("Metadata", value)


def _require_int(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError
    return value


def _require_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    return float(value)


def _parse_moment(value: Any) -> int:
    return parse_time(_require_text(value))


_TIMES = {"created_at": _parse_moment, "updated_at": _parse_moment}
_MEMO: Mapping[str, Callable[[Any], Any]] = {
    "memo_id": _require_text,
    "namespace": _require_text,
    "title": _require_text,
    "content": _require_text,
    "metadata": _require_object,
    "thread": _require_text,
    **_TIMES,
    "expires_at": _parse_moment,
    "deleted_at": _parse_moment,
    "version": _require_int,
    "boundary": _require_text,
}
_RELATION: Mapping[str, Callable[[Any], Any]] = {
    "namespace": _require_text,
    "source": _require_text,
    "target": _require_text,
    "tag": _require_text,
    "weight": _require_number,
    "reason": _require_text,
    **_TIMES,
    "version": _require_int,
}
