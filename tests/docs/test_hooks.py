"""The hooks that `tokonoma install claude-code --hooks` writes, run as Claude Code does: in a shell, with the event
as JSON on standard input. Nothing is on the PATH, so nothing is needed there: no jq, and no `tokonoma` either."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from docs.markdown import ROOT, blocks

from tokonoma.cli.install.hooks import MATCHER, build_hooks

PAGE = ROOT / "docs" / "guides" / "claude-code.md"
FACT = "v1.2 is the first release with the new cancel API"
MADE_UP = "sk-ant-api03-" + "Zx9Qw7Lm2Kp4Rt8Vb3Nc6Hd1Js5Gf0Ya" * 2 + "-AA"
SHELLS = [shell for shell in ("sh", "bash", "dash") if shutil.which(shell)]
PROGRAM = [sys.executable, "-m", "tokonoma"]


@pytest.fixture
def home(tmp_path) -> Path:
    return tmp_path / "home of it"


def command(event: str, home: Path, program: list[str] = PROGRAM) -> str:
    return build_hooks(program, [], {"TOKONOMA_HOME": str(home)})[event][0]["hooks"][0]["command"]


def run(line: str, event: object = None, shell: str = "sh", **more: str) -> subprocess.CompletedProcess[str]:
    environ = {key: value for key, value in os.environ.items() if not key.startswith("TOKONOMA_")}
    text = event if isinstance(event, str) else json.dumps(event)
    environ |= {"PATH": "/nonexistent", "TOKONOMA_DURABLE": "false", **more}
    return subprocess.run(
        [shutil.which(shell) or shell, "-c", line], env=environ, input=text, text=True, capture_output=True
    )


def test_a_prompt_is_given_what_is_known(home):
    told = {"text": FACT, "scope": "project", "provenance": {"at": "2026-01-15T09:00:00Z"}}
    environ = {**os.environ, "TOKONOMA_HOME": str(home)}
    subprocess.run(
        [*PROGRAM, "call", "claims", "upsert", json.dumps(told)], env=environ, check=True, capture_output=True
    )
    asked = {"hook_event_name": "UserPromptSubmit", "prompt": "Write the notes for the release with the cancel API"}
    done = run(command("UserPromptSubmit", home), asked)
    assert done.returncode == 0, done.stderr
    heading, line = done.stdout.splitlines()
    assert "not instructions" in heading
    assert line.startswith(f"- {FACT} (clm_")


def test_a_secret_is_stopped_before_it_leaves_and_other_texts_are_not(home):
    fine = run(command("PreToolUse", home), {"tool_input": {"url": "https://example.com/?q=weather"}})
    assert (fine.returncode, fine.stdout) == (0, "")
    stopped = run(command("PreToolUse", home), {"tool_input": {"prompt": f"use {MADE_UP}"}})
    assert (stopped.returncode, "does not let this leave" in stopped.stderr) == (2, True)
    assert MADE_UP not in stopped.stderr + stopped.stdout
    assert "the tokonoma hook failed" not in stopped.stderr


@pytest.mark.parametrize(
    "tool_input",
    [
        {"text": "x" * 40_000 + f" {MADE_UP}"},
        {"text": "x" * 7_981 + f" {MADE_UP} " + "x" * 5_000},  # 13 characters before the end of a part
        {"list": [1, None, {"deep": {MADE_UP: True}}]},
        {"text": "x" * 1_000_001},
    ],
    ids=["late", "across", "deep", "too long"],
)
def test_no_part_of_a_text_goes_unchecked(home, tool_input):
    assert run(command("PreToolUse", home), {"tool_input": tool_input}).returncode == 2


@pytest.mark.parametrize("shell", SHELLS)
def test_without_the_program_the_guard_stops_and_the_prompt_passes(home, shell):
    gone = ["/nowhere/tokonoma"]
    stopped = run(command("PreToolUse", home, gone), {"tool_input": {"url": "x"}}, shell)
    assert stopped.returncode == 2
    assert "tokonoma install claude-code --hooks" in stopped.stderr
    passed = run(command("UserPromptSubmit", home, gone), {"prompt": "x"}, shell)
    assert passed.returncode == 1
    assert passed.stdout == ""


@pytest.mark.parametrize("crash", ["os.abort()", "sys.exit(1)", "os.kill(os.getpid(), 9)", "raise ValueError"])
def test_if_the_program_crashes_the_guard_stops(home, crash):
    program = [sys.executable, "-c", f"import os, sys; {crash}"]
    stopped = run(command("PreToolUse", home, program), {"tool_input": {}})
    assert stopped.returncode == 2
    assert "the tokonoma hook failed" in stopped.stderr
    assert run(command("UserPromptSubmit", home, program), {"prompt": "x"}).returncode == 1


@pytest.mark.parametrize("event", ["", "no JSON", []])
def test_an_event_that_cannot_be_read_stops_a_call_and_no_prompt(home, event):
    text = event if isinstance(event, str) else json.dumps(event)
    stopped = run(command("PreToolUse", home), text)
    assert (stopped.returncode, "cannot check this text" in stopped.stderr) == (2, True)
    assert run(command("UserPromptSubmit", home), text).returncode in (0, 1)


def test_wrong_settings_and_a_store_that_cannot_be_opened_stop_a_call_and_no_prompt(home):
    for variables in ({"TOKONOMA_WORKERS": "none"}, {"TOKONOMA_DATABASE_URL": "sqlite:////proc/nothing/tokonoma.db"}):
        stopped = run(command("PreToolUse", home), {"tool_input": {"a": "b"}}, **variables)
        assert stopped.returncode == 2, stopped.stderr
        assert "Traceback" not in stopped.stderr
        assert run(command("UserPromptSubmit", home), {"prompt": "x"}, **variables).returncode == 1


def test_a_check_that_takes_too_long_stops_the_call(home):
    slow = (
        "import sys, tokonoma.cli.hook as hook\n"
        "hook.GUARD_SECONDS = 0.2\n"
        "hook.call_tool = lambda *words, **more: __import__('threading').Event().wait()\n"
        "from tokonoma.cli.program import program\n"
        "program.main(sys.argv[1:])"
    )
    stopped = run(command("PreToolUse", home, [sys.executable, "-c", slow]), {"tool_input": {"a": "b"}})
    assert (stopped.returncode, "could not check this text within" in stopped.stderr) == (2, True)


def test_the_guide_shows_the_hooks_that_are_written():
    [shown] = [json.loads(block.text) for block in blocks(PAGE.read_text("utf-8")) if block.language == "json"]
    assert shown == {"hooks": build_hooks(["/home/me/tokonoma/.venv/bin/tokonoma"], [], {})}
    assert shown["hooks"]["PreToolUse"][0]["matcher"] == MATCHER
    assert "jq" not in PAGE.read_text("utf-8")
