"""What the signatures of a module repeat, said once: types under a name, and descriptions of parameters.

    Item = {id: int, title: str}           get_item(id: int) -> Item
    cursor: next_cursor of the last page   list_items(cursor?: str) -> {items: [Item & {score: num}]}

A type that begins with all fields of another one is written as that one with more fields: `Item & {score: num}`, and
parameters that are the fields of a type as `...Item`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from tokonoma.catalogue.signature_text import format_type

_SHORT = 30  # characters; a shorter type is clearer where it is used


class SharedParts(NamedTuple):
    types: list[str]
    parameters: list[str]
    signatures: list[str]


def name_types(schemas: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The types in schemas that have a name and stand there more than once, longest first: the title of an object, or
    the name of a field for its enum."""
    found: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for schema in schemas:
        for name, part in _walk("", schema):
            text = format_type(part)
            if name and len(text) > _SHORT:
                counts[text] += 1
                found.setdefault(text, name)
    named: dict[str, str] = {}
    for text in sorted((each for each in found if counts[each] > 1), key=lambda each: (-len(each), each)):
        named.setdefault(found[text], text)
    return named


def share_parts(signatures: Sequence[str], types: Mapping[str, str]) -> SharedParts:
    """The signatures with names for these types, the types that they use, and what several say of a parameter."""
    lines = Counter(line for text in signatures for line in text.split("\n")[2:])  # after the types and the description
    common = {line for line, count in lines.items() if count > 1}
    texts = ["\n".join(line for line in text.split("\n") if line not in common) for text in signatures]
    names: list[str] = []
    for name, text in types.items():  # longest first: what only stands in another type needs no name
        if sum(each.count(_begin(text)) for each in texts) > 1:
            texts = [*(_write_name(each, name, text) for each in texts), text]
            names.append(name)
    defined = [f"{name} = {text}" for name, text in zip(names, texts[len(signatures) :], strict=True)]
    return SharedParts(defined, sorted(line.strip() for line in common), texts[: len(signatures)])


def _walk(name: str, schema: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Every part of a schema that may have a name of its own."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    if "properties" in schema:
        found.append((schema.get("title", ""), schema))
    elif "enum" in schema:
        found.append(("".join(part.capitalize() for part in name.split("_")), schema))
    for key, each in schema.get("properties", {}).items():
        found += _walk(key, each)
    inner: list[Mapping[str, Any]] = [*schema.get("anyOf", ())]
    inner += [schema["items"]] if "items" in schema else []
    for each in inner:
        found += _walk(name, each)
    return found


def _begin(text: str) -> str:
    """What an object that has all these fields begins with, too."""
    return text[:-1] if text.startswith("{") else text


def _write_name(text: str, name: str, written: str) -> str:
    pieces = text.split(written)
    text = pieces[0]
    for before, piece in pairwise(pieces):
        is_part = before.endswith("|") or piece.startswith("|")  # of an enum with more words
        text += (written if is_part else name) + piece
    if not written.startswith("{"):
        return text
    text = text.replace(f"{written[:-1]}, ", f"{name} & {{")
    return text.replace(f", {written[1:-1]}, ", f", ...{name}, ")
