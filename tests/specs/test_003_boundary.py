"""specs/003, セキュリティ: the boundary around every module, over the wire, on both databases."""

from pathlib import Path

import pytest
from policy.houses import DENYING, MASKING, enforce, key
from talk import Http, Lines

SECRET = "sk-ant-api03-Zk3vQ9xWb7Lm2Np8Rt5Yc1Df6Gh4Jk0Sa"
MAIL = "hanako.tanaka@example.co.jp"


def save(talk, content, **more):
    return talk.call("memory", "save", content=content, **more)


def journal(app):
    app.journal.flush()
    with app.database.reading() as rows:
        return rows.rows("select * from journal")


def label_of(app, memo):
    with app.database.reading() as rows:
        stored = rows.row("select label from memo where id = :id", id=memo["memo_id"])
        indexed = rows.row(
            "select label, kinds from document where address = :a", a=f"tokonoma://memory/{memo['memo_id']}"
        )
    return stored[0], *indexed


def test_a_secret_is_refused_before_anything_is_stored_named_and_never_echoed(talk, app):
    told = talk.refused("memory", "save", content=f"the key is {SECRET}", metadata={"note": "x"})
    assert told["code"] == "PERMISSION_DENIED"
    assert told["details"]["kinds"] == ["anthropic_key"]
    assert told["details"]["fields"] == ["content"]
    assert SECRET not in str(told)
    assert talk.call("memory", "namespaces")["items"] == []
    entries = journal(app)
    assert SECRET not in str(entries)
    assert any("anthropic_key:" in str(entry) for entry in entries)


@pytest.mark.parametrize("place", ["title", "metadata", "key", "memos", "thread"])
def test_a_secret_is_found_wherever_it_is_put(talk, place):
    params = {
        "title": {"content": "x", "title": SECRET},
        "metadata": {"content": "x", "metadata": {"a": {"b": [SECRET]}}},
        "key": {"content": "x", "metadata": {SECRET: 1}},
        "memos": {"memos": [{"content": "fine"}, {"content": SECRET}]},
        "thread": {"content": "x", "thread": SECRET},
    }[place]
    told = talk.refused("memory", "save", **params)
    assert told["details"]["kinds"] == ["anthropic_key"]
    assert SECRET not in str(told)


def test_personal_data_is_kept_as_it_is_and_raises_the_class(talk, app):
    memo = save(talk, f"連絡は{MAIL}まで")
    assert label_of(app, memo) == ("pii", "pii", "email")
    assert talk.call("memory", "get", memo_id=memo["memo_id"])["content"] == f"連絡は{MAIL}まで"
    plain = save(talk, "床の間の話")
    assert label_of(app, plain) == ("internal", "internal", "")


def test_what_must_be_masked_is_masked_in_every_reading_and_in_batches(talk, app):
    memo = save(talk, f"田中の連絡先は{MAIL}", title=f"mail {MAIL}", metadata={"mail": MAIL}, namespace="people")
    other = save(talk, "田中は茶が好き", namespace="people")
    talk.call(
        "memory", "relation.save", sourceMemoId=memo["memo_id"], targetMemoId=other["memo_id"], tag="same",
        namespace="people", reason=f"see {MAIL}",
    )  # fmt: skip
    enforce(app, MASKING)
    read = talk.call("memory", "get", memo_id=memo["memo_id"])
    assert read["content"] == "田中の連絡先は[masked:email]"
    assert read["memo_id"] == memo["memo_id"]
    asked = {"memo_id": memo["memo_id"]}
    told = [
        read,
        talk.call("memory", "search", query="田中 連絡先", explain=True),
        talk.call("memory", "list"),
        talk.call("memory", "relation.list", namespace="people"),
        talk.batch({"id": "a", "module": "memory", "tool": "get", "params": asked, "output": True}),
    ]
    assert MAIL not in str(told)
    assert str(told).count("[masked:email]") >= 5
    assert any("email:" in str(entry) for entry in journal(app))


def test_the_history_is_masked_even_of_a_record_that_holds_nothing_any_more(talk, app):
    item = talk.call("items", "create_item", type="issue", title=f"mail {MAIL}")
    talk.call("items", "update_item", type="issue", id=item["id"], title="nothing")
    assert MAIL in str(talk.call("items", "get_item_history", type="issue", id=item["id"]))
    enforce(app, MASKING)
    history = talk.call("items", "get_item_history", type="issue", id=item["id"])
    assert MAIL not in str(history)
    assert "[masked:email]" in str(history)


def test_a_masked_text_is_not_written_back(talk, app):
    memo = save(talk, f"mail {MAIL}")
    enforce(app, MASKING)
    read = talk.call("memory", "get", memo_id=memo["memo_id"])
    told = talk.refused("memory", "save", memo_id=memo["memo_id"], content=read["content"] + " more")
    assert told["code"] == "CONFLICT"
    assert told["details"]["kinds"] == ["email"]
    enforce(app, "version: 3")
    assert talk.call("memory", "get", memo_id=memo["memo_id"])["content"] == f"mail {MAIL}"


