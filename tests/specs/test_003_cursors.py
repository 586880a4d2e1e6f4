"""Cursors over the wire: nothing of a masked record can be read in one, and only its caller can use it."""

import base64
import re

import pytest
from policy.houses import MASKING, enforce, key
from talk import Http, Lines

from tokonoma.app import App

MAIL = "zorgl.quux@example.org"


@pytest.fixture
def owner(app):
    talk = Lines(app)
    for number in range(3):
        title = f"{MAIL} asked {number}"
        talk.call("items", "create_item", type="docs", title=title, content="body", tags=[f"tag {MAIL} {number}"])
        talk.call("memory", "save", content=f"note {number}", namespace=f"/people/{MAIL}/{number}")
        talk.call("vault", "create", path=f"{MAIL}/{number}.md", content="a line\nanother line\n")
    enforce(app, MASKING)
    return talk


PAGED = [
    ("items", "get_items", {"limit": 1, "sort": "title"}),
    ("items", "get_tags", {"limit": 1}),
    ("memory", "list", {"limit": 1}),
    ("memory", "namespaces", {"limit": 1}),
    ("vault", "search", {"query": "line", "limit": 1}),
    ("system", "recent", {"limit": 1}),
]


def pages(talk, module, tool, params):
    """The first page, its cursor, and the second page."""
    first = talk.call(module, tool, **params)
    return first, first["next_cursor"], talk.call(module, tool, **params, cursor=first["next_cursor"])


@pytest.mark.parametrize(("module", "tool", "params"), PAGED, ids=[f"{each[0]}.{each[1]}" for each in PAGED])
def test_a_cursor_tells_nothing_and_belongs_to_its_caller(app, owner, module, tool, params):
    ada, bob = (Http(app, key(app, name)) for name in ("ada", "bob"))
    for talk in (ada, bob):
        talk.call("memory", "save", content="one", namespace="/a")  # writes are in the list of calls at once
        talk.call("memory", "save", content="two", namespace="/b")
    first, cursor, second = pages(ada, module, tool, params)
    assert second["items"]
    assert second["items"] != first["items"]
    assert re.fullmatch("[a-z2-7]{70,200}", cursor)
    raw = base64.b32decode(cursor.upper() + "=" * (-len(cursor) % 8))
    assert not any(word in raw for word in (b"zorgl", b"example", b"people", module.encode()))
    for other in (bob, owner):
        told = other.refused(module, tool, **params, cursor=cursor)
        assert "This cursor is not from this tool. Leave it out to start at the first page." in told["message"]


def test_another_process_opens_the_cursors_of_this_one(app, owner, database_url, tmp_path):
    _, cursor, second = pages(owner, "items", "get_items", {"limit": 1, "sort": "title"})
    other = App({"home": str(tmp_path / "home"), "database_url": database_url, "durable": False}, {})
    try:
        assert Lines(other).call("items", "get_items", limit=1, sort="title", cursor=cursor) == {
            **second,
            "next_cursor": Anything(),
        }
    finally:
        other.close()


class Anything:
    def __eq__(self, other: object) -> bool:
        return isinstance(other, str)

    __hash__ = None  # type: ignore[assignment]
