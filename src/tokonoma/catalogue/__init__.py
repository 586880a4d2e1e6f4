"""The catalogue: names, descriptions and schemas of all tools, generated from the code and read without importing it.

`python -m tokonoma.catalogue` rewrites `catalogue.json`, and `services.json` with the modules of other services, which
is read only where an account is connected. A test compares both with the code.
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
SERVICES_FILE = Path(__file__).with_name("services.json")
SERVICE_MODULES = {
    "notion": "tokonoma.connectors.notion:MODULE",
    "github": "tokonoma.connectors.github:MODULE",
    "jira": "tokonoma.connectors.jira:MODULE",
    "confluence": "tokonoma.connectors.confluence:MODULE",
    "supabase": "tokonoma.connectors.supabase:MODULE",
    "google_calendar": "tokonoma.connectors.google_calendar:MODULE",
    "microsoft_todo": "tokonoma.connectors.microsoft_todo:MODULE",
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
    return ModuleInfo(
        module.name, module.summary, source, tools, types, module.prompts,
        module.address, module.search_tool, module.read_tool, notes=module.notes,
    )  # fmt: skip


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
        signature=tool.signature or format_signature(tool.name, input, output, description),
        time_limit=tool.time_limit,
        payload=tool.payload,
        raw=tool.sees_secrets,
        envelope=module.envelope,
        extra=tool.extra,
        keeps_log=tool.keeps_log,
        projects=tool.projects,
    )


def wrap_in_envelope(data: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an answer in an envelope."""
    words = ("policy_version", "request_id", "trace_id")
    properties = {"data": data, **{word: {"type": "string"} for word in words}}
    return {"type": "object", "properties": properties, "required": ["data", *words]}


def _parse_module(raw: Mapping[str, Any]) -> ModuleInfo:
    entries: Sequence[dict[str, Any]] = raw["entries"]
    tools = [ToolInfo(**{**each, "aliases": cast("Any", tuple(each["aliases"]))}) for each in entries]
    # A plugin that was enabled by an older version has no prompts and no address, and is not searched.
    prompts = tuple(_parse_prompt(each) for each in raw.get("prompts", ()))
    address, search_tool, read_tool = (raw.get(name, "") for name in ("address", "search_tool", "read_tool"))
    notes = raw.get("notes", ())
    return ModuleInfo(
        raw["name"], raw["summary"], raw["source"], tools, raw.get("types", {}), prompts,
        address, search_tool, read_tool, notes=notes,
    )  # fmt: skip


def _parse_prompt(raw: Mapping[str, Any]) -> Prompt:
    arguments = tuple(PromptArgument(**each) for each in raw["arguments"])
    translations = {name: _parse_prompt(each) for name, each in raw.get("translations", {}).items()}
    return replace(Prompt(**raw), arguments=arguments, tools=tuple(raw["tools"]), translations=translations)


def build_catalogue(modules: Mapping[str, str] = BUILT_IN_MODULES) -> list[ModuleInfo]:
    """The shipped catalogue of these modules, generated from the code."""
    return [describe_module(load_module(source), source) for source in modules.values()]