def test_a_class_that_is_denied_is_not_found_not_counted_and_not_ranked(app):
    owner = Lines(app)
    memo = save(owner, f"mail {MAIL}", namespace="people")
    hidden = save(owner, "人事の話", namespace="hr/2026")
    plain = save(owner, "人事の連絡は掲示板", namespace="people")
    enforce(app, DENYING)
    caller = Http(app, key(app, "other"))
    for gone in (memo, hidden):
        assert caller.refused("memory", "get", memo_id=gone["memo_id"])["code"] == "NOT_FOUND"
    found = caller.call("memory", "search", query="人事 mail", k=10)
    assert [item["memo_id"] for item in found["items"]] == [plain["memo_id"]]
    assert caller.call("memory", "namespaces")["items"] == [{"namespace": "/people", "memos": 1}]
    assert len(caller.call("memory", "list")["items"]) == 1
    assert owner.call("memory", "get", memo_id=memo["memo_id"])["content"] == f"mail {MAIL}"
    assert owner.refused("memory", "get", memo_id=hidden["memo_id"])["code"] == "NOT_FOUND"


def test_a_stricter_policy_relabels_what_is_stored_and_a_milder_one_brings_it_back(app):
    owner = Lines(app)
    memo = save(owner, "人事の話", namespace="hr")
    trashed = save(owner, "捨てた人事の話", namespace="hr")
    owner.call("memory", "delete", memo_id=trashed["memo_id"])
    enforce(app, DENYING)
    assert label_of(app, memo)[:2] == ("secret", "secret")
    assert owner.call("memory", "list", state="trash")["items"] == []
    enforce(app, "version: 5")
    assert label_of(app, memo)[:2] == ("internal", "internal")
    assert owner.call("memory", "get", memo_id=memo["memo_id"])["content"] == "人事の話"


def test_new_detectors_look_again_at_what_is_stored(app):
    owner = Lines(app)
    memo = save(owner, "担当はEMP-123456です", metadata={"n": "EMP-999999"})
    assert label_of(app, memo)[0] == "internal"
    enforce(
        app,
        "version: 1\ndetectors: [{ kind: employee, class: pii, pattern: 'EMP-[0-9]{6}' }]\n"
        "boundary_classes: { pii: { allow: ['*'], redact: [employee] } }",
    )
    assert label_of(app, memo) == ("pii", "pii", "employee")
    read = owner.call("memory", "get", memo_id=memo["memo_id"])
    assert (read["content"], read["metadata"]) == ("担当は[masked:employee]です", {"n": "[masked:employee]"})


def test_where_no_policy_can_be_read_nothing_leaves(app, capsys):
    owner = Lines(app)
    memo = save(owner, "床の間")
    enforce(app, "version: 1")
    with app.database.writing() as statements:
        statements.run("update policy_version set yaml = 'version: [' where number = 1")
    app.policies._head = None  # as a process that starts now
    app.policies.invalidate()
    assert owner.refused("memory", "get", memo_id=memo["memo_id"])["code"] == "POLICY_MISSING"
    assert owner.refused("memory", "save", content="x")["code"] == "POLICY_MISSING"
    assert owner.call("system", "status")["version"]
    assert '"event": "policy"' in capsys.readouterr().err


def test_errors_and_unknown_names_are_looked_through_too(talk, app):
    told = talk.refused("memory", SECRET)
    assert SECRET not in str(told)
    memo = save(talk, "first")
    save(talk, memo_id=memo["memo_id"], content=f"mail {MAIL}")
    enforce(app, MASKING)
    stale = talk.refused("memory", "save", memo_id=memo["memo_id"], content="mine", expected_version=1)
    assert MAIL not in str(stale)
    assert "[masked:email]" in str(stale["details"]["diff"])
    assert SECRET not in str(journal(app))


MASKS = """
version: 7
masks:
  - { module: manual, path: 'guide/*', kinds: [secret], class: internal }
"""


def test_pages_that_show_a_key_are_shown_with_the_key_masked(talk, app):
    for place, name in (("manuals", "guide/a.md"), ("manuals", "other/a.md"), ("vault", "a.md")):
        file = Path(app.server_info.locations()[place]) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Keys\nUnless told otherwise a key looks like {SECRET}.\n\n# Other\nPlain.\n")
    ref = {"manual_id": "guide", "path": "a.md", "start_line": 1}
    assert talk.call("manual", "toc", manual_id="guide")["total"] == 2
    assert "[masked:anthropic_key]" in talk.call("vault", "read", path="a.md", full=True)["text"]
    enforce(app, MASKS)
    read = talk.call("manual", "read", ref=ref, scope="section")
    assert read["text"] == "# Keys\nUnless told otherwise a key looks like [masked:anthropic_key].\n\n"
    trail = talk.call("manual", "find", query="key looks like")["trace_id"]
    told = [
        talk.call("manual", "hits", trace_id=trail),
        talk.call("manual", "excepts"),
        talk.batch({"id": "a", "module": "manual", "tool": "read", "params": {"ref": ref}, "output": True}),
    ]
    assert "guide" in str(told[0])
    assert SECRET not in str(told)
    assert "[masked:anthropic_key]" in str(told[2])
    assert talk.refused("memory", "save", content=SECRET)["details"]["kinds"] == ["anthropic_key"]
    hiding = "version: 8\nmasks: [{ module: manual, kinds: [secret], class: secret }]"
    enforce(app, hiding)
    assert talk.call("manual", "toc", manual_id="guide")["total"] == 1, "if the policy wants it, nobody sees the page"
