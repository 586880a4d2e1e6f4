"""The owner's purge: what is long gone goes for good, on both databases, and nothing else."""

import pytest
from talk import Lines

from tokonoma.cli.call import call_owner_tool

DAY = 86_400_000


@pytest.fixture
def later(frozen_clock):
    """`later(days)`: the clock of the server runs ahead."""
    start = frozen_clock.at

    def ahead(days: float) -> None:
        frozen_clock.at = start + int(days * DAY)

    return ahead


def counted(app) -> tuple[int, ...]:
    with app.database.reading() as rows:
        tables = ("memo", "memo_relation", "document", "terms", "words")
        return tuple(rows.row(f"select count(*) from {table}")[0] for table in tables)


def test_what_was_deleted_or_expired_long_ago_is_forgotten_with_its_relations(app, later):
    talk = Lines(app)
    kept, deleted, recent = (talk.call("memory", "save", content=f"tea {n}")["memo_id"] for n in range(3))
    talk.call("memory", "save", content="tea soon over", ttl_seconds=60)
    talk.call("memory", "save", content="tea over later", ttl_seconds=86_400 * 900)
    talk.call("memory", "relation.save", sourceMemoId=kept, targetMemoId=deleted, tag="t")
    talk.call("memory", "relation.save", sourceMemoId=kept, targetMemoId=recent, tag="t")
    talk.call("memory", "delete", memo_id=deleted)
    later(300)
    talk.call("memory", "delete", memo_id=recent)
    assert call_owner_tool(app, "memory", "purge", {"days": 365}) == {"deleted": 0, "expired": 0}
    later(366)
    assert call_owner_tool(app, "memory", "purge", {"days": 365, "dry_run": True}) == {"deleted": 1, "expired": 1}
    before = counted(app)
    assert call_owner_tool(app, "memory", "purge", {"days": 365}) == {"deleted": 1, "expired": 1}
    assert call_owner_tool(app, "memory", "purge", {"days": 365}) == {"deleted": 0, "expired": 0}
    assert [b - a for b, a in zip(before, counted(app), strict=True)] == [2, 1, 1, 1, 1]
    assert talk.refused("memory", "restore", memo_id=deleted)["code"] == "NOT_FOUND"
    talk.call("memory", "restore", memo_id=recent)
    edges = talk.call("memory", "relation.list")["edges"]
    assert [edge["targetMemoId"] for edge in edges] == [recent]
    told = talk.call("memory", "search", query="tea", mode="text")["items"]
    assert {item["content"] for item in told} == {"tea 0", "tea 2", "tea over later"}


def test_no_client_can_purge(app):
    talk = Lines(app)
    assert "purge" not in str(talk.value("get_module_schema", module="memory"))
    assert talk.refused("memory", "purge", days=0)["message"]
    assert talk.refused("memory", "memory_purge", days=0)["message"]


def test_more_than_a_page_goes_page_by_page(app, later, monkeypatch):
    monkeypatch.setattr("tokonoma.modules.memory.delete._PURGE_PAGE", 7)
    talk = Lines(app)
    talk.call("memory", "save", memos=[{"content": f"tea {n}", "ttl_seconds": 1} for n in range(20)])
    talk.call("memory", "save", content="stays")
    later(1)
    pages = [call_owner_tool(app, "memory", "purge", {"days": 0})["expired"] for _ in range(4)]
    assert pages == [7, 7, 6, 0]
    assert counted(app) == (1, 0, 1, 1, 1)
