"""specs/000, 変更履歴: every version of a memo is kept, shown and restored, over the wire, on both databases."""

import pytest
from policy.houses import enforce, key
from talk import Http, Lines

from tokonoma.cli.call import call_owner_tool
from tokonoma.core.clock import format_time
from tokonoma.modules.memory import versions
from tokonoma.policy.hidden import list_by_class


@pytest.fixture
def talk(app) -> Lines:
    return Lines(app)


def save(talk, **params):
    return talk.call("memory", "save", **params)["memo_id"]


def history(talk, memo_id, **params):
    return talk.call("memory", "history", memo_id=memo_id, **params)


def count_versions(app) -> int:
    with app.database.reading() as rows:
        return rows.row("select count(*) from memo_version")[0]


def test_every_change_keeps_the_version_before_with_who_and_when(app, talk, frozen_clock):
    at = [frozen_clock.at]
    bot = Http(app, key(app, "bot"))
    memo = save(talk, content="one", title="t", metadata={"a": 1})
    for change in ({"content": "two", "expires_at": "2999-01-01T00:00:00Z"}, {"metadata": {"a": 2}, "thread": "x"}):
        frozen_clock.at += 1000
        at.append(frozen_clock.at)
        save(bot, memo_id=memo, **change)
    told = history(talk, memo)
    shown = [(each["version"], each["content"], each["metadata"], each.get("expires_at")) for each in told["items"]]
    until = "2999-01-01T00:00:00.000Z"
    assert shown == [(3, "two", {"a": 2}, until), (2, "two", {"a": 1}, until), (1, "one", {"a": 1}, None)]
    assert [(each["at"], each["author"]) for each in told["items"]] == [
        (format_time(at[2]), "key:bot"), (format_time(at[1]), "key:bot"), (format_time(at[0]), "owner"),
    ]  # fmt: skip
    assert [each.get("thread") for each in told["items"]] == ["x", None, None]
    assert {each["namespace"] for each in told["items"]} == {"/"}
    assert told["has_more"] is False


def test_a_new_memo_writes_no_second_row(app, talk):
    save(talk, content="one")
    assert count_versions(app) == 0


def test_a_diff_shows_what_each_version_changed(talk):
    memo = save(talk, content="tea\ncups\nrice")
    save(talk, memo_id=memo, content="tea\nbowls\nrice", metadata={"n": 1})
    newest, first = history(talk, memo, diff=True)["items"]
    lines = newest["diff"].splitlines()
    assert lines[:2] == ["--- version 1", "+++ version 2"]
    assert {"-cups", "+bowls", '+metadata: {"n": 1}'} <= set(lines)
    assert "diff" not in first
    assert "content" not in newest
    (only,) = history(talk, memo, diff=True, version=2)["items"]
    assert only["diff"] == newest["diff"]


def test_a_long_diff_is_cut_and_says_so(talk):
    memo = save(talk, content="\n".join(f"line {n}" for n in range(5_000)))
    save(talk, memo_id=memo, content="\n".join(f"line {n if n != 2_500 else 'x'}" for n in range(5_000)))
    save(talk, memo_id=memo, content="\n".join(f"other {n}" for n in range(5_000)))
    newest, second, _ = history(talk, memo, diff=True)["items"]
    assert second["diff"].splitlines()[2:] == ["@@ -2502,1 +2502,1 @@", "-line 2500", "+line x"]
    assert len(newest["diff"]) < 20_100
    assert newest["diff"].endswith("characters)")


def test_versions_page_to_the_end_and_one_is_read_whole(talk):
    memo = save(talk, content="0" * 5_000)
    for number in range(1, 7):
        save(talk, memo_id=memo, content=str(number) * 5_000)
    seen, cursor = [], None
    while True:
        page = history(talk, memo, limit=3, **({"cursor": cursor} if cursor else {}))
        seen += [each["version"] for each in page["items"]]
        assert all(each["content_truncated"] and len(each["content"]) == 2_000 for each in page["items"])
        if not page["has_more"]:
            break
        cursor = page["next_cursor"]
    assert seen == [7, 6, 5, 4, 3, 2, 1]
    (one,) = history(talk, memo, version=3)["items"]
    assert (one["content"], "content_truncated" in one) == ("2" * 5_000, False)
    (rest,) = history(talk, memo, version=3, offset=4_990)["items"]
    assert rest["content"] == "2" * 10
    assert talk.refused("memory", "history", memo_id=memo, version=9)["code"] == "NOT_FOUND"
    other = save(talk, content="other")
    assert talk.refused("memory", "history", memo_id=other, version=2)["code"] == "NOT_FOUND"


