"""What becomes of a memo that comes again: nothing that was changed here is lost to an import."""

import uuid
from dataclasses import replace

import pytest
from talk import Http, Lines
from transfer.apps import lines, open_app, put

from tokonoma.auth import api_keys as keys
from tokonoma.auth.api_keys import build_reach
from tokonoma.core.clock import now
from tokonoma.transfer.model import MemoRecord, RelationRecord

pytestmark = pytest.mark.migrated

ONE, TWO = (str(uuid.UUID(int=number)) for number in (1, 2))
OURS = MemoRecord(ONE, "/notes", "text", "t", {"a": 1}, "th", 1000, 2000, None, None, 3)
THEIRS = MemoRecord(ONE, "/notes", "text", "t", {"a": 1, "imported_from": "obsidian", "imported_id": "x.md"})


@pytest.fixture
def app(tmp_path, database_url):
    with open_app(tmp_path / "home", database_url) as opened:
        yield opened


def fate(app, memo):
    (landed,) = put(app, [memo])["memos"]
    return landed["outcome"], landed.get("why", "")


def call(app, tool, **params):
    return Lines(app).call("memory", tool, **params)


CHANGES = {
    "nothing": ({}, "unchanged", 3),
    "a newer version": ({"content": "new", "version": 4, "updated_at": 9000}, "changed", 4),
    "an older version": ({"content": "old", "version": 2}, "kept", 3),
    "a file that was edited": ({"content": "edited"}, "changed", 4),
    "1 becomes true": ({"metadata": {"a": True}}, "changed", 4),
    "the same version of another house": ({"content": "other", "updated_at": 2500}, "kept", 3),
    "into the trash": ({"deleted_at": 5000, "version": 4}, "changed", 4),
    "another namespace": ({"namespace": "/elsewhere", "version": 9}, "kept", 3),
    "only the version": ({"version": 8}, "unchanged", 3),
}


@pytest.mark.parametrize(("change", "outcome", "version"), CHANGES.values(), ids=CHANGES)
def test_of_our_own(app, change, outcome, version):
    assert fate(app, OURS)[0] == "saved"
    assert fate(app, replace(OURS, **change))[0] == outcome
    (stored,) = lines(app)
    assert stored["version"] == version
    assert stored["created_at"] == "1970-01-01T00:00:01.000Z"
    if outcome == "changed":
        assert fate(app, replace(OURS, **change))[0] == "unchanged"


def test_of_another_program_the_source_changes(app):
    assert fate(app, THEIRS) == ("saved", "")
    assert fate(app, THEIRS) == ("unchanged", "")
    assert fate(app, replace(THEIRS, content="new", updated_at=5000)) == ("changed", "")
    assert fate(app, replace(THEIRS, content="new", updated_at=6000)) == ("unchanged", "")
    (stored,) = lines(app)
    assert (stored["content"], stored["version"]) == ("new", 2)
    assert fate(app, THEIRS) == ("changed", "")


def test_of_another_program_what_was_changed_here_stays(app):
    put(app, [THEIRS])
    call(app, "save", memo_id=ONE, content="mine", metadata={"b": 2})
    assert fate(app, THEIRS) == ("unchanged", "")
    outcome, why = fate(app, replace(THEIRS, content="theirs"))
    assert (outcome, "Both sides changed" in why) == ("kept", True)
    assert lines(app)[0]["content"] == "mine"


def test_of_another_program_what_was_deleted_here_stays_deleted(app):
    put(app, [THEIRS])
    call(app, "delete", memo_id=ONE)
    assert fate(app, THEIRS) == ("kept", "It is in the trash.")
    call(app, "restore", memo_id=ONE)
    assert fate(app, THEIRS) == ("unchanged", "")


BAD = {
    "an id that is none": ({"memo_id": "%"}, "UUID"),
    "an id in capitals": ({"memo_id": ONE.replace("0", "A")}, "UUID"),
    "no content": ({"content": "  "}, "content is empty"),
    "too much content": ({"content": "x" * (1024 * 1024 + 1)}, "1048576"),
    "a long title": ({"title": "t" * 501}, "500"),
    "a long thread": ({"thread": "t" * 201}, "200"),
    "large metadata": ({"metadata": {"a": "x" * 70_000}}, "65536"),
    "deep metadata": ({"metadata": {"a": [[[[[[[[1]]]]]]]]}}, "8 levels"),
    "an unknown class": ({"boundary": "open"}, "boundary"),
    "a version below 1": ({"version": 0}, "version"),
    "a time before 1970": ({"created_at": -1}, "created_at"),
    "a namespace above the root": ({"namespace": "/.."}, "above"),
}


