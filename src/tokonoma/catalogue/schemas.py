"""The parser of a tool's parameters and its two JSON Schemas, derived from its signature."""

import inspect
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from itertools import islice
from typing import Any, NotRequired, Required, cast, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from typing_extensions import TypedDict

from tokonoma.core.concurrency import Deferred
from tokonoma.core.content import RichResult
from tokonoma.core.errors import Invalid
from tokonoma.core.module import Tool

Schema = dict[str, Any]
ParamParser = Callable[[Mapping[str, Any]], dict[str, Any]]
_MAX_PROBLEMS = 100  # listed; the rest are only counted
_MAX_DESCRIBED = 1000  # more problems than this are not even described
_MAX_MEMBERS = 20
_EMPTY = inspect.Parameter.empty
_WRAPPERS = (Deferred, RichResult, Coroutine)
"""What a return type may be wrapped in; the schema is of the value inside, which comes last."""

_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict,
    "null": type(None),
}  # fmt: skip


def build_parser(tool: Tool, signature: str) -> ParamParser:
    """A function from raw parameters to checked arguments; Invalid lists every problem at once."""
    if tool.input_schema is not None:
        return partial(check_params, tool, signature)
    parameters = _read_parameters(tool)
    adapter = _build_adapter(tool, parameters)
    required = {name for name, (_, default) in parameters.items() if default is _EMPTY}

    def parse(params: Mapping[str, Any]) -> dict[str, Any]:
        unknown = params.keys() - parameters.keys() if len(params) > _MAX_DESCRIBED else ()
        if unknown:
            listed = islice((name for name in params if name in unknown), _MAX_PROBLEMS)
            problems = [_describe_unknown(name, parameters) for name in listed]
            raise _build_refusal(tool, signature, problems, len(unknown))
        # null in an optional field means absent
        given = {key: value for key, value in params.items() if value is not None or key in required}
        try:
            return adapter.validate_python(given, strict=True, extra="forbid")
        except ValidationError as error:
            count, problems = error.error_count(), _list_problems(error, given, adapter, parameters)
            raise _build_refusal(tool, signature, problems, count) from None

    return parse


def input_schema(tool: Tool, *, titles: bool = False) -> Schema:
    if tool.input_schema is not None:
        return dict(tool.input_schema)
    parameters = _read_parameters(tool)
    schema = _inline_definitions(_build_adapter(tool, parameters).json_schema(), titles)
    properties = schema.setdefault("properties", {})
    for name, (_, default) in parameters.items():
        properties[name] = _without_null(properties[name])
        if default is not _EMPTY and default is not None:
            properties[name]["default"] = default
    return {"type": "object", **schema, "additionalProperties": False}


def output_schema(tool: Tool, *, titles: bool = False) -> Schema:
    if tool.output_schema is not None:
        return dict(tool.output_schema)
    hint = get_type_hints(tool.run, include_extras=True)["return"]
    while get_origin(hint) in _WRAPPERS:
        hint = get_args(hint)[-1]
    schema = _inline_definitions(TypeAdapter(hint).json_schema(mode="serialization"), titles)
    if schema.get("type") != "object":
        raise TypeError(f"{tool.name} must return an object: structured content is one")
    return schema


def read_description(tool: Tool) -> str:
    text = tool.description or inspect.getdoc(tool.run)
    if not text:
        raise TypeError(f"{tool.name} has no docstring: agents read it")
    return " ".join(text.split())


