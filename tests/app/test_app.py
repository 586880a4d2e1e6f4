"""The composition root joins the rooms; once they are joined, no call passes through it."""

import sys
import threading
from dataclasses import replace

import pytest
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.pipeline import desk as desks

FILE = sys.modules[App.__module__].__file__


@pytest.fixture
def app(database_url, tmp_path):
    app = App({"home": str(tmp_path), "database_url": database_url, "durable": False}, {})
    yield app
    app.close()


def call_tools(talk) -> None:
    """A write, a search, an error, a batch with a failing step, a policed answer and a list."""
    talk.call("memory", "save", content="tea at four")
    talk.call("memory", "search", query="tea")
    talk.refused("memory", "get", memo_id="0190a000-0000-7000-8000-000000000000")
    missing = {"memo_id": "0190a000-0000-7000-8000-000000000000"}
    steps = [{"tool": "list"}, {"tool": "get", "params": missing}]
    talk.batch(*({"id": f"s{number}", "module": "memory", **step} for number, step in enumerate(steps)))
    talk.call("claims", "activate", q="tea")
    talk.ask("tools/list")


@pytest.fixture
def frames():
    """The functions of the composition root that ran on any thread since `watching` was set."""
    passed: list[str] = []
    watching = threading.Event()

    def watch(frame, event, arg):
        if event == "call" and watching.is_set() and frame.f_code.co_filename == FILE:
            passed.append(frame.f_code.co_name)

    threading.setprofile(watch)  # before the first worker starts
    sys.setprofile(watch)
    yield watching, passed
    sys.setprofile(None)
    threading.setprofile(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("way", [Lines, Http])
def test_a_call_never_passes_through_it(frames, app, way):
    watching, passed = frames
    talk = way(app)
    call_tools(talk)  # everything is opened
    watching.set()
    call_tools(talk)
    watching.clear()
    assert passed == []


def test_the_policy_of_a_call_is_built_once(app, monkeypatch):
    talk = Lines(app)
    talk.call("claims", "activate", q="tea")
    built: list[str] = []
    make = desks.CallDesk.__init__

    def watch(self, parts, call):
        def build(call):
            built.append(call.tool)
            return parts.build_policy(call)

        make(self, replace(parts, build_policy=build), call)

    monkeypatch.setattr(desks.CallDesk, "__init__", watch)
    talk.call("claims", "activate", q="tea")
    assert built == ["activate"]
