"""Imported records on both databases: refused, or sealed where no tool finds them."""

import uuid

import pytest
from talk import Lines

from tokonoma.cli.call import call_owner_tool

SECRET = "AKIAQ3EGRT5ZL2PWX7VN"
MEMO = {
    "memo_id": str(uuid.UUID(int=7)), "namespace": "/", "title": "Cloud", "content": f"key {SECRET}", "metadata": {},
    "thread": "", "created_at": None, "updated_at": None, "expires_at": None, "deleted_at": None, "version": None,
    "boundary": "public",
}  # fmt: skip
ITEM = {"uid": str(uuid.UUID(int=8)), "type": "docs", "title": "Cloud", "content": f"key {SECRET}"}


@pytest.mark.parametrize(
    ("module", "params", "listed"),
    [("memory", {"memos": [MEMO], "relations": []}, "list"), ("items", {"items": [ITEM]}, "get_items")],
    ids=["memory", "items"],
)
def test_a_secret_is_refused_or_sealed(app, module, params, listed):
    talk = Lines(app)
    kind = "memos" if module == "memory" else "items"
    (refused,) = call_owner_tool(app, module, "import", params)[kind]
    assert refused["outcome"] == "skipped"
    assert "aws_access_key in content" in refused["why"]
    (sealed,) = call_owner_tool(app, module, "import", {**params, "seal": True})[kind]
    assert sealed["outcome"] == "saved"
    assert "Sealed" in sealed["note"]
    assert talk.call(module, listed)["items"] == []
    table = "memo" if module == "memory" else "item"
    with app.database.reading() as rows:
        assert rows.rows(f"select label from {table}") == [("secret",)]
        assert rows.rows("select label from document") == [("secret",)]
