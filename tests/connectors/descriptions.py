"""The services' published descriptions, where they lie beside the project: they are no part of it (licences).

`../shared/connectors`, or the folder that TOKONOMA_CONNECTORS names. Every declared tool is checked against them.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft202012Validator

from tokonoma.core.service import ServiceRequest

FOLDER = Path(os.environ.get("TOKONOMA_CONNECTORS", Path(__file__).parents[3] / "shared" / "connectors"))
SLICES = {  # module → its files, and what stands before their paths
    "notion": {"notion": ""},
    "github": {"github": ""},
    "jira": {"jira": ""},
    "confluence": {"confluence": "/wiki/api/v2", "confluence1": ""},
    "supabase": {"supabase": ""},
    "google_calendar": {"gcal": ""},
    "microsoft_todo": {"graph": ""},
}
# What a service takes, though its description leaves it out. Notion's names the type of a block `type` and means any.
UNDESCRIBED = {
    "notion.create_page": {"markdown", "icon", "cover"},  # the last two are described as texts
    "notion.update_block": {"paragraph"},
    "microsoft_todo.tasks_delta": {"$deltatoken"},
}

# Notion's description knows two kinds of blocks and one kind of parent: inside the values of a body it says too little.
SHALLOW = {"notion"}


def is_there() -> bool:
    return (FOLDER / "specs").is_dir()


def load_tools() -> dict[str, dict[str, Any]]:
    """Every tool as it was researched: `module.tool` → method, path, effect, tier."""
    tools = json.loads((FOLDER / "tools.json").read_bytes())["tools"]
    return {f"{tool['module']}.{tool['tool']}": tool for tool in tools}


class Description:
    """The description of one service."""

    def __init__(self, module: str) -> None:
        self._operations: list[tuple[str, list[str], dict[str, Any], dict[str, Any]]] = []
        for name, prefix in SLICES[module].items():
            document = _allow_null(json.loads((FOLDER / "specs" / f"slice_{name}.json").read_bytes()))
            for path, operations in document["paths"].items():
                shared = operations.get("parameters", [])
                for method, operation in operations.items():
                    if method != "parameters":
                        whole = {**operation, "parameters": [*shared, *operation.get("parameters", [])]}
                        self._operations.append((method.upper(), f"{prefix}{path}".split("/"), whole, document))

    def find_problems(self, tool: str, request: ServiceRequest) -> Iterator[str]:
        """What the description says against a request."""
        found = self._find_operation(request)
        if found is None:
            yield f"there is no {request.method} {request.path}"
            return
        operation, document, values = found
        extra = UNDESCRIBED.get(tool, set())
        yield from _check_parameters(operation, document, values, request, extra)
        yield from _check_body(operation, document, request.body, extra, tool.partition(".")[0] in SHALLOW)

    def _find_operation(self, request: ServiceRequest) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]] | None:
        segments = request.path.split("/")
        fitting: list[tuple[int, dict[str, Any], dict[str, Any], dict[str, str]]] = []
        for method, names, operation, document in self._operations:
            values = _match_path(names, segments)
            if method == request.method and values is not None:
                fitting.append((len(values), operation, document, values))
        if not fitting:
            return None
        _, operation, document, values = min(fitting, key=lambda each: each[0])  # the most literal one
        return operation, document, values


def _match_path(names: list[str], segments: list[str]) -> dict[str, str] | None:
    if names[-1] == "{path}" and len(segments) > len(names):  # GitHub's path of a file
        segments = [*segments[: len(names) - 1], "/".join(segments[len(names) - 1 :])]
    if len(names) != len(segments):
        return None
    values: dict[str, str] = {}
    for name, segment in zip(names, segments, strict=True):
        if name.startswith("{"):
            values[name.strip("{}")] = unquote(segment)
        elif name != segment:
            return None
    return values


def _check_parameters(
    operation: dict[str, Any],
    document: dict[str, Any],
    values: Mapping[str, str],
    request: ServiceRequest,
    extra: set[str],
) -> Iterator[str]:
    known: set[str] = set()
    for raw in operation["parameters"]:
        parameter = _resolve(document, raw)
        name, place, schema = parameter["name"], parameter["in"], _resolve(document, parameter.get("schema", {}))
        given = {
            "path": [values[name]] if name in values else [],
            "query": [value for key, value in request.query if key == name],
            "header": [value for key, value in request.headers.items() if key == name],
        }[place]
        known |= {name} if place == "query" else set()
        if parameter.get("required") and not given:
            yield f"{place} {name} is required"
        for problem in _check_texts(document, schema, given):
            yield f"{place} {name}: {problem}"
    yield from (f"query {name} is not described" for name, _ in request.query if name not in known | extra)


def _check_texts(document: dict[str, Any], schema: dict[str, Any], given: list[str]) -> Iterator[str]:
    is_list = schema.get("type") == "array"
    item = _resolve(document, schema.get("items", {})) if is_list else schema
    texts = [part for text in given for part in (text.split(",") if is_list else [text])]
    for text in texts:
        yield from _validate(document, item, _read_text(item.get("type"), text))


def _read_text(kind: Any, text: str) -> Any:
    if kind in ("integer", "number") and re.fullmatch(r"-?\d+", text):
        return int(text)
    return {"true": True, "false": False}.get(text, text) if kind == "boolean" else text


def _check_body(
    operation: dict[str, Any], document: dict[str, Any], body: Any, extra: set[str], is_shallow: bool
) -> Iterator[str]:
    described = _resolve(document, operation.get("requestBody", {}))
    if not described:
        if body is not None:
            yield "a body is not described"
        return
    schema = described["content"]["application/json"].get("schema", {})
    if body is None:
        if described.get("required"):
            yield "the body is required"
        return
    if isinstance(body, dict):
        known = _list_names(document, schema)
        yield from (f"body {name} is not described" for name in body if known and name not in known | extra)
        body = {name: value for name, value in body.items() if name not in extra}
    yield from (f"body {problem}" for problem in _validate(document, schema, body, is_shallow))


def _list_names(document: dict[str, Any], raw: dict[str, Any]) -> set[str]:
    schema = _resolve(document, raw)
    inner = [each for word in ("allOf", "oneOf", "anyOf") for each in schema.get(word, [])]
    return set(schema.get("properties", {})).union(*(_list_names(document, each) for each in inner))


def _validate(document: dict[str, Any], schema: dict[str, Any], value: Any, is_shallow: bool = False) -> Iterator[str]:
    validator = Draft202012Validator({**schema, "components": document.get("components", {})})
    for error in validator.iter_errors(value):
        depth = len(error.absolute_path) + (error.validator == "required")
        if is_shallow and depth > 1:
            continue
        yield f"{'.'.join(map(str, error.absolute_path))}: {error.message[:300]}"


def _resolve(document: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in value:
        found: Any = document
        for key in value["$ref"].removeprefix("#/").split("/"):
            found = found[key.replace("~1", "/").replace("~0", "~")]
        value = found
    return value


def _allow_null(value: Any) -> Any:
    """`nullable: true` of OpenAPI 3.0 in the words of JSON Schema, and a looser `oneOf`."""
    if isinstance(value, list):
        return [_allow_null(each) for each in value]
    if not isinstance(value, dict):
        return value
    held = {key: _allow_null(each) for key, each in value.items() if key != "nullable"}
    if "oneOf" in held:  # choices that overlap: what fits two of them is right, too
        held["anyOf"] = held.pop("oneOf")
    if held.get("additionalProperties") == {"type": "object"}:  # so Microsoft writes that there may be others
        del held["additionalProperties"]
    if value.get("nullable") is True and isinstance(held.get("type"), str):
        held["type"] = [held["type"], "null"]
        if "enum" in held:
            held["enum"] = [*held["enum"], None]
    return held
