"""The owner's purge beyond memos: items, claims and contents of files that are long gone go for good, and no others."""

from pathlib import Path

from talk import Lines

from tokonoma.cli.call import call_owner_tool


def counted(app, *tables) -> list[int]:
    with app.database.reading() as rows:
        return [rows.row(f"select count(*) from {table}")[0] for table in tables]


def purged(app, module, days=0, **more):
    return call_owner_tool(app, module, "purge", {"days": days, **more})


def test_deleted_items_go_with_their_links_and_history(app):
    talk = Lines(app)
    stays, goes = (
        talk.call("items", "create_item", type="docs", title=f"tea {n}", tags=["tea"])["id"] for n in range(2)
    )
    talk.call("items", "add_relation", type="docs", id=stays, target=f"docs-{goes}")
    assert purged(app, "items") == {"deleted": 0}
    talk.call("items", "delete_item", type="docs", id=goes)
    assert purged(app, "items", days=1) == {"deleted": 0}, "it was deleted just now"
    assert purged(app, "items", dry_run=True) == {"deleted": 1}
    assert purged(app, "items") == {"deleted": 1}
    assert purged(app, "items") == {"deleted": 0}
    assert counted(app, "item", "item_link", "item_tag", "document") == [1, 0, 1, 1]
    with app.database.reading() as rows:
        assert {row[0] for row in rows.rows("select item_id from item_change")} == {stays}
    assert talk.refused("items", "restore_item", type="docs", id=goes)["code"] == 1001
    told = talk.call("items", "get_item_detail", type="docs", id=stays)
    assert (told["title"], told["related"]) == ("tea 0", [])
    assert talk.call("items", "create_item", type="docs", title="new")["id"] > goes, "a number is given once"


def test_forgotten_and_expired_claims_go_with_what_is_left_of_them(app):
    talk = Lines(app)
    stays, forgotten, over = (
        talk.call("claims", "upsert", text=f"tea {n}", scope="project", provenance={"at": "2026-01-01T00:00:00Z"})[
            "data"
        ]["id"]
        for n in range(3)
    )
    talk.call("claims", "forget", claim_id=forgotten)
    with app.database.writing() as statements:
        statements.run("update claim set expires_at = created_at where id = :id", id=over)
    assert purged(app, "claims", days=1) == {"forgotten": 0, "expired": 0}
    assert purged(app, "claims", dry_run=True) == {"forgotten": 1, "expired": 1}
    assert purged(app, "claims") == {"forgotten": 1, "expired": 1}
    assert purged(app, "claims") == {"forgotten": 0, "expired": 0}
    with app.database.reading() as rows:
        assert rows.rows("select id from claim") == [(stays,)]
        assert {row[0] for row in rows.rows("select claim from claim_event")} == {stays}
    assert counted(app, "document") == [1]
    assert talk.call("claims", "get", claim_id=stays)["data"]["text"] == "tea 0"


def test_contents_that_were_replaced_go_but_for_the_last_one_and_those_that_others_need(app):
    talk = Lines(app)
    for path in ("a.md", "b.md"):
        talk.call("vault", "create", path=path, content="one")
        for text in ("two", "three"):
            talk.call("vault", "write", path=path, content=text, mode="overwrite")
    talk.call("vault", "write", path="b.md", content="one", mode="overwrite")
    talk.call("vault", "write", path="b.md", content="four", mode="overwrite")
    kept = Path(app.server_info.locations()["vault"]) / ".system" / "versions"

    def there() -> set[str]:
        return {file.read_text() for file in kept.rglob("*") if file.is_file()}

    assert there() == {"one", "two", "three"}
    assert purged(app, "vault", days=1) == {"replaced": 0}
    assert purged(app, "vault", dry_run=True) == {"replaced": 1}
    assert purged(app, "vault") == {"replaced": 1}
    assert purged(app, "vault") == {"replaced": 0}
    assert there() == {"one", "two"}, "the last of b.md and of a.md"
    history = talk.call("vault", "history", path="b.md")["items"]
    assert len(history) == 5
    gone = next(each["previous_version"] for each in history if each["previous_bytes"] == len("three"))
    assert talk.refused("vault", "restore", path="b.md", version=gone)["code"] == "not_found"
    talk.call("vault", "restore", path="b.md", version=history[0]["previous_version"])
    assert talk.call("vault", "read", path="b.md", full=True)["text"] == "one"


def test_no_client_can_purge(app):
    talk = Lines(app)
    for module in ("items", "claims", "vault"):
        assert "purge" not in str(talk.value("get_module_schema", module=module))
        assert talk.refused(module, "purge", days=0)["message"]