def test_an_earlier_version_is_restored_as_a_new_one(talk):
    memo = save(talk, content="one", title="first", metadata={"a": 1}, thread="x")
    save(talk, memo_id=memo, content="two", title="second", metadata={"b": 2}, ttl_seconds=1000)
    error = talk.refused("memory", "restore", memo_id=memo, version=1, expected_version=1)
    assert (error["code"], error["details"]["current_version"]) == ("CONFLICT", 2)
    restored = talk.call("memory", "restore", memo_id=memo, version=1, expected_version=2)
    assert (restored["version"], restored["title"], restored["metadata"]) == (3, "first", {"a": 1})
    assert "expires_at" not in restored
    assert talk.call("memory", "get", memo_id=memo)["content"] == "one"
    assert [item["memo_id"] for item in talk.call("memory", "search", query="one", mode="text")["items"]] == [memo]
    assert talk.call("memory", "search", query="two", mode="text")["items"] == []
    newest = history(talk, memo)["items"][0]
    assert (newest["change"], newest["restored_version"]) == ("restored", 1)
    assert talk.refused("memory", "restore", memo_id=memo)["code"] == "NOT_FOUND"
    assert talk.refused("memory", "restore", memo_id=memo, version=9)["code"] == "NOT_FOUND"


def test_the_text_of_a_restored_version_is_still_its_authors(app, talk):
    bot = Http(app, key(app, "bot"))
    memo = save(bot, content="the bot says so")
    save(talk, memo_id=memo, content="the owner says so")
    talk.call("memory", "restore", memo_id=memo, version=1)
    with app.database.reading() as rows:
        assert rows.row("select author from document")[0] == "key:bot"


def test_deleting_and_restoring_are_versions_too(talk):
    memo = save(talk, content="one")
    talk.call("memory", "delete", memo_id=memo)
    told = history(talk, memo)["items"]
    assert [(each["version"], each["change"], "deleted_at" in each) for each in told] == [
        (2, "deleted", True), (1, "saved", False),
    ]  # fmt: skip
    talk.call("memory", "restore", memo_id=memo)
    assert history(talk, memo)["items"][0]["change"] == "restored"


def test_an_expired_memo_can_be_restored(talk, frozen_clock):
    memo = save(talk, content="soon over", ttl_seconds=10)
    frozen_clock.at += 20_000
    assert talk.refused("memory", "get", memo_id=memo)["code"] == "NOT_FOUND"
    assert "expires_at" not in talk.call("memory", "restore", memo_id=memo)
    assert talk.call("memory", "get", memo_id=memo)["content"] == "soon over"


def test_only_the_last_versions_are_kept(app, talk, monkeypatch):
    monkeypatch.setattr(versions, "KEPT_VERSIONS", 3)
    memo = save(talk, content="0")
    for number in range(1, 8):
        save(talk, memo_id=memo, content=str(number))
    assert [each["version"] for each in history(talk, memo)["items"]] == [8, 7, 6, 5]
    monkeypatch.setattr(versions, "KEPT_BYTES", 2_500)
    for letter in "abcd":
        save(talk, memo_id=memo, content=letter * 1_000)
    assert [each["version"] for each in history(talk, memo)["items"]] == [12, 11, 10]
    save(talk, memo_id=memo, content="x" * 4_000)
    save(talk, memo_id=memo, content="y")
    assert [each["version"] for each in history(talk, memo)["items"]] == [14, 13]
    other = save(talk, content="other")
    save(talk, memo_id=other, content="other again")
    assert count_versions(app) == 2


