"""Our own records as JSON objects, as they stand in a line of an export, and back again. Pure."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from tokonoma.core import namespaces as spaces
from tokonoma.core.clock import parsed, shown
from tokonoma.core.errors import Invalid
from tokonoma.transfer.carried import Memo, Metadata, Origin, Relation


class BadRecord(Exception):
    """The object is no memo or relation of ours; the message says why."""


def memo_object(memo: Memo) -> Metadata:
    """Without what is empty: a line is read by people too."""
    told: Metadata = {"memo_id": memo.memo_id, "namespace": memo.namespace}
    told |= {"title": memo.title} if memo.title else {}
    told |= {"content": memo.content}
    told |= {"metadata": memo.metadata} if memo.metadata else {}
    told |= {"thread": memo.thread} if memo.thread else {}
    for name in ("created_at", "updated_at", "expires_at", "deleted_at"):
        moment = getattr(memo, name)
        told |= {name: shown(moment)} if moment is not None else {}
    return told | {"version": memo.version, "boundary": memo.boundary}


def relation_object(relation: Relation) -> Metadata:
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
        told |= {name: shown(moment)} if moment is not None else {}
    return told | {"version": relation.version}


def memo_of(raw: Mapping[str, Any], origin: Origin, place: str) -> Memo:
    found = _read(raw, _MEMO, ("memo_id", "content"))
    found["namespace"] = _below(origin, found.get("namespace", "/"))
    found.setdefault("version", 1)
    return Memo(**found, place=place)


def relation_of(raw: Mapping[str, Any], origin: Origin, place: str) -> Relation:
    found = _read(raw, _RELATION, ("source", "target", "tag"))
    found["namespace"] = _below(origin, found.get("namespace", "/"))
    found.setdefault("version", 1)
    return Relation(**found, place=place)


def unknown(raw: Mapping[str, Any]) -> list[str]:
    """Fields that nothing here knows: of another version, or somebody's own."""
    known = _RELATION if raw.get("type") == "relation" else _MEMO
    return sorted(raw.keys() - known.keys() - {"type"})


def _read(raw: Mapping[str, Any], fields: Mapping[str, Callable[[Any], Any]], required: tuple[str, ...]) -> Metadata:
    missing = [name for name in required if raw.get(name) is None]
    if missing:
        raise BadRecord(f"{', '.join(missing)} is missing.")
    found: Metadata = {}
    for name, made in fields.items():
        if raw.get(name) is None:
            continue
        try:
            found[name] = made(raw[name])
        except (ValueError, OverflowError):
            raise BadRecord(f"{name} is not right: {str(raw[name])[:80]!r}.") from None
    return found


def _below(origin: Origin, namespace: str) -> str:
    try:
        return origin.below(spaces.normal(namespace))
    except Invalid as error:
        raise BadRecord(error.message) from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _object(value: Any) -> Metadata:
    if not isinstance(value, dict):
        raise ValueError
    return cast("Metadata", value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    return float(value)


def _moment(value: Any) -> int:
    return parsed(_text(value))


_TIMES = {"created_at": _moment, "updated_at": _moment}
_MEMO: Mapping[str, Callable[[Any], Any]] = {
    "memo_id": _text,
    "namespace": _text,
    "title": _text,
    "content": _text,
    "metadata": _object,
    "thread": _text,
    **_TIMES,
    "expires_at": _moment,
    "deleted_at": _moment,
    "version": _whole,
    "boundary": _text,
}
_RELATION: Mapping[str, Callable[[Any], Any]] = {
    "namespace": _text,
    "source": _text,
    "target": _text,
    "tag": _text,
    "weight": _number,
    "reason": _text,
    **_TIMES,
    "version": _whole,
}
