"""Plain slips in the arguments of `call` and in the fields of a step. Pure, and decided by the arguments alone: a
hidden module must look like one that does not exist."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tokonoma.catalogue.slips import parse_json


class WrittenCall(NamedTuple):
    """What the arguments of `call` mean."""

    module: str
    tool: str
    params: Mapping[str, Any]
    corrections: list[str]


def read_call(arguments: Mapping[str, Any]) -> WrittenCall | None:
    """None if the arguments have not the shape of a call: then the gateway's own tool reports what is wrong."""
    corrections: list[str] = []
    given = {key: value for key, value in arguments.items() if value is not None}
    if "tool" in given and "tool_name" not in given:
        given["tool_name"] = given.pop("tool")
        corrections.append("tool was read as tool_name")
    if len(given.keys() & {"module", "tool_name"}) == 1:
        _split_name(given, "tool_name", corrections)
    params = given.get("params", {})
    if isinstance(params, str):
        params = parse_json(params, dict)
        corrections.append("params was a string; it must be an object")
    module, tool = given.get("module"), given.get("tool_name")
    known = given.keys() <= {"module", "tool_name", "params"}
    if not (known and isinstance(module, str) and isinstance(tool, str) and isinstance(params, dict)):
        return None
    return WrittenCall(module, tool, params, corrections)  # pyright: ignore[reportUnknownArgumentType]


def read_step(given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The fields of a step, without those that are null, and what was corrected."""
    corrections: list[str] = []
    step = {key: value for key, value in given.items() if value is not None}
    if "tool_name" in step and "tool" not in step:
        step["tool"] = step.pop("tool_name")
        corrections.append("tool_name was read as tool")
    if len(step.keys() & {"module", "tool"}) == 1:
        _split_name(step, "tool", corrections)
    if isinstance(step.get("params"), str) and (params := parse_json(step["params"], dict)) is not None:
        step["params"] = params
        corrections.append("params was a string; it must be an object")
    return step, corrections


def _split_name(given: dict[str, Any], field: str, corrections: list[str]) -> None:
    """`memory.save` in one field names the module and the tool."""
    name = given.get("module", given.get(field))
    module, dot, tool = name.partition(".") if isinstance(name, str) else ("", "", "")
    if module and dot and tool:
        given |= {"module": module, field: tool}
        corrections.append(f"{name!r} was read as module {module!r} and {field} {tool!r}")
