"""specs/004, 3.2: what a query demands is exact over the whole store, compared with reading every item."""

import random
from typing import Any

import pytest
from conftest import SOAK

from tokonoma.cli.call import call_owner_tool

WORDS = [
    "alpha",
    "Alphabet",
    "beta",
    "GAMMA",
    "am",
    "a b",
    "x",
    "床の間",
    "床",
    "間の",
    "ｂｅｔａ",
    "サーバー",
    "カバ",
    "Map<K>",
]
FOLDED = {"ｂｅｔａ": "beta", "サーバー": "サーバ"}  # what the index takes for the same, of these words


def fold(text: str) -> str:
    for written, meant in FOLDED.items():
        text = text.replace(written, meant)
    return " ".join(text.casefold().split())


def import_many(app, count: int, build) -> None:
    """Through the owner's import: one transaction for all."""
    for start in range(0, count, 200):
        items = [build(number) for number in range(start, min(count, start + 200))]
        call_owner_tool(app, "items", "import", {"items": items})


def test_a_phrase_is_found_among_more_items_than_are_ranked(app, items):
    import_many(app, 620, lambda number: {"type": "docs", "title": f"red lamp {number}", "content": "red lamp " * 9})
    wanted = items.make("the one", content="a lamp that is not red: the lamp red switch. " + "word " * 200)
    for query in ('"lamp red switch"', "lamp AND switch", "switch AND red type:docs OR switch AND red type:issue"):
        told = items.search_items(query=query, mode="text")
        assert [each["id"] for each in told["items"]] == [wanted["id"]], query
    without = items.search_items(query="lamp -title:lamp", mode="text")
    assert [each["id"] for each in without["items"]] == [wanted["id"]]
    assert [each["id"] for each in items.search_items(query='-"red lamp"')["items"]] == [wanted["id"]]


class RandomQuery:
    """A query as text, and whether it holds for an item."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def build(self, depth: int = 0):
        kind = self.chance.choice(["word", "word", "field", "not", "and", "or"] if depth < 3 else ["word", "field"])
        if kind == "word":
            word = self.chance.choice(WORDS)
            return f'"{word}"', lambda item: fold(word) in item["text"]
        if kind == "field":
            return self.chance.choice([
                ("type:bug", lambda item: item["type"] == "bug"),
                ("is:closed", lambda item: item["status"] == "Closed"),
                ("tag:BETA", lambda item: "beta" in item["tags"]),
                ("has:due", lambda item: item["end_at"] is not None),
                ("due:>=2027-02", lambda item: (item["end_at"] or 0) >= 1_801_440_000_000),
                ("title:am", lambda item: "am" in fold(item["title"])),
            ])  # fmt: skip
        text, holds = self.build(depth + 1)
        if kind == "not":
            return f"NOT ({text})", lambda item: not holds(item)
        other, also = self.build(depth + 1)
        if kind == "and":
            return (
                f"({text}) {other}" if depth % 2 else f"({text} AND {other})",
                lambda item: holds(item) and also(item),
            )
        return f"({text} OR {other})", lambda item: holds(item) or also(item)


@pytest.mark.parametrize("seed", range(200 if SOAK else 2))
def test_random_queries_find_what_reading_every_item_finds(app, items, seed):
    chance = random.Random(seed)

    def build() -> dict[str, Any]:
        words = [chance.choice(WORDS) for _ in range(chance.randrange(1, 6))]
        return {
            "type": chance.choice(["bug", "docs"]),
            "title": chance.choice(WORDS),
            "content": chance.choice([" ", "", "\n", "、"]).join(words),
            "status": chance.choice(["Open", "Closed"]),
            "tags": chance.choice([[], ["beta"], ["Beta", "x"]]),
            "end_at": chance.choice([None, 1_800_000_000_000, 1_805_000_000_000]),
        }

    stored = [build() for _ in range(90)]
    landed = call_owner_tool(app, "items", "import", {"items": stored})["items"]
    for item, told in zip(stored, landed, strict=True):
        item["id"] = int(told["address"].partition("-")[2])
        item["text"] = fold("\n".join([item["title"], item["content"], " ".join(item["tags"])]))
        item["tags"] = [tag.casefold() for tag in item["tags"]]
    for _ in range(40):
        query, holds = RandomQuery(chance).build()
        expected = [item["id"] for item in stored if holds(item)]
        told = items.search_items(query=query, sort="id", limit=100)
        assert [each["id"] for each in told["items"]] == expected, query
        ranked = items.search_items(query=query, mode="text", limit=100)
        assert sorted(each["id"] for each in ranked["items"]) == expected, query


def test_items_without_a_filter_of_their_text_are_read(app, items):
    made = items.make("old", content="a text from before there were filters")
    with app.database.writing() as statements:
        statements.run("delete from item_gram")
    assert [each["id"] for each in items.search_items(query='"before there"')["items"]] == [made["id"]]


def test_a_changed_text_is_found_by_its_new_words_only(items):
    made = items.make("door", content="the blue door")
    items.update_item(type="issue", id=made["id"], content="the green door", comment="painted by Mia")
    assert items.search_items(query='"blue door"')["items"] == []
    for query in ('"green door"', '"painted by"', "mia AND green"):
        assert [each["id"] for each in items.search_items(query=query)["items"]] == [made["id"]], query
