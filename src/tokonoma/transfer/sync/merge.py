"""Merges two versions of a record whose homes have edited it beside each other. Pure.

The result is a function of the two versions and of their common base, whichever of them is stored here: so homes that
merge the same two versions get the same record. Where both sides changed the same field in different ways, the side
that was edited last is preferred, and the result names the field.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tokonoma.transfer.sync.text_merge import merge_texts

Body = Mapping[str, Any]
"""The fields of a record; `deleted_at` is set while it is in the trash."""

DELETED: Final = "deleted"


class AbsentValue:
    """A key that metadata does not have."""


_MISSING: Final = AbsentValue()


@dataclass(frozen=True, slots=True)
class FieldRules:
    """How each field of a kind of record is merged. Fields that are not named are not compared: they follow the side
    that was edited last."""

    plain: tuple[str, ...] = ()  # taken from the side that has changed it
    judged: tuple[str, ...] = ()  # the same, but the preferred side simply wins if both have changed it
    texts: tuple[str, ...] = ()  # merged by lines
    maps: tuple[str, ...] = ()  # merged by key
    # What either side adds is added, what either side removes is removed. Each with the fields that identify an entry;
    # none: all of them.
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    # Fields that came with a later version of this program: where they are empty, a digest is what it was before.
    later: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.plain, *self.judged, *self.texts, *self.maps, *self.lists)


@dataclass(frozen=True, slots=True)
class Edition:
    """One side of a merge. `body` is None if the record is gone; `at` is when it was edited last."""

    body: Body | None
    at: int

    @property
    def is_deleted(self) -> bool:
        return self.body is None or self.body.get("deleted_at") is not None


@dataclass(frozen=True, slots=True)
class MergedEdition:
    """`clashes` are the fields that both sides have changed; `lost` is the side that was not preferred, if any."""

    body: Body | None
    at: int
    clashes: tuple[str, ...] = ()
    lost: Body | None = None


def merge_editions(rules: FieldRules, base: Edition | None, one: Edition, other: Edition) -> MergedEdition:
    """The record with the edits of both; `base` is what both were made from, None if that is not known."""
    # The body as a whole at last: two that differ only in the order of a list have one digest.
    first, second = sorted(
        (one, other), key=lambda each: (each.at, digest_body(rules, each.body), _encode(each.body)), reverse=True
    )
    at = first.at
    if first.is_deleted or second.is_deleted:
        return _merge_deletion(rules, base, first, second)
    assert first.body is not None
    assert second.body is not None
    old = None if base is None or base.body is None else base.body
    merged, clashes = _merge_fields(rules, old, first.body, second.body)
    return MergedEdition(merged, at, clashes, second.body if clashes else None)


def _merge_deletion(rules: FieldRules, base: Edition | None, first: Edition, second: Edition) -> MergedEdition:
    """A deletion counts if the other side has changed nothing since. Otherwise its record stays."""
    if first.is_deleted and second.is_deleted:
        kept = first if first.body is not None or second.body is None else second
        return MergedEdition(kept.body, first.at)
    deleted, living = (first, second) if first.is_deleted else (second, first)
    if base is not None and _to_content(rules, base.body) == _to_content(rules, living.body):
        # Both were in the trash before: one side has restored it.
        side = living if base.is_deleted else deleted
        return MergedEdition(side.body, first.at)
    clashes = () if base is not None and base.is_deleted else (DELETED,)
    return MergedEdition(living.body, first.at, clashes)


def _merge_fields(rules: FieldRules, base: Body | None, first: Body, second: Body) -> tuple[Body, tuple[str, ...]]:
    merged, clashes = dict(first), list[str]()
    for name in rules.plain:
        merged[name], clash = _merge_value(_get(base, name), first.get(name), second.get(name))
        clashes += [name] if clash else []
    for name in rules.judged:
        merged[name], _ = _merge_value(_get(base, name), first.get(name), second.get(name))
    for name in rules.texts:
        merged[name], clash = _merge_text(_get(base, name), first.get(name) or "", second.get(name) or "")
        clashes += [name] if clash else []
    for name in rules.maps:
        merged[name], keys = _merge_map(_get(base, name), first.get(name) or {}, second.get(name) or {})
        clashes += [f"{name}.{key}" for key in keys]
    for name, ids in rules.lists.items():
        merged[name] = _merge_list(ids, _get(base, name), first.get(name) or [], second.get(name) or [])
    return merged, tuple(clashes)


def _merge_value(base: Any, first: Any, second: Any) -> tuple[Any, bool]:
    if _is_same(first, second) or _is_same(second, base):
        return first, False
    return (second, False) if _is_same(first, base) else (first, True)


def _merge_text(base: Any, first: str, second: str) -> tuple[str, bool]:
    chosen, clash = _merge_value(base, first, second)
    return merge_texts(base, first, second) if clash and isinstance(base, str) else (chosen, clash)


def _merge_map(base: Any, first: Body, second: Body) -> tuple[dict[str, Any], list[str]]:
    merged: dict[str, Any] = {}
    clashes: list[str] = []
    for key in dict.fromkeys((*first, *second)):
        ours, theirs = first.get(key, _MISSING), second.get(key, _MISSING)
        if base is _MISSING and _MISSING in (ours, theirs):  # it is not known whether it was added or removed
            merged[key] = theirs if ours is _MISSING else ours
            continue
        old = _MISSING if base is _MISSING else base.get(key, _MISSING)
        # Without a base two different values are a clash; with one, also an edit of what the other side removed.
        value, clash = _merge_value(old, ours, theirs)
        if clash:
            clashes.append(key)
            value = theirs if ours is _MISSING else ours
        if value is not _MISSING:
            merged[key] = value
    return merged, clashes


def _merge_list(ids: tuple[str, ...], base: Any, first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    """The entries in the order of the preferred side, then the others."""
    left, right = ({_identify(ids, each): each for each in side} for side in (first, second))
    old = set[str]() if base is _MISSING else {_identify(ids, each) for each in base or ()}
    removed = {each for each in old if each not in left or each not in right}
    return [value for key, value in {**left, **right, **left}.items() if key not in removed]


def _identify(ids: tuple[str, ...], entry: Any) -> str:
    return _encode([entry.get(name) for name in ids] if ids else entry)


def digest_body(rules: FieldRules, body: Body | None) -> str:
    """A hash over what is compared; empty for a record that is gone."""
    if body is None:
        return ""
    text = _encode([_to_content(rules, body), body.get("deleted_at") is not None])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _to_content(rules: FieldRules, body: Body | None) -> dict[str, Any] | None:
    if body is None:
        return None
    content = {name: body.get(name) for name in rules.names}
    # The order of a list is no edit: homes may have merged it in another one.
    for name, ids in rules.lists.items():
        content[name] = sorted({_identify(ids, each) for each in body.get(name) or ()})
    return {name: value for name, value in content.items() if value or name not in rules.later}


def _get(base: Body | None, name: str) -> Any:
    return _MISSING if base is None else base.get(name)


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, AbsentValue) or isinstance(other, AbsentValue):
        return one is other
    return _encode(one) == _encode(other)  # as JSON: for Python 1, 1.0 and true are equal


def _encode(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
