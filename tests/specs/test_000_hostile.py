"""specs/000 under attack: syntax of databases in every text field of every tool, and two keys with separate roots."""

import random

import pytest
from conftest import SOAK
from talk import Http, Lines

from tokonoma.auth import api_keys as keys
from tokonoma.auth.api_keys import build_reach
from tokonoma.catalogue.schemas import input_schema
from tokonoma.modules.memory import MODULE

STRINGS = 500 if SOAK else 5
OPERATIONS = 10_000 if SOAK else 100
NOBODY = "0190a000-0000-7000-8000-000000000000"
TABLES = ("memo", "memo_relation", "document", "fact", "api_key")
LEAKS = ("internal", "sqlite", "apsw", "psycopg", "syntax error", "fts5", "traceback", "near \\", "unterminated")
PIECES = [
    *("'", '"', "--", ";", "drop table memo", "OR 1=1", "*", "NEAR(", "^", ":", "{visible}", "%", "_", "\\", ")", "("),
    *("AND", "NOT", "union select", "\u0000", "$1", "%(x)s", ":id", "?", "]", "[", "json_each", "/*", "*/", "鍵"),
    *("') or ('1'='1", "word : a", "a + b", "-a", "::tsquery", "\ue022", "\uf8ffmmemory", "{for_update}", "..", "/"),
]


def texts() -> list[str]:
    dice = random.Random(3)
    return [" ".join(dice.choices(PIECES, k=dice.randint(1, 6))) for _ in range(STRINGS)]


def calls(text: str, first: str, second: str):
    """Every text field of every tool once with this text, beside values that are right."""
    base = {
        "save": {"content": "x"},
        "get": {"memo_id": NOBODY},
        "delete": {"memo_id": NOBODY},
        "restore": {"memo_id": NOBODY},
        "relation.save": {"sourceMemoId": first, "targetMemoId": second, "tag": "t"},
        "relation.delete": {"sourceMemoId": second, "targetMemoId": first, "tag": "never"},  # none leads this way
        "relation.graph": {"startMemoId": first},
    }
    for tool in MODULE.tools:
        right = base.get(tool.name, {})
        for field, schema in input_schema(tool)["properties"].items():
            if schema.get("type") == "string":
                yield tool.name, {**right, field: text}
            elif field == "memos":
                for inner in schema["items"]["properties"]:
                    yield tool.name, {"memos": [{"content": "y"}, {"content": "x", inner: text}]}
            elif schema.get("type") == "object":
                for nested in ({text: text}, {"a": {text: [text]}}, {"a": {"contains": text}}, {"a": {"in": [text]}}):
                    yield tool.name, {**right, field: nested}


def counted(app) -> list[int]:
    with app.database.reading() as rows:
        return [rows.row(f"select count(*) from {table}")[0] for table in TABLES]


@pytest.mark.soak
def test_no_syntax_of_a_database_means_anything_in_any_field(app):
    talk = Lines(app)
    first, second = (talk.call("memory", "save", content=f"keep me {n}", namespace="kept")["memo_id"] for n in (1, 2))
    before = counted(app)
    for text in texts():
        for tool, params in calls(text, first, second):
            result = talk.tool("call", module="memory", tool_name=tool, params=params)
            told = result["content"][0]["text"]
            now = counted(app)
            more = [after - was for after, was in zip(now, before, strict=True)]
            if result.get("isError"):
                said = told.lower().replace(text.lower(), "")
                assert not any(leak in said for leak in LEAKS), (tool, params, told)
            if result.get("isError") or not tool.endswith("save"):
                assert more == [0] * len(TABLES), (tool, params)
            elif tool == "save":
                made = 0 if "memo_id" in params else len(params.get("memos", [1]))
                assert (more[0], more[1], more[2], more[4]) == (made, 0, made, 0), (tool, params)
            before = now
    for memo_id in (first, second):
        assert talk.call("memory", "get", memo_id=memo_id)["version"] == 1


@pytest.mark.soak
def test_two_keys_never_see_each_others_memos(app):
    """Random operations of two keys with separate roots; whatever one is shown is its own."""
    dice = random.Random(5)
    with app.database.writing() as statements:
        tokens = [keys.create_key(statements, name, build_reach(root=f"/{name}")) for name in ("a", "ab")]
    talks = [Http(app, token) for token in tokens]
    own: list[list[str]] = [[], []]
    for step in range(OPERATIONS):
        side = dice.randrange(2)
        _operate(dice, talks[side], own[side], own[1 - side], f"step {step}")


def _operate(dice: random.Random, talk: Http, mine: list[str], theirs: list[str], name: str) -> None:
    word, where = dice.choice(["鍵", "server", "memo"]), dice.choice(["", "x", "/y", "/", "/ab", "b"])
    what = dice.choice(["save", "save", "search", "list", "stranger", "relate", "climb"])
    if what == "save" or not mine:
        told = talk.call("memory", "save", content=f"{word} {name}", namespace=where, thread=dice.choice(["", "t"]))
        mine.append(told["memo_id"])
    elif what == "search":
        mode = dice.choice(["text", "hybrid"])
        told = talk.call("memory", "search", query=word, k=100, namespace=where, mode=mode, explain=True)
        assert {item["memo_id"] for item in told["items"]} <= set(mine)
    elif what == "list":
        told = talk.call("memory", "list", namespace="/", limit=200)
        assert {item["memo_id"] for item in told["items"]} <= set(mine)
        assert sum(each["memos"] for each in talk.call("memory", "namespaces")["items"]) <= len(mine)
    elif what == "climb":
        outside = dice.choice(["../a", "../ab", "/../a", "/x/../../ab"])
        assert talk.refused("memory", "list", namespace=outside)["code"] == "INVALID_ARGUMENT"
    elif theirs:
        _stranger(dice, talk, dice.choice(mine), dice.choice(theirs))


def _stranger(dice: random.Random, talk: Http, one: str, other: str) -> None:
    tool, params = dice.choice(
        [
            ("get", {"memo_id": other}),
            ("delete", {"memo_id": other}),
            ("restore", {"memo_id": other}),
            ("save", {"memo_id": other, "content": "mine now"}),
            ("search", {"pivot_memo_id": other}),
            ("relation.save", {"sourceMemoId": one, "targetMemoId": other, "tag": "t", "namespace": "/"}),
            ("relation.graph", {"startMemoId": other, "namespace": "/"}),
        ]
    )
    assert talk.refused("memory", tool, **params)["code"] == "NOT_FOUND", tool
    told = talk.call("memory", "search", query="鍵", mode="text", expect_memo_id=other)
    assert told["why_not"].startswith("not indexed")
