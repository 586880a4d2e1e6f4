"""Ctrl-C: what was saved is said, and the exit code is 130."""

import json
import signal
import threading
from typing import Any

import pytest

from tokonoma.cli import interrupt
from tokonoma.cli.interrupt import cancel_on_interrupt
from tokonoma.pipeline.invoke import ToolInvoker


@pytest.fixture(autouse=True)
def hears_ctrl_c():
    """Where the tests run in the background, SIGINT is ignored from the start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def press(monkeypatch):
    """Press Ctrl-C while a tool runs for the nth time. The tool then ends as cancelled, or (`late`) is complete."""

    main = threading.get_ident()

    def arrange(tool: str, nth: int = 1, *, late: bool = False) -> None:
        seen: list[str] = []
        invoke = ToolInvoker.__call__

        def invoke_and_press(self, call):
            seen.extend([tool] if call.tool == tool else [])
            if call.tool != tool or len(seen) != nth:
                return invoke(self, call)
            value = invoke(self, call) if late else None
            signal.pthread_kill(main, signal.SIGINT)
            assert interrupt._pending.wait(60)
            while not late:
                call.cancel_token.check()
            return value

        monkeypatch.setattr(ToolInvoker, "__call__", invoke_and_press)

    return arrange


@pytest.fixture
def filled(run, tmp_path):
    source = tmp_path / "memory.jsonl"
    lines = (json.dumps({"type": "entity", "name": f"e{number}", "entityType": "t"}) for number in range(1100))
    source.write_text("\n".join(lines))
    return source


@pytest.mark.parametrize(("late", "saved"), [(False, 500), (True, 1000)])
def test_an_import_says_what_was_saved_and_goes_on(run, filled, press, monkeypatch, late, saved):
    press("import", 2, late=late)
    stopped = run("import", str(filled), "--json")
    assert stopped.exit_code == 130
    assert json.loads(stopped.stdout)["memos"]["saved"] == saved
    assert json.loads(stopped.stdout)["stopped"] == "Interrupted."
    assert "Run the import again" in stopped.stderr
    monkeypatch.undo()
    again = run("import", str(filled))
    assert f"{1100 - saved} saved, 0 changed, {saved} unchanged" in again.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["export", "OUT"], "was not written"),
        (["export", "-"], "The output is incomplete"),
        (["export", "OUT", "--format", "markdown"], "contains only a part of the export"),
    ],
)
def test_an_export_leaves_no_file_that_looks_complete(run, press, tmp_path, words, says):
    run("call", "memory", "save", '{"content": "kept"}')
    press("export")
    out = tmp_path / "out"
    stopped = run(*(str(out) if word == "OUT" else word for word in words))
    assert stopped.exit_code == 130
    assert "Interrupted." in stopped.stderr
    assert says in stopped.stderr
    assert not out.is_file()


def test_a_batch_says_which_steps_had_succeeded(run, press):
    press("get_statuses")
    steps: list[dict[str, Any]] = [{"id": "a", "module": "items", "tool": "get_stats"}]
    steps.append({"id": "b", "module": "items", "tool": "get_statuses", "after": ["a"]})
    stopped = run("batch", "-", stdin="\n".join(map(json.dumps, steps)))
    assert stopped.exit_code == 130
    assert "1 of 2 steps had succeeded" in stopped.stderr


def test_one_call_is_cancelled(run, press):
    press("get_statuses")
    stopped = run("call", "items", "get_statuses")
    assert stopped.exit_code == 130
    assert json.loads(stopped.stderr)["error"]["code"]


def test_other_commands_end_with_130_too(run, press):
    press("get_items")
    stopped = run("items", "list")
    assert (stopped.exit_code, stopped.stderr) == (130, "Interrupted.\n")


def test_a_purge_says_what_was_removed(run, press):
    run("call", "memory", "save", '{"content": "old"}')
    (memo,) = json.loads(run("call", "memory", "list").stdout)["items"]
    run("call", "memory", "delete", json.dumps({"memo_id": memo["memo_id"]}))
    modules = [each["name"] for each in json.loads(run("modules", "--json").stdout)]
    press("purge", len(modules), late=True)
    stopped = run("purge", "--yes", "--trash-days", "0")
    assert stopped.exit_code == 130
    assert stopped.stderr.startswith("Interrupted. Removed until then: ")
    assert "1 deleted and 0 expired in memory" in stopped.stderr


def test_items_say_what_was_exported_and_imported(run, press, tmp_path, monkeypatch):
    for number in range(3):
        run("items", "add", "docs", f"title {number}")
    press("export", late=True)
    run("items", "export", str(tmp_path / "folder"))
    monkeypatch.undo()
    assert run("items", "export", str(tmp_path / "folder")).exit_code == 0
    press("import.links")
    for file in (tmp_path / "folder").rglob("*.md"):
        file.write_text(file.read_text() + "edited\n")
    stopped = run("items", "import", str(tmp_path / "folder"))
    assert stopped.exit_code == 130
    assert "Interrupted. Imported without all links: 0 saved, 3 changed" in stopped.stderr


def test_a_backup_that_is_interrupted_leaves_nothing(run, tmp_path, monkeypatch):
    run("call", "memory", "save", '{"content": "kept"}')

    def interrupted(*words, **more):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("tokonoma.store.file_archive._write_seal", interrupted)
    target = tmp_path / "x.backup"
    stopped = run("backup", str(target))
    assert stopped.exit_code == 130
    assert f"Interrupted. {target} was not written." in stopped.stderr
    assert list(tmp_path.glob("*.backup*")) + list(tmp_path.glob(".*.partial")) == []


def test_an_interrupt_is_forgotten_with_its_command(run, tmp_path):
    with cancel_on_interrupt() as token:
        signal.raise_signal(signal.SIGINT)
        cancelled = threading.Event()
        token.on_cancel(cancelled.set)
        assert cancelled.wait(60)
    assert run("items", "export", str(tmp_path / "x")).exit_code == 0
