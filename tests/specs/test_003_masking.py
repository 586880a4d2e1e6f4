"""What a caller may not see is masked in the whole text, before anything is cut from it or asked of it."""

from pathlib import Path

import pytest
from policy.houses import enforce, key
from talk import Http, Lines

from tokonoma.policy.current import read_for_index
from tokonoma.policy.masking import CallMasks

BODY = "\n".join(f"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ{line:02d}xYz" for line in range(30))
PEM = f"-----BEGIN PRIVATE KEY-----\n{BODY}\n-----END PRIVATE KEY-----\n"
CARD, MAIL = "4556 7375 8689 9855", "taro.yamada@example.jp"
MASKED = """version: 1
boundary_classes: { pii: { allow: ['answer:task'], redact: [pii] } }
"""
FOR_THE_OWNER = """version: 2
callers: { owner: ['*'] }
boundary_classes: { pii: { allow: ['owner:eyes'] } }
"""
FOR_NOBODY = """version: 1
masks: [{ module: manual, kinds: [secret], class: secret }, { module: vault, kinds: [secret], class: secret }]
"""


def place(app, where: str) -> Path:
    folder = Path(app.server_info.locations()[where])
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_every_part_of_a_private_key_is_masked(talk, app):
    """Nothing in the second half of a key says that it is one."""
    text = f"# Setup\nfirst\n{PEM}last\n## Next\nmore\n"
    (place(app, "vault") / "key.md").write_text(text)
    (place(app, "manuals") / "book").mkdir(parents=True)
    (place(app, "manuals") / "book" / "key.md").write_text(text)
    lines = talk.call("vault", "read", path="key.md", range={"start_line": 6, "end_line": 20})
    assert lines["text"] == "[masked:private_key]\n" * 15
    after = talk.call("vault", "read", path="key.md", range={"start_line": 35, "end_line": 36})
    assert after["text"] == "last\n## Next\n"
    told, cursor = [lines], {}
    for _ in range(3):
        told.append(talk.call("vault", "scan", path="key.md", chunk_lines=8, **cursor))
        cursor = {"cursor": told[-1]["next_cursor"]} if told[-1].get("next_cursor") else {}
    for query in ("MIIEvQ", "qhkiG9w0BAQ", "xYz"):
        told.append(found := talk.call("vault", "search", query=query))
        assert found["items"] == []
    ref = {"manual_id": "book", "path": "key.md", "start_line": 6}
    told.append(talk.call("manual", "read", ref=ref, scope="snippet"))
    told.append(talk.call("manual", "find", query="qhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ05xYz"))
    talk.call("bridge", "copy_section", from_ref={"address": "tokonoma://vault/key.md#L10-L12"}, to_path="copy.md")
    assert (place(app, "vault") / "copy.md").read_text() == "[masked:private_key]\n" * 3
    assert "qhkiG9w0" not in str(told)


@pytest.fixture
def bot(app) -> Http:
    enforce(app, MASKED)
    return Http(app, key(app, "bot"))


def test_a_number_that_a_list_cuts_is_masked_whole(app, bot):
    owner = Lines(app)
    text = "語" * 185 + CARD + " その後"
    memo = owner.call("memory", "save", content=text)["memo_id"]
    listed = bot.call("memory", "list", namespace="/")["items"][0]["content"]
    read = bot.call("memory", "get", memo_id=memo, offset=180, max_characters=12)["content"]
    assert listed == "語" * 185 + "[masked:card] そ"
    assert read == "語" * 5 + "[masked"


def test_what_is_masked_is_found_by_nobody_and_what_is_hidden_from_some_by_the_others(app, bot):
    owner = Lines(app)
    memo = owner.call("memory", "save", content=f"連絡先は {MAIL} です", metadata={"mail": MAIL})["memo_id"]
    asked = [{"query": each, "mode": "text"} for each in ("yamada", "taro.yamada", "taro")]
    asked += [{"metadata_filter": {"mail": each}} for each in ({"prefix": "taro"}, {"contains": "yamada"})]

    def find(talk, params) -> list[str]:
        return [each["memo_id"] for each in talk.call("memory", "search", namespace="/", **params)["items"]]

    for params in asked:
        assert find(owner, params) == find(bot, params) == [], params
    found = bot.call("memory", "search", query="連絡先", namespace="/")["items"]
    assert found[0]["content"] == "連絡先は [masked:email] です"
    enforce(app, FOR_THE_OWNER)
    for params in asked:
        assert (find(owner, params), find(bot, params)) == ([memo], []), params
    enforce(app, "version: 3")  # nothing is hidden: it is an ordinary word again
    assert [find(bot, params) for params in asked] == [[memo]] * len(asked)


def test_vectors_hold_nothing_hidden(app, bot):
    owner = Lines(app)
    memo = owner.call("memory", "save", content=f"mail {MAIL}", title=f"about {MAIL}")["memo_id"]
    with app.database.reading() as rows:
        address = f"tokonoma://memory/{memo}"
        record = read_for_index(lambda: app.policies, app.registry.read_record, rows, address)
    assert (record.title, record.text) == ("about [masked:email]", "mail [masked:email]")


def test_replacing_tells_nothing_of_what_is_hidden(app, bot):
    (place(app, "vault") / "a.md").write_text(f"# Taro\nmail {MAIL} and mail again\n")
    for guess in ("taro", "yamada", MAIL, "@example"):
        assert bot.refused("vault", "replace", path="a.md", find=guess, replace="x")["code"] == "not_found"
    told = bot.call("vault", "replace", path="a.md", find="mail", replace="post", max_replacements=5)
    assert (told["replaced"], told["remaining"]) == (2, 0)
    assert (place(app, "vault") / "a.md").read_text() == f"# Taro\npost {MAIL} and post again\n"


