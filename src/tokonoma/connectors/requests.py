"""From the parameters of a call to the request of the service."""

from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote

from tokonoma.connectors.model import Draft, Params, ServiceTool
from tokonoma.connectors.parameters import ServiceParam, fill_path
from tokonoma.core.errors import Invalid
from tokonoma.core.service import ServiceRequest


def quote_segment(value: str, field: str = "path") -> str:
    """A value as one segment of a path. What would lead to another place is refused: empty, `.` and `..`."""
    if value in ("", ".", ".."):
        raise Invalid(f"{field}: {value!r} cannot stand in an address. Give a name or an id.", field=field)
    try:
        return quote(value, safe="")
    except UnicodeEncodeError:
        raise Invalid(f"{field} is not valid text.", field=field) from None


def quote_path(value: str, field: str = "path") -> str:
    """A path of several segments, such as that of a file; empty: the root."""
    inner = value.strip("/")
    return "/".join(quote_segment(part, field) for part in inner.split("/")) if inner else ""


def build_draft(tool: ServiceTool, params: Sequence[ServiceParam], given: Mapping[str, Any]) -> Draft:
    """The request with the values that are given. A parameter that is left out is not sent."""
    path: dict[str, str] = {}
    query: list[tuple[str, str]] = []
    body: Params = dict(tool.fixed)
    declared = {param.name: param for param in params}
    for name, value in given.items():
        param = declared.get(name) or ServiceParam(name, "body", True, wire=name)  # added by `prepare`
        if param.place == "path":
            path[name] = (quote_path if param.has_slashes else quote_segment)(str(value), name)
        elif param.place == "query":
            query += [(param.wire, text) for text in _format_values(value)]
        else:
            body[param.wire] = value
    if tool.repeats:
        body[tool.repeats] = str(given[tool.repeats])
    has_body = bool(body) or any(param.place == "body" for param in params)
    whole: Any = body.get(tool.body_of) if tool.body_of else body
    return Draft(fill_path(tool, path), query, whole if has_body else None)


def build_request(tool: ServiceTool, draft: Draft) -> ServiceRequest:
    return ServiceRequest(
        tool.method,
        draft.path,
        draft.query,
        draft.body,
        headers=tool.headers,
        repeatable=tool.is_repeatable,
        redirect_hosts=tool.redirect_hosts,
    )


def _format_values(value: Any) -> list[str]:
    """A value in a query: a list is sent as the same name several times."""
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, list):
        return [text for each in cast("list[Any]", value) for text in _format_values(each)]
    return [str(value)]
