"""`tokonoma reindex` and `tokonoma purge`."""

import json
import signal
from dataclasses import replace

import pytest
from embed.server import EmbeddingServer

from tokonoma.app import App
from tokonoma.modules.memory import MODULE


@pytest.fixture
def with_memos(value):
    many = ", ".join(f'{{"content": "tea batch {number}"}}' for number in range(120))
    value("call", "memory", "save", f'{{"memos": [{many}]}}')


def forget_everything(home):
    app = App({"home": str(home), "durable": False}, {})
    with app.database.writing() as tx:
        for (address,) in tx.rows("select address from document"):
            app.search.index.drop(tx, address)
    app.close()


def found(value):
    return len(value("call", "memory", "search", '{"query": "tea", "k": 100, "mode": "text"}')["items"])


@pytest.mark.usefixtures("with_memos")
def test_a_lost_index_comes_back(run, value, home):
    assert found(value) == 100
    forget_everything(home)
    assert found(value) == 0
    result = run("reindex")
    assert result.exit_code == 0, result.output
    assert "memory: 120 records" in result.stdout
    assert found(value) == 100
    assert "memory: 120 records" in run("reindex", "--module", "memory", "--from-start").stdout


def test_the_embedding_model_is_changed_by_a_command(run, value):
    value("call", "memory", "save", '{"content": "tea"}')
    server = EmbeddingServer()
    other = {"TOKONOMA_EMBED_PROVIDER": "openai", "TOKONOMA_EMBED_MODEL": "m", "TOKONOMA_EMBED_URL": server.url}
    assert run("reindex", "--wait").exit_code == 0
    (before,) = value("call", "system", "status", **other)["vectors"]
    assert (before["model"], before["made"]) == ("builtin:tokonoma-ja-en-2", 1)  # settings alone change nothing
    told = run("reindex", "--embedding", "--wait", **other)
    assert told.exit_code == 0, told.output
    assert told.stdout == "The embedding model of this database is openai:m (16 numbers per vector).\n"
    after = value("call", "system", "status", **other)["vectors"][-1]
    assert after == {"model": "openai:m", "made": 1, "waiting": 0, "failed": 0}
    server.close()
    told = run("reindex", "--embedding", TOKONOMA_EMBED_PROVIDER="none")
    assert (told.exit_code, "embed_provider" in told.stderr) == (1, True)


def test_an_unknown_module_is_named(run, value):
    value("call", "memory", "save", '{"content": "tea"}')
    result = run("reindex", "--module", "memori")
    assert result.exit_code == 1
    assert "memory" in result.stderr


def test_without_a_database_there_is_nothing_to_do(run, home):
    result = run("reindex")
    assert result.exit_code == 1
    assert not (home / "tokonoma.db").exists()


@pytest.fixture
def hears_ctrl_c():
    """Where the tests run in the background, SIGINT is ignored from the start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("with_memos", "hears_ctrl_c")
def test_ctrl_c_ends_it_in_order_and_the_next_one_goes_on(home, value, run, monkeypatch):
    listed = MODULE.documents
    assert listed is not None
    pages: list[str | None] = []

    def interrupted(rows, after, most):
        if after is not None:
            signal.raise_signal(signal.SIGINT)
            while True:  # until somebody ends it
                rows.rows("select 1")
        return listed(rows, after, most)

    def watched(rows, after, most):
        pages.append(after)
        return listed(rows, after, most)

    forget_everything(home)
    monkeypatch.setattr("tokonoma.modules.memory.MODULE", replace(MODULE, documents=interrupted))
    result = run("reindex")
    assert result.exit_code == 130
    assert "Interrupted. The index is rebuilt up to memory at 50. Run" in result.stderr
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert found(value) == 50
    monkeypatch.setattr("tokonoma.modules.memory.MODULE", replace(MODULE, documents=watched))
    assert run("reindex").exit_code == 0
    assert None not in pages
    assert found(value) == 100


def saved(value, **params) -> str:
    return value("call", "memory", "save", json.dumps({"content": "tea", **params}))["memo_id"]


def test_it_counts_asks_and_forgets(run, value):
    stays, goes = saved(value), saved(value)
    value("call", "memory", "delete", json.dumps({"memo_id": goes}))
    assert "0 deleted and 0 expired" in run("purge").stdout, "365 days are not over"
    assert "1 deleted and 0 expired" in run("purge", "--trash-days", "0", "--dry-run").stdout
    refused = run("purge", "--trash-days", "0")
    assert refused.exit_code == 1
    assert "--yes" in refused.stderr
    done = run("purge", "--trash-days", "0", "--yes")
    assert done.exit_code == 0, done.output
    assert "forgotten: 1 deleted and 0 expired" in done.stdout
    assert run("call", "memory", "restore", json.dumps({"memo_id": goes})).exit_code == 1
    assert value("call", "memory", "get", json.dumps({"memo_id": stays}))["content"] == "tea"


def test_without_a_database_there_is_nothing_to_purge(run, home):
    result = run("purge", "--yes")
    assert result.exit_code == 0
    assert "nothing" in result.stderr
    assert not (home / "tokonoma.db").exists()


def test_what_a_purge_removes_is_not_told_by_the_answer_of_an_old_batch(run, value, home):
    memo = value("call", "memory", "save", '{"content": "the cellar is behind the alcove"}')["memo_id"]
    steps = home.parent / "steps.jsonl"
    steps.write_text(
        f'{{"id": "r", "module": "memory", "tool": "get", "params": {{"memo_id": "{memo}"}}, "output": true}}'
    )
    asked = ("batch", "--idempotency-key", "k", str(steps))
    assert "behind the alcove" in run(*asked).stdout
    value("call", "memory", "delete", f'{{"memo_id": "{memo}"}}')
    assert "behind the alcove" in run(*asked).stdout, "it can still be restored"
    assert run("purge", "--trash-days", "0", "--yes").exit_code == 0
    told = run(*asked).stdout
    assert "alcove" not in told
    assert "records were purged since then" in told
    app = App({"home": str(home), "durable": False}, {})
    with app.database.reading() as rows:
        stored = rows.rows("select answer from batch_key")
    app.close()
    assert "alcove" not in str(stored)