def test_purge_and_forget_remove_all_versions(app, talk, frozen_clock):
    memos = [save(talk, content="one") for _ in range(3)]
    for memo in memos:
        save(talk, memo_id=memo, content="two")
    talk.call("memory", "delete", memo_id=memos[0])
    assert count_versions(app) == 4
    frozen_clock.at += 86_400_000
    call_owner_tool(app, "memory", "purge", {"days": 1})
    assert count_versions(app) == 2
    call_owner_tool(app, "memory", "forget", {"address": f"tokonoma://memory/{memos[1]}"})
    assert [each["version"] for each in history(talk, memos[1])["items"]] == [3]
    call_owner_tool(app, "memory", "forget", {"address": f"tokonoma://memory/{memos[2]}@1"})
    assert [each["version"] for each in history(talk, memos[2])["items"]] == [2]
    assert count_versions(app) == 0


def test_an_import_keeps_the_version_that_it_replaces(app, talk):
    memo = save(talk, content="one")
    (exported,) = call_owner_tool(app, "memory", "export", {})["memos"]
    assert not {"version_at", "change", "detail"} & exported.keys()
    newer = {**exported, "content": "from elsewhere", "version": 5, "author": "laptop"}
    call_owner_tool(app, "memory", "import", {"memos": [newer], "relations": []})
    told = [(each["version"], each["content"], each["author"]) for each in history(talk, memo)["items"]]
    assert told == [(5, "from elsewhere", "laptop"), (1, "one", "owner")]


# The policy over earlier versions

HIDES = """version: {}.0
callers: {{ owner: ['*'], 'key:bot': ['answer:task'] }}
boundary_classes: {{ pii: {{ allow: ['owner:eyes'] }}, internal: {{ allow: ['*'] }} }}
"""
MASKS = """version: {}.0
callers: {{ owner: ['*'], 'key:bot': ['answer:task'] }}
boundary_classes: {{ pii: {{ allow: ['answer:task'], redact: [pii] }} }}
"""


def test_an_earlier_version_that_a_caller_may_not_see_is_not_in_its_history(app, talk):
    enforce(app, HIDES.format(2))
    bot = Http(app, key(app, "bot"))
    memo = save(talk, content="ask taro.yamada@example.jp")
    save(talk, memo_id=memo, content="ask him")
    assert [each["version"] for each in history(bot, memo)["items"]] == [2]
    assert [each["version"] for each in history(talk, memo)["items"]] == [2, 1]
    for tool in ("history", "restore"):
        assert bot.refused("memory", tool, memo_id=memo, version=1)["code"] == "NOT_FOUND"
    assert "taro" not in str(history(bot, memo, diff=True))


def test_a_new_policy_classifies_earlier_versions_too(app, talk):
    enforce(app, "version: 2.0\nboundary_classes: { internal: { allow: ['*'] } }\nkinds: { email: internal }\n")
    bot = Http(app, key(app, "bot"))
    memo = save(talk, content="ask taro.yamada@example.jp")
    save(talk, memo_id=memo, content="ask him")
    trash = save(talk, content="hana.suzuki@example.jp")
    talk.call("memory", "delete", memo_id=trash)
    enforce(app, HIDES.format(3))
    assert [each["version"] for each in history(bot, memo)["items"]] == [2]
    assert bot.refused("memory", "history", memo_id=trash)["code"] == "NOT_FOUND"
    with app.policies.reading() as rows:
        found = list_by_class(rows, "pii", app.registry.load_all(), app.policies.get_active())
        listed = {each.address for each in found}
    assert listed == {f"tokonoma://memory/{name}" for name in (f"{memo}@1", trash, f"{trash}@1")}


def test_earlier_versions_are_masked_as_a_whole(app, talk):
    enforce(app, MASKS.format(2))
    bot = Http(app, key(app, "bot"))
    memo = save(talk, content=f"{'x' * 1_990} taro.yamada@example.jp", metadata={"mail": "a taro.yamada@example.jp"})
    save(
        talk,
        memo_id=memo,
        content="ask hana.suzuki@example.jp",
        title="hana.suzuki@example.jp",
        metadata={"mail": None},
    )
    for asked in ({}, {"diff": True}, {"version": 1}, {"version": 1, "offset": 1_995}):
        told = str(history(bot, memo, **asked))
        assert not [part for part in ("taro", "yamada", "hana", "example.jp") if part in told], asked
    with app.database.reading() as rows:
        assert "taro.yamada@example.jp" in rows.row("select content from memo_version")[0]