def check_params(tool: Tool, signature: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a tool with a schema of its own. Names and top-level types are checked here, so that a batch can
    refuse early; the rest of the schema is left to the tool, since evaluating a foreign schema is not safe."""
    schema: Mapping[str, Any] = tool.input_schema or {}
    known: Mapping[str, Any] = schema.get("properties", {})
    problems = [{"field": name, "message": "required"} for name in schema.get("required", ()) if name not in params]
    if schema.get("additionalProperties") is False:
        allowed = list(known)
        unknown = [name for name in params if name not in known]
        problems += [{"field": name, "message": "unknown field", "allowed": allowed} for name in unknown]
    for name, value in params.items():
        wanted = _list_types(known.get(name))
        if wanted and not any(_is_of_type(value, each) for each in wanted):
            problems.append({"field": name, "message": f"must be of type {' or '.join(wanted)}"})
    if problems:
        raise _build_refusal(tool, signature, problems[:_MAX_PROBLEMS], len(problems))
    return {"params": dict(params)}


def _list_types(schema: Any) -> list[str]:
    said: Any = cast("Mapping[str, Any]", schema).get("type") if isinstance(schema, Mapping) else None
    names = [said] if isinstance(said, str) else cast("list[Any]", said) if isinstance(said, list) else []
    return [name for name in names if isinstance(name, str) and name in _TYPES]


def _is_of_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])


def _read_parameters(tool: Tool) -> dict[str, tuple[Any, Any]]:
    """Name → (type, default) of everything after the desk."""
    hints = get_type_hints(tool.run, include_extras=True)
    signature = list(inspect.signature(tool.run).parameters.values())
    return {each.name: (hints[each.name], each.default) for each in signature[1:]}


def _build_adapter(tool: Tool, parameters: Mapping[str, tuple[Any, Any]]) -> TypeAdapter[dict[str, Any]]:
    fields: dict[str, Any] = {
        name: Required[hint] if default is _EMPTY else NotRequired[hint] for name, (hint, default) in parameters.items()
    }
    try:
        return TypeAdapter(TypedDict(tool.name, fields))  # type: ignore[operator]
    except PydanticUserError as error:
        raise TypeError(f"{tool.name}: {error}") from error


def _inline_definitions(schema: Schema, titles: bool) -> Schema:
    """The schema without `$ref`s, and without generated titles unless they are asked for: not every client reads
    them."""
    definitions = schema.pop("$defs", {})

    def walk(node: Any, seen: tuple[str, ...]) -> Any:
        if isinstance(node, list):
            return [walk(each, seen) for each in cast("list[Any]", node)]
        if not isinstance(node, dict):
            return node
        node = cast("Schema", node)
        if "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[1]
            if name in seen:  # a recursive type: say only that it is an object
                return {"type": "object"}
            rest = {key: value for key, value in node.items() if key != "$ref"}
            return {**walk(definitions[name], (*seen, name)), **walk(rest, seen)}
        named = {
            key: walk(value, seen) for key, value in node.items() if key != "properties" and (titles or key != "title")
        }
        if "properties" in node:
            named["properties"] = {key: walk(value, seen) for key, value in node["properties"].items()}
        return named

    return walk(schema, ())


def _without_null(schema: Schema) -> Schema:
    """An optional parameter can be left out; that it may be null too would only make the schema longer."""
    options = [each for each in schema.get("anyOf", []) if each != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    if len(options) == 1:
        return {**options[0], **rest}
    return {**rest, "anyOf": options} if options else schema


def _describe_problem(error: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    place = ".".join(str(part) for part in error["loc"])
    messages = {"extra_forbidden": "unknown field", "missing": "required"}
    message = messages.get(error["type"]) or error["msg"][:1].lower() + error["msg"][1:]
    allowed = {"allowed": list(parameters)} if error["type"] == "extra_forbidden" and len(error["loc"]) == 1 else {}
    return {"field": place, "message": message, **allowed}


def _describe_unknown(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"field": name, "message": "unknown field", "allowed": list(parameters)}


def _list_problems(
    error: ValidationError, given: Mapping[str, Any], adapter: TypeAdapter[Any], parameters: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The first problems. Describing one takes a kilobyte: of very many, those of the start of the value are listed."""
    if error.error_count() > _MAX_DESCRIBED:
        try:
            adapter.validate_python(_take_start(given), strict=True, extra="forbid")
            return []
        except ValidationError as smaller:
            error = smaller
    errors = cast("list[Any]", error.errors(include_url=False))
    return [_describe_problem(each, parameters) for each in errors[:_MAX_PROBLEMS]]


def _take_start(value: Any) -> Any:
    """The value with the first few members of each list and object in it."""
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value).items()
        return {key: _take_start(each) for key, each in islice(members, _MAX_MEMBERS)}
    return [_take_start(each) for each in cast("list[Any]", value)[:_MAX_MEMBERS]] if isinstance(value, list) else value


def _build_refusal(tool: Tool, signature: str, problems: list[dict[str, Any]], count: int) -> Invalid:
    listed = "; ".join(f"{each['field'][:60] or 'params'}: {each['message']}" for each in problems[:5])
    more = f"; and {count - 5} more" if count > 5 else ""
    message = f"Invalid parameters for {tool.name}: {listed or f'{count} problems'}{more if listed else ''}."
    error = Invalid(message, problems=problems, signature=signature)
    if count > len(problems):
        error.details["problems_total"] = count
    return error
