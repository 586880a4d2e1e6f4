"""Texts that an agent writes for Jira: Markdown becomes Jira's document format, times the one form that Jira takes."""

from datetime import UTC, datetime
from typing import Any, cast

from tokonoma.connectors.adf import parse_markdown
from tokonoma.connectors.model import Params
from tokonoma.core.errors import Invalid

_TEXT_FIELDS = ("description", "environment")


def wrap_fields(params: Params) -> Params:
    """Texts in the long fields of an issue, and comments that are added with it."""
    given = dict(params)
    if "fields" in given:
        given["fields"] = _wrap_values(given["fields"], _TEXT_FIELDS)
    update = given.get("update")
    if isinstance(update, dict):
        given["update"] = {name: _wrap_operations(name, each) for name, each in cast("Params", update).items()}
    return given


def wrap_comment(params: Params) -> Params:
    return _wrap_values(params, ("body",))


def wrap_link(params: Params) -> Params:
    return {**params, "comment": _wrap_values(params["comment"], ("body",))} if "comment" in params else params


def wrap_worklog(params: Params) -> Params:
    given = _wrap_values(params, ("comment",))
    return {**given, "started": format_time(given["started"])} if "started" in given else given


def format_time(text: str) -> str:
    """A time of ISO 8601 as `2026-11-16T09:30:00.000+0000`. Without a zone it is one of UTC."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid("started must be a time such as 2026-11-16T09:30:00+09:00.", field="started") from None
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03}{time:%z}"[:28]


def _wrap_values(value: Any, names: tuple[str, ...]) -> Any:
    if not isinstance(value, dict):
        return value
    held = cast("Params", value)
    return {
        name: parse_markdown(each) if name in names and isinstance(each, str) else each for name, each in held.items()
    }


def _wrap_operations(name: str, operations: Any) -> Any:
    """`description: [{set: text}]` and `comment: [{add: {body: text}}]`."""
    if not isinstance(operations, list):
        return operations
    listed = cast("list[Any]", operations)
    if name in _TEXT_FIELDS:
        return [_wrap_values(each, ("set", "add")) for each in listed]
    if name != "comment":
        return listed
    return [
        {verb: _wrap_values(each, ("body",)) for verb, each in cast("Params", operation).items()}
        if isinstance(operation, dict)
        else operation
        for operation in listed
    ]
