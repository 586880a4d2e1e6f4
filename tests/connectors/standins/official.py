"""The services' published descriptions, where they lie beside the project: every request is checked against them too.

They may not enter the project, so a stand-in works without them; its own rules are then the only ones.
"""

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from .wire import WireRequest

BESIDE = Path(__file__).parents[4] / "shared"
SLICES = {  # module: names of its files, with what goes before their paths
    "notion": {"notion": ""},
    "github": {"github": ""},
    "jira": {"jira": ""},
    "confluence": {"confluence": "/wiki/api/v2", "confluence1": ""},
    "supabase": {"supabase": ""},
    "google_calendar": {"gcal": ""},
    "microsoft_todo": {"graph": ""},
}
# What a service takes though its description leaves it out: names in queries and bodies.
UNDESCRIBED = {
    "notion": {"markdown", "discussion_id", "database_id", "filter_properties", "filter_properties[]"},
    "microsoft_todo": {"$deltatoken", "$skiptoken"},
}
# The description of Notion knows two kinds of blocks and one kind of parent. Below the first level it says too little.
SHALLOW = {"notion"}


def find_folder() -> Path | None:
    folder = Path(os.environ.get("TOKONOMA_CONNECTORS", BESIDE / "connectors")) / "specs"
    return folder if folder.is_dir() else None


@cache
def load_official(service: str) -> "Official | None":
    folder = find_folder()
    if folder is None:
        return None
    texts = {f"slice_{name}.json": prefix for name, prefix in SLICES[service].items()}
    found = [(json.loads((folder / name).read_bytes()), prefix) for name, prefix in texts.items()]
    if service == "google_calendar":  # its description came to us from another format, which took the fields named id
        for schema in found[0][0]["components"]["schemas"].values():
            schema.setdefault("properties", {}).setdefault("id", {"type": "string"})
    return Official(service, found)


def normalize(path: str) -> str:
    return re.sub(r"{[^}]*}", "{}", path)


class Official:
    def __init__(self, service: str, descriptions: list[tuple[dict[str, Any], str]]) -> None:
        self.service = service
        self.operations: dict[tuple[str, str], tuple[dict[str, Any], dict[str, Any]]] = {
            (method.upper(), normalize(prefix + path)): (description, operation)
            for description, prefix in descriptions
            for path, methods in description["paths"].items()
            for method, operation in methods.items()
            if method in ("get", "post", "put", "patch", "delete")
        }
        self._validators: dict[Any, Draft202012Validator] = {}

    def check_request(
        self, method: str, path: str, values: Mapping[str, str], request: WireRequest, body: Any
    ) -> str | None:
        """What the description says against a request; None if nothing."""
        found = self.operations.get((method, normalize(path)))
        if found is None:
            return None  # a path that only signing in needs
        description, operation = found
        given = {("query", name): text for name, text in request.query}
        given |= {("path", name): value for name, value in values.items()}
        for parameter in operation.get("parameters", []):
            parameter = resolve(description, parameter)
            key = (parameter["in"], parameter["name"])
            text = given.pop(key, None)
            if text is None and parameter.get("required") and parameter["in"] == "query":
                return f"{parameter['name']} is required"
            if text is not None and (wrong := self._check_text(description, parameter, text)):
                return f"{parameter['name']}: {wrong}"
        unknown = {name for kind, name in given if kind == "query"} - UNDESCRIBED.get(self.service, set())
        if unknown:
            return f"unknown parameters {sorted(unknown)}"
        return None if body is None else self._check_body(description, operation, (method, path), body)

    def check_response(self, method: str, path: str, status: int, value: Any) -> list[str]:
        """Fields that the description does not know, and wrong types. Fields may be left out: nobody reads them all."""
        found = self.operations.get((method, normalize(path)))
        if found is None:
            return []
        description, operation = found
        answers = operation["responses"]
        answer = answers.get(str(status)) or answers.get("2XX")
        if answer is None:
            return [f"{status} is no answer of {method} {path}"]
        schema = resolve(description, answer).get("content", {}).get("application/json", {}).get("schema", {})
        validator = self._get_validator(("out", method, path, status), description, schema, answer=True)
        return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(value)]

    def _check_text(self, description: dict[str, Any], parameter: dict[str, Any], text: str) -> str | None:
        schema = resolve(description, parameter.get("schema", {}))
        kind = schema.get("type")
        value: Any = text
        if kind in ("integer", "number", "boolean"):
            try:
                value = json.loads(text)
            except ValueError:
                return f"{text!r} is no {kind}"
        elif kind == "array":
            value = [json.loads(each) if each.isdigit() else each for each in text.split(",")]
        if "oneOf" in schema or "anyOf" in schema:
            return None
        validator = self._get_validator(id(parameter), description, schema)
        return next((error.message[:200] for error in validator.iter_errors(value)), None)

    def _check_body(self, description: dict[str, Any], operation: dict[str, Any], key: Any, body: Any) -> str | None:
        if "requestBody" not in operation:
            return "a body is not described"
        schema = resolve(description, operation["requestBody"])["content"]["application/json"]["schema"]
        schema = resolve(description, schema)
        extra = UNDESCRIBED.get(self.service, set())
        if self.service in SHALLOW and isinstance(body, dict):
            body = {name: value for name, value in body.items() if name not in extra}
            names = {name: {} for name in schema.get("properties", {})}
            if key[1] == "/v1/blocks/{block_id}":
                return None  # its field is named by the type of the block
            if key[1] == "/v1/comments":
                names, schema = names, {**schema, "required": ["rich_text"]}
            schema = {"type": "object", "properties": names, "required": schema.get("required", [])}
        validator = self._get_validator(key, description, schema)
        return next((f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(body)), None)

    def _get_validator(
        self, key: Any, description: dict[str, Any], schema: Any, answer: bool = False
    ) -> Draft202012Validator:
        if key not in self._validators:
            shelf = load_components(id(description), answer) or keep_components(description, answer)
            document = {"$defs": shelf, "allOf": [convert(schema, answer)]}
            self._validators[key] = Draft202012Validator(document)
        return self._validators[key]


