"""The catalogue: everything that lists and schemas need, made once from the code, read at start without importing it.

`python -m tokonoma.catalogue` rewrites `catalogue.json`; a test holds it equal to the code.
"""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import orjson

from tokonoma.core.module import Entry, Module, Shelf, Tool

SHIPPED = Path(__file__).with_name("catalogue.json")
BUILT_IN = {
    "gateway": "tokonoma.gateway.tools:MODULE",
    "system": "tokonoma.modules.system:MODULE",
    "memory": "tokonoma.modules.memory:MODULE",
    "claims": "tokonoma.modules.claims:MODULE",
    "vault": "tokonoma.modules.vault:MODULE",
    "bridge": "tokonoma.modules.bridge:MODULE",
    "items": "tokonoma.modules.items:MODULE",
    "manual": "tokonoma.modules.manual:MODULE",
}


def read(path: Path) -> list[Shelf]:
    return [_shelf(each) for each in orjson.loads(path.read_bytes())]


def dump(shelves: Sequence[Shelf]) -> bytes:
    return orjson.dumps(shelves, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def load(source: str) -> Module:
    """The `Module` value that `package.module:ATTRIBUTE` names."""
    name, _, attribute = source.partition(":")
    return cast("Module", getattr(importlib.import_module(name), attribute))


def described(module: Module, source: str) -> Shelf:
    """A module's shelf, made from its code."""
    return Shelf(module.name, module.summary, source, [_entry(module, tool) for tool in module.tools])


def _entry(module: Module, tool: Tool) -> Entry:
    from tokonoma.catalogue.schemas import description, input_schema, output_schema
    from tokonoma.catalogue.signature_text import signature_of

    taken, given, told = input_schema(tool), output_schema(tool), description(tool)
    return Entry(
        module=module.name,
        name=tool.name,
        listed=tool.listed or f"{module.name}_{tool.name}".replace(".", "_"),
        title=tool.title,
        description=told,
        effect=tool.effect,
        outside=tool.outside,
        idempotent=tool.idempotent,
        aliases=tool.aliases,
        input=taken,
        output=enveloped(given) if module.envelope else given,
        signature=signature_of(tool.name, taken, given, told),
        time_limit=tool.time_limit,
        payload=tool.payload,
        raw=tool.raw,
        envelope=module.envelope,
    )


def enveloped(data: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an answer that travels in an envelope."""
    words = ("policy_version", "request_id", "trace_id")
    properties = {"data": data, **{word: {"type": "string"} for word in words}}
    return {"type": "object", "properties": properties, "required": ["data", *words]}


def _shelf(raw: Mapping[str, Any]) -> Shelf:
    entries: list[Entry] = []
    for each in raw["entries"]:
        each["aliases"] = tuple(each["aliases"])
        entries.append(Entry(**each))
    return Shelf(raw["name"], raw["summary"], raw["source"], entries)


def made() -> list[Shelf]:
    """The shipped catalogue, made from the code."""
    return [described(load(source), source) for source in BUILT_IN.values()]
