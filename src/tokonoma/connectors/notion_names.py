"""Names of Notion's pages and databases, which stand in lists of text pieces or in a property of any name."""

from typing import Any

from tokonoma.connectors.model import Params, as_list, as_object
from tokonoma.core.errors import Invalid
from tokonoma.core.service import ServiceResponse


def add_names(response: ServiceResponse, params: Params) -> Any:
    """The answer, each page, data source and database with its `name` as plain text."""
    answer = as_object(response.value)
    if isinstance(answer.get("results"), list):
        return {**answer, "results": [_add_name(as_object(each)) for each in as_list(answer["results"])]}
    return _add_name(answer)


def check_place(params: Params) -> Params:
    """A comment belongs to a page or a block, or answers in a discussion."""
    if ("parent" in params) == ("discussion_id" in params):
        raise Invalid("Give either parent or discussion_id.", field="parent")
    return params


def spread_content(params: Params) -> Params:
    """The content of a block is sent under the name of its type: `{paragraph: {…}}`."""
    given = dict(params)
    return {**given.pop("content", {}), **given}


def _add_name(record: dict[str, Any]) -> dict[str, Any]:
    pieces = record.get("title")
    if not isinstance(pieces, list):
        properties = map(as_object, as_object(record.get("properties")).values())
        pieces = next((each.get("title") for each in properties if each.get("type") == "title"), None)
    if not isinstance(pieces, list):
        return record
    return {**record, "name": "".join(str(as_object(each).get("plain_text", "")) for each in as_list(pieces))}
