"""Whatever a caller sends to any tool of items: an answer, or a refusal that says why; never an error of ours."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from specs.items_client import items_of
from talk import Lines

from tokonoma import catalogue
from tokonoma.app import App

TOOLS = next(shelf for shelf in catalogue.read_catalogue(catalogue.CATALOGUE_FILE) if shelf.name == "items").entries
CODES = {1001, 1002, 1003, 1004, 1005, -32602}

odd = st.sampled_from([
    "", " ", "\0", "a\0b", "issue-1", "docs-2", "items-1", "tokonoma://items/1", "tokonoma://memory/x", "issue-0",
    "issue-99999999999999999999", "%", "_", "'", '"', "\\", "{visible}", ":id", "%s", "type:issue", "(", "a OR", "-a",
    "status:Open", "2026-01-01", "2026-13-01", "9999-12-31T23:59:59Z", "0001-01-01", "Open", "HIGH", "issue", "related",
    "blocks", "\u202e", "é", "e\u0301", "ﾊﾟ", "😀", "a" * 300, "updated:2026..", "tokonoma://x/" + "y" * 2000,
])  # fmt: skip
texts = odd | st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
numbers = st.sampled_from([0, 1, 2, 3, -1, 100, 101, 5000, 2**31, 2**53, 2**63 - 1, 2**63, 10**25])


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Mostly of the right shape, so that the tool itself is reached."""
    wrong = st.none() | st.booleans() | st.just(1.5) | st.just([]) | st.just({})
    return st.one_of(_right(schema), _right(schema), _right(schema), wrong)


def _right(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"]) | texts
    match schema.get("type"):
        case "integer":
            return numbers
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(_right(schema["items"]), max_size=4)
        case "object":
            return params(schema)
        case _:
            return texts


def params(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    properties = schema.get("properties", {})
    required = {name: values(properties[name]) for name in schema.get("required", ())}
    optional = {name: values(each) for name, each in properties.items() if name not in required}
    return st.fixed_dictionaries(required, optional=optional)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def house(request, tmp_path_factory):
    if request.param == "sqlite":
        from tokonoma.store.database import format_sqlite_url

        url = format_sqlite_url(tmp_path_factory.mktemp("hostile") / "tokonoma.db")
    else:
        server = request.getfixturevalue("postgres")
        url = server.url(server.take())
    app = App({"home": str(tmp_path_factory.mktemp("home")), "database_url": url, "durable": False}, {})
    items = items_of(app)
    for type in ("issue", "docs", "issue"):
        items.make("one of three", type=type, tags=["a"])
    yield app
    app.close()


@pytest.mark.soak
@pytest.mark.parametrize("entry", TOOLS, ids=lambda entry: entry.name)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_nothing_that_is_sent_is_an_error_of_ours(house, entry, data):
    given = data.draw(params(entry.input))
    result = Lines(house).tool("call", module="items", tool_name=entry.name, params=given)
    if result.get("isError"):
        error = json.loads(result["content"][0]["text"])["error"]
        assert error["code"] in CODES, (error, given)
        assert error["data"]["type"]
