"""The catalogue: names, descriptions and schemas of all tools, generated from the code and read without importing it.

`python -m tokonoma.catalogue` rewrites `catalogue.json`; a test compares it with the code.
"""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import orjson

from tokonoma.core.module import Module, ModuleInfo, Prompt, PromptArgument, Tool, ToolInfo

CATALOGUE_FILE = Path(__file__).with_name("catalogue.json")
BUILT_IN_MODULES = {
    "gateway": "tokonoma.gateway.tools:MODULE",
    "system": "tokonoma.modules.system:MODULE",
    "memory": "tokonoma.modules.memory:MODULE",
    "claims": "tokonoma.modules.claims:MODULE",
    "vault": "tokonoma.modules.vault:MODULE",
    "bridge": "tokonoma.modules.bridge:MODULE",
    "items": "tokonoma.modules.items:MODULE",
    "manual": "tokonoma.modules.manual:MODULE",
}


def read_catalogue(path: Path) -> list[ModuleInfo]:
    return [_parse_module(each) for each in orjson.loads(path.read_bytes())]


def dump_catalogue(modules: Sequence[ModuleInfo]) -> bytes:
    return orjson.dumps(modules, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def load_module(source: str) -> Module:
    """The `Module` value that `package.module:ATTRIBUTE` names."""
    name, _, attribute = source.partition(":")
    return cast("Module", getattr(importlib.import_module(name), attribute))


def describe_module(module: Module, source: str) -> ModuleInfo:
    """A module as the catalogue knows it, generated from its code."""
    from tokonoma.catalogue.schemas import input_schema, output_schema
    from tokonoma.catalogue.shared_parts import name_types

    tools = [_describe_tool(module, tool) for tool in module.tools]
    inputs = [{**input_schema(tool, titles=True), "title": ""} for tool in module.tools]
    outputs = [output_schema(tool, titles=True) for tool in module.tools]
    types = name_types([*inputs, *outputs])
    return ModuleInfo(module.name, module.summary, source, tools, types, module.prompts)


def _describe_tool(module: Module, tool: Tool) -> ToolInfo:
    from tokonoma.catalogue.schemas import input_schema, output_schema, read_description
    from tokonoma.catalogue.signature_text import format_signature

    input, output, description = input_schema(tool), output_schema(tool), read_description(tool)
    return ToolInfo(
        module=module.name,
        name=tool.name,
        listed=tool.listed or f"{module.name}_{tool.name}".replace(".", "_"),
        title=tool.title,
        description=description,
        effect=tool.effect,
        outside=tool.outside,
        idempotent=tool.idempotent,
        aliases=tool.aliases,
        input=input,
        output=wrap_in_envelope(output) if module.envelope else output,
        signature=format_signature(tool.name, input, output, description),
        time_limit=tool.time_limit,
        payload=tool.payload,
        raw=tool.sees_secrets,
        envelope=module.envelope,
        extra=tool.extra,
        keeps_log=tool.keeps_log,
    )


def wrap_in_envelope(data: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an answer in an envelope."""
    words = ("policy_version", "request_id", "trace_id")
    properties = {"data": data, **{word: {"type": "string"} for word in words}}
    return {"type": "object", "properties": properties, "required": ["data", *words]}


def _parse_module(raw: Mapping[str, Any]) -> ModuleInfo:
    tools = [replace(ToolInfo(**each), aliases=tuple(each["aliases"])) for each in raw["entries"]]
    # A plugin that was enabled by an older version has no prompts.
    prompts = tuple(_parse_prompt(each) for each in raw.get("prompts", ()))
    return ModuleInfo(raw["name"], raw["summary"], raw["source"], tools, raw.get("types", {}), prompts)


def _parse_prompt(raw: Mapping[str, Any]) -> Prompt:
    arguments = tuple(PromptArgument(**each) for each in raw["arguments"])
    return replace(Prompt(**raw), arguments=arguments, tools=tuple(raw["tools"]))


def build_catalogue() -> list[ModuleInfo]:
    """The shipped catalogue, generated from the code."""
    return [describe_module(load_module(source), source) for source in BUILT_IN_MODULES.values()]