def test_changing_items_tells_nothing_of_their_hidden_tags(app, bot):
    """The arguments of a change are stored as they are, so they are not masked: they must not be compared."""
    owner = Lines(app)
    owner.call("items", "create_item", type="issues", title="call back", content="x", tags=[f"for {MAIL}", "phone"])
    for guess in (f"for {MAIL}", f"FOR {MAIL.upper()}"):
        assert bot.refused("items", "rename_tag", tag=guess, to="new")["code"] == 1001
        assert bot.refused("items", "claim_item", tag=guess)["code"] == 1001
        for query in (f'tag:"{guess}"', f'tag:phone tag:"{guess}"'):
            found = bot.call("items", "bulk_update", query=query, data={"priority": "HIGH"}, dry_run=True)
            assert found["items"] == [], query
    without = bot.call("items", "bulk_update", query=f'tag:phone -tag:"for {MAIL}"', data={"priority": "HIGH"})
    assert without["updated"] == 1  # as the bot sees it, it has no such tag
    assert bot.call("items", "rename_tag", tag="PHONE", to="mobile") == {"tag": "mobile", "items": 1}
    assert bot.call("items", "claim_item", tag="mobile")["assignee"]
    enforce(app, "version: 2")
    assert owner.call("items", "get_items", tag="mobile")["items"][0]["tags"] == [f"for {MAIL}", "mobile"]


def test_a_file_with_nothing_to_hide_is_looked_through_once(app, bot, monkeypatch):
    """Until its text or the policy changes."""
    vault = place(app, "vault")
    (vault / "plain.md").write_text("nothing here\n")
    (vault / "mail.md").write_text(f"mail {MAIL}\n")
    looked: list[str] = []
    mask_text = CallMasks.mask_text
    monkeypatch.setattr(
        CallMasks, "mask_text", lambda self, text, *rest: looked.append(text) or mask_text(self, text, *rest)
    )
    for _ in range(2):
        assert [each["text"] for each in bot.call("vault", "search", query="n")["items"]] == ["nothing here"]
    assert bot.call("vault", "read", path="plain.md", full=True)["text"] == "nothing here\n"
    assert set(looked) == {f"mail {MAIL}\n"}
    (vault / "plain.md").write_text(f"now {MAIL} here\n")
    assert bot.call("vault", "search", query="now")["items"][0]["text"] == "now [masked:email] here"
    enforce(app, "version: 3")
    assert MAIL in bot.call("vault", "search", query="now")["items"][0]["text"]
    enforce(app, MASKED.replace("version: 1", "version: 4"))
    assert bot.call("vault", "search", query="now")["items"][0]["text"] == "now [masked:email] here"


def test_only_the_owner_is_told_how_much_is_hidden(app):
    owner, other = Lines(app), Http(app, key(app, "one"))
    (place(app, "manuals") / "book").mkdir(parents=True)
    for file in (place(app, "vault") / "key.md", place(app, "manuals") / "book" / "key.md"):
        file.write_text(f"# Key\n{PEM}\n# Plain\nwords\n")
    for module in ("vault", "manual"):
        assert owner.call(module, "find", query="words")["summary"]["hidden_by_policy"] == 0
    enforce(app, FOR_NOBODY)
    for module in ("vault", "manual"):
        assert owner.call(module, "find", query="words")["summary"]["hidden_by_policy"] == 1
        assert "hidden_by_policy" not in other.call(module, "find", query="words")["summary"]


def test_after_an_update_of_the_program_records_are_scanned_again(app):
    owner = Lines(app)
    memo = owner.call("memory", "save", content=f"mail {MAIL}")["memo_id"]
    with app.write_as_owner("test") as statements:
        statements.run("update policy_scan set masks = 'of an earlier program'")
        statements.run("update document set label = 'internal', kinds = '', detectors = '1'")
        statements.run("update memo set label = 'internal'")
    app.policies.invalidate()
    app.policies.get_active()  # notices it, and starts the job
    assert app.reclassifier.run_until_done()
    with app.database.reading() as rows:
        assert rows.rows("select label, kinds from document") == [("pii", "email")]
        assert rows.rows("select label from memo where id = :id", id=memo) == [("pii",)]
    assert not app.policies.progress()


@pytest.mark.parametrize("where", ["long value", "many values", "provenance", "file name", "name and value"])
def test_everything_that_a_record_carries_decides_its_class(app, where):
    """Metadata of any length, sources and names: what is denied to a caller is not shown in any of them."""
    owner, other = Lines(app), Http(app, key(app, "one"))
    enforce(app, FOR_THE_OWNER)
    if where == "provenance":
        owner.call("claims", "upsert", text="plain", provenance={"at": "2026-01-01T00:00:00Z", "note": f"by {MAIL}"})
        assert other.call("claims", "list")["data"]["items"] == []
        assert len(owner.call("claims", "list")["data"]["items"]) == 1
    elif where == "file name":
        (place(app, "vault") / f"{MAIL}.md").write_text("plain")
        assert other.call("vault", "ls")["items"] == []
    elif where == "name and value":
        told = owner.refused("memory", "save", content="x", metadata={"db": {"password": "Xy7kq29mZp"}})
        assert (told["details"]["kinds"], told["details"]["fields"]) == (["password"], ["metadata.db.password"])
    else:
        values = (
            {"a": "x" * 495 + f" {MAIL}"} if where == "long value" else {f"k{n}": n for n in range(1100)} | {"z": MAIL}
        )
        owner.call("memory", "save", content="plain", metadata=values)
        assert other.call("memory", "list", namespace="/")["items"] == []
        asked = {"metadata_filter": {"a": {"contains": "taro"}}, "namespace": "/"}
        assert other.call("memory", "search", **asked)["items"] == []
