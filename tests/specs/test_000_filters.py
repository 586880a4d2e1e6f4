"""specs/000, metadata_filter: what it finds equals what Python says of the same metadata, on both databases."""

import random
from typing import Any

import pytest
from conftest import SOAK
from talk import Lines

FILTERS = 3_000 if SOAK else 120
BIG = [base + step for base in (2**53, 2**60, 10**16, 2**63 - 3) for step in (-2, -1, 0, 1, 2)]
NUMBERS: list[Any] = [
    *BIG, *(-each for each in BIG), 0, -0.0, 1, 1.0, 0.1, -2.5, 2.0**53, 1e16, 1.5e300, -1e16, 3, 2**64 - 1
]  # fmt: skip
LONG = "長い" * 80
TEXTS = ["", "a", "A", "ab", "true", "1", "9007199254740993", LONG, LONG + "x", LONG + "y", "z" + LONG, "%", "_", "é"]
KEYS = ["n", "t", "a.b", "a.c", "list", "k" * 230, f"{'p' * 120}.{'q' * 120}.r", f"{'p' * 120}.s"]


@pytest.fixture
def talk(app) -> Lines:
    return Lines(app)


def value_of(rng) -> Any:
    return rng.choice([rng.choice(NUMBERS), rng.choice(TEXTS), rng.choice([True, False])])


def metadata_of(rng) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key in rng.sample(KEYS, rng.randint(1, 4)):
        value = value_of(rng) if rng.random() < 0.7 else [value_of(rng) for _ in range(rng.randint(0, 3))]
        node = made
        *path, last = key.split(".")
        for part in path:
            node = node.setdefault(part, {})
        node[last] = value
    return made


def filter_of(rng) -> tuple[str, str, Any]:
    key = rng.choice([*KEYS, "a", "p" * 120, f"{'p' * 120}.{'q' * 120}"])
    operator = rng.choice(["is", "in", "contains", "prefix", "gte", "lte", "both", "exists"])
    if operator == "both":
        return key, operator, [rng.choice(NUMBERS), rng.choice(NUMBERS)] if rng.random() < 0.8 else ["a", LONG + "x"]
    choose = {
        "in": lambda: [value_of(rng) for _ in range(rng.randint(1, 3))],
        "prefix": lambda: rng.choice(TEXTS)[: rng.choice([1, 2, 150, 200])],
        "gte": lambda: rng.choice([*NUMBERS, *NUMBERS, *TEXTS]),
        "lte": lambda: rng.choice([*NUMBERS, *NUMBERS, *TEXTS]),
        "exists": lambda: rng.random() < 0.7,
    }
    return key, operator, choose.get(operator, lambda: value_of(rng))()


def write(key: str, operator: str, value: Any) -> dict[str, Any]:
    if operator == "both":
        return {key: {"gte": value[0], "lte": value[1]}}
    return {key: value} if operator == "is" else {key: {operator: value}}


def facts_of(metadata: Any, prefix: str = "") -> list[tuple[str, Any]]:
    if isinstance(metadata, dict):
        return [
            fact for key, value in metadata.items() for fact in facts_of(value, f"{prefix}.{key}" if prefix else key)
        ]
    if isinstance(metadata, list):
        return [fact for value in metadata for fact in facts_of(value, prefix)]
    return [(prefix, metadata)]


def kind(value: Any) -> str:
    return type(value).__name__.replace("int", "float")


def holds(metadata: dict[str, Any], key: str, operator: str, wanted: Any) -> bool:
    facts = facts_of(metadata)
    if operator == "exists":
        return wanted == any(name == key or name.startswith(key + ".") for name, _ in facts)
    values = [value for name, value in facts if name == key]

    def same(value: Any, other: Any) -> bool:
        return kind(value) == kind(other) and value == other

    if operator == "in":
        return any(same(value, each) for value in values for each in wanted)
    if operator in ("gte", "lte", "both"):
        low = wanted[0] if operator == "both" else wanted if operator == "gte" else None
        high = wanted[1] if operator == "both" else wanted if operator == "lte" else None
        alike = [value for value in values if kind(value) == kind(wanted[0] if operator == "both" else wanted)]
        return any((low is None or value >= low) and (high is None or value <= high) for value in alike)
    if isinstance(wanted, str) and operator in ("contains", "prefix"):
        texts = [value for value in values if isinstance(value, str)]
        return any(wanted in value if operator == "contains" else value.startswith(wanted) for value in texts)
    return any(same(value, wanted) for value in values)


