"""Signatures of a module: what they repeat is said once, and nothing is lost."""

import re
from typing import Any

import orjson
import pytest

from tokonoma import catalogue
from tokonoma.catalogue.shared_parts import SharedParts, name_types, share_parts

FIELD = "a_field_with_a_long_name_here"
SHIPPED = catalogue.read_catalogue(catalogue.CATALOGUE_FILE)


def expand(parts: SharedParts) -> list[str]:
    """The signatures without names, by the rules that the format promises. The last type uses no other."""
    texts = parts.signatures
    for defined in parts.types:
        name, _, written = defined.partition(" = ")
        for short, whole in ((f"...{name}", written[1:-1]), (f"{name} & {{", f"{written[:-1]}, ")):
            texts = [text.replace(short, whole) for text in texts]
        texts = [re.sub(rf"\b{name}\b", lambda _, written=written: written, text) for text in texts]
    return texts


@pytest.mark.parametrize("info", SHIPPED, ids=lambda info: info.name)
def test_names_stand_for_what_was_there(info):
    signatures = [tool.signature for tool in info.entries]
    parts = share_parts(signatures, info.types)
    assert [text.split("\n")[0] for text in expand(parts)] == [text.split("\n")[0] for text in signatures]
    said = {f"  {line}" for line in parts.parameters}
    for before, after in zip(signatures, parts.signatures, strict=True):
        assert [line for line in before.split("\n")[1:] if line not in said] == after.split("\n")[1:]


def test_the_schema_of_items_has_at_most_nine_kilobytes():
    (info,) = (each for each in SHIPPED if each.name == "items")
    types, parameters, signatures = share_parts([tool.signature for tool in info.entries], info.types)
    told = {"name": info.name, "summary": info.summary, "shared": [*types, *parameters], "tools": signatures}
    assert len(orjson.dumps({"modules": [told]})) <= 9000


def test_a_type_that_stands_once_has_no_name():
    thing: dict[str, Any] = {
        "type": "object",
        "title": "Thing",
        "properties": {"a_field_with_a_long_name_here": {"type": "string"}},
    }
    more = {**thing, "title": "More", "properties": {**thing["properties"], "b": {"type": "integer"}}}
    types = name_types([thing, thing, more])
    assert types == {"Thing": f"{{{FIELD}?: str}}"}
    signatures = [
        f"one() -> {{{FIELD}?: str}}\n  One.",
        "two() -> {a_field_with_a_long_name_here?: str, b?: int}\n  Two.",
    ]
    assert share_parts(signatures, {"Thing": f"{{{FIELD}?: str}}"}).signatures == [
        "one() -> Thing\n  One.", "two() -> Thing & {b?: int}\n  Two.",
    ]  # fmt: skip
    assert share_parts(signatures[:1], types) == SharedParts([], [], signatures[:1])


def test_an_enum_that_is_a_part_of_another_keeps_its_words():
    types = {"Order": '"ascending"|"descending"|"none"'}
    signatures = [f'{name}(a?: "ascending"|"descending"|"none"|"x", b?: {types["Order"]})' for name in "pq"]
    assert share_parts(signatures, types).signatures[0] == 'p(a?: "ascending"|"descending"|"none"|"x", b?: Order)'
