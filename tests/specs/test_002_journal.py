"""Every call leaves an entry; a batch leaves one for itself and one for each step; nothing holds a body."""

import json

from talk import Http, Lines

from tokonoma.journal.verify import verify


def entries(app):
    app.journal.flush()
    with app.database.reading() as rows:
        return rows.rows(
            "select module, tool, outcome, code, parent, principal, transport, remote from journal"
            " where kind = 'call' order by at, seq"
        )


def test_calls_refusals_and_unknown_tools_are_all_entered(app):
    talk = Lines(app)
    talk.call("system", "status")
    talk.refused("system", "recent", limit=0)
    talk.refused("nothing", "at all")
    talk.value("get_module_schema", module="system")
    told = [row[:4] for row in entries(app)]
    assert told == [
        ("system", "status", "ok", ""),
        ("system", "recent", "refused", "invalid"),
        ("nothing", "at all", "refused", "missing.module"),
        ("gateway", "get_module_schema", "ok", ""),
    ]
    with app.database.reading() as rows:
        assert verify(rows).problems == ()


def test_http_entries_hold_the_remote_address(app):
    Http(app).call("system", "status")
    assert entries(app)[0][5:] == ("owner", "http", "127.0.0.1")


def test_a_batch_is_entered_once_and_each_step_names_it(app):
    Lines(app).batch(
        {"id": "a", "module": "system", "tool": "status"},
        {"id": "b", "module": "system", "tool": "where", "after": "a"},
    )
    told = entries(app)
    parents = {row[1]: row[4] for row in told}
    assert sorted(row[1] for row in told) == ["batch", "status", "where"]
    assert parents["batch"] is None
    assert parents["status"] == parents["where"] != ""


def test_pages_of_recent_calls_hold_each_once(app):
    talk = Lines(app)
    for _ in range(7):
        talk.call("system", "status")
    app.journal.flush()
    first = talk.call("system", "recent", limit=5)
    assert first["has_more"] is True
    second = talk.call("system", "recent", limit=5, cursor=first["next_cursor"])
    assert second["has_more"] is False
    ids = [item["request_id"] for item in first["items"] + second["items"]]
    assert len(set(ids)) == 7


def test_no_parameter_reaches_the_journal(app):
    talk = Lines(app)
    talk.refused("system", "recent", cursor="a secret that must not be kept")
    app.journal.flush()
    with app.database.reading() as rows:
        assert "a secret" not in json.dumps(
            [[str(value) for value in row] for row in rows.rows("select * from journal")]
        )


def test_the_same_trace_runs_through_the_call(app):
    talk = Lines(app)
    trace = "0af7651916cd43dd8448eb211c80319c"
    talk.ask(
        "tools/call", name="call", arguments={"module": "system", "tool_name": "status"},
        _meta={"traceparent": f"00-{trace}-b7ad6b7169203331-01"},
    )  # fmt: skip
    app.journal.flush()
    with app.database.reading() as rows:
        assert rows.rows("select trace_id from journal where kind = 'call'") == [(trace,)]
