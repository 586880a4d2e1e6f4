"""JSON artifacts as graphs: every object that says something is an element, and every value outside of objects. Pure
functions."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

from tokonoma.core.errors import Denied
from tokonoma.modules.vault.artifacts import Artifact, ArtifactElement, ArtifactReference, is_phrase, require_few
from tokonoma.modules.vault.citations import SOURCE_KEYS, read_citations

_EDGE_KEYS = (("from", "to"), ("source", "target"), ("from_id", "to_id"))
_START_NAMES = frozenset({"start", "root", "entry", "begin", "開始"})
_MAX_DEPTH = 64
_LABELS = ("title", "label", "name", "type", "kind", "text")

Found = tuple[dict[str, Any], str | None, str]
"""An object, the id of the one around it, and its path."""


def parse_json_graph(text: str) -> Artifact:
    """Objects, each under the one around it; every value that is another's id; and edges."""
    try:
        value: Any = json.loads(text, object_pairs_hook=_build_object)
    except (ValueError, RecursionError) as error:
        raise Denied(f"The artifact is not JSON: {str(error)[:100]}.") from None
    objects, loose = list(_iter_objects(value, None, "$", 0)), list(_iter_loose(value, "$"))
    require_few(len(objects) + len(loose))
    names = {identity for one, _, _ in objects if (identity := _object_id(one))}
    first = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    starts = {str(first[key]) for key in _START_NAMES if isinstance(first.get(key), str | int)}
    elements = [ArtifactElement(path, "value", text[:200], 0, is_node=False, text=text) for path, text in loose]
    references: list[ArtifactReference] = []
    seen: set[str] = set()
    warnings: list[str] = []
    for one, around, path in objects:
        identity = _object_id(one)
        if identity in seen:
            warnings.append(f"{path}: another object has the id {identity[:60]!r}")
        element = _to_element(one, path, names, starts)
        if element is not None:
            elements.append(element)
        if identity:
            seen.add(identity)
            if around:
                references.append(ArtifactReference(around, identity))
        references += _find_edges(one, identity, names)
    by_id = {element.id: element for element in elements}
    complete = [_complete_edge(each, by_id) if each.kind == "edge" else each for each in elements]
    flags = sum(_count_flags(value) for one, _, _ in objects for value in one.values())
    return Artifact(complete, references, warnings, [f"true and false are not audited: {flags}"] if flags else [])


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    one = dict(pairs)
    if len(one) < len(pairs):
        raise ValueError("an object has a key twice")
    return one


def _iter_objects(value: Any, around: str | None, path: str, depth: int) -> Iterator[Found]:
    if depth > _MAX_DEPTH:
        raise Denied(f"The artifact is nested deeper than {_MAX_DEPTH} levels.", limit=_MAX_DEPTH)
    if isinstance(value, list):
        for number, each in enumerate(cast("list[Any]", value)):
            yield from _iter_objects(each, around, f"{path}[{number}]", depth + 1)
    elif isinstance(value, dict):
        one = cast("dict[str, Any]", value)
        yield one, around, path
        for key, each in one.items():
            if key not in SOURCE_KEYS:
                yield from _iter_objects(each, _object_id(one) or around, f"{path}.{key}", depth + 1)


def _iter_loose(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """What is said outside of all objects. Nothing there can cite."""
    if isinstance(value, list):
        for number, each in enumerate(cast("list[Any]", value)):
            yield from _iter_loose(each, f"{path}[{number}]")
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield path, str(value)


def _count_flags(value: Any) -> int:
    many = cast("list[Any]", value) if isinstance(value, list) else [value]
    return sum(isinstance(each, bool) or (isinstance(each, list) and _count_flags(each)) for each in many)


def _object_id(one: dict[str, Any]) -> str:
    value = one.get("id")
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _to_element(one: dict[str, Any], path: str, names: set[str], starts: set[str]) -> ArtifactElement | None:
    """What an object says: its values, without ids. None if it only holds others."""
    identity, ends = _object_id(one), _find_ends(one)
    said = [text for key, value in one.items() for text in _list_texts(key, value, names)]
    is_edge = ends is not None and not identity
    if not identity and not said and not is_edge:
        return None
    kind = one.get("type", one.get("kind"))
    is_start = identity in starts or (isinstance(kind, str) and kind.casefold() in _START_NAMES)
    title = str(one.get("title", one.get("label", one.get("name", identity or (said or [path])[0]))))[:200]
    text = "\n".join(said) or identity or path
    return ArtifactElement(
        identity or path, "edge" if is_edge else "object", title, 0, read_citations(one), is_start, bool(identity),
        text, ends or () if is_edge else (),
    )  # fmt: skip


def _list_texts(key: str, value: Any, names: set[str]) -> Iterator[str]:
    """A key, an id or a type is a name, unless it is so long that it says something."""
    if key in SOURCE_KEYS:
        return
    if is_phrase(key):
        yield key
    is_name = key in ("id", "type", "kind") or key in _START_NAMES or any(key in pair for pair in _EDGE_KEYS)
    for each in cast("list[Any]", value) if isinstance(value, list) else [value]:
        if isinstance(each, list):
            yield from _list_texts("", each, names)
        elif isinstance(each, bool) or (is_name and not (isinstance(each, str) and is_phrase(each))):
            continue
        elif isinstance(each, str | int | float) and (str(each) not in names or key == "id"):
            yield str(each)
        elif isinstance(each, str) and key in _LABELS:  # a title that equals an id
            yield each


def _find_ends(one: dict[str, Any]) -> tuple[str, str] | None:
    for start, end in _EDGE_KEYS:
        if isinstance(one.get(start), str | int) and isinstance(one.get(end), str | int):
            return str(one[start]), str(one[end])
    return None


def _complete_edge(edge: ArtifactElement, by_id: dict[str, ArtifactElement]) -> ArtifactElement:
    """An edge says that one object leads to another. Between two that cite it needs no citation of its own, unless it
    says more."""
    origin, goal = (by_id.get(name) for name in edge.parts)
    said = "" if edge.text == edge.id else edge.text
    texts = [each.text if each else name for each, name in zip((origin, goal), edge.parts, strict=True)]
    inherited = [citation for each in (origin, goal) if each for citation in each.citations]
    return replace(
        edge,
        title=edge.title if said else " → ".join(edge.parts),
        citations=edge.citations or (() if said else tuple(inherited)),
        text=f"{texts[0]} {said} {texts[1]}",
        parts=(f"{texts[0]} {said}".strip(), texts[1]),
    )


def _find_edges(one: dict[str, Any], identity: str, names: set[str]) -> Iterator[ArtifactReference]:
    ends = _find_ends(one)
    if ends is not None:
        yield ArtifactReference(*ends, str(one.get("relation", one.get("type", ""))).casefold())
        return
    if not identity:
        return
    for key, value in one.items():
        if key == "id" or key in SOURCE_KEYS:
            continue
        many = cast("list[Any]", value) if isinstance(value, list) else [value]
        plain = [str(each) for each in many if isinstance(each, str | int) and not isinstance(each, bool)]
        known = [each for each in plain if each in names and each != identity]
        # A field that is a reference somewhere is one everywhere; a title that equals an id is none.
        for goal in known if key not in _LABELS else ():
            yield ArtifactReference(identity, goal, key.casefold())