_SHELVES: dict[tuple[int, bool], dict[str, Any]] = {}


def load_components(description: int, answer: bool) -> dict[str, Any] | None:
    return _SHELVES.get((description, answer))


def keep_components(description: dict[str, Any], answer: bool) -> dict[str, Any]:
    schemas = description.get("components", {}).get("schemas", {})
    shelf = {
        "closed": {name: convert(schema, answer) for name, schema in schemas.items()},
        "open": {name: convert(schema, answer, part=True) for name, schema in schemas.items()},
    }
    _SHELVES[id(description), answer] = shelf
    return shelf


def resolve(description: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        target: Any = description
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[name.replace("~1", "/")]
        node = target
    return node


def convert(schema: Any, answer: bool, part: bool = False) -> Any:
    """A schema of OpenAPI 3.0 as JSON Schema. Objects are closed: a field that is not described is a mistake.
    `part`: one of several that describe an object together; the whole is closed, not the part."""
    if isinstance(schema, bool) or not schema:
        return schema
    if "$ref" in schema:
        shelf = "open" if part else "closed"
        return {"$ref": f"#/$defs/{shelf}/{schema['$ref'].rsplit('/', 1)[-1]}"}
    keep = ("type", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern", "minItems", "maxItems")
    made: dict[str, Any] = {name: schema[name] for name in keep if name in schema}
    if made.get("type") == "any":
        del made["type"]
    if "items" in schema:
        made["items"] = convert(schema["items"], answer)
    if "properties" in schema:
        made["properties"] = {name: convert(each, answer, part) for name, each in schema["properties"].items()}
    if not answer and "required" in schema:
        made["required"] = schema["required"]
    more = schema.get("additionalProperties")
    if more == {"type": "object"}:  # Graph says so everywhere, and means annotations
        more, made["patternProperties"] = None, {"^@": {}}
    if more is not None:
        made["additionalProperties"] = convert(more, answer) if more else bool(more is not False or part)
    elif schema.get("properties") and not part and not {"allOf", "oneOf", "anyOf"} & schema.keys():
        made["additionalProperties"] = False
    for word in ("allOf", "oneOf", "anyOf"):
        if word in schema:
            together = word == "allOf" and len(schema[word]) > 1
            inner = [convert(each, answer, part=part or together) for each in schema[word]]
            made["anyOf" if word == "oneOf" else word] = inner
    if "allOf" in schema and not part and len(schema["allOf"]) > 1:
        made["unevaluatedProperties"] = False
    if schema.get("nullable"):
        return {"anyOf": [made, {"type": "null"}]}
    return made
