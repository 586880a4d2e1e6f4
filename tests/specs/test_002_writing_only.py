"""specs/002: who may write in a module and not read it is shown none of its records, also not by the tools of other
modules, and not by what a saving tool says of earlier records."""

import json

import pytest
from policy.houses import key
from talk import Http, Json, Lines, Talk

WORD = "canary"
OLD = f"The garage code is 4711, ask Ruth for the {WORD} fob."
NEW = "The garage code is 4712, ask Ruth for the fob."


@pytest.fixture
def owner(app) -> Lines:
    return Lines(app)


@pytest.fixture
def reader(app) -> Talk:
    """Limited, too, but not in what this is about."""
    return Http(app, key(app, "reader", mask=["manual"]))


@pytest.fixture
def writer(app) -> Talk:
    return Http(app, key(app, "writer", mask=["memory:read"]))


def test_an_item_does_not_show_the_memo_that_it_refers_to(owner, reader, writer):
    memo = owner.call("memory", "save", content=f"{WORD} roof", title=WORD)
    item = {"title": "Roof", "content": "Mend it.", "related": [f"tokonoma://memory/{memo['memo_id']}"]}
    owner.call("items", "create_item", type="issue", **item)

    def list_relations(talk: Talk) -> list[Json]:
        return talk.call("items", "get_item_detail", type="issue", id=1)["relations"]

    assert [each.get("title") for each in list_relations(reader)] == [WORD]
    assert WORD not in json.dumps(list_relations(writer))


@pytest.mark.parametrize("way", ["save", "remember"])
def test_saving_says_nothing_of_earlier_memos(owner, reader, writer, way):
    owner.call("memory", "save", content=OLD)

    def save(talk: Talk, text: str) -> Json:
        return talk.call("memory", "save", content=text) if way == "save" else talk.value("remember", text=text)

    assert save(writer, NEW).get("similar", []) == []
    assert WORD in json.dumps(save(reader, f"{NEW} Really.")["similar"])