@pytest.mark.parametrize(("change", "why"), BAD.values(), ids=BAD)
def test_what_cannot_be_stored_is_skipped_and_the_rest_is_saved(tmp_path, change, why):
    with open_app(tmp_path / "home") as app:
        landed = put(app, [replace(OURS, **change), replace(OURS, memo_id=TWO)])["memos"]
        assert [each["outcome"] for each in landed] == ["skipped", "saved"]
        assert why in landed[0]["why"]
        assert [each["memo_id"] for each in lines(app)] == [TWO]


def test_relations(app):
    put(app, [OURS, replace(OURS, memo_id=TWO, namespace="/")])
    bond = RelationRecord("/", ONE, TWO, "causes", 0.5, "why", 1, 2, 2)
    cases = [
        (bond, "saved"),
        (bond, "unchanged"),
        (replace(bond, weight=0.7, version=1), "kept"),
        (replace(bond, weight=0.7), "changed"),
        (replace(bond, weight=0.9, version=9), "changed"),
        (replace(bond, weight=0.1, version=9, updated_at=3), "kept"),
        (replace(bond, weight=0.1, version=None), "unchanged"),
        (replace(bond, target=str(uuid.uuid4())), "skipped"),
        (replace(bond, target=ONE), "skipped"),
        (replace(bond, namespace="/notes"), "skipped"),
        (replace(bond, tag=""), "skipped"),
        (replace(bond, tag="x" * 65), "skipped"),
        (replace(bond, weight=1.2), "skipped"),
        (replace(bond, reason="x" * 10_001), "skipped"),
    ]
    for relation, outcome in cases:
        assert put(app, [], [relation])["relations"][0]["outcome"] == outcome, relation
    (stored,) = (each for each in lines(app) if each["type"] == "relation")
    assert (stored["weight"], stored["version"]) == (0.9, 9)


def test_the_index_and_the_journal_follow(app):
    put(app, [OURS, replace(OURS, memo_id=TWO, deleted_at=now())])
    with app.database.reading() as rows:
        found = rows.rows("select address, space from document order by address")
    assert found == [(f"tokonoma://memory/{ONE}", "/notes")]
    put(app, [replace(OURS, version=4, expires_at=now() - 1)])
    with app.database.reading() as rows:
        assert rows.rows("select address from document") == []
    put(app, [replace(OURS, version=5)])
    with app.database.reading() as rows:
        assert len(rows.rows("select address from document")) == 1
    # What changes nothing writes nothing.
    put(app, [replace(OURS, version=5)])
    app.journal.flush()
    with app.database.reading() as rows:
        told = rows.rows("select module, tool, outcome, transport from journal where kind = 'call' order by seq")
    assert told == [("memory", "import", end, "cli") for end in ("committed", "committed", "committed", "ok")]


def test_what_was_imported_is_found_at_once_and_the_trash_is_not(app):
    put(
        app, [replace(OURS, content="床の間に掛ける軸"), replace(OURS, memo_id=TWO, content="軸は箱の中", deleted_at=1)]
    )
    found = call(app, "search", query="掛け軸", mode="text")
    assert [each["memo_id"] for each in found["items"]] == [ONE]


def test_nobody_else_finds_these_tools(app):
    with app.database.writing() as statements:
        key = keys.create_key(statements, "agent", build_reach(root="/notes"))
    for talk in (Lines(app), Http(app, key)):
        assert not {"memory_import", "memory_export"} & {
            tool["name"] for tool in talk.ask("tools/list")["result"]["tools"]
        }
        schema = talk.value("get_module_schema", module="memory")
        assert "import(" not in str(schema)
        for name in ("import", "memory_import", "memory.import", "export", "export.relations"):
            params = {"memos": [], "relations": []} if "import" in name else {}
            assert talk.refused("memory", name, **params)["code"] == "NOT_FOUND"
            assert "error" in talk.ask("tools/call", name=f"memory_{name}", arguments=params)
        told = talk.tool("batch", jsonl='{"id": "a", "module": "memory", "tool": "export", "params": {}}')
        assert told["isError"] is True