def test_filters_find_what_python_finds(talk):
    rng = random.Random(17)
    made = [metadata_of(rng) for _ in range(90)]
    saved = talk.call("memory", "save", memos=[{"content": "x", "metadata": each} for each in made])["items"]
    stored = {item["memo_id"]: each for item, each in zip(saved, made, strict=True)}
    found_some = 0
    for number in range(FILTERS):
        asked = filter_of(rng)
        wanted = {memo for memo, metadata in stored.items() if holds(metadata, *asked)}
        for tool, size in (("search", {"k": 100}), ("list", {"limit": 200})):
            if tool == "list" and number % 4:
                continue
            told = talk.call("memory", tool, metadata_filter=write(*asked), **size)["items"]
            assert {item["memo_id"] for item in told} == wanted, (tool, asked)
        found_some += bool(wanted)
    assert found_some > FILTERS // 4


def test_integers_beyond_two_to_the_53_are_told_apart(talk):
    one, other = (
        talk.call("memory", "save", content="x", metadata={"id": value})["memo_id"]
        for value in (9007199254740992, 9007199254740993)
    )
    for asked, wanted in (
        (9007199254740993, {other}),
        (9007199254740992, {one}),
        ({"gte": 9007199254740993}, {other}),
        ({"lte": 9007199254740992}, {one}),
        ({"in": [9007199254740993]}, {other}),
        ({"contains": 9007199254740992}, {one}),
    ):
        found = talk.call("memory", "search", metadata_filter={"id": asked})["items"]
        assert {item["memo_id"] for item in found} == wanted, asked


def test_no_value_of_a_long_list_is_left_out(talk):
    memo = talk.call("memory", "save", content="x", metadata={"ids": list(range(5_000))})["memo_id"]
    found = talk.call("memory", "search", metadata_filter={"ids": 4_999})["items"]
    assert [item["memo_id"] for item in found] == [memo]


def test_large_numbers_of_an_earlier_version_are_still_found(app, talk):
    memo = talk.call("memory", "save", content="x", metadata={"id": 2**60 + 1})["memo_id"]
    with app.database.writing() as statements:
        statements.run("update fact set text = null")
    for asked in (2**60 + 1, {"gte": 2**60}, {"lte": 2**60}):
        found = talk.call("memory", "search", metadata_filter={"id": asked})["items"]
        assert [item["memo_id"] for item in found] == [memo], asked


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ({"n": {"gt": 5}}, "gt"), ({"n": {"$gte": 5}}, "$gte"), ({"n": {"gte": 1, "between": 2}}, "between"),
        ({"a": {"b": {"startswith": "x"}}}, "startswith"), ({"n": {"contain": "x"}}, "contain"),
        ({"n": {"ne": 1}}, "ne"),
    ],
    ids=["gt", "dollar", "beside", "nested", "misspelt", "ne"],
)  # fmt: skip
def test_an_unknown_operator_is_an_error_that_lists_the_known_ones(talk, asked, word):
    for tool in ("search", "list"):
        error = talk.refused("memory", tool, metadata_filter=asked)
        assert error["code"] == "INVALID_ARGUMENT"
        assert repr(word) in error["message"]
        assert error["details"]["operators"] == ["contains", "exists", "gte", "in", "lte", "prefix"]


def test_a_field_that_is_named_like_an_operator_is_reached_by_its_path(talk):
    memo = talk.call("memory", "save", content="x", metadata={"n": {"gt": 5}})["memo_id"]
    found = talk.call("memory", "search", metadata_filter={"n.gt": 5})["items"]
    assert [item["memo_id"] for item in found] == [memo]
