"""A call that is over is freed at once, with all that the caller sent: nothing waits for the search for cycles."""

import gc
import json
import time

import pytest
from talk import Lines

from tokonoma.app import App
from tokonoma.core.call import Call


@pytest.fixture
def talk(tmp_path):
    app = App({"home": str(tmp_path / "home"), "durable": False, "embed_provider": "none"}, {})
    yield Lines(app)
    app.close()


def list_calls() -> set[int]:
    return {id(each) for each in gc.get_objects() if isinstance(each, Call)}


def save(talk: Lines) -> None:
    talk.call("memory", "save", content="a memo")


def search(talk: Lines) -> None:
    talk.call("memory", "search", query="memo")


def send_unknown_fields(talk: Lines) -> None:
    assert talk.refused("memory", "save", content="a memo", unknown=1)["code"] == "INVALID_ARGUMENT"


def read_what_is_not_there(talk: Lines) -> None:
    assert talk.refused("memory", "get", memo_id="0190a000-0000-7000-8000-000000000000")["code"] == "NOT_FOUND"


def read_what_is_masked_in_the_error(talk: Lines) -> None:
    assert talk.refused("memory", "get", memo_id="me@example.org")["code"] == "NOT_FOUND"


def save_nul(talk: Lines) -> None:
    """Refused by the store, inside of a transaction."""
    assert talk.refused("memory", "save", content="a\x00b")["code"] == "INVALID_ARGUMENT"


def run_batch(talk: Lines) -> None:
    steps = [
        {"id": "a", "module": "memory", "tool": "save", "params": {"content": "one"}},
        {"id": "b", "module": "memory", "tool": "get", "params": {"memo_id": "${a.memo_id}"}, "output": True},
    ]
    assert talk.batch(*steps)["ok"]


def run_batch_that_fails(talk: Lines) -> None:
    steps = [{"id": "a", "module": "memory", "tool": "get", "params": {"memo_id": "x"}}]
    told = talk.value("batch", jsonl=json.dumps(steps[0]))
    assert not told["ok"]


@pytest.mark.parametrize(
    "ask",
    [
        save, search, send_unknown_fields, read_what_is_not_there, read_what_is_masked_in_the_error, save_nul,
        run_batch, run_batch_that_fails,
    ],
)  # fmt: skip
def test_a_call_that_is_over_is_freed(talk, ask):
    ask(talk)  # loads what is loaded once
    gc.collect()
    before = [each for each in gc.get_objects() if isinstance(each, Call)]  # of other tests in this process
    known = {id(each) for each in before}
    gc.disable()
    try:
        for _ in range(5):
            ask(talk)
        for _ in range(500):  # the worker's own frame ends after the answer
            if list_calls() <= known:
                break
            time.sleep(0.01)
        assert list_calls() <= known
    finally:
        gc.enable()
