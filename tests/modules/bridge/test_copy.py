"""bridge: a copy is made without showing the text, and a copy that cannot be made changes nothing."""

import pytest
from talk import Lines

from tokonoma.app import App


@pytest.fixture
def talk(tmp_path):
    app = App({"home": str(tmp_path), "durable": False, "embed_provider": "none"}, {})
    yield Lines(app)
    app.close()


def test_a_memo_is_copied_unseen(talk):
    memo = talk.call("memory", "save", content="the spare key is in the drawer")["memo_id"]
    result = talk.tool(
        "call", module="bridge", tool_name="copy_section",
        params={"from_ref": {"address": f"tokonoma://memory/{memo}"}, "to_path": "artifacts/key.md"},
    )  # fmt: skip
    assert not result.get("isError"), result
    assert "spare key" not in result["content"][0]["text"]
    assert "spare key" in str(talk.call("vault", "read", path="artifacts/key.md", full=True))


def test_a_copy_of_nothing_makes_no_file(talk):
    ref = {"address": "tokonoma://memory/0190a000-0000-7000-8000-000000000000"}
    assert talk.refused("bridge", "copy_section", from_ref=ref, to_path="artifacts/none.md")["code"] == "not_found"
    assert talk.call("vault", "ls")["total"] == 0
